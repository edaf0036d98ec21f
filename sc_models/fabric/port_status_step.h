// What a node did when one of its ports went down or came back up.
#pragma once

#include <cstdint>

#include "mrc/types.h"

namespace mrc {

/// One step in handling a port that went down or came back, for the event log.
struct PortStatusStep {
  enum class What : std::uint8_t { seen, remapped, announced, answered, received };
  TimePs at = 0;
  What what = What::seen;
  bool up = false;
  std::uint32_t port = 0;
  NodeId peer = 0;          ///< received: who said so
  std::uint32_t count = 0;  ///< remapped: QPs walked over; announced, answered: peers
  std::uint32_t fault = 0;  ///< not of `received`
};

}  // namespace mrc
