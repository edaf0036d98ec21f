#include "nic/rx/psn_tracker_rtl_path.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/first_difference.h"
#include "nic/mrc_halves.h"

namespace mrc {
namespace {

constexpr std::array kOps{"set up", "data", "trimmed", "trimmed at the last hop", "SACK", "release"};

}  // namespace

void PsnTrackerRtlPath::check(const NicContext& nic) const {
  if (nic.qps.size() <= sizes_.qps) return;
  throw std::invalid_argument(
      fmt::format("nic{} has {} QPs: RTL of psn_tracker is built for {}", nic.node, nic.qps.size(), sizes_.qps));
}

PsnReply PsnTrackerRtlPath::run(const NicContext& nic, const Qp& qp, PsnRequest request) {
  request.qp = nic.index_of(qp);
  if (set_up_.empty()) set_up_.resize(sizes_.qps);
  if (!set_up_[request.qp]) {
    PsnRequest first;
    first.op = PsnOp::setup;
    first.qp = request.qp;
    first.psn = responder_of(qp).tracker().expected_psn();
    engine_->run(first);
    set_up_[request.qp] = true;
  }
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
  const bool same_banks = engine_->banks_in_use() == nic.bitmaps.in_use();
  if (expected == reply && same_banks) return;
  FirstDifference first;
  first.note_fields(expected, reply);
  first.note("banks_in_use", nic.bitmaps.in_use(), engine_->banks_in_use());
  const auto what = [&] {
    return fmt::format("request {} ({}, PSN {}, QP {})", requests_, kOps[static_cast<std::size_t>(request.op)],
                       request.psn, qp.number);
  };
  mismatch(nic.node, nic.clock.edge_index(now) + latest_.latency, what, first.text());
}

RtlCycles PsnTrackerRtlPath::service(RtlCycles systemc) {
  const RtlCycles rtl = std::exchange(latest_, RtlCycles{});
  if (rtl.latency == 0) return systemc;
  count(rtl, systemc);
  return drives() ? rtl : systemc;
}

RxDecision PsnTrackerRtlPath::accept(NicContext& nic, Qp& qp, const Packet& packet, const RxResources& resources,
                                     TimePs now) {
  Responder& responder = responder_of(qp);
  RxDecision decision;
  if (!responder.arrives(packet, decision)) return decision;
  PsnRequest request;
  request.psn = packet.psn;
  request.ends_message = ends_message(packet.opcode);
  request.conditions = responder.conditions(packet, resources);
  PsnReply expected;
  expected.verdict = responder.decide(packet, resources);
  const PsnReply reply = run(nic, qp, request);
  responder.follow(packet, drives() ? reply.verdict : expected.verdict, decision);
  expected.closes = static_cast<std::uint16_t>(decision.closes_messages);
  compare(nic, qp, request, expected, reply, now);
  if (drives()) decision.closes_messages = reply.closes;
  return decision;
}

RxDecision PsnTrackerRtlPath::on_trimmed(NicContext& nic, Qp& qp, const Packet& packet, TimePs now) {
  Responder& responder = responder_of(qp);
  RxDecision decision;
  if (!responder.arrives_trimmed(packet, decision)) return decision;
  PsnRequest request;
  request.op = packet.trimmed_at_last_hop ? PsnOp::trimmed_lasthop : PsnOp::trimmed;
  request.psn = packet.psn;
  PsnReply expected;
  expected.verdict = responder.decide_trimmed(packet);
  const PsnReply reply = run(nic, qp, request);
  responder.follow_trimmed(packet, drives() ? reply.verdict : expected.verdict, decision);
  compare(nic, qp, request, expected, reply, now);
  return decision;
}

SackFields PsnTrackerRtlPath::build_sack(NicContext& nic, Qp& qp, const SackTrigger& trigger, TimePs now) {
  PsnRequest request;
  request.op = PsnOp::sack;
  request.psn = trigger.psn;
  request.ce = trigger.ce;
  request.ack_request = trigger.ack_request;
  request.probe = trigger.probe;
  request.probe_id = trigger.probe_id;
  const PsnReply reply = run(nic, qp, request);
  SackFields sack = responder_of(qp).build_sack(trigger, now);
  PsnReply expected;
  expected.sack_offset = sack.sack_offset;
  expected.ack_psn_offset = sack.ack_psn_offset;
  expected.sack_bitmap = sack.sack_bitmap;
  expected.mpr = sack.mpr;
  compare(nic, qp, request, expected, reply, now);
  latest_ = {};  // the cycles of ack_coalescer, which asks, stay its own
  if (!drives()) return sack;
  sack.cack_psn = reply.cack;
  sack.sack_offset = reply.sack_offset;
  sack.ack_psn_offset = reply.ack_psn_offset;
  sack.sack_bitmap = reply.sack_bitmap;
  sack.ooo_count = reply.ooo_count;
  sack.mpr = reply.mpr;
  return sack;
}

}  // namespace mrc
