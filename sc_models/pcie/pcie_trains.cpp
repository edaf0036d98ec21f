#include "pcie/pcie_trains.h"

#include <algorithm>
#include <bit>

namespace mrc {

PcieTrains::PcieTrains(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config,
                       const ClockDomain& clock, KeyedRandom random, const WorkClock& work, CauseTable& causes)
    : PcieDma(name, owner, config, clock, random, work, causes),
      one_by_one_(faults_on_ || config.completion_header_credits > 0 || config.completion_data_credits > 0),
      tag_free_at_(std::bit_ceil(config.read_tags)),
      tag_freed_by_(tag_free_at_.size()),
      non_posted_(config.non_posted_header_credits),
      posted_("pcie.posted_data_credits", config.posted_header_credits, config.posted_data_credits),
      completions_("pcie.completion_data_credits", config.completion_header_credits, config.completion_data_credits) {
  declare(DeclaredBuffer{.occupancy = &posted_.data()});
}

void PcieTrains::step(TimePs now) {
  // The read slot is told of issues that lie some cycles ahead, so its observer is told here.
  tell_observer(now);
  release_translated_writes(now);
  take_completions(now);
  if (!deadlines_.empty()) give_up_lost(now);
  report(now);
  if (lookups_) take_lookups(now);
  free_tags(now);
  issue_reads(now);
  arm(now);
}

void PcieTrains::take_completions(TimePs now) {
  while (!answers_.empty() && answers_.first_ready() <= now) {
    const auto [ready, request] = answers_.pop();
    if (one_by_one_ || tracks_tags_ || !stalls_.empty()) {
      take_one_by_one(ready, request);
    } else {
      take_train(ready, request);
    }
  }
}

void PcieTrains::take_train(TimePs ready, const Request& request) {
  const std::uint64_t tlps = completion_count(config_, request.address, request.bytes);
  const TimePs start = downstream_.start(ready);
  const TimePs end = downstream_.occupy(ready, request.bytes + tlps * law_.completion_overhead);
  read_data_.busy(start, end);
  const StartId traced = trace_data(request, end, start > ready ? causes_.line : Cause());
  finish_request(request, end, traced);
  free_tag_at(end, traced);
}

StartId PcieTrains::trace_data(const Request& request, TimePs end, Cause waited_for) {
  if (!traces()) return 0;
  last_data_ = waited_for == Cause() ? trace_->arrived(end, request.start, data_place_)
                                     : trace_->waited(end, last_data_, data_place_, waited_for);
  return last_data_;
}

StartId PcieTrains::trace_request(TimePs now, TimePs at, const ReadRequestTlp& request) {
  if (!traces()) return 0;
  const StartId because = jobs_[request.job].because;
  if (!lookup_reads_.empty() && lookup_reads_.front() == request.job) {
    // It waited for one of the lookups that are under way, or for who asked.
    const bool translation = jobs_[request.job].access == HostAccess::translation;
    const Cause pool = translation ? causes_.address_translation : causes_.memory_table;
    return trace_->waited(at, because, request_place_, pool);
  }
  if (waits_for_lookup_) {
    // Lookups that it waited for may have let others go, which leave first.
    waits_for_lookup_ = false;
    const bool tables = config_.memory_table.key_entries > 0 || config_.memory_table.page_entries > 0;
    const Cause pool = tables ? causes_.memory_table : causes_.address_translation;
    last_request_ = trace_->waited(at, trace_->gave(pool), request_place_, pool);
    return last_request_;
  }
  if (read_issue_.is_blocked()) {
    const Cause pool = read_issue_.blocked_by();
    const StartId giver = pool == causes_.non_posted_credits ? non_posted_[next_non_posted_].by
                          : pool == causes_.stall            ? last_request_
                                                             : trace_->gave(pool);
    last_request_ = trace_->waited(at, giver, request_place_, pool);
  } else if (at > now) {
    last_request_ = trace_->waited(at, last_request_, request_place_, causes_.read_issue);
  } else {
    last_request_ = trace_->arrived(at, because, request_place_);
  }
  return last_request_;
}

void PcieTrains::finish_request(const Request& request, TimePs end, StartId start) {
  ReadJob& job = jobs_[request.job];
  --job.outstanding;
  if (end > job.done_at) job.done_by = start;
  job.done_at = std::max(job.done_at, end);
}

void PcieTrains::end_tag(std::uint16_t tag, TimePs end, StartId start) {
  if (tracks_tags_) tag_table_.release(tag);
  free_tag_at(end, start);
}

void PcieTrains::free_tag_at(TimePs end, StartId start) {
  const std::uint64_t place = tag_free_tail_++ & (tag_free_at_.size() - 1);
  tag_free_at_[place] = end;
  tag_freed_by_[place] = start;
  tags_.announce_remove(end, 1);
}

void PcieTrains::take_one_by_one(TimePs ready, const Request& request) {
  TimePs time = ready;
  Cause waited_for = downstream_.start(time) > time ? causes_.line : Cause();
  for (std::uint32_t offset = 0; offset < request.bytes;) {
    const std::uint32_t chunk =
        completion_bytes(config_, request.address + offset, request.bytes - offset, offset == 0);
    const Fate fate = faults_on_ ? draw_fate() : Fate{};
    for (int copy = 0; copy < (fate.duplicated ? 2 : 1); ++copy) {
      const std::uint32_t data = data_credits(chunk);
      const TimePs at_line = downstream_.start(time);
      const TimePs credited = completions_.available(at_line, data);
      const TimePs start = stalls_.clear(credited);
      answers_wait_for_ = causes_.line;
      if (credited > at_line) {
        answers_wait_for_ = waited_for = causes_.completion_credits;
        read_data_.blocked(at_line, causes_.completion_credits);
      }
      if (start > credited) {
        answers_wait_for_ = waited_for = causes_.stall;
        read_data_.blocked(credited, causes_.stall);
      }
      time = downstream_.occupy(start, chunk + law_.completion_overhead);
      read_data_.busy(start, time);
      completions_.spend(credited, data, time + credit_return_ps_);
      if (!tracks_tags_ || fate.lost) continue;
      const ReadTags::Verdict verdict = accept(time, request, offset, chunk, fate.poisoned);
      if (verdict == ReadTags::Verdict::unexpected) ++counts_.unexpected_completions;
      if (verdict != ReadTags::Verdict::complete) continue;
      const StartId traced = trace_data(request, time, waited_for);
      if (tag_table_[request.tag].poisoned) {
        retries_.push({request.address, request.job, request.bytes});
      } else {
        finish_request(request, time, traced);
      }
      end_tag(request.tag, time, traced);
    }
    offset += chunk;
  }
  if (tracks_tags_) return;
  const StartId traced = trace_data(request, time, waited_for);
  finish_request(request, time, traced);
  end_tag(request.tag, time, traced);
}

void PcieTrains::give_up_lost(TimePs now) {
  while (!deadlines_.empty()) {
    const Deadline deadline = deadlines_.front();
    const bool waits = tag_table_.holds(deadline.tag, deadline.sequence);
    if (waits && deadline.at > now) return;
    deadlines_.pop();
    if (!waits) continue;
    if (host_is_asked(tag_table_[deadline.tag].job)) {
      deadlines_.push({now + completion_timeout_ps_, deadline.sequence, deadline.tag});
      continue;
    }
    give_up(deadline.tag);
    end_tag(deadline.tag, now, last_data_);
  }
}

void PcieTrains::free_tags(TimePs now) {
  while (tag_free_head_ != tag_free_tail_) {
    const TimePs at = tag_free_at_[tag_free_head_ & (tag_free_at_.size() - 1)];
    if (at > now) return;
    tags_.remove_announced(at, 1);
    if (trace_ != nullptr) {
      trace_->give(causes_.read_tags, tag_freed_by_[tag_free_head_ & (tag_free_at_.size() - 1)]);
    }
    ++tag_free_head_;
  }
}

TimePs PcieTrains::send_request(TimePs now, TimePs at) {
  const TimePs line_time = upstream_.duration(law_.read_overhead);
  if (!config_.id_based_ordering) {
    // The requests of a job are issued some cycles ahead; their bytes are booked without a hole, so that a write which
    // comes in between finds no idle line behind it.
    const TimePs booked = upstream_.occupy(stalls_.clear(upstream_.start(now)), law_.read_overhead);
    return std::max(booked, at + line_time);
  }
  // It slips in between the write TLPs that are booked already, one of them at least between two requests.
  const bool writes_booked = upstream_.free_at() > at;
  const TimePs start = stalls_.clear(std::max(at, reads_free_at_));
  const TimePs sent = start + line_time;
  reads_free_at_ = writes_booked ? sent + upstream_.duration(config_.mps_bytes + law_.write_overhead) : sent;
  upstream_.occupy(upstream_.start(now), law_.read_overhead);
  return sent;
}

bool PcieTrains::issue_request(TimePs now, ReadRequestTlp& request) {
  if (!tags_.fits(1)) {
    tags_.refuse(now);
    read_issue_.blocked(now, causes_.read_tags);
    return false;
  }
  if (!request.again && !completion_buffer_.fits(request.bytes)) {
    completion_buffer_.refuse(now);
    waits_for_completion_buffer_ = true;
    read_issue_.blocked(now, causes_.completion_buffer);
    return false;
  }
  NonPostedCredit& credit = non_posted_[next_non_posted_];
  const TimePs at = std::max(now, next_issue_);
  if (credit.back > at) {
    read_issue_.blocked(now, causes_.non_posted_credits);
    waits_until_ = credit.back;
    return false;
  }
  if (const TimePs clear = stalls_.clear(at); clear > at) {
    read_issue_.blocked(at, causes_.stall);
    waits_until_ = clear;
    return false;
  }
  const auto sequence = static_cast<std::uint32_t>(requests_issued_);
  if (!make(now, sequence, request)) {
    read_issue_.blocked(now, causes_.read_tags);
    waits_until_ = now + clock_.period_ps();
    return false;
  }
  const StartId traced = trace_request(now, at, request);
  if (traced != 0) credit.by = traced;
  const TimePs sent = send_request(now, at);
  credit.back = sent + credit_return_ps_;
  if (++next_non_posted_ == non_posted_.size()) next_non_posted_ = 0;
  // Requests queue for the link behind write TLPs; the slot itself is free in the next cycle.
  next_issue_ = at + clock_.period_ps();
  read_issue_.busy(at, next_issue_);
  tags_.add(now, 1);
  if (!request.again) completion_buffer_.add(now, request.bytes);
  ++requests_issued_;
  ++counts_.read_requests;
  if (faults_on_) deadlines_.push({at + completion_timeout_ps_, sequence, request.tag});
  reach_host(sent, posted_visible_,
             {request.address, sequence, request.job, static_cast<std::uint16_t>(request.bytes), request.tag, traced});
  return true;
}

void PcieTrains::expect_completion(TimePs ready, const Request& request) {
  answers_.push(ready, request);
  ReadJob& job = jobs_[request.job];
  job.last_ready = std::max(job.last_ready, ready);
}

bool PcieTrains::issue_retries(TimePs now) {
  while (!retries_.empty()) {
    const Retry retry = retries_.front();
    ReadRequestTlp request{retry.address, retry.bytes, retry.job, 0, true};
    if (!issue_request(now, request)) return false;
    ++counts_.retried_requests;
    retries_.pop();
  }
  return true;
}

bool PcieTrains::issue_lookups(TimePs now) {
  for (; !lookup_reads_.empty(); lookup_reads_.pop_front()) {
    const std::uint32_t index = lookup_reads_.front();
    ReadJob& job = jobs_[index];
    if (!job.begun) begin(job, index);
    while (job.to_issue > 0) {
      ReadRequestTlp request = next_request(index);
      if (!issue_request(now, request)) return false;
      advance(job, request.bytes);
    }
  }
  return true;
}

void PcieTrains::issue_reads(TimePs now) {
  if (!retries_.empty() && !issue_retries(now)) return;
  if (!lookup_reads_.empty() && !issue_lookups(now)) return;
  while (read_queue_.ready(now) && next_issue_ <= now) {
    const std::uint32_t index = read_queue_.front();
    ReadJob& job = jobs_[index];
    if (job.in_lookup) {
      read_issue_.blocked(now, lookup_cause(index));
      waits_for_lookup_ = true;
      return;
    }
    if (job.translated_at > now) {
      read_issue_.blocked(now, causes_.address_translation);
      waits_until_ = job.translated_at;
      return;
    }
    if (!job.begun) begin(job, index);
    while (job.to_issue > 0) {
      ReadRequestTlp request = next_request(index);
      if (!issue_request(now, request)) return;
      advance(job, request.bytes);
    }
    if (trace_ != nullptr) trace_->give(causes_.read_queue_full, last_request_);
    read_queue_.pop(now);
  }
}

void PcieTrains::arm(TimePs now) {
  TimePs wake = kNever;
  const auto job_can_end = [&](const ReadJob& job) {
    // With faults a job may wait for more than the answers that are under way.
    const bool all_on_their_way = job.to_issue == 0 && job.unanswered == 0;
    if (job.outstanding > 0 && all_on_their_way && job.last_ready > now) wake = std::min(wake, job.last_ready);
  };
  if (const std::uint32_t* oldest = order_.oldest_in_order()) job_can_end(jobs_[*oldest]);
  for (const std::uint32_t index : order_.loose()) job_can_end(jobs_[index]);
  if (!deadlines_.empty()) {
    wake = std::min(wake, deadlines_.front().at);
    if (!answers_.empty()) wake = std::min(wake, answers_.first_ready());
  }
  wake = std::min(wake, next_lookup());
  if (!read_queue_.empty() || !retries_.empty() || !lookup_reads_.empty()) {
    const bool front_in_lookup =
        lookups_ && lookup_reads_.empty() && !read_queue_.empty() && jobs_[read_queue_.front()].in_lookup;
    const bool tags_short = !tags_.fits(1);
    if (tags_short && tag_free_head_ != tag_free_tail_) {
      wake = std::min(wake, tag_free_at_[tag_free_head_ & (tag_free_at_.size() - 1)]);
    } else if (tags_short && !answers_.empty()) {
      wake = std::min(wake, answers_.first_ready());
    } else if (waits_until_ > now) {
      wake = std::min(wake, waits_until_);
    } else if (!tags_short && !front_in_lookup && (!waits_for_completion_buffer_ || !retries_.empty())) {
      const TimePs ready = retries_.empty() && lookup_reads_.empty() ? read_queue_.ready_at() : now;
      wake = std::min(wake, std::max(next_issue_, ready));
    }
  } else {
    read_queue_.wait_ready(now);
  }
  if (wake != kNever) wake_at(std::max(wake, now));
}

void PcieTrains::issue_write(TimePs now, const PostedWrite& write) {
  const std::uint32_t tlps = write.bytes == 0 ? 0 : tlp_count(write.address, write.bytes, config_.mps_bytes);
  const std::uint64_t most_credits = std::uint64_t{tlps} * data_credits(config_.mps_bytes);
  const bool nothing_in_the_way = write.bytes > 0 && !rtl_ && host_path() == nullptr && stalls_.empty() &&
                                  posted_.data().tap().recorder == nullptr &&
                                  posted_.available_at_once(write.start, tlps, most_credits);
  const TimePs last_end = nothing_in_the_way ? write_in_a_row(write, tlps) : write_one_by_one(now, write);
  posted_visible_ = left_visible_ = visible_by(last_end);
  writes_end_ = last_end;
  write.client->write_left(write.cookie, now, last_end);
}

TimePs PcieTrains::write_in_a_row(const PostedWrite& write, std::uint32_t tlps) {
  const TimePs start = upstream_.start(write.start);
  write_limit_ = causes_.line;
  if (start > write.start) write_slot_.blocked(write.start, causes_.line);
  TimePs end = start;
  SerialLine line = upstream_;
  const std::uint32_t most = config_.mps_bytes;
  const std::uint32_t overhead = law_.write_overhead;
  const TimePs credit_return_ps = credit_return_ps_;
  std::uint32_t chunk = bytes_in_block(write.address, write.bytes, most);
  std::uint32_t left = write.bytes;
  posted_.spend_together(write.start, tlps, [&] {
    end = line.occupy(end, chunk + overhead);
    const Occupancy::Removal back{end + credit_return_ps, data_credits(chunk)};
    left -= chunk;
    chunk = std::min(left, most);
    return back;
  });
  upstream_ = line;
  counts_.write_tlps += tlps;
  write_slot_.busy(start, end);
  return end;
}

TimePs PcieTrains::write_one_by_one(TimePs now, const PostedWrite& write) {
  PostedWrite left = write;
  TimePs time = write.start;
  write_limit_ = causes_.line;
  TimePs last_end = write.start;
  begin_write(write);
  while (left.bytes > 0) {
    const WriteTlp tlp = next_tlp(now, left);
    const std::uint32_t data = data_credits(tlp.bytes);
    const TimePs credited = posted_.available(time, data);
    if (credited > time) {
      write_limit_ = posted_wait();
      write_slot_.blocked(time, write_limit_);
    }
    time = credited;
    const TimePs at_line = upstream_.start(time);
    if (at_line > time) write_slot_.blocked(time, causes_.line);
    const TimePs start = stalls_.clear(at_line);
    if (start > at_line) write_slot_.blocked(at_line, causes_.stall);
    last_end = upstream_.occupy(start, tlp.bytes + law_.write_overhead);
    write_slot_.busy(start, last_end);
    posted_.spend(time, data, reach_host(last_end, tlp, write.access) + credit_return_ps_);
    ++counts_.write_tlps;
  }
  return last_end;
}

}  // namespace mrc
