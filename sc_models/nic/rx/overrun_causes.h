// Why packets found no room behind a port: each is attributed to the last full queue behind the parser.
#pragma once

#include <cstdint>

#include "engine/box.h"
#include "engine/cause.h"

namespace mrc::timing {

class OverrunCauses {
 public:
  explicit OverrunCauses(const CauseTable& causes) : causes_(causes) {}
  void connect(const Box& parser) { parser_ = &parser; }

  /// A packet is dropped now.
  void count() { ++by_cause_[cause().index()]; }
  /// Packets dropped so far.
  const PerCause<std::uint64_t>& by_cause() const { return by_cause_; }

 private:
  Cause cause() const;

  const CauseTable& causes_;
  const Box* parser_ = nullptr;
  PerCause<std::uint64_t> by_cause_{};
};

}  // namespace mrc::timing
