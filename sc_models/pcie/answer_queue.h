// Read requests that the host answers, each at a time of its own: the earliest leaves first, and of requests with one
// time the one that was sent first. A binary heap with 16 bytes per entry. Answers come in random order, so a branch on
// a comparison would be mispredicted half the time; the way down the heap has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mrc/types.h"

namespace mrc {

template <typename Request>
class AnswerQueue {
 public:
  bool empty() const { return heap_.empty(); }
  /// Time of the first; precondition of this and pop(): not empty.
  TimePs first_ready() const { return heap_.front().ready; }

  /// No two requests in the queue have the same `request.sequence`.
  void push(TimePs ready, const Request& request) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(requests_.size()));
      requests_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    requests_[place] = request;
    heap_.emplace_back();
    rise(heap_.size() - 1, {ready, std::uint64_t{request.sequence} << 32 | place});
  }

  std::pair<TimePs, Request> pop() {
    const Entry first = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) rise(sink(), last);
    const auto place = static_cast<std::uint32_t>(first.sequence_and_place);
    free_.push_back(place);
    return {first.ready, requests_[place]};
  }

 private:
  struct Entry {
    TimePs ready = 0;
    std::uint64_t sequence_and_place = 0;
  };
  /// By time, then by sequence number; without a branch.
  static bool before(const Entry& a, const Entry& b) {
    const auto a_is_less = static_cast<unsigned>(a.sequence_and_place < b.sequence_and_place);
    return (static_cast<unsigned>(a.ready < b.ready) | (static_cast<unsigned>(a.ready == b.ready) & a_is_less)) != 0;
  }
  /// Fills the first place from below, down to a leaf, whose place is then empty.
  std::size_t sink() {
    std::size_t hole = 0;
    std::size_t child = 1;
    for (; child + 1 < heap_.size(); child = 2 * hole + 1) {
      child += static_cast<std::size_t>(before(heap_[child + 1], heap_[child]));
      heap_[hole] = heap_[child];
      hole = child;
    }
    if (child < heap_.size()) {
      heap_[hole] = heap_[child];
      hole = child;
    }
    return hole;
  }
  void rise(std::size_t hole, const Entry& entry) {
    while (hole > 0 && before(entry, heap_[(hole - 1) / 2])) {
      heap_[hole] = heap_[(hole - 1) / 2];
      hole = (hole - 1) / 2;
    }
    heap_[hole] = entry;
  }

  std::vector<Entry> heap_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_;  ///< places in requests_
};

}  // namespace mrc
