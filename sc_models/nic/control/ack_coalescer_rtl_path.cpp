#include "nic/control/ack_coalescer_rtl_path.h"

#include <string>

#include <fmt/format.h>

#include "engine/first_difference.h"
#include "nic/mrc_halves.h"

namespace mrc {
namespace {

/// First field in which the answers differ, empty without one.
std::string difference(const RxDecision& own, const AckReply& reply) {
  FirstDifference first;
  first.note("causes", own.sack ? own.sack_causes : 0, reply.sack ? reply.sack->causes : 0);
  if (!own.sack || !reply.sack) return first.text();
  const SackTrigger& rtl = reply.sack->trigger;
  first.note("counter_bytes", own.sack_counter_bytes, reply.sack->counter_bytes);
  first.note("psn", own.trigger.psn, rtl.psn);
  first.note("ev", own.trigger.ev, rtl.ev);
  first.note("tx_timestamp", own.trigger.tx_timestamp, rtl.tx_timestamp);
  first.note("probe_id", own.trigger.probe_id, rtl.probe_id);
  first.note("ce", own.trigger.ce, rtl.ce);
  first.note("ack_request", own.trigger.ack_request, rtl.ack_request);
  first.note("probe", own.trigger.probe, rtl.probe);
  return first.text();
}

}  // namespace

AckReply AckCoalescerRtlPath::run(const NicContext& nic, const Qp& qp, const SackQuestion& question) {
  const std::uint32_t index = nic.index_of(qp);
  if (set_up_.size() <= index) set_up_.resize(nic.qps.size());
  if (!set_up_[index]) engine_->set_up(index);
  set_up_[index] = true;
  return engine_->event(index, question);
}

void AckCoalescerRtlPath::judge(const NicContext& nic, Qp& qp, const Packet& packet, RxDecision& decision, TimePs now) {
  const bool probe = packet.opcode == Opcode::probe_request;
  const bool duplicate =
      decision.outcome == PsnOutcome::duplicate_below || decision.outcome == PsnOutcome::duplicate_above;
  if (!decision.admitted || !(probe || duplicate || decision.place)) return;
  SackQuestion question;
  question.event = probe ? SackEvent::probe : decision.place ? SackEvent::data : SackEvent::duplicate;
  question.payload_bytes = packet.payload_bytes;
  question.retransmission = packet.retransmission;
  question.trigger = {.psn = packet.psn,
                      .ev = packet.ev,
                      .tx_timestamp = packet.tx_timestamp,
                      .probe_id = probe ? packet.probe.probe_id : std::uint16_t{0},
                      .ce = packet.ecn == Ecn::ce,
                      .ack_request = packet.ack_request,
                      .probe = probe};
  const AckReply reply = run(nic, qp, question);
  const PipelineConfig& box = nic.config.nic.ack_coalescer.pipeline;
  // The box's latency holds the reading of the SACK out of psn_tracker too; without a SACK there is nothing to compare.
  const std::uint64_t trigger_latency =
      reply.sack ? box.latency_cycles - nic.config.nic.psn_tracker.pipeline.latency_cycles : 0;
  count({reply.occupied_cycles, reply.latency_cycles}, {box.initiation_interval_cycles, trigger_latency});
  const std::string found = difference(decision, reply);
  if (!found.empty()) {
    const auto what = [&] { return fmt::format("event {} (QP {}, PSN {})", transactions(), qp.number, packet.psn); };
    mismatch(nic.node, nic.clock.edge_index(now) + reply.latency_cycles, what, found);
  }
  if (!drives()) return;
  responder_of(qp).decide_sack(packet, decision, reply.sack.has_value());
  if (!reply.sack) return;
  const PathMark mark = decision.trigger.mark;
  decision.trigger = reply.sack->trigger;
  decision.trigger.mark = mark;
}

}  // namespace mrc
