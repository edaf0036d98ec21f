#include "sender_oracle.h"

#include <algorithm>

namespace mrc::world {

void SenderOracle::post(const WorkRequest& request, TimePs now) {
  if (failed_) {
    completions_.push_back({request.id, CompletionStatus::flushed});
    return;
  }
  if (completed_ == messages_.size()) progress_at_ = now;
  Message message{.request = request};
  if (!messages_.empty()) {
    message.first = end(messages_.size() - 1);
    message.write_imms_before = messages_.back().write_imms_before + (messages_.back().request.write_imm ? 1 : 0);
  }
  messages_.push_back(message);
}

std::uint64_t SenderOracle::message_of(std::uint64_t number) const {
  const auto after = std::upper_bound(messages_.begin(), messages_.end(), number,
                                      [](std::uint64_t n, const Message& message) { return n < message.first; });
  return static_cast<std::uint64_t>(after - messages_.begin()) - 1;
}

void SenderOracle::check_fields(const SendPlan& plan, std::uint64_t message, std::uint64_t number) const {
  const WorkRequest& request = messages_[message].request;
  const std::uint64_t index = number - messages_[message].first;
  const std::uint64_t offset = index * config_->mtu_bytes;
  const bool last = index + 1 == packets(message);
  const auto bytes = static_cast<std::uint32_t>(last ? request.bytes - offset : config_->mtu_bytes);
  require(plan.psn == psn_of(number), "PSN {} is sent instead of {}", plan.psn, psn_of(number));
  require(plan.va == request.remote_address + offset && plan.local_address == request.local_address + offset,
          "PSN {} carries the wrong place of its message", plan.psn);
  require(plan.payload_bytes == bytes && plan.dma_length == request.bytes, "PSN {} carries {} B of {} B", plan.psn,
          plan.payload_bytes, plan.dma_length);
  require(plan.rkey == request.rkey && plan.immediate == request.immediate, "PSN {}: wrong key or immediate", plan.psn);
  require(plan.msn == (message & 0xFFFF), "PSN {}: MSN {} instead of {}", plan.psn, plan.msn, message & 0xFFFF);
  require(!request.write_imm || plan.rqmsn == (messages_[message].write_imms_before & 0xFFFF), "PSN {}: RQMSN {}",
          plan.psn, plan.rqmsn);
  const Opcode whole = request.write_imm ? Opcode::write_only_imm : Opcode::write_only;
  const Opcode ending = request.write_imm ? Opcode::write_last_imm : Opcode::write_last;
  const Opcode inside = index == 0 ? Opcode::write_first : Opcode::write_middle;
  const Opcode opcode = packets(message) == 1 ? whole : last ? ending : inside;
  require(plan.opcode == opcode, "PSN {}: opcode {:#x} instead of {:#x}", plan.psn, static_cast<int>(plan.opcode),
          static_cast<int>(opcode));
}

std::uint64_t SenderOracle::write_imms_in_flight() const {
  std::uint64_t n = 0;
  for (std::uint64_t m = completed_; m < taking_; ++m) n += messages_[m].request.write_imm ? 1 : 0;
  return n;
}

std::uint64_t SenderOracle::take_new(const SendPlan& plan) {
  const std::uint64_t number = next();
  require(number < unacked_ + window_, "PSN {} is sent with {} in a window of {}", plan.psn, number - unacked_,
          window_);
  require(taking_ < messages_.size() || number < end(messages_.size() - 1), "PSN {} is sent without work", plan.psn);
  const bool begins = taking_ < messages_.size() && number == messages_[taking_].first;
  if (begins) ++taking_;
  require(write_imms_in_flight() <= config_->max_write_imm, "{} WRITE_IMM in flight", write_imms_in_flight());
  check_fields(plan, taking_ - 1, number);
  require(!plan.retransmission, "PSN {}: rtx on its first copy", plan.psn);
  const bool immediate = has_immediate(plan.opcode);
  const std::uint32_t nominal = 40 + 8 + 12 + 4 + 4 + 16 + (immediate ? 4 : 0) + (plan.payload_bytes + 3) / 4 * 4 + 4;
  require(plan.nominal_bytes == nominal, "PSN {}: {} B charged instead of {}", plan.psn, plan.nominal_bytes, nominal);
  sent_.push_back({.nominal_bytes = nominal});
  inflight_bytes_ += nominal;
  return number;
}

std::uint64_t SenderOracle::take_lost(const SendPlan& plan) {
  std::uint64_t number = unacked_;
  while (sent_[number].state != State::lost) ++number;
  require(number < unacked_ + window_, "lost PSN {} is sent outside the window", plan.psn);
  check_fields(plan, message_of(number), number);
  require(plan.retransmission, "PSN {} is sent again without rtx", plan.psn);
  require(plan.nominal_bytes == sent_[number].nominal_bytes, "PSN {}: {} B charged", plan.psn, plan.nominal_bytes);
  sent_[number].state = State::in_pipeline;
  --lost_;
  inflight_bytes_ += plan.nominal_bytes;
  return number;
}

std::uint64_t SenderOracle::take_repetition(const SendPlan& plan, TimePs now) {
  repeat_ = false;
  progress_at_ = now;
  require(completed_ < messages_.size(), "PSN {} is repeated without work", plan.psn);
  const std::uint64_t number = end(completed_) - 1;
  check_fields(plan, completed_, number);
  require(plan.retransmission && plan.ack_request, "repeated PSN {}: rtx {}, AckReq {}", plan.psn, plan.retransmission,
          plan.ack_request);
  require(plan.nominal_bytes == 0, "repeated PSN {} is charged", plan.psn);
  return number;
}

std::uint64_t SenderOracle::take(const SendPlan& plan, const CongestionControl& congestion, TimePs now) {
  if (repeat_) return take_repetition(plan, now);
  const std::uint64_t number = lost_ > 0 ? take_lost(plan) : take_new(plan);
  require(congestion.inflight_bytes() == plan.nominal_bytes || congestion.inflight_bytes() <= congestion.cwnd_bytes(),
          "PSN {} is sent with {} B in flight, the window is {} B", plan.psn, congestion.inflight_bytes(),
          congestion.cwnd_bytes());
  const bool nothing_follows = lost_ == 0 && next() == end(messages_.size() - 1);
  const bool window_ends = congestion.inflight_bytes() + config_->mtu_bytes > congestion.cwnd_bytes();
  const bool window_is_short = congestion.cwnd_bytes() < config_->sack_threshold_bytes;
  require(plan.ack_request == (nothing_follows || window_ends || window_is_short), "PSN {}: AckReq {}", plan.psn,
          plan.ack_request);
  return number;
}

void SenderOracle::transmitted(std::uint64_t number, EvIndex ev, TimePs now) {
  Sent& sent = sent_[number];
  if (sent.state != State::in_pipeline) return;
  sent.state = State::outstanding;
  sent.ev = ev;
  sent.sent_at = now;
  sent.sequence = ++sequence_;
  sent.copy_may_arrive |= sent.transmissions > 0 && !sent.nacked;
  ++sent.transmissions;
}

TimePs SenderOracle::rtt_of(std::uint64_t number, TimePs now) const {
  if (number < unacked_ || number >= next()) return 0;
  const Sent& sent = sent_[number];
  return sent.state == State::outstanding && !sent.copy_may_arrive ? now - sent.sent_at : 0;
}

std::uint64_t SenderOracle::newly_received(std::uint64_t units) {
  if (units <= units_) return 0;
  const std::uint64_t growth = units - units_;
  units_ = units;
  return growth * 256;
}

void SenderOracle::acknowledge(std::uint64_t number) {
  require(number < next(), "packet {} is acknowledged and was never sent", number);
  if (number < unacked_) return;
  Sent& sent = sent_[number];
  if (sent.state == State::acked) return;
  if (sent.state == State::lost) {
    --lost_;
    ++spurious_losses_;
  } else {
    inflight_bytes_ -= sent.nominal_bytes;
  }
  sent.state = State::acked;
  if (sent.transmissions == 1) highest_acked_ = std::max(highest_acked_, sent.sequence);
}

void SenderOracle::advance(TimePs now) {
  const std::uint64_t before = unacked_;
  while (unacked_ < next() && sent_[unacked_].state == State::acked) ++unacked_;
  if (unacked_ == before) return;
  retries_ = 0;
  retry_timeouts_ = 0;
  progress_at_ = now;
}

void SenderOracle::lose(std::uint64_t number) {
  sent_[number].state = State::lost;
  sent_[number].nacked = false;
  inflight_bytes_ -= sent_[number].nominal_bytes;
  ++lost_;
}

void SenderOracle::infer_gaps(std::uint64_t cwnd_bytes) {
  const double packets = config_->gap_cwnd_factor * static_cast<double>(cwnd_bytes) / config_->mtu_bytes;
  const double upper = std::max(static_cast<double>(window_) / 2, static_cast<double>(config_->gap_min_packets));
  const auto threshold =
      static_cast<std::uint64_t>(std::min(std::max(packets, static_cast<double>(config_->gap_min_packets)), upper));
  for (std::uint64_t n = unacked_; n < next(); ++n) {
    if (sent_[n].state != State::outstanding || sent_[n].sequence + threshold > highest_acked_) continue;
    lose(n);
    ++gap_losses_;
    declared_lost_.push_back(n);
  }
}

void SenderOracle::on_sack(std::uint64_t expected, std::uint64_t base, const SackFields& sack, std::uint64_t cwnd_bytes,
                           TimePs now) {
  declared_lost_.clear();
  if (config_->dynamic_mpr && expected >= unacked_) window_ = std::uint64_t{sack.mpr} * 128;
  if (failed_) return;
  for (std::uint64_t n = unacked_; n < expected; ++n) acknowledge(n);
  for (std::uint64_t i = 0; i < 64; ++i) {
    if ((sack.sack_bitmap >> i & 1) != 0) acknowledge(base + i);
  }
  advance(now);
  infer_gaps(cwnd_bytes);
}

void SenderOracle::on_nack(std::uint64_t number, NackReason reason) {
  declared_lost_.clear();
  if (failed_) return;
  if (reason == NackReason::unexp_event) return fail(CompletionStatus::remote_operation_error);
  if (number < unacked_ || number >= next() || sent_[number].state != State::outstanding) return;
  lose(number);
  sent_[number].nacked = true;
  ++nack_losses_;
  count_retry();
}

void SenderOracle::on_transport_ack(std::uint64_t messages, TimePs now) {
  declared_lost_.clear();
  if (failed_ || messages <= completed_) return;
  require(taken(messages - 1), "{} messages are complete and not all of them were sent", messages);
  for (; completed_ < messages; ++completed_) {
    for (std::uint64_t n = std::max(unacked_, messages_[completed_].first); n < end(completed_); ++n) acknowledge(n);
    completions_.push_back({messages_[completed_].request.id, CompletionStatus::success});
  }
  progress_at_ = now;
  repeat_ = false;
  retries_ = 0;
  retry_timeouts_ = 0;
  advance(now);
}

TimePs SenderOracle::timeout(std::uint32_t timeouts) const {
  TimePs limit = 1'024'000;
  for (std::uint32_t i = 0; i < config_->timeout_exponent; ++i) limit *= 2;
  for (std::uint32_t i = config_->linear_retries; i < std::min(timeouts, config_->linear_retries + 16); ++i) limit *= 2;
  return limit;
}

TimePs SenderOracle::timeout_of(const Sent& sent) const {
  return timeout(config_->timeout_backoff == TimeoutBackoff::packet ? sent.timeouts : retry_timeouts_);
}

TimePs SenderOracle::deadline() const {
  if (failed_) return kNever;
  TimePs first = kNever;
  for (std::uint64_t n = unacked_; n < next(); ++n) {
    if (sent_[n].state == State::outstanding) first = std::min(first, sent_[n].sent_at + timeout_of(sent_[n]));
  }
  if (first != kNever) return first;
  const bool ack_missing = completed_ < messages_.size() && unacked_ == next() && taken(completed_) && !repeat_;
  return ack_missing ? progress_at_ + timeout(retry_timeouts_) : kNever;
}

void SenderOracle::on_deadline(TimePs now) {
  declared_lost_.clear();
  TimePs newest = 0;
  for (std::uint64_t n = unacked_; n < next(); ++n) {
    if (sent_[n].state != State::outstanding || sent_[n].sent_at + timeout_of(sent_[n]) > now) continue;
    newest = std::max(newest, sent_[n].sent_at);
    lose(n);
    ++sent_[n].timeouts;
    ++timeout_losses_;
    declared_lost_.push_back(n);
  }
  if (declared_lost_.empty()) {
    repeat_ = true;
    progress_at_ = now;
  } else if (retry_timeouts_ > 0 && newest < timeout_at_) {
    return;
  }
  ++timeouts_;
  ++retry_timeouts_;
  timeout_at_ = now;
  count_retry();
}

void SenderOracle::count_retry() {
  ++retries_;
  const bool finite = config_->exponential_retries != 25;
  if (finite && retries_ > config_->linear_retries + config_->exponential_retries)
    fail(CompletionStatus::retry_exceeded);
}

void SenderOracle::fail(CompletionStatus status) {
  failed_ = true;
  inflight_bytes_ = 0;
  lost_ = 0;
  unacked_ = next();
  for (; completed_ < messages_.size(); ++completed_) {
    completions_.push_back({messages_[completed_].request.id, status});
    status = CompletionStatus::flushed;
  }
}

void SenderOracle::compare(const Requestor& requestor) const {
  const RequestorCounters& counters = requestor.counters();
  require((requestor.state() == QpState::error) == failed_, "QP in error: {}, must be {}", !failed_, failed_);
  require(requestor.unacked_psn() == psn_of(unacked_), "oldest unacknowledged PSN {} instead of {}",
          requestor.unacked_psn(), psn_of(unacked_));
  require(requestor.next_psn() == psn_of(next()), "next PSN {} instead of {}", requestor.next_psn(), psn_of(next()));
  require(requestor.window_psns() == window_, "window of {} PSNs instead of {}", requestor.window_psns(), window_);
  require(requestor.retries() == retries_, "{} retries instead of {}", requestor.retries(), retries_);
  require(requestor.messages_pending() == messages_.size() - completed_, "{} messages pending instead of {}",
          requestor.messages_pending(), messages_.size() - completed_);
  require(counters.gap_losses == gap_losses_, "{} gap losses instead of {}", counters.gap_losses, gap_losses_);
  require(counters.nack_losses == nack_losses_, "{} NACK losses instead of {}", counters.nack_losses, nack_losses_);
  require(counters.timeouts == timeouts_, "{} timeouts instead of {}", counters.timeouts, timeouts_);
  require(counters.timeout_losses == timeout_losses_, "{} timeout losses instead of {}", counters.timeout_losses,
          timeout_losses_);
  require(counters.spurious_losses == spurious_losses_, "{} spurious losses instead of {}", counters.spurious_losses,
          spurious_losses_);
}

void SenderOracle::compare_records(const Requestor& requestor) const {
  const RetransmitBuffer& records = requestor.records();
  require(records.span() == next() - unacked_, "{} records instead of {}", records.span(), next() - unacked_);
  require(records.has_lost() == (lost_ > 0), "records say lost: {}, {} are", records.has_lost(), lost_);
  for (std::uint64_t n = unacked_; n < next(); ++n) {
    const SendRecord& record = records.at(psn_of(n));
    require(static_cast<int>(record.state) == static_cast<int>(sent_[n].state), "PSN {} in state {} instead of {}",
            psn_of(n), static_cast<int>(record.state), static_cast<int>(sent_[n].state));
    require(record.nominal_bytes == sent_[n].nominal_bytes, "PSN {} holds {} B", psn_of(n), record.nominal_bytes);
    require(record.transmissions == sent_[n].transmissions, "PSN {} was sent {} times, the record says {}", psn_of(n),
            sent_[n].transmissions, record.transmissions);
  }
}

void SenderOracle::complete(const Completion& completion) {
  require(completions_taken_ < completions_.size(), "work {} is completed with nothing due", completion.id);
  const Completion& due = completions_[completions_taken_++];
  require(completion.id == due.id && completion.status == due.status, "completion {} ({}) instead of {} ({})",
          completion.id, to_string(completion.status), due.id, to_string(due.status));
}

}  // namespace mrc::world
