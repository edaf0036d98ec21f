// The way from the platform's time into the NIC's: what software does takes effect on the NIC's event wheel, in order,
// each at its time, which is never earlier than the wheel has run.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

#include "engine/box.h"

namespace mrc {

struct MmioAction {
  enum class Kind : std::uint8_t { register_write, completion_visible, qp_failed };
  TimePs at = 0;
  std::uint64_t sequence = 0;
  Kind kind = Kind::register_write;
  std::uint32_t where = 0;  ///< offset, or QP index
  std::uint32_t value = 0;
};

/// Whoever an action is for.
class MmioClient {
 public:
  virtual ~MmioClient() = default;
  /// False if it is not possible now; `box` has been promised a step when it is, and later actions wait.
  virtual bool apply(TimePs now, const MmioAction& action, Box& box) = 0;
};

class Mmio : public Box {
 public:
  Mmio(const sc_core::sc_module_name& name, WheelModule& owner, MmioClient& client)
      : Box(name, owner), client_(client) {}

  void add(TimePs at, MmioAction::Kind kind, std::uint32_t where, std::uint32_t value) {
    actions_.push({at, sequence_++, kind, where, value});
    wake_at(at);
  }
  void step(TimePs now) override {
    while (!actions_.empty() && actions_.top().at <= now) {
      if (!client_.apply(now, actions_.top(), *this)) return;
      actions_.pop();
    }
    if (!actions_.empty()) wake_at(actions_.top().at);
  }

 private:
  struct Later {
    bool operator()(const MmioAction& a, const MmioAction& b) const {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  MmioClient& client_;
  std::priority_queue<MmioAction, std::vector<MmioAction>, Later> actions_;
  std::uint64_t sequence_ = 0;
};

}  // namespace mrc
