#include "pcie/pcie_tlps.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mrc {
namespace {

constexpr std::uint32_t kInfinite = std::numeric_limits<std::uint32_t>::max();

std::uint32_t units(std::uint32_t bytes) {
  return (bytes + 15) / 16;
}

}  // namespace

PcieTlps::PcieTlps(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config,
                   const ClockDomain& clock, KeyedRandom random, const WorkClock& work, CauseTable& causes)
    : PcieDma(name, owner, config, clock, random, work, causes),
      posted_headers_(config.posted_header_credits),
      posted_data_(*this, "pcie.posted_data_credits", "credits", config.posted_data_credits),
      non_posted_headers_(config.non_posted_header_credits),
      completion_headers_(config.completion_header_credits > 0 ? config.completion_header_credits : kInfinite),
      completion_data_(config.completion_data_credits > 0 ? config.completion_data_credits : kInfinite) {
  tracks_tags_ = true;
}

void PcieTlps::step(TimePs now) {
  while (!reminders_.empty() && reminders_.top() <= now) reminders_.pop();
  tell_observer(now);
  take_credits_back(now);
  tell_writers(now);
  land_completion(now);
  give_up_lost(now);
  release_translated_writes(now);
  report(now);
  if (lookups_) take_lookups(now);
  issue_read_request(now);
  take_next_write(now);
  send_upstream(now);
  send_completion(now);
  // What holds up the first request has its reminder.
  if (!read_queue_.ready(now)) read_queue_.wait_ready(now);
  if (!reminders_.empty()) wake_at(reminders_.top());
  if (next_lookup() != kNever) wake_at(next_lookup());
}

void PcieTlps::take_credits_back(TimePs now) {
  for (; !posted_out_.empty() && posted_out_.front().back <= now; posted_out_.pop_front()) {
    ++posted_headers_;
    posted_data_.remove(now, posted_out_.front().data);
  }
  for (; !non_posted_out_.empty() && non_posted_out_.front().back <= now; non_posted_out_.pop_front()) {
    ++non_posted_headers_;
  }
  for (; !completions_out_.empty() && completions_out_.front().back <= now; completions_out_.pop_front()) {
    if (config_.completion_header_credits > 0) ++completion_headers_;
    if (config_.completion_data_credits > 0) completion_data_ += completions_out_.front().data;
  }
}

void PcieTlps::issue_write(TimePs now, const PostedWrite& write) {
  writes_.push_back({write, 0, false});
  take_next_write(now);
  remind(std::max(now, write.start));
  wake_at(std::max(now, write.start));
}

void PcieTlps::tell_writers(TimePs now) {
  while (!left_writes_.empty() && left_writes_.front().at <= now) {
    const LeftWrite left = left_writes_.front();
    left_writes_.pop_front();
    left_visible_ = left.visible;
    left.client->write_left(left.cookie, now, now);
  }
}

std::optional<PcieTlps::Completion> PcieTlps::landed(TimePs now) {
  if (!on_the_wire_ || on_the_wire_->arrives > now) return std::nullopt;
  const std::optional<Completion> completion = std::exchange(on_the_wire_, std::nullopt);
  return completion->fate.lost ? std::nullopt : completion;
}

void PcieTlps::land_completion(TimePs now) {
  const std::optional<Completion> completion = landed(now);
  if (!completion) return;
  const Request& request = completion->request;
  const ReadTags::Verdict verdict =
      accept(now, request, completion->offset, completion->bytes, completion->fate.poisoned);
  if (verdict == ReadTags::Verdict::unexpected) ++counts_.unexpected_completions;
  if (verdict == ReadTags::Verdict::complete) complete(now, request.tag);
}

void PcieTlps::complete(TimePs now, std::uint16_t tag) {
  const ReadTags::Tag read = tag_table_[tag];
  tag_table_.release(tag);
  tags_.remove(now, 1);
  if (read.poisoned) {
    retries_.push({read.address, read.job, read.bytes});
    return;
  }
  --jobs_[read.job].outstanding;
  jobs_[read.job].done_at = now;
}

std::optional<std::uint16_t> PcieTlps::next_expired(TimePs now) {
  while (!deadlines_.empty() && deadlines_.front().at <= now) {
    const Deadline deadline = deadlines_.front();
    deadlines_.pop_front();
    if (!tag_table_.holds(deadline.tag, deadline.sequence)) continue;
    if (!host_is_asked(tag_table_[deadline.tag].job)) return deadline.tag;
    deadlines_.push_back({now + completion_timeout_ps_, deadline.sequence, deadline.tag});
    remind(deadlines_.back().at);
  }
  return std::nullopt;
}

void PcieTlps::give_up_lost(TimePs now) {
  while (const std::optional<std::uint16_t> tag = next_expired(now)) {
    give_up(*tag);
    tag_table_.release(*tag);
    tags_.remove(now, 1);
  }
}

bool PcieTlps::may_issue(TimePs now, std::uint32_t bytes, bool retry) {
  if (!tags_.fits(1)) {
    tags_.refuse(now);
    read_issue_.blocked(now, causes_.read_tags);
    return false;
  }
  if (!retry && !completion_buffer_.fits(bytes)) {
    completion_buffer_.refuse(now);
    waits_for_completion_buffer_ = true;
    read_issue_.blocked(now, causes_.completion_buffer);
    return false;
  }
  if (non_posted_headers_ == 0) {
    read_issue_.blocked(now, causes_.non_posted_credits);
    return false;
  }
  if (const TimePs clear = stalls_.clear(now); clear > now) {
    read_issue_.blocked(now, causes_.stall);
    remind(clear);
    return false;
  }
  return true;
}

void PcieTlps::issue_read_request(TimePs now) {
  if (next_issue_ > now) return;
  const bool retry = !retries_.empty();
  const bool lookup = !retry && !lookup_reads_.empty();
  if (!retry && !lookup && !read_queue_.ready(now)) return;
  const std::uint32_t index = retry ? retries_.front().job : lookup ? lookup_reads_.front() : read_queue_.front();
  ReadJob& job = jobs_[index];
  if (!retry && job.in_lookup) {
    read_issue_.blocked(now, lookup_cause(index));
    return;
  }
  if (!retry && job.translated_at > now) {
    read_issue_.blocked(now, causes_.address_translation);
    remind(job.translated_at);
    return;
  }
  if (!retry && !job.begun) begin(job, index);
  ReadRequestTlp request =
      retry ? ReadRequestTlp{retries_.front().address, retries_.front().bytes, index, 0, true} : next_request(index);
  if (!may_issue(now, request.bytes, retry)) return;
  if (!make(now, sequence_, request)) {
    read_issue_.blocked(now, causes_.read_tags);
    remind(now + clock_.period_ps());
    return;
  }

  queue_request(now, request);
  next_issue_ = now + clock_.period_ps();
  read_issue_.busy(now, next_issue_);
  remind(next_issue_);
  if (retry) {
    ++counts_.retried_requests;
    retries_.pop();
    return;
  }
  completion_buffer_.add(now, request.bytes);
  advance(job, request.bytes);
  if (job.to_issue > 0) return;
  if (lookup) {
    lookup_reads_.pop_front();
  } else {
    read_queue_.pop(now);
  }
}

void PcieTlps::queue_request(TimePs now, const ReadRequestTlp& request) {
  tags_.add(now, 1);
  --non_posted_headers_;
  const std::uint32_t sequence = sequence_++;
  requests_.push_back(
      {{request.address, sequence, request.job, static_cast<std::uint16_t>(request.bytes), request.tag}, orders_++});
  ++counts_.read_requests;
  if (!faults_on_) return;
  deadlines_.push_back({now + completion_timeout_ps_, sequence, request.tag});
  remind(deadlines_.back().at);
}

void PcieTlps::take_next_write(TimePs now) {
  if (writes_.empty() || writes_.front().taken || writes_end_ > now) return;
  writes_.front().taken = true;
  writes_.front().order = orders_++;
  begin_write(writes_.front().left);
}

bool PcieTlps::write_is_first() const {
  if (writes_.empty() || !writes_.front().taken) return false;
  return requests_.empty() || writes_.front().order < requests_.front().order;
}

bool PcieTlps::can_send_write(TimePs now) {
  if (writes_.empty() || !writes_.front().taken) return false;
  const PostedWrite& write = writes_.front().left;
  if (write.start > now) {
    remind(write.start);
    return false;
  }
  return has_posted_credits(now, bytes_in_block(write.address, write.bytes, config_.mps_bytes));
}

bool PcieTlps::has_posted_credits(TimePs now, std::uint32_t bytes) {
  if (posted_headers_ > 0 && posted_data_.fits(units(bytes))) return true;
  write_slot_.blocked(now, posted_wait());
  return false;
}

void PcieTlps::send_upstream(TimePs now) {
  if (upstream_.free_at() > now) {
    if (write_waits(now) && !sent_write_last_) write_slot_.blocked(now, causes_.line);
    return;
  }
  if (const TimePs clear = stalls_.clear(now); clear > now) {
    if (write_waits(now)) write_slot_.blocked(now, causes_.stall);
    remind(clear);
    return;
  }
  if (!config_.id_based_ordering) {
    // A read request passes no write that was asked for before it, and neither does a write pass a read.
    if (write_is_first()) {
      if (can_send_write(now)) send_write_tlp(now);
    } else if (!requests_.empty()) {
      send_read_request(now);
    }
    return;
  }
  // Different requester IDs: in turns, and one passes the other where that one waits for credits.
  const bool write_can = can_send_write(now);
  if (!requests_.empty() && (sent_write_last_ || !write_can)) {
    send_read_request(now);
  } else if (write_can) {
    send_write_tlp(now);
  }
}

void PcieTlps::send_write_tlp(TimePs now) {
  PostedWrite& write = writes_.front().left;
  const WriteTlp tlp = next_tlp(now, write);
  const PostedWrite left = write;
  if (left.bytes == 0) writes_.pop_front();
  send_tlp(now, tlp, left);
}

void PcieTlps::send_tlp(TimePs now, const WriteTlp& tlp, const PostedWrite& left) {
  const std::uint32_t chunk = tlp.bytes;
  const TimePs end = upstream_.occupy(now, chunk + law_.write_overhead);
  write_slot_.busy(now, end);
  --posted_headers_;
  posted_data_.add(now, units(chunk));
  const TimePs credit_back = reach_host(end, tlp, left.access) + credit_return_ps_;
  posted_out_.push_back({credit_back, units(chunk)});
  ++counts_.write_tlps;
  remind(end);
  remind(credit_back);
  sent_write_last_ = true;
  if (left.bytes > 0) return;
  posted_visible_ = visible_by(end);
  writes_end_ = end;
  left_writes_.push_back({end, left.client, left.cookie, posted_visible_});
}

void PcieTlps::send_read_request(TimePs now) {
  const Request request = requests_.front().request;
  requests_.pop_front();
  const TimePs end = upstream_.occupy(now, law_.read_overhead);
  non_posted_out_.push_back({end + credit_return_ps_, 0});
  reach_host(end, posted_visible_, request);
  sent_write_last_ = false;
  remind(end);
  remind(end + credit_return_ps_);
}

void PcieTlps::expect_completion(TimePs ready, const Request& request) {
  answers_.push(ready, request);
  remind(ready);
}

void PcieTlps::send_completion(TimePs now) {
  if (downstream_.free_at() > now) return;
  if (!answering_) {
    if (answers_.empty() || answers_.first_ready() > now) return;
    answering_ = Answering{answers_.pop().second, 0, false, {}};
  }
  const Request& request = answering_->request;
  const std::uint32_t offset = answering_->offset;
  const std::uint32_t chunk = completion_bytes(config_, request.address + offset, request.bytes - offset, offset == 0);
  if (completion_headers_ == 0 || completion_data_ < units(chunk)) {
    answers_wait_for_ = causes_.completion_credits;
    read_data_.blocked(now, causes_.completion_credits);
    return;
  }
  if (const TimePs clear = stalls_.clear(now); clear > now) {
    answers_wait_for_ = causes_.stall;
    read_data_.blocked(now, causes_.stall);
    remind(clear);
    return;
  }
  answers_wait_for_ = causes_.line;
  if (faults_on_ && !answering_->again) answering_->fate = draw_fate();
  const TimePs end = downstream_.occupy(now, chunk + law_.completion_overhead);
  read_data_.busy(now, end);
  if (config_.completion_header_credits > 0) --completion_headers_;
  if (config_.completion_data_credits > 0) completion_data_ -= units(chunk);
  completions_out_.push_back({end + credit_return_ps_, units(chunk)});
  on_the_wire_ = Completion{end, request, offset, chunk, answering_->fate};
  remind(end);
  remind(end + credit_return_ps_);
  if (answering_->fate.duplicated && !answering_->again) {
    answering_->again = true;
    return;
  }
  answering_->again = false;
  answering_->offset += chunk;
  if (answering_->offset == request.bytes) answering_.reset();
}

}  // namespace mrc
