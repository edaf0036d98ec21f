// The sending half of a RoCEv2 RC queue pair: packets in order under a window and the rate of DCQCN, cumulative ACKs,
// retransmission from the first missing packet on after a NAK or a timeout (IBTA, reliable connection requestor;
// go-back-N). Work requests, gates and plans are those of Requestor. Time is an argument in picoseconds and never
// decreases between calls.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "mrc/packet.h"
#include "mrc/ring.h"
#include "mrc/rocev2/dcqcn.h"
#include "mrc/rocev2/rc_config.h"
#include "mrc/tx/requestor.h"
#include "mrc/tx/segmenter.h"
#include "mrc/tx/work_request.h"
#include "mrc/types.h"

namespace mrc {

struct RcRequestorCounters {
  std::uint64_t packets = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t acks = 0;
  std::uint64_t naks = 0;
  std::uint64_t timeouts = 0;
  std::uint64_t cnps = 0;
};

class RcRequestor {
 public:
  /// Ready to send (RTS), at DCQCN's `line_rate_gbps`.
  RcRequestor(const RcConfig& config, const DcqcnConfig& dcqcn, double line_rate_gbps, Psn first_psn)
      : config_(&config), rate_(dcqcn, line_rate_gbps), first_psn_(first_psn) {}

  PostStatus post(const WorkRequest& request, TimePs) {
    if (request.bytes == 0) return PostStatus::bad_length;
    if (state_ == QpState::error) {
      completions_.push({request.id, CompletionStatus::flushed});
      return PostStatus::posted;
    }
    messages_.push({.request = request, .msn = next_msn_++});
    return PostStatus::posted;
  }

  /// May a packet be taken now? blocked_mpr: window in packets; blocked_cwnd: window in bytes, or the rate limit,
  /// which ends at next_send_time().
  SendGate gate(TimePs now) const {
    if (state_ == QpState::error) return SendGate::in_error;
    if (cursor_ == sent_end_ && next_message_ == first_message_ + messages_.size()) return SendGate::idle;
    if (cursor_ - unacked_ >= config_->window_packets) return SendGate::blocked_mpr;
    const bool window_open = cursor_ == unacked_ || inflight_bytes() + next_bytes() <= window_bytes();
    return window_open && rate_.next_send_time() <= now ? SendGate::ready : SendGate::blocked_cwnd;
  }
  bool next_is_retransmission() const { return cursor_ != sent_end_; }
  TimePs next_send_time() const { return rate_.next_send_time(); }

  /// The next packet in order. Precondition: gate() == ready.
  SendPlan take(TimePs now) {
    if (cursor_ == unacked_) timer_from_ = now;
    const bool again = next_is_retransmission();
    if (!again) append_record();
    const Record& record = records_[cursor_ - unacked_];
    SendPlan plan = plan_of(record);
    plan.psn = psn_of(cursor_);
    plan.retransmission = again;
    plan.nominal_bytes = nominal_data_bytes(plan.payload_bytes, has_immediate(plan.opcode));
    ++cursor_;
    plan.ack_request = ends_message(plan.opcode) || cursor_ - unacked_ >= config_->window_packets ||
                       inflight_bytes() + config_->mtu_bytes > window_bytes();
    rate_.on_sent(plan.nominal_bytes, now);
    ++counters_.packets;
    counters_.retransmissions += again ? 1 : 0;
    return plan;
  }

  /// An acknowledge packet: BTH.PSN and AETH. An older one than already known has no effect.
  AckResult on_ack(Psn psn, const TransportAckFields& aeth, TimePs now) {
    if (state_ == QpState::error) return {};
    const bool positive = aeth.syndrome == kRcAck;
    ++(positive ? counters_.acks : counters_.naks);
    // An ACK covers its PSN, a NAK everything before it.
    const std::int64_t covered = psn_distance(psn, psn_of(unacked_)) + (positive ? 1 : 0);
    AckResult result;
    if (covered < 0 || static_cast<std::uint64_t>(covered) > sent_end_ - unacked_) return result;
    acknowledge(static_cast<std::uint32_t>(covered), result, now);
    if (positive) return result;
    if (aeth.syndrome != kRcNakSequenceError) {
      fail(CompletionStatus::remote_operation_error);
    } else {
      go_back(result);
    }
    return result;
  }
  void on_cnp(TimePs now) {
    ++counters_.cnps;
    rate_.on_cnp(now);
  }

  /// Time of the next on_deadline(): the timeout of the oldest packet, or a timer of DCQCN.
  TimePs next_deadline() const {
    if (state_ == QpState::error) return kNever;
    return std::min(timeout_at(), rate_.next_timer());
  }
  AckResult on_deadline(TimePs now) {
    AckResult result;
    if (state_ == QpState::error) return result;
    rate_.on_timer(now);
    if (timeout_at() > now) return result;
    ++counters_.timeouts;
    go_back(result);
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
  Psn unacked_psn() const { return psn_of(unacked_); }
  Psn next_psn() const { return psn_of(cursor_); }
  std::uint32_t retries() const { return retries_; }
  std::uint64_t messages_pending() const { return messages_.size(); }
  /// Payload bytes sent since the last go-back and not acknowledged.
  std::uint64_t inflight_bytes() const {
    return cursor_ == unacked_ ? 0 : records_[cursor_ - unacked_ - 1].end_bytes - acked_bytes_;
  }
  const Dcqcn& rate() const { return rate_; }
  const RcRequestorCounters& counters() const { return counters_; }

 private:
  struct Message {
    WorkRequest request{};
    std::uint16_t msn = 0;
  };
  /// A packet that has been sent at least once.
  struct Record {
    std::uint64_t message = 0;
    std::uint64_t end_bytes = 0;  ///< payload bytes of the queue pair up to its end
    std::uint32_t offset = 0;     ///< in its message
  };

  Psn psn_of(std::uint64_t packet) const { return psn_add(first_psn_, static_cast<std::int64_t>(packet & kPsnMask)); }
  std::uint64_t window_bytes() const {
    return config_->window_bytes == 0 ? std::numeric_limits<std::uint64_t>::max() : config_->window_bytes;
  }
  const Message& message_of(std::uint64_t number) const { return messages_[number - first_message_]; }
  std::uint32_t payload_at(const Message& message, std::uint32_t offset) const {
    return std::min(config_->mtu_bytes, message.request.bytes - offset);
  }
  std::uint32_t next_bytes() const {
    if (!next_is_retransmission()) return payload_at(message_of(next_message_), next_offset_);
    const Record& record = records_[cursor_ - unacked_];
    return payload_at(message_of(record.message), record.offset);
  }

  void append_record() {
    const Message& message = message_of(next_message_);
    const std::uint32_t payload = payload_at(message, next_offset_);
    sent_bytes_ += payload;
    records_.push({.message = next_message_, .end_bytes = sent_bytes_, .offset = next_offset_});
    next_offset_ += payload;
    if (next_offset_ == message.request.bytes) {
      ++next_message_;
      next_offset_ = 0;
    }
    ++sent_end_;
  }
  SendPlan plan_of(const Record& record) const {
    const Message& message = message_of(record.message);
    const WorkRequest& request = message.request;
    SendPlan plan;
    plan.local_address = request.local_address + record.offset;
    plan.va = request.remote_address + record.offset;
    plan.payload_bytes = payload_at(message, record.offset);
    plan.dma_length = request.bytes;
    plan.rkey = request.rkey;
    plan.immediate = request.immediate;
    plan.msn = message.msn;
    plan.opcode = write_opcode(record.offset / config_->mtu_bytes, packets_in(request.bytes, config_->mtu_bytes),
                               request.write_imm);
    return plan;
  }

  void acknowledge(std::uint32_t packets, AckResult& result, TimePs now) {
    if (packets == 0) return;
    for (std::uint32_t i = 0; i < packets; ++i) {
      const Record record = records_.front();
      records_.pop();
      acked_bytes_ = record.end_bytes;
      const WorkRequest& request = messages_.front().request;
      if (record.offset + payload_at(messages_.front(), record.offset) != request.bytes) continue;
      completions_.push({request.id, CompletionStatus::success});
      messages_.pop();
      ++first_message_;
    }
    unacked_ += packets;
    // An ACK may arrive for a first copy while later packets wait for retransmission.
    cursor_ = std::max(cursor_, unacked_);
    retries_ = 0;
    timer_from_ = now;
    result.records_freed = packets;
    result.advanced = true;
  }
  void go_back(AckResult& result) {
    result.declared_lost = static_cast<std::uint32_t>(cursor_ - unacked_);
    cursor_ = unacked_;
    if (++retries_ > config_->retry_count) fail(CompletionStatus::retry_exceeded);
  }
  /// The oldest message ends with `status`, later ones are flushed.
  void fail(CompletionStatus status) {
    state_ = QpState::error;
    for (; !messages_.empty(); messages_.pop()) {
      completions_.push({messages_.front().request.id, status});
      status = CompletionStatus::flushed;
    }
    records_.clear();
    unacked_ = cursor_ = sent_end_;
  }
  TimePs timeout_at() const {
    return cursor_ == unacked_ ? kNever : timer_from_ + (4'096'000ULL << config_->timeout_exponent);
  }

  const RcConfig* config_;
  Dcqcn rate_;
  Psn first_psn_;
  QpState state_ = QpState::rts;
  Ring<Message> messages_;  ///< posted and not complete
  Ring<Record> records_;    ///< packets unacked_ … sent_end_ - 1
  Ring<Completion> completions_;
  // Packets are counted from 0 since the queue pair began; PSNs are these numbers modulo 2^24 from first_psn_ on.
  std::uint64_t unacked_ = 0;   ///< oldest that is not acknowledged
  std::uint64_t cursor_ = 0;    ///< next to send
  std::uint64_t sent_end_ = 0;  ///< first never sent
  std::uint64_t first_message_ = 0;
  std::uint64_t next_message_ = 0;  ///< of the next packet that was never sent
  std::uint32_t next_offset_ = 0;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t acked_bytes_ = 0;
  std::uint16_t next_msn_ = 0;
  std::uint32_t retries_ = 0;
  TimePs timer_from_ = 0;
  RcRequestorCounters counters_;
};

}  // namespace mrc
