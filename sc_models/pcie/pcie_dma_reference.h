// The splitter, tag and reorder part of pcie_dma without time: what RTL in its place has to do. Made of the functions
// and classes that the timed box uses.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mrc/ring.h"
#include "pcie/pcie_dma_engine.h"
#include "pcie/pcie_law.h"
#include "pcie/read_order.h"
#include "pcie/read_tags.h"

namespace mrc {

class PcieDmaReference {
 public:
  PcieDmaReference(const PcieDmaSizes& sizes, std::uint32_t mrrs_bytes, std::uint32_t mps_bytes)
      : sizes_(sizes), mrrs_bytes_(mrrs_bytes), mps_bytes_(mps_bytes), jobs_(sizes.jobs), tags_(sizes.tags) {}

  void read(std::uint32_t job, std::uint64_t address, std::uint32_t bytes, bool in_order) {
    jobs_[job] = {address, bytes, 0};
    to_issue_.push(job);
    order_.begin(job, in_order);
  }

  bool splitting() const { return !to_issue_.empty(); }
  bool repeating() const { return !retries_.empty(); }
  bool has_tag() const { return tags_.any_free(); }
  /// Bytes of the request that the splitter makes next; precondition: splitting().
  std::uint32_t next_bytes() const {
    const Job& job = jobs_[to_issue_.front()];
    return bytes_in_block(job.address, job.to_issue, mrrs_bytes_);
  }
  bool fits() const { return buffer_used_ + next_bytes() <= sizes_.completion_buffer_bytes; }
  bool can_request() const { return has_tag() && (repeating() || (splitting() && fits())); }
  /// Precondition: can_request().
  ReadRequestTlp request() {
    ReadRequestTlp request;
    if (repeating()) {
      request = retries_.front();
      retries_.pop();
    } else {
      const std::uint32_t index = to_issue_.front();
      Job& job = jobs_[index];
      request = {job.address, next_bytes(), index, 0, false};
      job.address += request.bytes;
      job.to_issue -= request.bytes;
      ++job.outstanding;
      buffer_used_ += request.bytes;
      if (job.to_issue == 0) to_issue_.pop();
    }
    request.tag = tags_.allocate(sequence_++, request.job, request.address, request.bytes);
    return request;
  }

  ReadTags::Verdict completion(const CompletionTlp& completion) {
    const ReadTags::Tag& asked = tags_[completion.tag];
    // Hardware knows no more than tag and byte count: whose tag it was is all that it can compare.
    if (!asked.outstanding || completion.byte_count > asked.bytes) return ReadTags::Verdict::unexpected;
    const ReadTags::Verdict verdict = tags_.accept(completion.tag, asked.sequence, asked.bytes - completion.byte_count,
                                                   completion.bytes, completion.poisoned);
    if (verdict == ReadTags::Verdict::complete) finish(completion.tag);
    return verdict;
  }
  void expire(std::uint16_t tag) {
    if (!tags_[tag].outstanding) return;
    ask_again(tag);
    tags_.release(tag);
  }
  void release(std::uint32_t bytes) { buffer_used_ -= bytes; }

  std::optional<std::uint32_t> ordered_done() { return pop(ordered_); }
  std::optional<std::uint32_t> loose_done() { return pop(loose_); }

  void write(std::uint64_t address, std::uint32_t bytes) { writes_.push({address, bytes, false}); }
  std::optional<WriteTlp> write_tlp() {
    if (writes_.empty()) return std::nullopt;
    WriteTlp& left = writes_.front();
    const WriteTlp tlp{left.address, bytes_in_block(left.address, left.bytes, mps_bytes_),
                       left.bytes <= bytes_in_block(left.address, mps_bytes_, mps_bytes_)};
    left.address += tlp.bytes;
    left.bytes -= tlp.bytes;
    if (left.bytes == 0) writes_.pop();
    return tlp;
  }

  std::uint64_t buffer_used() const { return buffer_used_; }
  const ReadTags::Tag& tag(std::uint16_t number) const { return tags_[number]; }
  /// Nothing is asked for, waits to be, or waits to be reported.
  bool idle() const {
    return to_issue_.empty() && retries_.empty() && order_.oldest_in_order() == nullptr && order_.loose().empty() &&
           ordered_.empty() && loose_.empty() && writes_.empty();
  }

 private:
  struct Job {
    std::uint64_t address = 0;
    std::uint32_t to_issue = 0;
    std::uint32_t outstanding = 0;
  };

  void ask_again(std::uint16_t tag) {
    const ReadTags::Tag& asked = tags_[tag];
    retries_.push({asked.address, asked.bytes, asked.job, 0, true});
  }
  void finish(std::uint16_t tag) {
    if (tags_[tag].poisoned) {
      ask_again(tag);
    } else {
      --jobs_[tags_[tag].job].outstanding;
    }
    tags_.release(tag);
    order_.take_reported([&](std::uint32_t job) { return jobs_[job].to_issue == 0 && jobs_[job].outstanding == 0; },
                         [&](std::uint32_t job, bool in_order) { (in_order ? ordered_ : loose_).push(job); });
  }
  static std::optional<std::uint32_t> pop(Ring<std::uint32_t>& jobs) {
    if (jobs.empty()) return std::nullopt;
    const std::uint32_t job = jobs.front();
    jobs.pop();
    return job;
  }

  PcieDmaSizes sizes_;
  std::uint32_t mrrs_bytes_;
  std::uint32_t mps_bytes_;
  std::vector<Job> jobs_;
  ReadTags tags_;
  ReadOrder order_;
  Ring<std::uint32_t> to_issue_;
  Ring<ReadRequestTlp> retries_;
  Ring<std::uint32_t> ordered_;
  Ring<std::uint32_t> loose_;
  Ring<WriteTlp> writes_;
  std::uint64_t buffer_used_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace mrc
