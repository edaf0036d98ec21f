#include "nic/rx/psn_tracker_rtl_path.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/first_difference.h"
#include "nic/mrc_halves.h"

namespace mrc {
namespace {

constexpr std::array kOps{"set up", "data", "trimmed", "trimmed at the last hop", "SACK", "release", "load", "store"};

}  // namespace

void PsnTrackerRtlPath::set_up(const NicContext& nic, const Qp& qp) {
  PsnRequest first;
  first.op = PsnOp::setup;
  first.qp = nic.index_of(qp);
  first.psn = responder_of(qp).tracker().expected_psn();
  engine_->run(first);
  set_up_[first.qp] = true;
}

PsnReply PsnTrackerRtlPath::run(const NicContext& nic, const Qp& qp, PsnRequest request) {
  request.qp = nic.index_of(qp);
  if (set_up_.empty()) set_up_.resize(nic.qps.size());
  if (!set_up_[request.qp]) set_up(nic, qp);
  ++requests_;
  const PsnReply reply = engine_->run(request);
  constexpr std::uint32_t stages_that_overlap = 5;
  latest_ = {engine_->latency_cycles() - stages_that_overlap, engine_->latency_cycles()};
  return reply;
}

void PsnTrackerRtlPath::compare(const NicContext& nic, const Qp& qp, const PsnRequest& request, PsnReply expected,
                                const PsnReply& reply, TimePs now) {
  const PsnTracker& tracker = responder_of(qp).tracker();
  expected.cack = tracker.cack_psn();
  expected.highest = tracker.highest_psn();
  expected.ooo_count = tracker.ooo_count();
  // By pins, what is behind this request has banks that ring 1 does not know of yet.
  const bool knows_banks = !by_pins() || pins_.holds_one();
  const bool same_banks = !knows_banks || engine_->banks_in_use() == nic.bitmaps.in_use();
  if (expected == reply && same_banks) return;
  FirstDifference first;
  first.note_fields(expected, reply);
  if (knows_banks) first.note("banks_in_use", nic.bitmaps.in_use(), engine_->banks_in_use());
  const auto what = [&] {
    return fmt::format("request {} ({}, PSN {}, QP {})", requests_, kOps[static_cast<std::size_t>(request.op)],
                       request.psn, qp.number);
  };
  mismatch(nic.node, nic.clock.edge_index(now) + (by_pins() ? 0 : latest_.latency), what, first.text());
}

RtlCycles PsnTrackerRtlPath::service(RtlCycles systemc) {
  const RtlCycles rtl = std::exchange(latest_, RtlCycles{});
  if (rtl.latency == 0) return systemc;
  count(rtl, systemc);
  return drives() ? rtl : systemc;
}

PsnRequest PsnTrackerRtlPath::request_of(const Responder& responder, const Packet& packet,
                                         const RxResources& resources) {
  PsnRequest request;
  request.psn = packet.psn;
  if (packet.damage == Damage::trimmed) {
    request.op = packet.trimmed_at_last_hop ? PsnOp::trimmed_lasthop : PsnOp::trimmed;
    return request;
  }
  request.ends_message = ends_message(packet.opcode);
  request.conditions = responder.conditions(packet, resources);
  return request;
}

PsnRequest PsnTrackerRtlPath::request_of(const SackTrigger& trigger) {
  PsnRequest request;
  request.op = PsnOp::sack;
  request.psn = trigger.psn;
  request.ce = trigger.ce;
  request.ack_request = trigger.ack_request;
  request.probe = trigger.probe;
  request.probe_id = trigger.probe_id;
  return request;
}

void PsnTrackerRtlPath::settle(const NicContext& nic, Qp& qp, const Packet& packet, const PsnRequest& request,
                               const RxResources& resources, const PsnReply& reply, RxDecision& decision, TimePs now) {
  Responder& responder = responder_of(qp);
  const bool trimmed = packet.damage == Damage::trimmed;
  PsnReply expected;
  expected.verdict = trimmed ? responder.decide_trimmed(packet) : responder.decide(packet, resources);
  const RxVerdict& verdict = drives() ? reply.verdict : expected.verdict;
  if (trimmed) {
    responder.follow_trimmed(packet, verdict, decision);
  } else {
    responder.follow(packet, verdict, decision);
    expected.closes = static_cast<std::uint16_t>(decision.closes_messages);
  }
  compare(nic, qp, request, expected, reply, now);
  if (drives() && !trimmed) decision.closes_messages = reply.closes;
}

SackFields PsnTrackerRtlPath::settle_sack(const NicContext& nic, Qp& qp, const PsnRequest& request,
                                          const SackTrigger& trigger, const PsnReply& reply, TimePs now) {
  SackFields sack = responder_of(qp).build_sack(trigger, now);
  PsnReply expected;
  expected.sack_offset = sack.sack_offset;
  expected.ack_psn_offset = sack.ack_psn_offset;
  expected.sack_bitmap = sack.sack_bitmap;
  expected.mpr = sack.mpr;
  compare(nic, qp, request, expected, reply, now);
  if (!drives()) return sack;
  sack.cack_psn = reply.cack;
  sack.sack_offset = reply.sack_offset;
  sack.ack_psn_offset = reply.ack_psn_offset;
  sack.sack_bitmap = reply.sack_bitmap;
  sack.ooo_count = reply.ooo_count;
  sack.mpr = reply.mpr;
  return sack;
}

RxDecision PsnTrackerRtlPath::accept(NicContext& nic, Qp& qp, const Packet& packet, const RxResources& resources,
                                     TimePs now) {
  Responder& responder = responder_of(qp);
  RxDecision decision;
  if (!responder.arrives(packet, decision)) return decision;
  const PsnRequest request = request_of(responder, packet, resources);
  settle(nic, qp, packet, request, resources, run(nic, qp, request), decision, now);
  return decision;
}

RxDecision PsnTrackerRtlPath::on_trimmed(NicContext& nic, Qp& qp, const Packet& packet, TimePs now) {
  Responder& responder = responder_of(qp);
  RxDecision decision;
  if (!responder.arrives_trimmed(packet, decision)) return decision;
  const PsnRequest request = request_of(responder, packet, {});
  settle(nic, qp, packet, request, {}, run(nic, qp, request), decision, now);
  return decision;
}

SackFields PsnTrackerRtlPath::build_sack(NicContext& nic, Qp& qp, const SackTrigger& trigger, TimePs now) {
  const PsnRequest request = request_of(trigger);
  const SackFields sack = settle_sack(nic, qp, request, trigger, run(nic, qp, request), now);
  latest_ = {};  // the cycles of ack_coalescer, which asks, stay its own
  return sack;
}

void PsnTrackerRtlPath::renew(const NicContext& nic, const Qp& qp, Psn cack, TimePs now) {
  const std::uint32_t index = nic.index_of(qp);
  if (index >= set_up_.size() || !set_up_[index]) return;
  ++requests_;
  PsnRequest request;
  request.op = PsnOp::release;
  request.qp = index;
  const PsnReply reply = engine_->run(request);
  PsnReply expected;
  expected.cack = cack;
  expected.highest = cack;
  FirstDifference first;
  first.note_fields(expected, reply);
  first.note("banks_in_use", nic.bitmaps.in_use(), engine_->banks_in_use());
  if (const std::string found = first.text(); !found.empty()) {
    const auto what = [&] { return fmt::format("request {} (release, QP {})", requests_, qp.number); };
    mismatch(nic.node, nic.clock.edge_index(now), what, found);
  }
  // At once, so that no context without a QP is ever stored.
  set_up(nic, qp);
}

void PsnTrackerRtlPath::set_up_by_pins(const NicContext& nic, const Qp& qp) {
  if (set_up_.empty()) set_up_.resize(nic.qps.size());
  const std::uint32_t index = nic.index_of(qp);
  if (set_up_[index]) return;
  set_up_[index] = true;
  PsnAsk first;
  first.op = PsnOp::setup;
  first.qp = index;
  first.psn = responder_of(qp).tracker().expected_psn();
  asked_.push_back(first);
}

bool PsnTrackerRtlPath::ask(const NicContext& nic, Qp& qp, PsnAsk& ask) {
  Responder& responder = responder_of(qp);
  const Packet& packet = *ask.packet;
  const bool asks = packet.damage == Damage::trimmed ? responder.arrives_trimmed(packet, ask.decision)
                                                     : responder.arrives(packet, ask.decision);
  if (!asks) return false;
  set_up_by_pins(nic, qp);
  PsnRequest request = request_of(responder, packet, ask.resources);
  request.qp = nic.index_of(qp);
  request.reflects = ask.reflects;
  static_cast<PsnRequest&>(ask) = request;
  asked_.push_back(ask);
  return true;
}

void PsnTrackerRtlPath::pass_probe(const NicContext& nic, const Qp& qp, PsnAsk& ask) {
  set_up_by_pins(nic, qp);
  ask.is_probe = true;
  ask.qp = nic.index_of(qp);
  asked_.push_back(ask);
}

void PsnTrackerRtlPath::offer_next(const NicContext& nic, TimePs now) {
  if (asked_.empty() && reads_.ready(now)) {
    PsnAsk ask;
    ask.read = reads_.pop(now);
    set_up_by_pins(nic, nic.qps[ask.read.qp]);
    static_cast<PsnRequest&>(ask) = request_of(ask.read.trigger);
    ask.qp = ask.read.qp;
    asked_.push_back(ask);
  }
  if (asked_.empty()) return;
  pins_.offer(asked_.front());
  asked_.pop_front();
}

PinCycle PsnTrackerRtlPath::clock(std::uint64_t cycle, bool takes) {
  const PinCycle pins = pins_.clock(cycle, false, takes);
  if (pins_.was_occupied()) count_occupied();
  if (pins.last_out) latest_.latency = pins_.age_of_oldest(cycle);
  return pins;
}

PsnAsk PsnTrackerRtlPath::conclude(NicContext& nic, TimePs now) {
  PsnAsk ask = pins_.oldest();
  if (ask.op != PsnOp::setup && !ask.is_probe) ++requests_;
  Qp& qp = nic.qps[ask.qp];
  const PsnReply& reply = engine_->answer();
  if (ask.is_probe) {
    ask.decision = qp.receiver->receive(*ask.packet, {}, now);
  } else if (ask.packet != nullptr) {
    settle(nic, qp, *ask.packet, ask, ask.resources, reply, ask.decision, now);
    if (ask.decision.place) {
      const std::uint32_t more = kPsnTrackerCyclesPerBank * qp.receiver->more_cycles(ask.packet->psn);
      ask.systemc.occupied += more;
      ask.systemc.latency += more;
    }
    count({0, latest_.latency}, ask.systemc);
  } else if (ask.op == PsnOp::sack) {
    ask.read.sack = settle_sack(nic, qp, ask, ask.read.trigger, reply, now);
  }
  pins_.drop_oldest();
  return ask;
}

}  // namespace mrc
