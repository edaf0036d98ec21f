#include "pcie/pcie_dma.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace mrc {
namespace {

constexpr std::uint32_t kReadQueueJobs = 8;
constexpr std::uint32_t kCreditUnitBytes = 16;

TimePs ps(double ns) {
  return static_cast<TimePs>(ns * 1000.0 + 0.5);
}

}  // namespace

PcieDma::PcieDma(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config,
                 const ClockDomain& clock, KeyedRandom random, const WorkClock& work)
    : Box(name, owner),
      config_(config),
      law_(pcie_law(config)),
      clock_(clock),
      mps_bytes_(config.mps_bytes),
      mrrs_bytes_(config.mrrs_bytes),
      credit_return_ps_(ps(config.credit_return_ns)),
      write_latency_ps_(ps(config.write_latency_ns)),
      posted_headers_(config.posted_header_credits),
      non_posted_headers_(config.non_posted_header_credits),
      latency_(config.read_latency_mean_ns, config.read_latency_p99_ns),
      random_(random),
      upstream_(law_.gbps),
      downstream_(law_.gbps),
      read_queue_("pcie.read_queue", kReadQueueJobs),
      tag_free_at_(std::bit_ceil(config.read_tags)),
      non_posted_back_(config.non_posted_header_credits),
      posted_(std::bit_ceil(config.posted_header_credits)),
      tags_("pcie.read_tags", "tags", config.read_tags),
      completion_buffer_("pcie.completion_buffer", "bytes", config.completion_buffer_bytes),
      posted_data_("pcie.posted_data_credits", "credits", config.posted_data_credits),
      read_issue_("pcie_dma.read_issue", work),
      read_data_("pcie_dma.read_data", work),
      write_slot_("pcie_dma.write", work) {
  requests_.reserve(config.read_tags);
  read_queue_.connect(this);
}

std::uint32_t PcieDma::new_job() {
  if (free_jobs_.empty()) {
    jobs_.emplace_back();
    return static_cast<std::uint32_t>(jobs_.size() - 1);
  }
  const std::uint32_t index = free_jobs_.back();
  free_jobs_.pop_back();
  return index;
}

void PcieDma::read(TimePs now, std::uint64_t address, std::uint32_t bytes, ReadClient& client, std::uint64_t cookie,
                   bool in_order, std::byte* into) {
  const std::uint32_t index = new_job();
  bytes_asked_ += bytes;
  jobs_[index] = ReadJob{.address = address,
                         .cookie = cookie,
                         .client = &client,
                         .bytes = bytes,
                         .to_issue = bytes,
                         .in_order = in_order,
                         .into = into};
  read_queue_.push(now, index, now);
}

void PcieDma::step(TimePs now) {
  // The read slot is told of issues that lie some cycles ahead, so its observer is told here.
  if (observer_ != nullptr && now > observer_->quiet_until()) observer_->before_change(now);
  take_completions(now);
  report(now);
  free_tags(now);
  issue_reads(now);
  arm(now);
}

void PcieDma::take_completions(TimePs now) {
  while (!requests_.empty() && requests_.front().ready <= now) {
    std::pop_heap(requests_.begin(), requests_.end(), std::greater<>{});
    const Request request = requests_.back();
    requests_.pop_back();
    const TimePs start = downstream_.start(request.ready);
    const TimePs end =
        downstream_.occupy(request.ready, request.bytes + std::uint64_t{request.tlps} * law_.completion_overhead);
    read_data_.busy(start, end);
    ReadJob& job = jobs_[request.job];
    --job.outstanding;
    job.done_at = std::max(job.done_at, end);
    tag_free_at_[tag_free_tail_++ & (tag_free_at_.size() - 1)] = end;
  }
}

void PcieDma::free_tags(TimePs now) {
  while (tag_free_head_ != tag_free_tail_) {
    const TimePs at = tag_free_at_[tag_free_head_ & (tag_free_at_.size() - 1)];
    if (at > now) return;
    tags_.remove(at, 1);
    ++tag_free_head_;
  }
}

void PcieDma::report(TimePs now) {
  const auto finish_job = [&](std::uint32_t index) {
    const ReadJob job = jobs_[index];
    free_jobs_.push_back(index);
    bytes_reported_ += job.bytes;
    job.client->read_done(job.cookie, now, std::max(now, job.done_at));
  };
  const auto done = [&](const ReadJob& job) { return job.to_issue == 0 && job.outstanding == 0; };
  while (!in_order_jobs_.empty()) {
    const std::uint32_t index = in_order_jobs_.front();
    if (!done(jobs_[index])) break;
    in_order_jobs_.pop();
    finish_job(index);
  }
  for (std::size_t i = 0; i < loose_jobs_.size();) {
    const std::uint32_t index = loose_jobs_[i];
    if (!done(jobs_[index])) {
      ++i;
      continue;
    }
    loose_jobs_[i] = loose_jobs_.back();
    loose_jobs_.pop_back();
    finish_job(index);
  }
}

void PcieDma::expect_completion(ReadJob& job, const Request& request) {
  requests_.push_back(request);
  std::push_heap(requests_.begin(), requests_.end(), std::greater<>{});
  job.last_ready = std::max(job.last_ready, request.ready);
}

void PcieDma::ask_host(TimePs sent, ReadJob& job, const Request& request) {
  const TimePs latency = request.ready - sent;
  const TimePs back = std::max(latency / 2, shortest_return_ps_);
  const TimePs there = latency - std::min(latency, back);
  std::byte* into = job.into == nullptr ? nullptr : job.into + (job.bytes - job.to_issue);
  ++job.unanswered;
  host_->read(sent + there, {job.address, request.sequence, into, request.bytes, request.job, back});
}

void PcieDma::host_answered(const HostRead& request, TimePs at) {
  ReadJob& job = jobs_[request.job];
  --job.unanswered;
  expect_completion(job, {at + request.return_ps, request.sequence, request.job, request.bytes,
                          tlp_count(request.address, request.bytes, mps_bytes_)});
  wake_at(at + request.return_ps);
}

bool PcieDma::issue_request(TimePs now, ReadJob& job, std::uint32_t job_index) {
  const std::uint32_t bytes = bytes_in_block(job.address, job.to_issue, mrrs_bytes_);
  if (!tags_.fits(1)) {
    tags_.refuse(now);
    read_issue_.blocked(now, BlockedBy::read_tags);
    return false;
  }
  if (!completion_buffer_.fits(bytes)) {
    completion_buffer_.refuse(now);
    waits_for_completion_buffer_ = true;
    read_issue_.blocked(now, BlockedBy::completion_buffer);
    return false;
  }
  TimePs& credit_back = non_posted_back_[requests_issued_ % non_posted_headers_];
  const TimePs at = std::max(now, next_issue_);
  if (credit_back > at) {
    read_issue_.blocked(now, BlockedBy::non_posted_credits);
    waits_for_credit_until_ = credit_back;
    return false;
  }
  const TimePs sent = upstream_.occupy(at, law_.read_overhead);
  credit_back = sent + credit_return_ps_;
  // Requests queue for the link behind write TLPs; the slot itself is free in the next cycle.
  next_issue_ = at + clock_.period_ps();
  read_issue_.busy(at, next_issue_);
  tags_.add(now, 1);
  completion_buffer_.add(now, bytes);
  const TimePs ready = sent + latency_.draw(random_);
  const Request request{ready, requests_issued_++, job_index, bytes, completion_count(config_, job.address, bytes)};
  if (host_ == nullptr) {
    expect_completion(job, request);
  } else {
    ask_host(sent, job, request);
  }
  job.address += bytes;
  job.to_issue -= bytes;
  ++job.outstanding;
  return true;
}

void PcieDma::issue_reads(TimePs now) {
  while (read_queue_.ready(now) && next_issue_ <= now) {
    const std::uint32_t index = read_queue_.front();
    ReadJob& job = jobs_[index];
    if (!job.begun) {
      job.begun = true;
      if (job.in_order) {
        in_order_jobs_.push(index);
      } else {
        loose_jobs_.push_back(index);
      }
    }
    while (job.to_issue > 0) {
      if (!issue_request(now, job, index)) return;
    }
    read_queue_.pop(now);
  }
}

void PcieDma::arm(TimePs now) {
  TimePs wake = kNever;
  if (!in_order_jobs_.empty()) {
    const ReadJob& oldest = jobs_[in_order_jobs_.front()];
    const bool all_on_their_way = oldest.to_issue == 0 && oldest.unanswered == 0;
    if (oldest.outstanding > 0 && all_on_their_way) wake = oldest.last_ready;
  }
  for (const std::uint32_t index : loose_jobs_) {
    if (jobs_[index].to_issue == 0 && jobs_[index].unanswered == 0) wake = std::min(wake, jobs_[index].last_ready);
  }
  if (!read_queue_.empty()) {
    const bool tags_short = !tags_.fits(1);
    if (tags_short && tag_free_head_ != tag_free_tail_) {
      wake = std::min(wake, tag_free_at_[tag_free_head_ & (tag_free_at_.size() - 1)]);
    } else if (tags_short && !requests_.empty()) {
      wake = std::min(wake, requests_.front().ready);
    } else if (tags_short && host_ != nullptr) {
      // All tags wait for the host port, whose next answer wakes this box.
    } else if (waits_for_credit_until_ > now) {
      wake = std::min(wake, waits_for_credit_until_);
    } else if (!waits_for_completion_buffer_) {
      wake = std::min(wake, std::max(next_issue_, read_queue_.ready_at()));
    }
  } else {
    read_queue_.wait_ready(now);
  }
  if (wake != kNever) wake_at(std::max(wake, now));
}

void PcieDma::release_completion_buffer(TimePs now, std::uint32_t bytes) {
  completion_buffer_.remove(now, bytes);
  if (!waits_for_completion_buffer_) return;
  waits_for_completion_buffer_ = false;
  wake_at(now);
}

std::uint64_t PcieDma::bytes_under_way() const {
  std::uint64_t bytes = 0;
  for (const ReadJob& job : jobs_) bytes += job.bytes;
  for (const std::uint32_t index : free_jobs_) bytes -= jobs_[index].bytes;
  return bytes;
}

void PcieDma::return_posted_credits(TimePs now) {
  while (posted_head_ != posted_tail_) {
    const PostedTlp& oldest = posted_[posted_head_ & (posted_.size() - 1)];
    if (oldest.credit_back > now) return;
    posted_data_.remove(oldest.credit_back, oldest.data_units);
    ++posted_head_;
  }
}

PcieDma::WriteTimes PcieDma::write(TimePs now, std::uint64_t address, std::uint32_t bytes) {
  WriteTimes times{kNever, now};
  TimePs time = now;
  while (bytes > 0) {
    const std::uint32_t chunk = bytes_in_block(address, bytes, mps_bytes_);
    const std::uint32_t units = (chunk + kCreditUnitBytes - 1) / kCreditUnitBytes;
    return_posted_credits(time);
    while (posted_tail_ - posted_head_ >= posted_headers_ || !posted_data_.fits(units)) {
      const TimePs back = posted_[posted_head_ & (posted_.size() - 1)].credit_back;
      write_slot_.blocked(time, BlockedBy::posted_credits);
      time = std::max(time, back);
      return_posted_credits(time);
    }
    const TimePs start = upstream_.start(time);
    if (start > time) write_slot_.blocked(time, BlockedBy::pcie_line);
    const TimePs end = upstream_.occupy(time, chunk + law_.write_overhead);
    write_slot_.busy(start, end);
    posted_data_.add(time, units);
    posted_[posted_tail_++ & (posted_.size() - 1)] = {end + credit_return_ps_, units};
    times.first_start = std::min(times.first_start, start);
    times.last_end = end;
    address += chunk;
    bytes -= chunk;
  }
  return times;
}

}  // namespace mrc
