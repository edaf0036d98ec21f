// A queue between boxes for each traffic class: the consumer takes from the highest class that has an entry ready. With
// one class this is the one queue.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/fifo.h"

namespace mrc {

template <typename Item>
class ClassQueues {
 public:
  /// A view of one queue that is there.
  ClassQueues(Fifo<Item>& only) : queues_{&only} {}  // NOLINT: a queue is a set of one
  /// Declared by `box`; class 0's has the name, those above it "NAME.class1" and so on.
  ClassQueues(Box& box, const std::string& name, std::uint32_t capacity, std::uint32_t classes,
              const QueueUse& use = {}) {
    for (std::uint32_t c = 0; c < classes; ++c) {
      own_.push_back(
          std::make_shared<Fifo<Item>>(box, c == 0 ? name : fmt::format("{}.class{}", name, c), capacity, use));
      queues_.push_back(own_.back().get());
    }
  }

  std::uint32_t classes() const { return static_cast<std::uint32_t>(queues_.size()); }
  Fifo<Item>& of(std::uint32_t traffic_class) { return *queues_[queues_.size() == 1 ? 0 : traffic_class]; }
  /// Of the highest class with an entry that can be taken at `now`; class 0's without one.
  Fifo<Item>& next(TimePs now) {
    for (std::size_t c = queues_.size(); c-- > 1;) {
      if (queues_[c]->ready(now)) return *queues_[c];
    }
    return *queues_.front();
  }
  /// The consumer is held up with the first of `taken`: step it when an entry of a higher class comes.
  void wait_more_urgent(const Fifo<Item>& taken, TimePs not_before) {
    for (std::size_t c = queues_.size(); c-- > 1 && queues_[c] != &taken;) queues_[c]->wait_ready(not_before);
  }
  void connect(Box* consumer) {
    for (Fifo<Item>* queue : queues_) queue->connect(consumer);
  }
  /// As Fifo::wait_ready(), for whichever entry comes first.
  void wait_ready(TimePs not_before) {
    for (Fifo<Item>* queue : queues_) queue->wait_ready(not_before);
  }

 private:
  std::vector<std::shared_ptr<Fifo<Item>>> own_;  ///< empty in a view
  std::vector<Fifo<Item>*> queues_;
};

}  // namespace mrc
