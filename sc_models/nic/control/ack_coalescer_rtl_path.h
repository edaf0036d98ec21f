// The SACK triggers by RTL: asks the engine after each packet whether a SACK is owed, and compares its answer, why, and
// what the SACK reflects with ring 1. In `rtl` mode the engine's answer is the only one that counts, and ring 1
// follows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "engine/causal_trace.h"
#include "engine/pin_bridge.h"
#include "engine/rtl_path.h"
#include "mrc/rx/responder.h"
#include "nic/control/ack_coalescer_engine.h"
#include "nic/nic_context.h"

namespace mrc {

/// By pins: an event, with what ring 1 has decided about it.
struct SackAsk : SackItem {
  RxDecision own;
  StartId because = 0;  ///< start of the packet that brings it about
};

class AckCoalescerRtlPath : public RtlPath {
 public:
  using Pins = PinBridge<AckCoalescerEngine, SackAsk>;

  AckCoalescerRtlPath(RtlMode mode, RtlTiming timing, std::unique_ptr<AckCoalescerEngine> engine)
      : RtlPath("ack_coalescer", mode, timing), engine_(std::move(engine)), pins_("ack_coalescer", *engine_) {}

  /// After the responder's decision about this packet. Nothing by pins.
  void judge(const NicContext& nic, Qp& qp, const Packet& packet, RxDecision& decision, TimePs now);

  /// The QP was connected anew. Not by pins.
  void renew(std::uint32_t qp) { engine_->renew(qp); }

  /// By pins: what the RTL is to be asked about this packet, after the responder's decision; may be nothing.
  static std::optional<SackAsk> ask(const NicContext& nic, const Qp& qp, const Packet& packet,
                                    const RxDecision& decision);
  /// What a SACK that this packet brings about is to reflect; `event` stays open.
  static SackQuestion about(const Packet& packet);
  void offer(const SackAsk& ask) { pins_.offer(ask); }
  /// `takes`: there is room for a SACK.
  PinCycle clock(const NicContext& nic, std::uint64_t cycle, bool takes);
  /// The SACK that came out in this cycle: its trigger.
  SackTrigger trigger(const NicContext& nic, std::uint64_t cycle);
  Pins& pins() { return pins_; }

  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  static std::optional<SackQuestion> question_about(const Packet& packet, const RxDecision& decision);
  /// The answer to the oldest event inside, null for none, is complete.
  void finish(const NicContext& nic, std::uint64_t cycle, const SackOwed* sack);
  void compare(const NicContext& nic, std::uint32_t qp, Psn psn, const RxDecision& own, const SackOwed* sack,
               std::uint64_t cycle);

  std::unique_ptr<AckCoalescerEngine> engine_;
  Pins pins_;
};

}  // namespace mrc
