// What a node did when one of its ports went down or came back up, when a controller denied paths, and when software
// connected a QP anew.
#pragma once

#include <cstdint>

#include "mrc/types.h"

namespace mrc {

/// One step, for the event log. Drained: `up` where EVs were allowed again.
struct PortStatusStep {
  enum class What : std::uint8_t { seen, remapped, announced, answered, received, drained, connected };
  TimePs at = 0;
  What what = What::seen;
  bool up = false;
  std::uint32_t port = 0;
  NodeId peer = 0;          ///< received: who said so
  std::uint32_t count = 0;  ///< remapped: QPs walked over; announced, answered: peers; drained: EVs
  std::uint32_t fault = 0;  ///< not of `received`
};

}  // namespace mrc
