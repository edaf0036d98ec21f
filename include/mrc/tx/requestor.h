// The sending half of a QP: which packet goes next under which window, what acknowledgements do, what is lost and
// retransmitted, when a message is complete. Time is an argument in picoseconds and never goes back between calls.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "mrc/control/congestion.h"
#include "mrc/control/path_table.h"
#include "mrc/packet.h"
#include "mrc/protocol_config.h"
#include "mrc/qp_state.h"
#include "mrc/ring.h"
#include "mrc/tx/retransmit_buffer.h"
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
  std::uint32_t nominal_bytes = 0;  ///< added to the bytes in flight; 0 for a repetition that is not charged
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
  std::uint64_t spurious_losses = 0;  ///< declared lost, then acknowledged before they were retransmitted
  std::uint64_t sacks = 0;
  std::uint64_t nacks = 0;
};

/// Where a requestor keeps the records of the packets that it has sent: RetransmitBuffer says what each of these does.
template <typename T>
concept SendStore = requires(T store, const T& held, Psn psn, TimePs now, void (*acked)(const SendRecord&, bool),
                             void (*lost)(SendRecord&)) {
  T(psn);
  { held.unacked_psn() } -> std::same_as<Psn>;
  { held.next_psn() } -> std::same_as<Psn>;
  { held.span() } -> std::same_as<std::uint32_t>;
  { held.contains(psn) } -> std::same_as<bool>;
  { held.at(psn) } -> std::same_as<const SendRecord&>;
  { held.has_lost() } -> std::same_as<bool>;
  { held.oldest_lost() } -> std::same_as<Psn>;
  { held.timers() } -> std::same_as<std::uint32_t>;
  { store.oldest_outstanding(psn) } -> std::same_as<bool>;
  { store.oldest_sent(std::uint32_t{}) } -> std::same_as<TimePs>;
  { store.append(std::uint64_t{}, std::uint32_t{}, std::uint32_t{}, now) } -> std::same_as<Psn>;
  store.transmitted(psn, EvIndex{}, now, std::uint32_t{});
  { store.acknowledge(psn, psn, std::uint64_t{}, now, acked) } -> std::same_as<bool>;
  { store.refuse(psn, CutCause{}, now) } -> std::same_as<bool>;
  store.lose_overtaken(std::uint64_t{}, now, lost);
  store.lose_overdue(std::uint32_t{}, now, now, lost);
  { store.take_lost(now) } -> std::same_as<Psn>;
};

/// Who knows the EVs that a SACK or NACK echoes, and hears what packets on them met with.
template <typename T>
concept PathReports = requires(T paths, const T& known, TimePs now) {
  { known.find(Ev{}) } -> std::same_as<EvIndex>;
  paths.report(EvIndex{}, PathEvent{}, now);
};

template <SendStore Store, PathReports Paths>
class BasicRequestor {
 public:
  /// In RESET. `paths` and `congestion` outlive it; others may share them.
  BasicRequestor(const ProtocolConfig& config, Paths& paths, CongestionControl& congestion, Psn first_psn)
      : config_(&config),
        paths_(&paths),
        congestion_(&congestion),
        mpr_psns_(config.mpr_units * kMprUnitPsns),
        store_(first_psn) {}

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
    if (store_.has_lost()) {
      const Psn psn = store_.oldest_lost();
      if (psn_distance(psn, store_.unacked_psn()) >= static_cast<std::int32_t>(mpr_psns_)) return SendGate::blocked_mpr;
      return congestion_->may_send(store_.at(psn).nominal_bytes) ? SendGate::ready : SendGate::blocked_cwnd;
    }
    if (taking_ - first_message_ >= messages_.size()) return SendGate::idle;
    if (store_.span() >= mpr_psns_) return SendGate::blocked_mpr;
    const Message& message = messages_[taking_ - first_message_];
    if (message.taken_bytes == 0 && message.request.write_imm && write_imm_in_flight_ >= config_->max_write_imm) {
      return SendGate::blocked_write_imm;
    }
    return congestion_->may_send(next_nominal_bytes(message)) ? SendGate::ready : SendGate::blocked_cwnd;
  }
  bool next_is_retransmission() const { return repeat_last_ || store_.has_lost(); }

  /// The next packet; it is in flight from now on. Precondition: gate() == ready.
  [[gnu::always_inline]] SendPlan take(TimePs now) {
    ++counters_.packets;
    if (repeat_last_) return take_repetition(now);
    return store_.has_lost() ? take_retransmission(now) : take_new(now);
  }
  /// The packet has left the spray scheduler on `ev`; its timer runs from now.
  void transmitted(Psn psn, EvIndex ev, TimePs now) { store_.transmitted(psn, ev, now, timer_of(psn)); }

  /// RELIABILITY_SACK. None of its fields carries the responder's service time (capability SVC_TIME), so RTT samples
  /// contain it.
  AckResult on_sack(const SackFields& sack, TimePs now) {
    ++counters_.sacks;
    // A SACK that another has overtaken grants what the responder may have taken back since.
    const bool newest = psn_distance(sack.cack_psn, psn_add(store_.unacked_psn(), -1)) >= 0;
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
    if (!store_.contains(nack.nack_psn)) return result;
    const SendRecord& record = store_.at(nack.nack_psn);
    const std::uint32_t bytes = record.nominal_bytes;
    const TimePs rtt = is_unambiguous(record) ? now - record.sent_at : 0;
    if (!store_.refuse(nack.nack_psn, cut_cause(nack.reason), now)) return result;
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

  /// The cause of a window that shrinks after a NACK with this reason.
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
    Psn last = psn_add(store_.unacked_psn(), -1);
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
    TimePs deadline = kNever;
    for (std::uint32_t timer = 0; timer < store_.timers(); ++timer) {
      const TimePs sent_at = store_.oldest_sent(timer);
      if (sent_at != kNever) deadline = std::min(deadline, sent_at + timeout_of(timer));
    }
    if (deadline != kNever) return deadline;
    const bool only_ack_missing = !messages_.empty() && store_.span() == 0 && messages_.front().fully_taken();
    return only_ack_missing && !repeat_last_ ? progress_at_ + timeout() : kNever;
  }
  AckResult on_deadline(TimePs now) {
    AckResult result;
    if (next_deadline() > now) return result;
    Psn psn = 0;
    bool new_attempt = true;
    if (store_.oldest_outstanding(psn)) {
      new_attempt = false;
      for (std::uint32_t timer = 0; timer < store_.timers(); ++timer) new_attempt |= expire(timer, result, now);
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
  const Store& records() const { return store_; }
  Store& records() { return store_; }
  Psn unacked_psn() const { return store_.unacked_psn(); }
  Psn next_psn() const { return store_.next_psn(); }
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
        return fmt::format("acknowledgement of PSN {}: {} PSNs in the window of {}", unacked_psn(), store_.span(),
                           mpr_psns_);
      case SendGate::blocked_write_imm:
        return fmt::format("{} WRITE_IMM in flight", write_imm_in_flight_);
      case SendGate::ready:
        return fmt::format("the NIC's pipeline, to send PSN {}",
                           next_is_retransmission() && store_.has_lost() ? store_.oldest_lost() : next_psn());
      case SendGate::idle:
        break;
    }
    if (messages_.empty()) return "work";
    if (store_.span() > 0)
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

  [[gnu::always_inline]] SendPlan take_new(TimePs now) {
    Message& message = messages_[taking_ - first_message_];
    SendPlan plan = plan_at(message, message.taken_bytes);
    plan.nominal_bytes = next_nominal_bytes(message);
    if (message.taken_bytes == 0 && message.request.write_imm) ++write_imm_in_flight_;
    plan.psn = store_.append(taking_, message.taken_bytes, plan.nominal_bytes, now);
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
    const Psn psn = store_.take_lost(now);
    SendRecord& record = store_.at(psn);
    record.copy_unanswered |= record.lost_by == CutCause::loss;
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

  /// All packets are acknowledged but the transport ACK is missing: the last packet is repeated, a duplicate that makes
  /// the responder repeat it. It is below the window, so it does not count.
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
    const bool nothing_follows = taking_ - first_message_ >= messages_.size() && !store_.has_lost();
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
    const bool by_packet = config_->timeout_backoff == TimeoutBackoff::packet && store_.contains(psn);
    return by_packet ? doublings(store_.at(psn).timeouts) : 0;
  }
  TimePs timeout_of(std::uint32_t timer) const {
    return config_->timeout_backoff == TimeoutBackoff::packet ? timeout(timer) : timeout();
  }
  /// Declares lost what is overdue. True for a further attempt that failed: packets of one burst time out one after the
  /// other, so only one that was sent after the last counted timeout is.
  bool expire(std::uint32_t timer, AckResult& result, TimePs now) {
    const TimePs limit = timeout_of(timer);
    bool new_attempt = false;
    store_.lose_overdue(timer, limit, now, [&](SendRecord& record) { new_attempt |= time_out(record, result, now); });
    return new_attempt;
  }
  /// True for a further attempt.
  bool time_out(SendRecord& record, AckResult& result, TimePs now) {
    const bool new_attempt = timeouts_ == 0 || record.sent_at >= timeout_at_;
    lost(record, result, now);
    if (record.timeouts < 0xFF) ++record.timeouts;
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
    const Psn last = psn_add(store_.next_psn(), -1);
    store_.acknowledge(last, last, 0, 0, AckedPackets{*this, result});
    counters_.spurious_losses = spurious;  // given up, not acknowledged
    for (; !messages_.empty(); messages_.pop(), ++first_message_) {
      completions_.push({messages_.front().request.id, status});
      status = CompletionStatus::flushed;
    }
    taking_ = std::max(taking_, first_message_);
  }

  /// What an acknowledged packet changes.
  struct AckedPackets {
    BasicRequestor& requestor;
    AckResult& result;
    void operator()(const SendRecord& record, bool was_lost) const {
      ++result.records_freed;
      if (was_lost) {
        ++requestor.counters_.spurious_losses;
      } else {
        requestor.congestion_->discharge(record.nominal_bytes);
      }
    }
  };
  /// All up to `last`, and bit i of `bitmap` for PSN `base` + i.
  void acknowledge_all(Psn last, Psn base, std::uint64_t bitmap, AckResult& result, TimePs now) {
    result.advanced = store_.acknowledge(last, base, bitmap, now, AckedPackets{*this, result});
    if (result.advanced) note_progress(now);
  }
  /// cack has moved, or a message is complete: failed attempts are counted anew.
  void note_progress(TimePs now) {
    retries_ = 0;
    timeouts_ = 0;
    progress_at_ = now;
  }

  /// The store has declared a packet lost.
  void lost(const SendRecord& record, AckResult& result, TimePs now) {
    congestion_->discharge(record.nominal_bytes);
    congestion_->on_loss(record.nominal_bytes, now);
    paths_->report(record.ev, PathEvent::lost, now);
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
    store_.lose_overtaken(gap_threshold(), now, [&](const SendRecord& record) {
      lost(record, result, now);
      ++counters_.gap_losses;
    });
  }

  /// Whether an answer can only belong to the copy that was sent last: a NACK has reported each earlier copy as not
  /// received. (Not so where the network duplicates a NACK.) UEC 1.0 tells copies apart by the ACK's retx flag, which
  /// MRC's SACK does not have.
  static bool is_unambiguous(const SendRecord& record) { return !record.copy_unanswered; }
  /// Retransmissions give none: they pass the queue that data waits in, so that a full one would look empty.
  bool gives_rtt(const SendRecord& record) const {
    return record.transmissions <= 1 || config_->rtt_of_retransmissions;
  }
  TimePs rtt_sample(const SackFields& sack, TimePs now) const {
    if (sack.probe) return 0;
    const Psn psn = psn_add(sack.cack_psn, sack.ack_psn_offset);
    const bool known = store_.contains(psn);
    if (known && !gives_rtt(store_.at(psn))) return 0;
    if (config_->rtt_source == RttSource::timestamp) {
      const TimePs unit = config_->timestamp_in_us ? kPsPerUs : 128 * kPsPerNs;
      return static_cast<std::uint16_t>(now / unit - sack.tx_timestamp) * unit;
    }
    if (!known) return 0;
    const SendRecord& record = store_.at(psn);
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
  Paths* paths_;
  CongestionControl* congestion_;
  std::uint32_t mpr_psns_;
  QpState state_ = QpState::reset;
  bool repeat_last_ = false;
  std::uint16_t next_msn_ = 0;
  std::uint16_t next_rqmsn_ = 0;
  std::uint32_t write_imm_in_flight_ = 0;
  std::uint64_t taking_ = 0;         ///< number of the message that the next new packet comes from
  std::uint64_t first_message_ = 0;  ///< number of messages_.front()
  Store store_;
  Ring<Message> messages_;  ///< posted and not complete
  RequestorCounters counters_;
  Ring<Completion> completions_;
  TimePs progress_at_ = 0;
  TimePs timeout_at_ = 0;       ///< of the last counted timeout
  std::uint32_t retries_ = 0;   ///< timeouts and NACKs since cack last moved: ends in an error
  std::uint32_t timeouts_ = 0;  ///< of them timeouts: only these lengthen the next
  std::uint32_t last_rcvd_bytes_ = 0;
};

/// The protocol alone.
using Requestor = BasicRequestor<RetransmitBuffer, PathTable>;

}  // namespace mrc
