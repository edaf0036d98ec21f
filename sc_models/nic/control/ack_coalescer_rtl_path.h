// The SACK triggers by RTL: asks the engine after each packet whether a SACK is owed, and compares its answer, why, and
// what the SACK reflects with ring 1. In `rtl` mode the engine's answer is the only one that counts, and ring 1
// follows.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/rtl_path.h"
#include "mrc/rx/responder.h"
#include "nic/control/ack_coalescer_engine.h"
#include "nic/nic_context.h"

namespace mrc {

class AckCoalescerRtlPath : public RtlPath {
 public:
  AckCoalescerRtlPath(RtlMode mode, std::unique_ptr<AckCoalescerEngine> engine)
      : RtlPath("ack_coalescer", mode), engine_(std::move(engine)) {}

  /// After the responder's decision about this packet.
  void judge(const NicContext& nic, Qp& qp, const Packet& packet, RxDecision& decision, TimePs now);
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  AckReply run(const NicContext& nic, const Qp& qp, const SackQuestion& question);

  std::unique_ptr<AckCoalescerEngine> engine_;
  std::vector<bool> set_up_;  ///< by QP
};

}  // namespace mrc
