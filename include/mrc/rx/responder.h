// The receiving half of a QP: the outcome of each packet, the responses, and the completion of messages.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "mrc/packet.h"
#include "mrc/protocol_config.h"
#include "mrc/qp_state.h"
#include "mrc/ring.h"
#include "mrc/rx/ack_coalescer.h"
#include "mrc/rx/mark_streaks.h"
#include "mrc/rx/protection.h"
#include "mrc/rx/psn_tracker.h"
#include "mrc/rx/receive_window.h"
#include "mrc/types.h"

namespace mrc {

/// Resources of the NIC for a packet at present; a missing one causes the corresponding NACK.
struct RxResources {
  bool packet_buffer_available = true;
  bool other_resource_available = true;
};

/// The end that a QP is connected to, as its packets name it.
struct QpPeer {
  NodeId node = 0;
  std::uint16_t pkey = 0xFFFF;
};

/// Actions for a packet. The caller does them in this order: NACK, repeated transport ACK, SACK; write.
struct RxDecision {
  bool admitted = true;  ///< false: dropped or refused before the window, `outcome` is not valid
  PsnOutcome outcome = PsnOutcome::accept;
  bool is_duplicate() const { return outcome == PsnOutcome::duplicate_below || outcome == PsnOutcome::duplicate_above; }
  NackReason nack = NackReason::none;
  bool place = false;  ///< write the payload to memory
  bool sack = false;
  bool repeat_transport_ack = false;
  std::uint32_t closes_messages = 0;     ///< to be handed to writes_issued() once this packet's write is issued
  SackTrigger trigger;                   ///< with sack
  std::uint8_t sack_causes = 0;          ///< why it is owed, kSackByBytes …
  std::uint32_t sack_counter_bytes = 0;  ///< bytes counted when that was decided
};

/// A WRITE_IMM that has arrived, in the order of sending.
struct ReceiveCompletion {
  std::uint32_t immediate = 0;
  std::uint16_t msn = 0;
};

struct ResponderCounters {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates_below = 0;
  std::uint64_t duplicates_above = 0;
  std::uint64_t out_of_window = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t ce_marked = 0;
  std::array<std::uint64_t, kProtectionFaults> protection_faults{};  ///< by ProtectionFault
  std::uint64_t not_receiving = 0;        ///< packets that came in a state other than RTR and RTS
  std::uint64_t receive_overflows = 0;    ///< WRITE_IMM without a posted receive
  std::uint64_t write_imm_overflows = 0;  ///< WRITE_IMM beyond max_write_imm in flight
};

class Responder {
 public:
  /// In RESET. `protection` and `bitmaps` are the NIC's and outlive the responder.
  Responder(const ProtocolConfig& config, Psn first_psn, BitmapPool& bitmaps, const ProtectionTable& protection,
            ProtectionDomain domain, QpPeer peer = {})
      : config_(&config),
        peer_(peer),
        protection_(&protection),
        domain_(domain),
        window_(config, first_psn, bitmaps),
        triggers_(config),
        streaks_(config.always_skip_threshold) {}

  /// What was accepted before a step to ERROR is still written and acknowledged.
  ModifyStatus modify(QpState to) {
    if (!may_modify(state_, to)) return ModifyStatus::illegal_transition;
    state_ = to;
    return ModifyStatus::changed;
  }
  QpState state() const { return state_; }

  /// Software posts `count` receives, one of which each WRITE_IMM consumes. False, and none posted, in RESET and when
  /// more than `receive_queue_depth` would wait.
  bool post_receive(std::uint32_t count) {
    if (state_ == QpState::reset || count > config_->receive_queue_depth - receives_) return false;
    receives_ += count;
    return true;
  }
  std::uint32_t receives_posted() const { return receives_; }

  /// A data packet that arrived whole. Room for its payload is reserved by the caller before this sets its bit.
  RxDecision accept(const Packet& packet, const RxResources& resources, TimePs) {
    RxDecision decision;
    if (arrives(packet, decision)) follow(packet, decide(packet, resources), decision);
    return decision;
  }
  /// A trimmed packet: NACK while its PSN is missing, otherwise the same as a duplicate.
  RxDecision on_trimmed(const Packet& packet, TimePs) {
    RxDecision decision;
    if (arrives_trimmed(packet, decision)) follow_trimmed(packet, decide_trimmed(packet), decision);
    return decision;
  }

  // The same in steps, for who has another verdict to put in the place of this one's.

  /// Whether the packet gets as far as the window; `decision` is final where it does not.
  bool arrives(const Packet& packet, RxDecision& decision) {
    if (packet.ecn == Ecn::ce) ++counters_.ce_marked;
    if (!admit(packet, decision)) return false;
    if (packet.ecn != Ecn::ce) streaks_.unmarked(packet.ev);
    return true;
  }
  bool arrives_trimmed(const Packet& packet, RxDecision& decision) {
    ++counters_.trimmed;
    return admit(packet, decision);
  }
  /// What else than its PSN decides about a packet.
  RxConditions conditions(const Packet& packet, const RxResources& resources) const {
    return {.allowed = protection_->check(packet, domain_) == ProtectionFault::none,
            .packet_buffer = resources.packet_buffer_available,
            .other_resource = resources.other_resource_available,
            .receive = !has_immediate(packet.opcode) || (write_imm_fits(packet) && receives_ > 0)};
  }
  RxVerdict decide(const Packet& packet, const RxResources& resources) const {
    return window_.decide(packet.psn, [&] { return conditions(packet, resources); });
  }
  RxVerdict decide_trimmed(const Packet& packet) const {
    return window_.decide_trimmed(packet.psn, packet.trimmed_at_last_hop);
  }
  void follow(const Packet& packet, const RxVerdict& verdict, RxDecision& decision) {
    count(verdict.outcome);
    follow_trimmed(packet, verdict, decision);
    if (verdict.place) return take_in(packet, decision);
    if (verdict.nack == NackReason::unexp_event) refuse(packet);
  }
  void follow_trimmed(const Packet& packet, const RxVerdict& verdict, RxDecision& decision) {
    decision.outcome = verdict.outcome;
    decision.nack = verdict.nack;
    decision.repeat_transport_ack = verdict.repeat_ack;
    if (verdict.duplicate) acknowledge(SackEvent::duplicate, packet, decision);
  }

  /// Somebody else has decided whether a SACK is owed for this packet.
  void decide_sack(const Packet& packet, RxDecision& decision, bool owed) {
    if (owed == decision.sack) return;
    if (owed) return owe_sack(packet, decision);
    decision.sack = false;
    triggers_.not_sent(decision.sack_counter_bytes);
  }

  /// RELIABILITY_PROBE_REQ: answered by a SACK with pr = 1.
  RxDecision on_probe(const Packet& packet, TimePs) {
    RxDecision decision;
    if (!admit(packet, decision)) return decision;
    acknowledge(SackEvent::probe, packet, decision);
    decision.trigger.probe = true;
    decision.trigger.probe_id = packet.probe.probe_id;
    return decision;
  }

  /// What the SACK grants and restores counts as said.
  SackFields build_sack(const SackTrigger& trigger, TimePs) {
    SackFields sack;
    window_.fill(trigger, sack);
    sack.probe = trigger.probe;
    sack.entropy = trigger.ev;
    sack.mark = trigger.mark;
    sack.tx_timestamp = trigger.tx_timestamp;
    sack.rcvd_bytes = static_cast<std::uint32_t>((rcvd_bytes_ + 255) >> 8) & 0xFF'FFFF;
    sack.rcv_cwnd_pen = penalty_;
    sack.restore_cwnd = std::exchange(restore_cwnd_, false);
    return sack;
  }
  NackFields build_nack(const Packet& packet, NackReason reason) const {
    return {.nack_psn = packet.psn, .entropy = packet.ev, .tx_timestamp = packet.tx_timestamp, .reason = reason};
  }

  /// The write that closed `messages` has issued its last TLP: the transport ACK that follows it.
  std::optional<TransportAckFields> writes_issued(std::uint32_t messages) {
    if (messages == 0) return std::nullopt;
    acknowledged_ += messages;
    return repeat_transport_ack();
  }
  /// The current transport ACK; also for a duplicate below the edge.
  TransportAckFields repeat_transport_ack() const { return {.msn = acknowledged_ & 0xFF'FFFF}; }

  /// Completed WRITE_IMMs whose data has been issued, in the order of sending.
  bool pop_receive(ReceiveCompletion& completion) {
    if (immediates_.empty()) return false;
    const Immediate& first = immediates_.front();
    if (static_cast<std::int16_t>(first.msn - static_cast<std::uint16_t>(acknowledged_)) >= 0) return false;
    completion = {first.value, first.msn};
    immediates_.pop();
    ++completed_write_imms_;
    return true;
  }

  /// Back-pressure of the NIC: rcv_cwnd_pen 0 … 127 in each SACK from now on. The first SACK after a penalty lets the
  /// sender restore its window (assumption).
  void set_penalty(std::uint8_t penalty) {
    restore_cwnd_ = penalty == 0 && (penalty_ > 0 || restore_cwnd_);
    penalty_ = penalty;
  }

  Psn cack_psn() const { return tracker().cack_psn(); }
  const PsnTracker& tracker() const { return window_.tracker(); }
  const ResponderCounters& counters() const { return counters_; }
  std::uint64_t rcvd_bytes() const { return rcvd_bytes_; }

 private:
  struct Immediate {
    std::uint32_t value = 0;
    std::uint16_t msn = 0;
  };

  /// True if the packet belongs to this connection and the QP receives. Other packets are dropped without an answer,
  /// which could only mislead the sender (assumption); a QP in ERROR refuses data, for which its peer must fail too.
  bool admit(const Packet& packet, RxDecision& decision) {
    ProtectionFault fault = ProtectionFault::none;
    if (packet.source_node != peer_.node) fault = ProtectionFault::wrong_source;
    if (packet.pkey != peer_.pkey) fault = ProtectionFault::bad_pkey;
    const bool receives = state_ == QpState::rtr || state_ == QpState::rts;
    decision.admitted = fault == ProtectionFault::none && receives;
    if (fault != ProtectionFault::none) {
      ++counters_.protection_faults[static_cast<std::size_t>(fault)];
    } else if (!receives) {
      ++counters_.not_receiving;
      if (state_ == QpState::error && is_data(packet.opcode)) decision.nack = NackReason::unexp_event;
    }
    return decision.admitted;
  }

  void count(PsnOutcome outcome) {
    counters_.duplicates_below += outcome == PsnOutcome::duplicate_below ? 1 : 0;
    counters_.duplicates_above += outcome == PsnOutcome::duplicate_above ? 1 : 0;
    counters_.out_of_window += outcome == PsnOutcome::out_of_window ? 1 : 0;
  }

  /// The packet requests what its QP does not allow: the peer is notified and the QP enters ERROR.
  void refuse(const Packet& packet) {
    const ProtectionFault fault = protection_->check(packet, domain_);
    if (fault != ProtectionFault::none) {
      ++counters_.protection_faults[static_cast<std::size_t>(fault)];
    } else if (!write_imm_fits(packet)) {
      ++counters_.write_imm_overflows;
    } else {
      ++counters_.receive_overflows;
    }
    state_ = QpState::error;
  }

  /// False: the software of the peer has sent more WRITE_IMMs than allowed.
  bool write_imm_fits(const Packet& packet) const {
    return static_cast<std::uint16_t>(packet.rqmsn - completed_write_imms_) < config_->max_write_imm;
  }

  void take_in(const Packet& packet, RxDecision& decision) {
    ++counters_.accepted;
    rcvd_bytes_ += nominal_bytes(packet);
    if (has_immediate(packet.opcode)) {
      receives_ -= receives_ > 0 ? 1 : 0;  // a WRITE_IMM consumes one when its last packet arrives
      stash_immediate({packet.immediate, packet.msn});
    }
    decision.place = true;
    decision.closes_messages = window_.place(packet.psn, ends_message(packet.opcode));
    acknowledge(SackEvent::data, packet, decision);
  }

  /// Keeps immediates in the order of their messages although their packets arrive in any order.
  void stash_immediate(Immediate immediate) {
    immediates_.push(immediate);
    for (std::uint64_t i = immediates_.size() - 1; i > 0; --i) {
      if (static_cast<std::int16_t>(immediates_[i].msn - immediates_[i - 1].msn) > 0) return;
      std::swap(immediates_[i], immediates_[i - 1]);
    }
  }

  PathMark mark_of(const Packet& packet) {
    if (packet.ecn != Ecn::ce) return PathMark::none;
    return streaks_.marked(packet.ev) ? PathMark::always_skip : PathMark::skip_once;
  }

  void acknowledge(SackEvent event, const Packet& packet, RxDecision& decision) {
    decision.sack_causes = triggers_.causes(event, packet);
    decision.sack_counter_bytes = triggers_.counter_bytes();
    if (decision.sack_causes != 0) owe_sack(packet, decision);
  }
  void owe_sack(const Packet& packet, RxDecision& decision) {
    decision.sack = true;
    decision.trigger = {.psn = packet.psn,
                        .ev = packet.ev,
                        .tx_timestamp = packet.tx_timestamp,
                        .ce = packet.ecn == Ecn::ce,
                        .ack_request = packet.ack_request,
                        .mark = mark_of(packet)};
    triggers_.sent();
  }

  const ProtocolConfig* config_;
  QpPeer peer_;
  QpState state_ = QpState::reset;
  const ProtectionTable* protection_;
  ProtectionDomain domain_;
  ReceiveWindow window_;
  SackTriggers triggers_;
  MarkStreaks streaks_;
  Ring<Immediate> immediates_;
  std::uint64_t rcvd_bytes_ = 0;
  std::uint32_t acknowledged_ = 0;          ///< messages complete and written
  std::uint32_t receives_ = 0;              ///< posted and not consumed
  std::uint16_t completed_write_imms_ = 0;  ///< handed out by pop_receive(), modulo 2^16 as RQMSN
  std::uint8_t penalty_ = 0;
  bool restore_cwnd_ = false;
  ResponderCounters counters_;
};

}  // namespace mrc
