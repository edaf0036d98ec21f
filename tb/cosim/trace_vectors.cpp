// Before SystemC.
#include <verilated.h>

#include "cosim/trace_vectors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "cosim/ack_coalescer/rtl.h"
#include "cosim/pcie_dma/model.h"
#include "cosim/pcie_dma/rtl.h"
#include "cosim/psn_tracker/rtl.h"
#include "cosim/retransmit_buffer/rtl.h"
#include "cosim/retransmit_buffer/transaction.h"
#include "cosim/rtl_modules.h"
#include "cosim/spray_scheduler/model.h"
#include "cosim/spray_scheduler/rtl.h"
#include "cosim/srv6_encap/model.h"
#include "cosim/srv6_encap/rtl.h"
#include "engine/clock_domain.h"

namespace mrc::cosim {
namespace {

/// The block's function out of its module.
template <typename Function>
Function* load(const char* block) {
  return load_rtl<Function>(RtlModuleKind::rtl, block);
}

constexpr std::uint64_t kSetup = 0;

/// Keeps transfers until there are enough.
class Recorder {
 public:
  Recorder(Trace& trace, std::uint64_t most) : trace_(&trace), most_(most) {}

  void add(std::size_t port, Transaction values, bool in_turn = false) {
    if (trace_->offers.size() >= most_) ended_ = true;
    if (!ended_) trace_->offers.push_back({port, 0, std::move(values), in_turn});
  }
  void set(const char* name, std::uint64_t value) { trace_->settings[name] = value; }
  void end() { ended_ = true; }

 private:
  Trace* trace_;
  std::uint64_t most_;
  bool ended_ = false;
};

/// Fields in the order of make_psn_tracker_dut().
class RecordingPsnTracker : public PsnTrackerEngine {
 public:
  RecordingPsnTracker(std::unique_ptr<PsnTrackerEngine> engine, const Recorder& recorder)
      : engine_(std::move(engine)), recorder_(recorder) {}
  PsnReply run(const PsnRequest& r) override {
    recorder_.add(0, {static_cast<std::uint64_t>(r.op), r.qp, r.psn, r.ends_message, r.conditions.allowed,
                      r.conditions.packet_buffer, r.conditions.other_resource, r.conditions.receive, r.ce,
                      r.ack_request, r.probe, r.probe_id});
    return engine_->run(r);
  }
  std::uint32_t banks_in_use() const override { return engine_->banks_in_use(); }
  std::uint32_t latency_cycles() const override { return engine_->latency_cycles(); }
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  std::unique_ptr<PsnTrackerEngine> engine_;
  Recorder recorder_;
};

/// Fields in the order of make_ack_coalescer_dut().
class RecordingAckCoalescer : public AckCoalescerEngine {
 public:
  RecordingAckCoalescer(std::unique_ptr<AckCoalescerEngine> engine, const Recorder& recorder)
      : engine_(std::move(engine)), recorder_(recorder) {}
  void set_up(std::uint32_t qp) override {
    recorder_.add(0, {kSetup, qp, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    engine_->set_up(qp);
  }
  AckReply event(std::uint32_t qp, const SackQuestion& q) override {
    const SackTrigger& t = q.trigger;
    recorder_.add(0, {static_cast<std::uint64_t>(q.event), qp, q.payload_bytes, q.retransmission, t.psn, t.ev,
                      t.tx_timestamp, t.probe_id, t.ce, t.ack_request, t.probe});
    return engine_->event(qp, q);
  }
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  std::unique_ptr<AckCoalescerEngine> engine_;
  Recorder recorder_;
};

class RecordingRetransmitBuffer : public RetransmitBufferEngine {
 public:
  RecordingRetransmitBuffer(std::unique_ptr<RetransmitBufferEngine> engine, const Recorder& recorder)
      : engine_(std::move(engine)), recorder_(recorder) {}
  const RetransmitReply& run(const RetransmitCommand& command) override {
    recorder_.add(0, transaction_of(command));
    return engine_->run(command);
  }
  std::uint64_t cycles() const override { return engine_->cycles(); }
  std::uint64_t last_cycles() const override { return engine_->last_cycles(); }

 private:
  std::unique_ptr<RetransmitBufferEngine> engine_;
  Recorder recorder_;
};

/// A packet's beats.
class RecordingSrv6Encap : public Srv6EncapEngine {
 public:
  RecordingSrv6Encap(std::unique_ptr<Srv6EncapEngine> engine, std::uint32_t beat_bytes, const Recorder& recorder)
      : engine_(std::move(engine)), beat_bytes_(beat_bytes), recorder_(recorder) {
    recorder_.set("beat_bytes", beat_bytes);
  }
  EncapReply encapsulate(const Srv6EncapInput& input, std::span<const std::byte> inner_packet,
                         std::uint64_t offer_cycle) override {
    for (Transaction& beat : srv6_encap_beats(input, inner_packet, beat_bytes_)) recorder_.add(0, std::move(beat));
    return engine_->encapsulate(input, inner_packet, offer_cycle);
  }
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  std::unique_ptr<Srv6EncapEngine> engine_;
  std::uint32_t beat_bytes_;
  Recorder recorder_;
};

/// Scan orders are not kept: the bench draws its own.
class RecordingSprayScheduler : public SpraySchedulerEngine {
 public:
  RecordingSprayScheduler(std::unique_ptr<SpraySchedulerEngine> engine, const Recorder& recorder)
      : engine_(std::move(engine)), recorder_(recorder) {}

  SpraySizes sizes() const override { return engine_->sizes(); }
  void configure(const EvProfile& profile, const PathTable& example, OrderSource orders) override {
    set_path_table_settings(example, [&](const char* name, std::uint64_t value) { recorder_.set(name, value); });
    recorder_.set("evs", sizes().evs);
    for (Transaction& word : spray_set_up(profile, example, sizes().evs)) {
      recorder_.add(SpraySchedulerModel::kCsr, std::move(word), true);
    }
    engine_->configure(profile, example, std::move(orders));
  }
  void open(std::uint32_t slot, std::uint32_t active_evs) override {
    control(SprayCsr::open, slot, 0, active_evs);
    engine_->open(slot, active_evs);
  }
  void return_credit(std::span<const std::uint32_t> bytes) override {
    const bool any = std::any_of(bytes.begin(), bytes.end(), [](std::uint32_t some) { return some != 0; });
    if (any) recorder_.add(SpraySchedulerModel::kCredit, spray_credit_words(bytes, sizes().planes), true);
    engine_->return_credit(bytes);
  }
  SpraySelection select(std::uint32_t slot, std::uint32_t bytes, std::uint32_t ports_up, TimePs now) override {
    recorder_.add(SpraySchedulerModel::kSelect, {slot, bytes, ports_up, now}, true);
    return engine_->select(slot, bytes, ports_up, now);
  }
  SprayUpdate update(std::uint32_t slot, EvIndex ev, PathEvent event, TimePs now) override {
    recorder_.add(SpraySchedulerModel::kUpdate, {slot, static_cast<std::uint64_t>(event), 0, ev, 0, now}, true);
    return engine_->update(slot, ev, event, now);
  }
  SprayUpdate update_by_value(std::uint32_t slot, Ev value, PathEvent event, TimePs now) override {
    recorder_.add(SpraySchedulerModel::kUpdate, {slot, static_cast<std::uint64_t>(event), 1, 0, value, now}, true);
    return engine_->update_by_value(slot, value, event, now);
  }
  void deny(std::uint32_t slot, EvIndex ev) override {
    control(SprayCsr::deny, slot, ev, 0);
    engine_->deny(slot, ev);
  }
  void allow(std::uint32_t slot, EvIndex ev) override {
    control(SprayCsr::allow, slot, ev, 0);
    engine_->allow(slot, ev);
  }
  void set_port_status(std::uint32_t slot, std::uint32_t reachable_mask) override {
    control(SprayCsr::port_status, slot, 0, reachable_mask);
    engine_->set_port_status(slot, reachable_mask);
  }
  SprayRecord read(std::uint32_t slot, EvIndex ev) override {
    control(SprayCsr::read_ev, slot, ev, 0);
    return engine_->read(slot, ev);
  }
  SprayTableState read_table(std::uint32_t slot) override {
    control(SprayCsr::read_slot, slot, 0, 0);
    return engine_->read_table(slot);
  }
  void idle(std::uint64_t cycles) override { engine_->idle(cycles); }
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  void control(SprayCsr op, std::uint32_t slot, std::uint64_t index, std::uint64_t word) {
    recorder_.add(SpraySchedulerModel::kCsr, {static_cast<std::uint64_t>(op), slot, index, word}, true);
  }

  std::unique_ptr<SpraySchedulerEngine> engine_;
  Recorder recorder_;
};

/// The tag of a completion is replaced by the number of the request that it answers, counted from 0. A run is kept up
/// to the first request that must be retried, because the choice of that request depends on time.
class RecordingPcieDma : public PcieDmaEngine {
 public:
  RecordingPcieDma(std::unique_ptr<PcieDmaEngine> engine, const PcieConfig& config, const Recorder& recorder)
      : engine_(std::move(engine)), recorder_(recorder), request_of_(kPcieDmaSizes.tags, 0) {
    recorder_.set("mrrs_log2", static_cast<std::uint64_t>(std::countr_zero(config.mrrs_bytes)));
    recorder_.set("mps_log2", static_cast<std::uint64_t>(std::countr_zero(config.mps_bytes)));
    recorder_.set("tags", kPcieDmaSizes.tags);
  }
  void read(std::uint32_t job, std::uint64_t address, std::uint32_t bytes, bool in_order) override {
    recorder_.add(kReadPort, {address, bytes, job, in_order}, true);
    engine_->read(job, address, bytes, in_order);
  }
  std::optional<ReadRequestTlp> request() override {
    const std::optional<ReadRequestTlp> given = engine_->request();
    if (given && given->again) recorder_.end();
    if (given) request_of_[given->tag] = requests_++;
    return given;
  }
  ReadTags::Verdict completion(const CompletionTlp& completion) override {
    const ReadTags::Verdict verdict = engine_->completion(completion);
    if (verdict != ReadTags::Verdict::accepted && verdict != ReadTags::Verdict::complete) recorder_.end();
    recorder_.add(kCompletionPort,
                  {request_of_[completion.tag], completion.bytes, completion.byte_count, completion.poisoned}, true);
    if (completion.poisoned) recorder_.end();
    return verdict;
  }
  void expire(std::uint16_t tag) override {
    recorder_.end();
    engine_->expire(tag);
  }
  /// Follows what the block reports, beside the rest.
  void release(std::uint32_t bytes) override {
    recorder_.add(kReleasePort, {bytes});
    engine_->release(bytes);
  }
  std::optional<std::uint32_t> ordered_done() override { return engine_->ordered_done(); }
  std::optional<std::uint32_t> loose_done() override { return engine_->loose_done(); }
  void write(std::uint64_t address, std::uint32_t bytes) override {
    recorder_.add(kWritePort, {address, bytes}, true);
    engine_->write(address, bytes);
  }
  std::optional<WriteTlp> write_tlp() override { return engine_->write_tlp(); }
  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  std::unique_ptr<PcieDmaEngine> engine_;
  Recorder recorder_;
  std::vector<std::uint64_t> request_of_;  ///< by tag
  std::uint64_t requests_ = 0;
};

}  // namespace

bool add_recorded_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl, Trace& trace,
                      std::uint64_t most) {
  const ProtocolConfig& protocol = scenario.protocol;
  const NodeId node = selection.node;
  const NodeConfig& config = scenario.node(node);
  const TimePs clock_period_ps = ClockDomain(config.nic.core_clock_ghz).period_ps();
  Recorder recorder(trace, most);
  if (selection.block == "psn_tracker") {
    const PsnTrackerSettings settings{protocol.out_of_window, protocol.dynamic_mpr};
    recorder.set("nack_out_of_window", protocol.out_of_window == OutOfWindow::nack);
    recorder.set("dynamic_mpr", protocol.dynamic_mpr);
    rtl.psn_tracker = std::make_unique<PsnTrackerRtlPath>(
        selection.mode, kPsnTrackerRtl,
        std::make_unique<RecordingPsnTracker>(
            load<decltype(make_psn_tracker_rtl)>("psn_tracker")(kPsnTrackerRtl, settings), recorder));
    return true;
  }
  if (selection.block == "ack_coalescer") {
    recorder.set("threshold_bytes", protocol.sack_threshold_bytes);
    recorder.set("min_add_bytes", protocol.sack_min_add_bytes);
    rtl.ack_coalescer = std::make_unique<AckCoalescerRtlPath>(
        selection.mode,
        std::make_unique<RecordingAckCoalescer>(load<decltype(make_ack_coalescer_rtl)>("ack_coalescer")(
                                                    protocol.sack_threshold_bytes, protocol.sack_min_add_bytes),
                                                recorder));
    return true;
  }
  if (selection.block == "retransmit_buffer") {
    rtl.retransmit_buffer = std::make_unique<RetransmitBufferRtlPath>(
        selection.mode,
        std::make_unique<RecordingRetransmitBuffer>(
            load<decltype(make_retransmit_buffer_rtl)>("retransmit_buffer")(scenario, node), recorder),
        kRetransmitBufferSizes, node, clock_period_ps, config.nic);
    return true;
  }
  if (selection.block == "srv6_encap") {
    rtl.srv6_encap = std::make_unique<Srv6EncapRtlPath>(
        selection.mode, std::make_unique<RecordingSrv6Encap>(
                            load<decltype(make_srv6_encap_rtl)>("srv6_encap")(config.nic.datapath_bits),
                            config.nic.datapath_bits / 8, recorder));
    return true;
  }
  if (selection.block == "spray_scheduler") {
    rtl.spray_scheduler = std::make_unique<SpraySchedulerRtlPath>(selection.mode, [recorder](const SpraySizes& sizes) {
      return std::make_unique<RecordingSprayScheduler>(
          load<decltype(make_spray_scheduler_rtl)>("spray_scheduler")(sizes), recorder);
    });
    return true;
  }
  if (selection.block == "pcie_dma") {
    rtl.pcie_dma = std::make_unique<PcieDmaRtlPath>(
        selection.mode,
        std::make_unique<RecordingPcieDma>(load<decltype(make_pcie_dma_rtl)>("pcie_dma")(config), config.pcie,
                                           recorder),
        node, clock_period_ps);
    return true;
  }
  return false;
}

}  // namespace mrc::cosim
