#include "cosim/trace_vectors.h"

#include <utility>

#include "cosim/ack_coalescer_rtl.h"
#include "cosim/psn_tracker_rtl.h"
#include "cosim/retransmit_buffer_rtl.h"
#include "cosim/retransmit_buffer_transaction.h"
#include "engine/clock_domain.h"

namespace mrc::cosim {
namespace {

constexpr std::uint64_t kSetup = 0;

/// Fields in the order of make_psn_tracker_dut().
class RecordingPsnTracker : public PsnTrackerEngine {
 public:
  RecordingPsnTracker(std::unique_ptr<PsnTrackerEngine> engine, std::vector<Transaction>& vectors)
      : engine_(std::move(engine)), vectors_(vectors) {}
  PsnReply run(const PsnRequest& r) override {
    vectors_.push_back({static_cast<std::uint64_t>(r.op), r.qp, r.psn, r.ends_message, r.conditions.allowed,
                        r.conditions.packet_buffer, r.conditions.other_resource, r.conditions.receive, r.ce,
                        r.ack_request, r.probe, r.probe_id});
    return engine_->run(r);
  }
  std::uint32_t banks_in_use() const override { return engine_->banks_in_use(); }
  std::uint32_t latency_cycles() const override { return engine_->latency_cycles(); }
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  std::unique_ptr<PsnTrackerEngine> engine_;
  std::vector<Transaction>& vectors_;
};

/// Fields in the order of make_ack_coalescer_dut().
class RecordingAckCoalescer : public AckCoalescerEngine {
 public:
  RecordingAckCoalescer(std::unique_ptr<AckCoalescerEngine> engine, std::vector<Transaction>& vectors)
      : engine_(std::move(engine)), vectors_(vectors) {}
  void set_up(std::uint32_t qp) override {
    vectors_.push_back({kSetup, qp, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    engine_->set_up(qp);
  }
  AckReply event(std::uint32_t qp, const SackQuestion& q) override {
    const SackTrigger& t = q.trigger;
    vectors_.push_back({static_cast<std::uint64_t>(q.event), qp, q.payload_bytes, q.retransmission, t.psn, t.ev,
                        t.tx_timestamp, t.probe_id, t.ce, t.ack_request, t.probe});
    return engine_->event(qp, q);
  }
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  std::unique_ptr<AckCoalescerEngine> engine_;
  std::vector<Transaction>& vectors_;
};

class RecordingRetransmitBuffer : public RetransmitBufferEngine {
 public:
  RecordingRetransmitBuffer(std::unique_ptr<RetransmitBufferEngine> engine, std::vector<Transaction>& vectors)
      : engine_(std::move(engine)), vectors_(vectors) {}
  const RetransmitReply& run(const RetransmitCommand& command) override {
    vectors_.push_back(transaction_of(command));
    return engine_->run(command);
  }
  std::uint64_t cycles() const override { return engine_->cycles(); }
  std::uint64_t last_cycles() const override { return engine_->last_cycles(); }

 private:
  std::unique_ptr<RetransmitBufferEngine> engine_;
  std::vector<Transaction>& vectors_;
};

}  // namespace

bool add_recorded_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl,
                      std::vector<Transaction>& vectors) {
  const ProtocolConfig& protocol = scenario.protocol;
  if (selection.block == "psn_tracker") {
    const PsnTrackerSettings settings{protocol.out_of_window, protocol.dynamic_mpr};
    rtl.psn_tracker = std::make_unique<PsnTrackerRtlPath>(
        selection.mode, kPsnTrackerRtl,
        std::make_unique<RecordingPsnTracker>(make_psn_tracker_rtl(kPsnTrackerRtl, settings), vectors));
    return true;
  }
  if (selection.block == "ack_coalescer") {
    rtl.ack_coalescer = std::make_unique<AckCoalescerRtlPath>(
        selection.mode,
        std::make_unique<RecordingAckCoalescer>(
            make_ack_coalescer_rtl(protocol.sack_threshold_bytes, protocol.sack_min_add_bytes), vectors));
    return true;
  }
  if (selection.block == "retransmit_buffer") {
    const NodeId node = selection.node;
    rtl.retransmit_buffer = std::make_unique<RetransmitBufferRtlPath>(
        selection.mode,
        std::make_unique<RecordingRetransmitBuffer>(make_retransmit_buffer_rtl(scenario, node), vectors),
        kRetransmitBufferSizes, node, ClockDomain(scenario.node(node).nic.core_clock_ghz).period_ps(),
        scenario.node(node).nic);
    return true;
  }
  return false;
}

}  // namespace mrc::cosim
