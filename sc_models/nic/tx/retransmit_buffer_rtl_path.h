// The records of retransmit_buffer by RTL: every command of the node's requestors goes through the engine, and its
// events and the QP's state are compared with the requestor's own records. In `rtl` mode the engine's replies are the
// only source of what is acknowledged, lost, due and retransmitted.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/rtl_path.h"
#include "mrc/tx/retransmit_command.h"
#include "nic/tx/retransmit_buffer_engine.h"
#include "parameters/config.h"

namespace mrc {

class RetransmitBufferRtlPath : public RtlPath {
 public:
  /// `clock_period_ps`: of the core clock, in which messages give the time.
  RetransmitBufferRtlPath(RtlMode mode, std::unique_ptr<RetransmitBufferEngine> engine,
                          const RetransmitBufferSizes& sizes, NodeId node, TimePs clock_period_ps, const NicConfig& nic)
      : RtlPath("retransmit_buffer", mode),
        engine_(std::move(engine)),
        sizes_(sizes),
        node_(node),
        clock_period_ps_(clock_period_ps),
        nic_(nic),
        free_(sizes.records) {}

  const RetransmitBufferSizes& sizes() const { return sizes_; }
  /// False once what is in the RTL has gone another way and is not to be asked any more.
  bool asks() const { return drives() || mismatches() == 0; }
  /// The reply is valid until the next command.
  const RetransmitReply& run(const RetransmitCommand& command);
  /// What ring 1's records would have done with the command that ran last, and their state after it.
  void compare(const RetransmitCommand& command, RetransmitReply& expected);
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  std::unique_ptr<RetransmitBufferEngine> engine_;
  RetransmitBufferSizes sizes_;
  NodeId node_;
  TimePs clock_period_ps_;
  NicConfig nic_;
  std::uint32_t free_;        ///< records, as the requestors' own decisions leave them
  std::vector<Psn> unacked_;  ///< by QP, after its last command
  const RetransmitReply* reply_ = nullptr;
};

}  // namespace mrc
