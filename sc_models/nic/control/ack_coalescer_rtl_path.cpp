#include "nic/control/ack_coalescer_rtl_path.h"

#include <string>

#include <fmt/format.h>

#include "engine/first_difference.h"
#include "nic/mrc_halves.h"

namespace mrc {
namespace {

/// First field in which the answers differ, empty without one.
std::string difference(const RxDecision& own, const SackOwed* sack) {
  FirstDifference first;
  first.note("causes", own.sack ? own.sack_causes : 0, sack != nullptr ? sack->causes : 0);
  if (!own.sack || sack == nullptr) return first.text();
  const SackTrigger& rtl = sack->trigger;
  first.note("counter_bytes", own.sack_counter_bytes, sack->counter_bytes);
  first.note("psn", own.trigger.psn, rtl.psn);
  first.note("ev", own.trigger.ev, rtl.ev);
  first.note("tx_timestamp", own.trigger.tx_timestamp, rtl.tx_timestamp);
  first.note("probe_id", own.trigger.probe_id, rtl.probe_id);
  first.note("ce", own.trigger.ce, rtl.ce);
  first.note("ack_request", own.trigger.ack_request, rtl.ack_request);
  first.note("probe", own.trigger.probe, rtl.probe);
  return first.text();
}

/// The box's latency holds the reading of the SACK out of psn_tracker too; without a SACK there is nothing to compare.
RtlCycles box_cycles(const NicContext& nic, bool sack) {
  const PipelineConfig& box = nic.config.nic.ack_coalescer.pipeline;
  return {box.initiation_interval_cycles,
          sack ? box.latency_cycles - nic.config.nic.psn_tracker.pipeline.latency_cycles : 0};
}

}  // namespace

std::optional<SackQuestion> AckCoalescerRtlPath::question_about(const Packet& packet, const RxDecision& decision) {
  const bool probe = packet.opcode == Opcode::probe_request;
  const bool duplicate =
      decision.outcome == PsnOutcome::duplicate_below || decision.outcome == PsnOutcome::duplicate_above;
  if (!decision.admitted || !(probe || duplicate || decision.place)) return {};
  SackQuestion question = about(packet);
  question.event = probe ? SackEvent::probe : decision.place ? SackEvent::data : SackEvent::duplicate;
  return question;
}

SackQuestion AckCoalescerRtlPath::about(const Packet& packet) {
  const bool probe = packet.opcode == Opcode::probe_request;
  SackQuestion question;
  question.payload_bytes = packet.payload_bytes;
  question.retransmission = packet.retransmission;
  question.trigger = {.psn = packet.psn,
                      .ev = packet.ev,
                      .tx_timestamp = packet.tx_timestamp,
                      .probe_id = probe ? packet.probe.probe_id : std::uint16_t{0},
                      .ce = packet.ecn == Ecn::ce,
                      .ack_request = packet.ack_request,
                      .probe = probe};
  return question;
}

void AckCoalescerRtlPath::compare(const NicContext& nic, std::uint32_t qp, Psn psn, const RxDecision& own,
                                  const SackOwed* sack, std::uint64_t cycle) {
  const std::string found = difference(own, sack);
  if (found.empty()) return;
  const auto what = [&] { return fmt::format("event {} (QP {}, PSN {})", transactions(), nic.qps[qp].number, psn); };
  mismatch(nic.node, cycle, what, found);
}

std::optional<SackAsk> AckCoalescerRtlPath::ask(const NicContext& nic, const Qp& qp, const Packet& packet,
                                                const RxDecision& decision) {
  const std::optional<SackQuestion> question = question_about(packet, decision);
  if (!question) return {};
  return SackAsk{{nic.index_of(qp), *question}, decision};
}

PinCycle AckCoalescerRtlPath::clock(const NicContext& nic, std::uint64_t cycle, bool takes) {
  const PinCycle pins = pins_.clock(cycle, false, takes);
  if (pins_.was_occupied()) count_occupied();
  for (std::uint32_t i = 0; i < pins.unanswered; ++i) finish(nic, cycle, nullptr);
  return pins;
}

SackTrigger AckCoalescerRtlPath::trigger(const NicContext& nic, std::uint64_t cycle) {
  SackTrigger trigger = engine_->answer().trigger;
  trigger.mark = pins_.oldest().own.trigger.mark;
  finish(nic, cycle, &engine_->answer());
  return trigger;
}

void AckCoalescerRtlPath::finish(const NicContext& nic, std::uint64_t cycle, const SackOwed* sack) {
  const SackAsk& asked = pins_.oldest();
  count({0, sack == nullptr ? 0 : pins_.age_of_oldest(cycle)}, box_cycles(nic, sack != nullptr));
  compare(nic, asked.qp, asked.question.trigger.psn, asked.own, sack, cycle);
  pins_.drop_oldest();
}

void AckCoalescerRtlPath::judge(const NicContext& nic, Qp& qp, const Packet& packet, RxDecision& decision, TimePs now) {
  if (by_pins()) return;
  const std::optional<SackQuestion> question = question_about(packet, decision);
  if (!question) return;
  const AckReply reply = engine_->event(nic.index_of(qp), *question);
  count({reply.occupied_cycles, reply.latency_cycles}, box_cycles(nic, reply.sack.has_value()));
  compare(nic, nic.index_of(qp), packet.psn, decision, reply.sack ? &*reply.sack : nullptr,
          nic.clock.edge_index(now) + reply.latency_cycles);
  if (!drives()) return;
  responder_of(qp).decide_sack(packet, decision, reply.sack.has_value());
  if (!reply.sack) return;
  const PathMark mark = decision.trigger.mark;
  decision.trigger = reply.sack->trigger;
  decision.trigger.mark = mark;
}

}  // namespace mrc
