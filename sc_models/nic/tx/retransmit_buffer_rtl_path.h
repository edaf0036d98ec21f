// The records of retransmit_buffer by RTL: every command of the node's requestors goes through the engine, and its
// events and the QP's state are compared with the requestor's own records. In `rtl` mode the engine's replies are the
// only source of what is acknowledged, lost, due and retransmitted. By pins, the requestor's records decide when a
// command is made, and the reply is compared when it comes out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/box.h"
#include "engine/pin_bridge.h"
#include "engine/rtl_path.h"
#include "mrc/tx/retransmit_command.h"
#include "nic/tx/retransmit_buffer_engine.h"
#include "parameters/config.h"

namespace mrc {

/// By pins: a command, and what ring 1's records have done with it.
struct RetransmitAsk : RetransmitCommand {
  RetransmitReply expected;
  RtlCycles systemc;
};

class RetransmitBufferRtlPath : public RtlPath {
 public:
  using Pins = PinBridge<RetransmitBufferEngine, RetransmitAsk>;

  /// `clock_period_ps`: of the core clock, in which messages give the time.
  RetransmitBufferRtlPath(RtlMode mode, RtlTiming timing, std::unique_ptr<RetransmitBufferEngine> engine,
                          const RetransmitBufferSizes& sizes, NodeId node, TimePs clock_period_ps, const NicConfig& nic)
      : RtlPath("retransmit_buffer", mode, timing),
        engine_(std::move(engine)),
        pins_("retransmit_buffer", *engine_),
        sizes_(sizes),
        node_(node),
        clock_period_ps_(clock_period_ps),
        nic_(nic),
        free_(sizes.records) {}

  const RetransmitBufferSizes& sizes() const { return sizes_; }
  /// False once what is in the RTL has gone another way and is not to be asked any more.
  bool asks() const { return drives() || mismatches() == 0; }
  /// The reply is valid until the next command. By pins only before the first cycle.
  const RetransmitReply& run(const RetransmitCommand& command);
  /// What ring 1's records would have done with the command that ran last, and their state after it. By pins: what they
  /// have done with this one, which is to be offered to the RTL.
  void compare(const RetransmitCommand& command, RetransmitReply& expected);

  /// By pins: `box` is stepped when a command is made.
  void wake(Box& box) { box_ = &box; }
  /// Who makes commands like `op` may make one more: few of them wait in front of the RTL.
  bool has_room(RetransmitOp op) const { return waiting_[maker_of(op)] < kMostWaiting; }
  /// The RTL has answered everything that a SACK, NACK or timer asked.
  bool has_judged() const { return judging_ == 0; }
  /// Nothing waits or is inside.
  bool is_idle() const { return commands_.empty() && pins_.is_idle(); }
  /// By pins, and a cycle has passed: what is asked waits for one of the next.
  bool is_clocked() const { return by_pins() && is_clocked_; }
  /// A cycle of the RTL's clock, with the next command at its input.
  PinCycle clock(std::uint64_t cycle);
  /// The command that was begun in this cycle.
  RetransmitOp begun() { return pins_.newest().op; }
  bool was_occupied() const { return pins_.was_occupied(); }
  /// The reply to the oldest command came out. Returns what it was.
  RetransmitOp conclude(std::uint64_t cycle);

  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  /// Of the commands: segmenter, spray_scheduler's packets, and what answers and timers bring about.
  enum Maker : std::size_t { kCut, kSent, kJudge, kMakers };
  static Maker maker_of(RetransmitOp op);
  static constexpr std::uint32_t kMostWaiting = 4;

  RtlCycles systemc_cycles(const RetransmitCommand& command, const RetransmitReply& reply);
  void judge(const RetransmitCommand& command, const RetransmitReply& expected, const RetransmitReply& reply,
             std::uint64_t cycle);

  std::unique_ptr<RetransmitBufferEngine> engine_;
  Pins pins_;
  RetransmitBufferSizes sizes_;
  NodeId node_;
  TimePs clock_period_ps_;
  NicConfig nic_;
  std::uint32_t free_;        ///< records, as the requestors' own decisions leave them
  std::vector<Psn> unacked_;  ///< by QP, after its last command
  const RetransmitReply* reply_ = nullptr;
  Box* box_ = nullptr;
  bool is_clocked_ = false;
  std::deque<RetransmitAsk> commands_;            ///< in the order in which ring 1's records had them
  std::array<std::uint32_t, kMakers> waiting_{};  ///< of each maker: not taken by the RTL
  std::uint32_t judging_ = 0;                     ///< of kJudge: not answered
};

}  // namespace mrc
