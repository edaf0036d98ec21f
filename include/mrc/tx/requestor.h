// The sending half of a QP: which packet goes next under which window, what acknowledgements do, what is lost and sent
// again, when a message is complete. Time is an argument in picoseconds and never goes back between calls.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "mrc/control/congestion.h"
#include "mrc/control/path_table.h"
#include "mrc/packet.h"
#include "mrc/protocol_config.h"
#include "mrc/qp_state.h"
#include "mrc/ring.h"
#include "mrc/tx/retransmit_buffer.h"
#include "mrc/tx/retransmit_port.h"
#include "mrc/tx/segmenter.h"
#include "mrc/tx/work_request.h"
#include "mrc/types.h"

namespace mrc {

/// Whether and why a QP may not send now.
enum class SendGate : std::uint8_t { ready, idle, blocked_mpr, blocked_cwnd, blocked_write_imm, in_error };

enum class PostStatus : std::uint8_t { posted, bad_length, not_ready_to_send };

/// One packet to send, as headers need it.
struct SendPlan {
  std::uint64_t local_address = 0;
  std::uint64_t va = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t dma_length = 0;
  std::uint32_t rkey = 0;
  std::uint32_t immediate = 0;
  std::uint32_t nominal_bytes = 0;  ///< charged to inflight; 0 for a repetition that is not charged
  Psn psn = 0;
  std::uint16_t msn = 0;
  std::uint16_t rqmsn = 0;
  Opcode opcode = Opcode::write_only;
  bool retransmission = false;
  bool ack_request = false;
  CutCause lost_by = CutCause::none;  ///< of a retransmission: what made it necessary
};

/// What a packet from the responder, or a timer, has changed.
struct AckResult {
  std::uint32_t records_freed = 0;  ///< packets newly acknowledged
  std::uint32_t declared_lost = 0;
  bool advanced = false;  ///< cack moved
};

struct RequestorCounters {
  std::uint64_t packets = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t gap_losses = 0;
  std::uint64_t nack_losses = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t timeout_losses = 0;
  std::uint64_t spurious_losses = 0;  ///< declared lost, then acknowledged before they were sent again
  std::uint64_t sacks = 0;
  std::uint64_t nacks = 0;
};

class Requestor {
 public:
  /// In RESET. `paths` and `congestion` outlive it; others may share them.
  Requestor(const ProtocolConfig& config, PathTable& paths, CongestionControl& congestion, Psn first_psn)
      : config_(&config),
        paths_(&paths),
        congestion_(&congestion),
        mpr_psns_(config.mpr_units * kMprUnitPsns),
        buffer_(first_psn) {}

  /// `freed`: what a step to ERROR gives back; the work that was pending is flushed.
  ModifyStatus modify(QpState to, AckResult& freed) {
    if (!may_modify(state_, to)) return ModifyStatus::illegal_transition;
    state_ = to;
    if (to == QpState::error) fail(CompletionStatus::flushed, freed);
    return ModifyStatus::changed;
  }
  ModifyStatus modify(QpState to) {
    AckResult freed;
    return modify(to, freed);
  }

  /// The NIC has lost what it knew about the QP: the oldest message ends so, the others are flushed.
  void fail_locally(AckResult& freed) {
    if (state_ != QpState::error) fail(CompletionStatus::local_qp_operation_error, freed);
  }

  /// The records of this QP, `qp` by index, are asked for there too. Before the first packet; `port` outlives it.
  void use_port(RetransmitPort& port, std::uint32_t qp) {
    port_ = &port;
    port_qp_ = qp;
    RetransmitCommand command = command_of(RetransmitOp::open, 0);
    command.psn = buffer_.next_psn();
    ask(command);
    RetransmitReply expected;
    expected.hit = true;
    compare(command, expected);
  }

  /// Sends only in RTS; work posted in ERROR is flushed.
  PostStatus post(const WorkRequest& request, TimePs now) {
    if (request.bytes == 0) return PostStatus::bad_length;
    if (state_ == QpState::error) {
      completions_.push({request.id, CompletionStatus::flushed});
      return PostStatus::posted;
    }
    if (state_ != QpState::rts) return PostStatus::not_ready_to_send;
    if (messages_.empty()) progress_at_ = now;
    Message message{.request = request, .msn = next_msn_++};
    if (request.write_imm) message.rqmsn = next_rqmsn_++;
    messages_.push(message);
    return PostStatus::posted;
  }

  /// May a packet be taken now? Retransmissions come first, under the same windows.
  SendGate gate(TimePs) const {
    if (state_ == QpState::error) return SendGate::in_error;
    if (repeat_last_) return SendGate::ready;
    if (buffer_.has_lost()) {
      const Psn psn = buffer_.oldest_lost();
      if (psn_distance(psn, buffer_.unacked_psn()) >= static_cast<std::int32_t>(mpr_psns_))
        return SendGate::blocked_mpr;
      return congestion_->may_send(buffer_.at(psn).nominal_bytes) ? SendGate::ready : SendGate::blocked_cwnd;
    }
    if (taking_ - first_message_ >= messages_.size()) return SendGate::idle;
    if (buffer_.span() >= mpr_psns_) return SendGate::blocked_mpr;
    const Message& message = messages_[taking_ - first_message_];
    if (message.taken_bytes == 0 && message.request.write_imm && write_imm_in_flight_ >= config_->max_write_imm) {
      return SendGate::blocked_write_imm;
    }
    return congestion_->may_send(next_nominal_bytes(message)) ? SendGate::ready : SendGate::blocked_cwnd;
  }
  bool next_is_retransmission() const { return repeat_last_ || buffer_.has_lost(); }

  /// The next packet; it is in flight from now on. Precondition: gate() == ready.
  SendPlan take(TimePs now) {
    ++counters_.packets;
    if (repeat_last_) return take_repetition(now);
    return buffer_.has_lost() ? take_retransmission(now) : take_new(now);
  }
  /// The packet has left the spray scheduler on `ev`; its timer runs from now.
  void transmitted(Psn psn, EvIndex ev, TimePs now) {
    if (!by_port()) {
      buffer_.transmitted(psn, ev, now, timer_of(psn));
      return;
    }
    RetransmitCommand command = command_of(RetransmitOp::sent, now);
    command.psn = psn;
    command.ev = ev;
    RetransmitReply expected;
    expected.hit = buffer_.is_in(psn, RecordState::in_pipeline);
    if (ask(command).hit || !port_->drives()) buffer_.transmitted(psn, ev, now, timer_of(psn));
    compare(command, expected);
  }

  /// RELIABILITY_SACK. None of its fields carries the responder's service time (capability SVC_TIME), so RTT samples
  /// contain it.
  AckResult on_sack(const SackFields& sack, TimePs now) {
    ++counters_.sacks;
    // A SACK that another has overtaken grants what the responder may have taken back since.
    const bool newest = psn_distance(sack.cack_psn, psn_add(buffer_.unacked_psn(), -1)) >= 0;
    if (config_->dynamic_mpr && sack.mpr != 0 && newest) mpr_psns_ = std::uint32_t{sack.mpr} * kMprUnitPsns;
    const TimePs rtt = rtt_sample(sack, now);
    report_path(sack, now);
    AckResult result;
    acknowledge_all(sack.cack_psn, psn_add(sack.cack_psn, sack.sack_offset), sack.sack_bitmap, result, now);
    congestion_->on_ack({.now = now,
                         .rtt_ps = rtt,
                         .newly_received_bytes = newly_received(sack.rcvd_bytes),
                         .ecn = sack.mark == PathMark::skip_once,
                         .receiver_penalty = sack.rcv_cwnd_pen,
                         .restore_cwnd = sack.restore_cwnd});
    infer_losses(result, now);
    return result;
  }

  AckResult on_nack(const NackFields& nack, TimePs now) {
    ++counters_.nacks;
    AckResult result;
    if (nack.reason == NackReason::unexp_event) {
      fail(CompletionStatus::remote_operation_error, result);
      return result;
    }
    if (!buffer_.contains(nack.nack_psn)) return result;
    const SendRecord& record = buffer_.at(nack.nack_psn);
    const std::uint32_t bytes = record.nominal_bytes;
    const TimePs rtt = is_unambiguous(record) ? now - record.sent_at : 0;
    if (!refuse(nack.nack_psn, cut_cause(nack.reason), now)) return result;
    congestion_->discharge(bytes);
    ++counters_.nack_losses;
    ++result.declared_lost;
    const EvIndex ev = paths_->find(nack.entropy);
    if (nack.reason == NackReason::trimmed) {
      if (ev != kNoEv) paths_->report(ev, PathEvent::trimmed, now);
      congestion_->on_trim({.now = now, .rtt_ps = rtt, .bytes = bytes});
    } else if (nack.reason == NackReason::trimmed_lasthop) {
      congestion_->on_trim({.now = now, .rtt_ps = rtt, .bytes = bytes, .last_hop = true});
    } else {
      congestion_->on_refusal(bytes, now);
      congestion_->name_cut(cut_cause(nack.reason));
    }
    count_retry(result);
    return result;
  }

  /// What stands behind a window that shrinks after a NACK with this reason.
  static CutCause cut_cause(NackReason reason) {
    switch (reason) {
      case NackReason::no_pkt_buffer:
        return CutCause::no_pkt_buffer;
      case NackReason::no_bitmap:
        return CutCause::no_bitmap;
      case NackReason::no_resource:
        return CutCause::no_resource;
      case NackReason::psn_oor_window:
        return CutCause::out_of_window;
      default:
        return CutCause::trim;
    }
  }

  /// Transport ACK: `msn` messages are complete at the responder, which therefore holds all their packets.
  AckResult on_transport_ack(const TransportAckFields& ack, TimePs now) {
    AckResult result;
    const std::uint32_t completed = (ack.msn - static_cast<std::uint32_t>(first_message_)) & 0xFF'FFFF;
    if (completed == 0 || completed > taking_ - first_message_ + (partly_taken() ? 1 : 0)) return result;
    Psn last = psn_add(buffer_.unacked_psn(), -1);
    for (std::uint32_t i = 0; i < completed; ++i) {
      const Message& message = messages_.front();
      if (!message.fully_taken()) break;
      last = message.last_psn;
      if (message.request.write_imm) --write_imm_in_flight_;
      completions_.push({message.request.id, CompletionStatus::success});
      messages_.pop();
      ++first_message_;
      repeat_last_ = false;
      note_progress(now);
    }
    acknowledge_all(last, last, 0, result, now);
    return result;
  }

  /// When on_deadline() is next due: the first timeout of an outstanding packet, or that of an overdue transport ACK.
  TimePs next_deadline() {
    if (state_ == QpState::error) return kNever;
    if (by_port() && port_->drives() && port_outstanding_) return port_oldest_sent_ + timeout();
    TimePs deadline = kNever;
    Psn psn = 0;
    for (std::uint32_t timer = 0; timer < buffer_.timers(); ++timer) {
      if (!buffer_.oldest_outstanding(timer, psn)) continue;
      deadline = std::min(deadline, buffer_.at(psn).sent_at + timeout_of(timer));
    }
    if (deadline != kNever) return deadline;
    const bool only_ack_missing = !messages_.empty() && buffer_.span() == 0 && messages_.front().fully_taken();
    return only_ack_missing && !repeat_last_ ? progress_at_ + timeout() : kNever;
  }
  AckResult on_deadline(TimePs now) {
    AckResult result;
    if (next_deadline() > now) return result;
    Psn psn = 0;
    bool new_attempt = true;
    if (buffer_.oldest_outstanding(psn)) {
      new_attempt = false;
      for (std::uint32_t timer = 0; timer < buffer_.timers(); ++timer) new_attempt |= expire(timer, result, now);
    } else {
      repeat_last_ = true;
      progress_at_ = now;
    }
    if (!new_attempt) return result;
    ++counters_.timeouts;
    ++timeouts_;
    timeout_at_ = now;
    count_retry(result);
    return result;
  }

  bool has_completion() const { return !completions_.empty(); }
  bool pop_completion(Completion& completion) {
    if (completions_.empty()) return false;
    completion = completions_.front();
    completions_.pop();
    return true;
  }

  QpState state() const { return state_; }
  const RequestorCounters& counters() const { return counters_; }
  const RetransmitBuffer& records() const { return buffer_; }
  Psn unacked_psn() const { return buffer_.unacked_psn(); }
  Psn next_psn() const { return buffer_.next_psn(); }
  std::uint32_t window_psns() const { return mpr_psns_; }
  std::uint32_t retries() const { return retries_; }
  std::uint64_t messages_pending() const { return messages_.size(); }

  /// What a QP that makes no progress waits for, in one phrase.
  std::string describe_wait(TimePs now) {
    switch (gate(now)) {
      case SendGate::in_error:
        return "nothing: it is in error";
      case SendGate::blocked_cwnd:
        return fmt::format("congestion window: {} of {} B in flight, last cut by {}", congestion_->inflight_bytes(),
                           congestion_->cwnd_bytes(), to_string(congestion_->last_cut()));
      case SendGate::blocked_mpr:
        return fmt::format("acknowledgement of PSN {}: {} PSNs in the window of {}", unacked_psn(), buffer_.span(),
                           mpr_psns_);
      case SendGate::blocked_write_imm:
        return fmt::format("{} WRITE_IMM in flight", write_imm_in_flight_);
      case SendGate::ready:
        return fmt::format("the NIC's pipeline, to send PSN {}",
                           next_is_retransmission() && buffer_.has_lost() ? buffer_.oldest_lost() : next_psn());
      case SendGate::idle:
        break;
    }
    if (messages_.empty()) return "work";
    if (buffer_.span() > 0)
      return fmt::format("acknowledgement of PSN {}, {} timeouts", unacked_psn(), counters_.timeouts);
    return fmt::format("the transport ACK of message {}", first_message_);
  }

 private:
  struct Message {
    WorkRequest request{};
    std::uint32_t taken_bytes = 0;
    Psn last_psn = 0;
    std::uint16_t msn = 0;
    std::uint16_t rqmsn = 0;
    bool fully_taken() const { return taken_bytes == request.bytes; }
  };

  bool partly_taken() const {
    return taking_ - first_message_ < messages_.size() && messages_[taking_ - first_message_].taken_bytes > 0;
  }

  /// Nominal size of the next packet of `message`: UDP length + 40 (specification 8.3.1).
  std::uint32_t next_nominal_bytes(const Message& message) const {
    const std::uint32_t payload = std::min(config_->mtu_bytes, message.request.bytes - message.taken_bytes);
    const bool ends = payload == message.request.bytes - message.taken_bytes;
    return nominal_data_bytes(payload, ends && message.request.write_imm);
  }

  /// Header fields of the packet of `message` at `offset`.
  SendPlan plan_at(const Message& message, std::uint32_t offset) const {
    SendPlan plan;
    const WorkRequest& request = message.request;
    plan.local_address = request.local_address + offset;
    plan.va = request.remote_address + offset;
    plan.payload_bytes = std::min(config_->mtu_bytes, request.bytes - offset);
    plan.dma_length = request.bytes;
    plan.rkey = request.rkey;
    plan.immediate = request.immediate;
    plan.msn = message.msn;
    plan.rqmsn = message.rqmsn;
    plan.opcode =
        write_opcode(offset / config_->mtu_bytes, packets_in(request.bytes, config_->mtu_bytes), request.write_imm);
    return plan;
  }

  // Records by a port. The command is asked for there; what the own records would do is decided before and done or
  // followed after it, and both are compared.
  bool by_port() const { return port_ != nullptr && port_->asks(); }
  RetransmitCommand command_of(RetransmitOp op, TimePs now) const {
    RetransmitCommand command;
    command.op = op;
    command.qp = port_qp_;
    command.now = now;
    return command;
  }
  const RetransmitReply& ask(const RetransmitCommand& command) {
    const RetransmitReply& reply = port_->run(command);
    port_outstanding_ = reply.outstanding;
    port_oldest_sent_ = reply.oldest_sent;
    return reply;
  }
  void compare(const RetransmitCommand& command, RetransmitReply& expected) {
    expected.unacked = buffer_.unacked_psn();
    expected.next = buffer_.next_psn();
    expected.has_lost = buffer_.has_lost();
    if (expected.has_lost) expected.oldest_lost = buffer_.oldest_lost();
    expected.outstanding = buffer_.oldest_outstanding(expected.oldest_psn);
    if (expected.outstanding) expected.oldest_sent = buffer_.at(expected.oldest_psn).sent_at;
    port_->compare(command, expected);
  }
  RetransmitEvent event_of(Psn psn, bool lost) const {
    const SendRecord& record = buffer_.at(psn);
    return {psn, static_cast<std::uint16_t>(record.nominal_bytes), record.ev, lost,
            !lost && record.state == RecordState::lost};
  }
  /// Which of the packets of the own decision `psns_` and of the reply it is.
  void choose(const RetransmitReply& reply, bool lost, RetransmitReply& expected) {
    for (const Psn psn : psns_) expected.events.push_back(event_of(psn, lost));
    expected.count = static_cast<std::uint32_t>(psns_.size());
    if (!port_->drives()) return;
    psns_.clear();
    for (const RetransmitEvent& event : reply.events) psns_.push_back(event.psn);
  }
  void append_by_port(SendPlan& plan, const SendRecord& record, TimePs now) {
    RetransmitCommand command = command_of(RetransmitOp::append, now);
    command.message = static_cast<std::uint16_t>(record.message);
    command.offset = record.message_offset;
    command.bytes = static_cast<std::uint16_t>(record.nominal_bytes);
    RetransmitReply expected;
    expected.hit = true;
    expected.psn = plan.psn;
    const RetransmitReply& reply = ask(command);
    if (port_->drives()) plan.psn = reply.psn;
    compare(command, expected);
  }
  /// The packet that is taken again, as the port says where it drives and names one that is lost.
  Psn take_by_port(Psn psn, TimePs now) {
    RetransmitCommand command = command_of(RetransmitOp::take, now);
    const SendRecord& record = buffer_.at(psn);
    RetransmitReply expected;
    expected.hit = true;
    expected.psn = psn;
    expected.message = static_cast<std::uint16_t>(record.message);
    expected.offset = record.message_offset;
    expected.bytes = static_cast<std::uint16_t>(record.nominal_bytes);
    expected.cause = record.lost_by;
    const RetransmitReply& reply = ask(command);
    const Psn taken = port_->drives() && buffer_.is_in(reply.psn, RecordState::lost) ? reply.psn : psn;
    if (port_->drives()) follow_taken(buffer_.at(taken), reply);
    buffer_.take_lost(taken);
    compare(command, expected);
    return taken;
  }
  void follow_taken(SendRecord& record, const RetransmitReply& reply) const {
    const auto ahead = static_cast<std::uint16_t>(reply.message - static_cast<std::uint16_t>(first_message_));
    if (ahead < messages_.size()) record.message = first_message_ + ahead;
    record.message_offset = reply.offset;
    record.nominal_bytes = reply.bytes;
    record.lost_by = reply.cause;
  }
  void acknowledge_by_port(Psn last, Psn base, std::uint64_t bitmap, AckResult& result, TimePs now) {
    buffer_.find_acknowledged(last, base, bitmap, psns_);
    RetransmitCommand command = command_of(RetransmitOp::ack, now);
    command.psn = last;
    command.base = base;
    command.bitmap = bitmap;
    const RetransmitReply& reply = ask(command);
    RetransmitReply expected;
    choose(reply, false, expected);
    for (const Psn psn : psns_) acknowledge(psn, result);
    result.advanced = port_->drives() ? buffer_.advance(reply.unacked) : buffer_.advance();
    expected.advanced = result.advanced;
    compare(command, expected);
  }
  /// Packets to declare lost, by gap or by age, in psns_.
  void find_lost_by_port(RetransmitCommand command, RetransmitReply& expected) {
    command.cause = CutCause::loss;
    choose(ask(command), true, expected);
    std::erase_if(psns_, [&](Psn psn) { return !buffer_.is_in(psn, RecordState::outstanding); });
  }
  /// A NACK declares the packet lost; false if it is not outstanding.
  bool refuse(Psn psn, CutCause cause, TimePs now) {
    if (!by_port()) {
      if (!buffer_.mark_lost(psn)) return false;
      buffer_.at(psn).lost_by = cause;
      return true;
    }
    psns_.clear();
    RetransmitReply expected;
    expected.hit = buffer_.is_in(psn, RecordState::outstanding);
    if (expected.hit) psns_.push_back(psn);
    RetransmitCommand command = command_of(RetransmitOp::nack, now);
    command.psn = psn;
    command.cause = cause;
    const RetransmitReply& reply = ask(command);
    choose(reply, true, expected);
    const bool lost = (port_->drives() ? reply.hit : expected.hit) && buffer_.mark_lost(psn);
    if (lost) buffer_.at(psn).lost_by = cause;
    compare(command, expected);
    return lost;
  }

  SendPlan take_new(TimePs now) {
    Message& message = messages_[taking_ - first_message_];
    SendPlan plan = plan_at(message, message.taken_bytes);
    plan.nominal_bytes = next_nominal_bytes(message);
    plan.psn = buffer_.next_psn();
    if (message.taken_bytes == 0 && message.request.write_imm) ++write_imm_in_flight_;
    SendRecord& record = buffer_.append();
    record.message = taking_;
    record.message_offset = message.taken_bytes;
    record.nominal_bytes = plan.nominal_bytes;
    if (by_port()) append_by_port(plan, record, now);
    message.taken_bytes += plan.payload_bytes;
    congestion_->charge(plan.nominal_bytes);
    if (message.fully_taken()) {
      message.last_psn = plan.psn;
      ++taking_;
    }
    plan.ack_request = wants_ack();
    return plan;
  }

  SendPlan take_retransmission(TimePs now) {
    Psn psn = buffer_.oldest_lost();
    if (by_port()) {
      psn = take_by_port(psn, now);
    } else {
      buffer_.take_lost(psn);
    }
    const SendRecord& record = buffer_.at(psn);
    SendPlan plan = plan_at(messages_[record.message - first_message_], record.message_offset);
    plan.nominal_bytes = record.nominal_bytes;
    plan.psn = psn;
    plan.retransmission = true;
    plan.lost_by = record.lost_by;
    congestion_->charge(plan.nominal_bytes);
    ++counters_.retransmissions;
    plan.ack_request = wants_ack();
    return plan;
  }

  /// All packets are acknowledged but the transport ACK is missing: the last packet again, a duplicate that makes the
  /// responder repeat it. It is below the window, so it is not charged.
  SendPlan take_repetition(TimePs now) {
    repeat_last_ = false;
    progress_at_ = now;
    const Message& message = messages_.front();
    const std::uint32_t packets = packets_in(message.request.bytes, config_->mtu_bytes);
    SendPlan plan = plan_at(message, (packets - 1) * config_->mtu_bytes);
    plan.psn = message.last_psn;
    plan.retransmission = true;
    plan.ack_request = true;
    ++counters_.retransmissions;
    return plan;
  }

  /// AckReq: the last packet of what software has asked for; less than one MTU of window left, or a window that the
  /// responder's own trigger is longer than (UEC 1.0).
  bool wants_ack() const {
    const bool nothing_follows = taking_ - first_message_ >= messages_.size() && !buffer_.has_lost();
    const bool window_ends = !congestion_->may_send(config_->mtu_bytes);
    const bool window_is_short = congestion_->cwnd_bytes() < config_->sack_threshold_bytes;
    return nothing_follows || window_ends || window_is_short;
  }

  /// Linear first, then each timeout doubles the next, 16 times at most (assumption).
  std::uint32_t doublings(std::uint32_t timeouts) const {
    const std::uint32_t exponential = timeouts > config_->linear_retries ? timeouts - config_->linear_retries : 0;
    return std::min(exponential, 16U);
  }
  TimePs timeout(std::uint32_t doubled) const { return (1'024'000ULL << config_->timeout_exponent) << doubled; }
  TimePs timeout() const { return timeout(doublings(timeouts_)); }
  /// Packets of the same timeout share a timer: with a backoff by packet, those that are doubled as often.
  std::uint32_t timer_of(Psn psn) const {
    const bool by_packet = config_->timeout_backoff == TimeoutBackoff::packet && buffer_.contains(psn);
    return by_packet ? doublings(buffer_.at(psn).timeouts) : 0;
  }
  TimePs timeout_of(std::uint32_t timer) const {
    return config_->timeout_backoff == TimeoutBackoff::packet ? timeout(timer) : timeout();
  }
  /// Declares lost what is overdue. True for a further attempt that failed: packets of one burst time out one after the
  /// other, so only one that was sent after the last counted timeout is.
  bool expire(std::uint32_t timer, AckResult& result, TimePs now) {
    const TimePs limit = timeout_of(timer);
    if (by_port()) return expire_by_port(timer, limit, result, now);
    Psn psn = 0;
    bool new_attempt = false;
    while (buffer_.oldest_outstanding(timer, psn) && buffer_.at(psn).sent_at + limit <= now) {
      new_attempt |= time_out(psn, result, now);
    }
    return new_attempt;
  }
  bool expire_by_port(std::uint32_t timer, TimePs limit, AckResult& result, TimePs now) {
    buffer_.find_expired(timer, limit, now, psns_);
    RetransmitCommand command = command_of(RetransmitOp::timeout, now);
    command.limit = limit;
    RetransmitReply expected;
    find_lost_by_port(command, expected);
    bool new_attempt = false;
    for (const Psn psn : psns_) new_attempt |= time_out(psn, result, now);
    compare(command, expected);
    return new_attempt;
  }
  /// True for a further attempt.
  bool time_out(Psn psn, AckResult& result, TimePs now) {
    const bool new_attempt = timeouts_ == 0 || buffer_.at(psn).sent_at >= timeout_at_;
    declare_lost(psn, result, now);
    std::uint8_t& timeouts = buffer_.at(psn).timeouts;
    if (timeouts < 0xFF) ++timeouts;
    ++counters_.timeout_losses;
    return new_attempt;
  }

  void count_retry(AckResult& result) {
    ++retries_;
    constexpr std::uint32_t infinite = 25;
    if (config_->exponential_retries == infinite) return;
    if (retries_ > config_->linear_retries + config_->exponential_retries)
      fail(CompletionStatus::retry_exceeded, result);
  }

  /// The QP is in error: the oldest message ends with `status`, the others are flushed.
  void fail(CompletionStatus status, AckResult& result) {
    state_ = QpState::error;
    const std::uint64_t spurious = counters_.spurious_losses;
    const Psn last = psn_add(buffer_.next_psn(), -1);
    if (by_port()) {
      const bool advanced = result.advanced;
      acknowledge_by_port(last, last, 0, result, 0);
      result.advanced = advanced;
    } else {
      acknowledge_through(last, result);
      buffer_.advance();
    }
    counters_.spurious_losses = spurious;  // given up, not acknowledged
    for (; !messages_.empty(); messages_.pop(), ++first_message_) {
      completions_.push({messages_.front().request.id, status});
      status = CompletionStatus::flushed;
    }
    taking_ = std::max(taking_, first_message_);
  }

  void acknowledge(Psn psn, AckResult& result) {
    if (!buffer_.contains(psn)) return;
    const SendRecord& record = buffer_.at(psn);
    const bool was_lost = record.state == RecordState::lost;
    const std::uint32_t bytes = record.nominal_bytes;
    if (!buffer_.acknowledge(psn)) return;
    ++result.records_freed;
    if (was_lost) {
      ++counters_.spurious_losses;
    } else {
      congestion_->discharge(bytes);
    }
  }
  void acknowledge_through(Psn last, AckResult& result) {
    const std::int32_t count = psn_distance(last, buffer_.unacked_psn()) + 1;
    const Psn first = buffer_.unacked_psn();
    const std::int32_t held = std::min(count, static_cast<std::int32_t>(buffer_.span()));
    for (std::int32_t i = 0; i < held; i += 64) {
      const std::uint64_t wanted = held - i >= 64 ? ~0ULL : (1ULL << (held - i)) - 1;
      acknowledge_bits(psn_add(first, i), wanted, result);
    }
  }
  /// Bit i of `bits` for PSN `base` + i.
  void acknowledge_bits(Psn base, std::uint64_t bits, AckResult& result) {
    bits = buffer_.not_acknowledged(base, bits);
    for (; bits != 0; bits &= bits - 1) acknowledge(psn_add(base, std::countr_zero(bits)), result);
  }
  /// All up to `last`, and bit i of `bitmap` for PSN `base` + i.
  void acknowledge_all(Psn last, Psn base, std::uint64_t bitmap, AckResult& result, TimePs now) {
    if (by_port()) {
      acknowledge_by_port(last, base, bitmap, result, now);
    } else {
      acknowledge_through(last, result);
      acknowledge_bits(base, bitmap, result);
      result.advanced = buffer_.advance();
    }
    if (result.advanced) note_progress(now);
  }
  /// cack has moved, or a message is complete: failed attempts are counted anew.
  void note_progress(TimePs now) {
    retries_ = 0;
    timeouts_ = 0;
    progress_at_ = now;
  }

  void declare_lost(Psn psn, AckResult& result, TimePs now) {
    const std::uint32_t bytes = buffer_.at(psn).nominal_bytes;
    const EvIndex ev = buffer_.at(psn).ev;
    buffer_.mark_lost(psn);
    buffer_.at(psn).lost_by = CutCause::loss;
    congestion_->discharge(bytes);
    congestion_->on_loss(bytes, now);
    paths_->report(ev, PathEvent::lost, now);
    ++result.declared_lost;
  }

  /// Reorder threshold in packets: clamp(factor * cwnd, minimum, MPR / 2); the clamp is an assumption, without it the
  /// inference cannot fire while the window is larger than MPR / factor.
  std::uint64_t gap_threshold() const {
    const double packets =
        config_->gap_cwnd_factor * static_cast<double>(congestion_->cwnd_bytes()) / config_->mtu_bytes;
    const double most = std::max<double>(mpr_psns_ / 2.0, config_->gap_min_packets);
    return static_cast<std::uint64_t>(std::clamp<double>(packets, config_->gap_min_packets, most));
  }
  void infer_losses(AckResult& result, TimePs now) {
    const std::uint64_t threshold = gap_threshold();
    if (by_port()) {
      infer_losses_by_port(threshold, result, now);
      return;
    }
    Psn psn = 0;
    while (buffer_.overtaken(threshold, psn)) {
      declare_lost(psn, result, now);
      ++counters_.gap_losses;
    }
  }

  void infer_losses_by_port(std::uint64_t threshold, AckResult& result, TimePs now) {
    buffer_.find_overtaken(threshold, psns_);
    RetransmitCommand command = command_of(RetransmitOp::gap, now);
    command.threshold = static_cast<std::uint32_t>(threshold);
    RetransmitReply expected;
    find_lost_by_port(command, expected);
    for (const Psn psn : psns_) declare_lost(psn, result, now);
    counters_.gap_losses += psns_.size();
    compare(command, expected);
  }

  /// Whether an answer can only be one to the copy that was sent last: the only copy, or the second where a NACK has
  /// said that the first did not arrive. UEC 1.0 tells copies apart by the ACK's retx flag, which MRC's SACK does not
  /// have.
  static bool is_unambiguous(const SendRecord& record) {
    return record.transmissions == 1 || (record.transmissions == 2 && record.lost_by != CutCause::loss);
  }
  TimePs rtt_sample(const SackFields& sack, TimePs now) const {
    if (sack.probe) return 0;
    if (config_->rtt_source == RttSource::timestamp) {
      const TimePs unit = config_->timestamp_in_us ? kPsPerUs : 128 * kPsPerNs;
      return static_cast<std::uint16_t>(now / unit - sack.tx_timestamp) * unit;
    }
    const Psn psn = psn_add(sack.cack_psn, sack.ack_psn_offset);
    if (!buffer_.contains(psn)) return 0;
    const SendRecord& record = buffer_.at(psn);
    return record.state == RecordState::outstanding && is_unambiguous(record) ? now - record.sent_at : 0;
  }
  void report_path(const SackFields& sack, TimePs now) {
    const EvIndex ev = paths_->find(sack.entropy);
    if (ev == kNoEv) return;
    constexpr std::array<PathEvent, 3> of_data{PathEvent::delivered, PathEvent::ecn, PathEvent::always_skip};
    constexpr std::array<PathEvent, 3> of_probe{PathEvent::probe_delivered, PathEvent::probe_ecn,
                                                PathEvent::always_skip};
    paths_->report(ev, (sack.probe ? of_probe : of_data)[static_cast<std::size_t>(sack.mark)], now);
  }
  std::uint64_t newly_received(std::uint32_t rcvd_bytes) {
    const std::uint32_t units = (rcvd_bytes - last_rcvd_bytes_) & 0xFF'FFFF;
    if (units >= 0x80'0000) return 0;  // an older SACK, overtaken on its way
    last_rcvd_bytes_ = rcvd_bytes;
    return std::uint64_t{units} * 256;
  }

  // What each packet looks at comes first.
  const ProtocolConfig* config_;
  PathTable* paths_;
  CongestionControl* congestion_;
  RetransmitPort* port_ = nullptr;  ///< null: the own records alone
  std::uint32_t mpr_psns_;
  QpState state_ = QpState::reset;
  bool repeat_last_ = false;
  bool port_outstanding_ = false;  ///< as its last reply said
  std::uint16_t next_msn_ = 0;
  std::uint16_t next_rqmsn_ = 0;
  std::uint32_t write_imm_in_flight_ = 0;
  std::uint64_t taking_ = 0;         ///< number of the message that the next new packet comes from
  std::uint64_t first_message_ = 0;  ///< number of messages_.front()
  RetransmitBuffer buffer_;
  Ring<Message> messages_;  ///< posted and not complete
  RequestorCounters counters_;
  Ring<Completion> completions_;
  TimePs progress_at_ = 0;
  TimePs timeout_at_ = 0;       ///< of the last counted timeout
  std::uint32_t retries_ = 0;   ///< timeouts and NACKs since cack last moved: ends in an error
  std::uint32_t timeouts_ = 0;  ///< of them timeouts: only these lengthen the next
  std::uint32_t last_rcvd_bytes_ = 0;
  std::uint32_t port_qp_ = 0;
  TimePs port_oldest_sent_ = 0;
  std::vector<Psn> psns_;  ///< scratch
};

}  // namespace mrc
