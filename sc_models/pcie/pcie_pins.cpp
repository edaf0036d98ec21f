#include "pcie/pcie_pins.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/pins_engine.h"
#include "engine/rtl_error.h"

namespace mrc {
namespace {

/// The RTL has these cycles itself.
PcieConfig without_cycles(PcieConfig config) {
  config.request_cycles = config.report_cycles = config.write_cycles = 0;
  return config;
}

}  // namespace

PciePins::PciePins(const sc_core::sc_module_name& name, WheelModule& owner, const PcieConfig& config,
                   const ClockDomain& clock, KeyedRandom random, const WorkClock& work, CauseTable& causes,
                   PcieDmaRtlPath& rtl)
    : PcieTlps(name, owner, without_cycles(config), clock, random, work, causes),
      pins_(rtl),
      write_cut_(causes.declare("pcie.write_issue", {"nic.core_clock_ghz", "pcie.mps_bytes"})) {}

void PciePins::step(TimePs now) {
  if (pins_.is_over()) return;
  while (!reminders_.empty() && reminders_.top() <= now) reminders_.pop();
  tell_observer(now);
  take_credits_back(now);
  tell_writers(now);
  if (const std::optional<Completion> completion = landed(now)) landed_.push_back(*completion);
  while (const std::optional<std::uint16_t> tag = next_expired(now)) expired_.push_back(*tag);
  release_translated_writes(now);
  clock(now);
  move_requests(now);
  send_upstream(now);
  send_completion(now);
  if (!read_queue_.ready(now)) read_queue_.wait_ready(now);
  if (!reminders_.empty()) wake_at(reminders_.top());
}

/// A cycle of the RTL's clock at each edge of the core clock, as long as it has something to do.
void PciePins::clock(TimePs now) {
  if (!has_work(now)) return;
  const TimePs edge = std::max(clock_.edge(now), next_edge_);
  if (now < edge) {
    remind(edge);
    return;
  }
  next_edge_ = now + clock_.period_ps();
  offer(now);
  const PcieDmaOutputs outputs = pins_.clock(inputs_);
  ++cycle_;
  watch(outputs);
  buffer_told_bytes_ += inputs_.released_bytes;
  // The request was formed with the edge before, the verdict is of this cycle, and gives its tag back with its end.
  if (outputs.request) take_request(now, *outputs.request);
  give_up_expired(now);
  if (outputs.verdict) take_verdict(now, outputs.verdict_tag, *outputs.verdict);
  if (outputs.ordered) take_report(now, *outputs.ordered, true);
  if (outputs.loose) take_report(now, *outputs.loose, false);
  if (outputs.tlp) take_tlp(now, *outputs.tlp);
  compare_buffer(now, outputs);
  take_inputs(now, outputs);
  account(now, outputs);
  if (!pins_.is_over() && has_work(next_edge_)) remind(next_edge_);
}

bool PciePins::owes_report() const {
  if (const std::uint32_t* oldest = order_.oldest_in_order(); oldest != nullptr && is_done(*oldest)) return true;
  return std::any_of(order_.loose().begin(), order_.loose().end(), [this](std::uint32_t job) { return is_done(job); });
}

bool PciePins::has_work(TimePs now) const {
  const bool asks = inputs_.read || inputs_.write || read_queue_.ready(now) || PcieTlps::write_waits(now);
  const bool holds = !splitting_.empty() || !retries_.empty() || !landed_.empty() || !expired_.empty() ||
                     !judged_.empty() || !cutting_.empty();
  const bool unready = unready_cycles_ > 0 && unready_cycles_ < kMostUnreadyPinCycles;
  return asks || holds || unready || owes_report();
}

void PciePins::offer(TimePs now) {
  if (!inputs_.read) offer_read(now);
  if (!inputs_.write && PcieTlps::write_waits(now)) {
    inputs_.write = PcieWriteJob{writes_.front().left.address, writes_.front().left.bytes};
  }
  inputs_.completion.reset();
  if (!landed_.empty()) {
    const Completion& completion = landed_.front();
    const Request& request = completion.request;
    inputs_.completion =
        CompletionTlp{request.tag, completion.bytes, request.bytes - completion.offset, completion.fate.poisoned};
  }
  if (!inputs_.expired && !expired_.empty()) inputs_.expired = expired_.front();
  inputs_.released_bytes =
      static_cast<std::uint32_t>(buffer_taken_bytes_ - buffer_told_bytes_ - completion_buffer_.level());
  inputs_.credit = may_request(now);
  inputs_.takes_tlp = cut_.size() < kMostCutTlps;
}

void PciePins::offer_read(TimePs now) {
  if (!read_queue_.ready(now)) return;
  const ReadJob& job = jobs_[read_queue_.front()];
  if (job.translated_at > now) {
    read_issue_.blocked(now, causes_.address_translation);
    remind(job.translated_at);
    return;
  }
  inputs_.read = PcieReadJob{read_queue_.front(), job.address, job.bytes, job.in_order};
}

bool PciePins::may_request(TimePs now) {
  if (non_posted_headers_ <= made_.size()) return false;
  const TimePs clear = stalls_.clear(now);
  if (clear > now) remind(clear);
  return clear <= now;
}

void PciePins::take_inputs(TimePs now, const PcieDmaOutputs& outputs) {
  if (outputs.read_taken) take_read(now);
  if (outputs.write_taken) {
    cutting_.push_back({writes_.front().left, orders_++, cycle_});
    writes_.pop_front();
    inputs_.write.reset();
  }
  if (inputs_.completion) {
    landed_.pop_front();
    judged_.push_back({*inputs_.completion, cycle_, false});
  }
  if (outputs.expired_taken) {
    judged_.push_back({{.tag = expired_.front()}, cycle_, true});
    expired_.pop_front();
    inputs_.expired.reset();
  }
}

void PciePins::take_read(TimePs now) {
  const std::uint32_t index = inputs_.read->job;
  begin(jobs_[index], index);
  splitting_.push_back(index);
  taken_at_.push_back(cycle_);
  inputs_.read.reset();
  read_queue_.pop(now);
}

std::optional<ReadRequestTlp> PciePins::expected_request(bool again) const {
  if (again) {
    if (retries_.empty()) return std::nullopt;
    const Retry& retry = retries_.front();
    return ReadRequestTlp{retry.address, retry.bytes, retry.job, tag_table_.next(), true};
  }
  if (splitting_.empty()) return std::nullopt;
  ReadRequestTlp request = next_request(splitting_.front());
  request.tag = tag_table_.next();
  return request;
}

void PciePins::take_request(TimePs now, const ReadRequestTlp& given) {
  const std::optional<ReadRequestTlp> expected = tag_table_.any_free() ? expected_request(given.again) : std::nullopt;
  if (!expected) {
    pins_.judge_unasked(now, "request");
    return;
  }
  pins_.judge_request(now, *expected, given);
  tag_table_.allocate(sequence_ + static_cast<std::uint32_t>(made_.size()), given.job, expected->address,
                      expected->bytes);
  made_.push_back(*expected);
  pins_.count_transaction(given.again ? 0 : cycle_ - taken_at_.front());
  if (given.again) {
    ++counts_.retried_requests;
    retries_.pop();
    return;
  }
  completion_buffer_.add(now, expected->bytes);
  buffer_taken_bytes_ += expected->bytes;
  ReadJob& job = jobs_[splitting_.front()];
  advance(job, expected->bytes);
  if (job.to_issue > 0) return;
  splitting_.pop_front();
  taken_at_.pop_front();
}

void PciePins::move_requests(TimePs now) {
  while (!made_.empty() && non_posted_headers_ > 0) {
    queue_request(now, made_.front());
    made_.pop_front();
  }
}

void PciePins::take_verdict(TimePs now, std::uint16_t tag, ReadTags::Verdict given) {
  if (judged_.empty()) {
    pins_.judge_unasked(now, "verdict");
    return;
  }
  const Judged judged = judged_.front();
  judged_.pop_front();
  const CompletionTlp& tlp = judged.tlp;
  const ReadTags::Verdict expected = tag_table_.accept_by_count(tlp.tag, tlp.bytes, tlp.byte_count, tlp.poisoned);
  pins_.judge_verdict(now, tlp, expected, tag, given);
  pins_.count_transaction(cycle_ - judged.cycle);
  if (expected == ReadTags::Verdict::unexpected) ++counts_.unexpected_completions;
  if (expected == ReadTags::Verdict::complete) complete(now, tlp.tag);
}

void PciePins::give_up_expired(TimePs now) {
  while (!judged_.empty() && judged_.front().expires && judged_.front().cycle < cycle_) {
    const std::uint16_t tag = judged_.front().tlp.tag;
    judged_.pop_front();
    // Its last completion may have come while it waited to be given up.
    if (!tag_table_[tag].outstanding) continue;
    give_up(tag);
    tag_table_.release(tag);
    tags_.remove(now, 1);
  }
}

void PciePins::take_report(TimePs now, std::uint32_t given, bool in_order) {
  std::optional<std::uint32_t> expected;
  if (in_order) {
    if (const std::uint32_t* oldest = order_.oldest_in_order(); oldest != nullptr && is_done(*oldest))
      expected = *oldest;
  } else {
    const auto& loose = order_.loose();
    const auto it =
        std::find_if(loose.begin(), loose.end(), [&](std::uint32_t job) { return job == given && is_done(job); });
    if (it != loose.end()) expected = *it;
  }
  pins_.judge_report(now, in_order ? "ordered" : "loose", expected, given);
  if (pins_.is_over()) return;
  order_.take_reported([&](std::uint32_t job) { return job == given && is_done(job); },
                       [&](std::uint32_t job, bool ordered) { finish_job(now, job, ordered); });
}

void PciePins::take_tlp(TimePs now, const WriteTlp& given) {
  if (cutting_.empty()) {
    pins_.judge_unasked(now, "write TLP");
    return;
  }
  Cutting& write = cutting_.front();
  const WriteTlp expected = next_tlp(now, write.left);
  pins_.judge_tlp(now, expected, given);
  pins_.count_transaction(cycle_ - write.cycle);
  cut_.push_back({expected, write.left, write.order});
  if (write.left.bytes == 0) cutting_.pop_front();
}

void PciePins::issue_write(TimePs now, const PostedWrite& write) {
  writes_.push_back({write, 0, false});
  remind(std::max(now, write.start));
  wake_at(std::max(now, write.start));
}

bool PciePins::write_is_first() const {
  if (requests_.empty()) return !cut_.empty() || !cutting_.empty() || !writes_.empty();
  if (cut_.empty() && cutting_.empty()) return false;
  const std::uint64_t order = cut_.empty() ? cutting_.front().order : cut_.front().order;
  return order < requests_.front().order;
}

bool PciePins::can_send_write(TimePs now) {
  if (!cut_.empty()) return has_posted_credits(now, cut_.front().tlp.bytes);
  if (!cutting_.empty() || PcieTlps::write_waits(now)) write_slot_.blocked(now, write_cut_);
  return false;
}

void PciePins::send_write_tlp(TimePs now) {
  const CutTlp first = cut_.front();
  cut_.pop_front();
  send_tlp(now, first.tlp, first.left);
}

void PciePins::account(TimePs now, const PcieDmaOutputs& outputs) {
  const bool holds = !splitting_.empty() || !retries_.empty();
  if (outputs.request) {
    read_issue_.busy(now, next_edge_);
    pins_.count_cycle_occupied();
  } else if (holds && outputs.lacks_tag) {
    tags_.refuse(now);
    read_issue_.blocked(now, causes_.read_tags);
  } else if (holds && outputs.lacks_buffer) {
    completion_buffer_.refuse(now);
    waits_for_completion_buffer_ = true;
    read_issue_.blocked(now, causes_.completion_buffer);
  } else if (holds && !inputs_.credit) {
    read_issue_.blocked(now, stalls_.clear(now) > now ? causes_.stall : causes_.non_posted_credits);
  } else if (holds || inputs_.read) {
    read_issue_.blocked(now, causes_.read_issue);
    pins_.count_cycle_occupied();
  }
}

/// Where it makes no request, the RTL counts the bytes of all that were made and not released up to the cycle before.
void PciePins::compare_buffer(TimePs now, const PcieDmaOutputs& outputs) {
  if (!splitting_.empty() || !retries_.empty() || outputs.request || pins_.is_over()) return;
  pins_.judge_buffer(now, buffer_taken_bytes_ - (buffer_told_bytes_ - inputs_.released_bytes), outputs.buffer_bytes);
}

void PciePins::watch(const PcieDmaOutputs& outputs) {
  const bool waits = outputs.lacks_tag || outputs.lacks_buffer || (!inputs_.credit && !splitting_.empty());
  const bool moves = outputs.read_taken || outputs.write_taken || outputs.expired_taken || outputs.request ||
                     outputs.verdict || outputs.ordered || outputs.loose || outputs.tlp || !inputs_.takes_tlp;
  quiet_cycles_ = moves || waits ? 0 : quiet_cycles_ + 1;
  const bool ready = outputs.ready_for_read && outputs.ready_for_write;
  unready_cycles_ = ready ? 0 : unready_cycles_ + 1;
  if (quiet_cycles_ <= kMostQuietPinCycles) return;
  throw RtlError(fmt::format("pcie_dma RTL has not taken or given anything for {} cycles", kMostQuietPinCycles));
}

}  // namespace mrc
