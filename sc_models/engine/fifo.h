// The one queue between boxes: bounded, timed (an entry can be taken once its latency is over), and it wakes a box only
// when that box said that it waits for this condition.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/box.h"
#include "engine/occupancy.h"

namespace mrc {

/// What a queue of a box is to those who list the box's buffers.
struct QueueUse {
  bool is_sized = true;      ///< see DeclaredBuffer
  bool from_wire = false;    ///< see DeclaredBuffer
  bool is_accounted = true;  ///< its packets are held by the part of the NIC that its box is in
  const char* maker = "";    ///< see DeclaredBuffer
};

template <typename Item>
class Fifo {
 public:
  /// Declared by `box`. `capacity` entries, at least 1.
  Fifo(Box& box, std::string name, std::uint32_t capacity, const QueueUse& use = {})
      : Fifo(kUnlisted, std::move(name), capacity) {
    box.declare(declaration(use));
  }
  Fifo(Unlisted, std::string name, std::uint32_t capacity)
      : occupancy_(kUnlisted, std::move(name), "entries", capacity),
        mask_(std::bit_ceil(std::min(capacity, kFirstEntries)) - 1),
        ring_(std::make_unique<Entry[]>(mask_ + 1)) {}
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  /// The one box that takes entries; any box may put some in.
  void connect(Box* consumer) { consumer_ = consumer; }
  /// Who takes, for causes: the address holds the box once one is connected.
  CauseTable::Taker taker() const { return &consumer_; }

  bool full() const { return !occupancy_.fits(1); }
  bool has_room_for(std::uint32_t entries) const { return occupancy_.fits(entries); }
  bool empty() const { return head_ == tail_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(tail_ - head_); }
  /// An entry can be taken at `now`.
  bool ready(TimePs now) const { return !empty() && ring_[head_ & mask_].ready_at <= now; }
  /// Time from which the first entry can be taken; precondition: not empty.
  TimePs ready_at() const { return ring_[head_ & mask_].ready_at; }

  /// Precondition: not full. Entries leave in the order in which they came, whatever their `ready_at`.
  void push(TimePs now, Item item, TimePs ready_at) {
    assert(!full());
    occupancy_.add(now, 1);
    if (occupancy_.is_heard()) [[unlikely]]
      tell(Record::Kind::push, now, ready_at, item);
    if (tail_ - head_ > mask_) [[unlikely]]
      grow();
    ring_[tail_ & mask_] = Entry{ready_at, std::move(item)};
    const bool was_empty = head_ == tail_;
    ++tail_;
    if (!consumer_waits_ || !was_empty) return;
    consumer_waits_ = false;
    consumer_->wake_at(std::max(ready_at, not_before_));
  }
  const Item& front() const { return ring_[head_ & mask_].item; }
  /// Precondition: ready(now).
  Item pop(TimePs now) {
    assert(ready(now));
    occupancy_.remove(now, 1);
    Item item = std::move(ring_[head_ & mask_].item);
    ++head_;
    if (occupancy_.is_heard()) [[unlikely]]
      tell(Record::Kind::pop, now, now, item);
    if (producers_wait_) wake_producers(now);
    return item;
  }

  /// The consumer has nothing to take: step it when the first entry is ready, and not before `not_before`.
  void wait_ready(TimePs not_before) {
    if (empty()) {
      consumer_waits_ = true;
      not_before_ = not_before;
      return;
    }
    consumer_->wake_at(std::max(ready_at(), not_before));
  }
  /// `producer` found too little room: step it when an entry leaves.
  void wait_room(TimePs now, Box& producer) {
    occupancy_.refuse(now);
    for (const Box* waiting : waiting_producers_) {
      if (waiting == &producer) return;
    }
    waiting_producers_.push_back(&producer);
    producers_wait_ = true;
  }

  /// A producer found too little room and gave up.
  void refuse(TimePs now) { occupancy_.refuse(now); }

  const Occupancy& occupancy() const { return occupancy_; }
  /// `visit` sees each entry that is held, the oldest first.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::uint64_t i = head_; i != tail_; ++i) visit(ring_[i & mask_].item);
  }

 private:
  DeclaredBuffer declaration(const QueueUse& use) const {
    using Moves = DeclaredBuffer::Moves;
    DeclaredBuffer buffer{.occupancy = &occupancy_,
                          .moves = has_packet<Item> ? Moves::packets : Moves::items,
                          .is_sized = use.is_sized,
                          .from_wire = use.from_wire,
                          .maker = use.maker,
                          .taker = taker(),
                          .for_each_packet = {}};
    if constexpr (has_packet<Item>) {
      if (use.is_accounted) {
        buffer.for_each_packet = [this](const PacketVisitor& visit) {
          for_each([&](const Item& item) { visit(*packet_of(item)); });
        };
      }
    }
    return buffer;
  }
  [[gnu::cold, gnu::noinline]] void grow() {
    const std::uint64_t mask = 2 * mask_ + 1;
    auto larger = std::make_unique<Entry[]>(mask + 1);
    for (std::uint64_t i = head_; i != tail_; ++i) larger[i & mask] = std::move(ring_[i & mask_]);
    ring_ = std::move(larger);
    mask_ = mask;
  }
  [[gnu::cold, gnu::noinline]] void tell(Record::Kind kind, TimePs now, TimePs until, const Item& item) const {
    const RecorderTap& tap = occupancy_.tap();
    if (tap.recorder == nullptr) return;
    tap.recorder->add(record_of(kind, tap.object, now, until, item));
  }
  void wake_producers(TimePs now) {
    for (Box* producer : waiting_producers_) producer->wake_at(now);
    waiting_producers_.clear();
    producers_wait_ = false;
  }

  /// The ring grows to what is held at once, so that a long queue with few entries stays in the cache.
  static constexpr std::uint32_t kFirstEntries = 16;

  struct Entry {
    TimePs ready_at = 0;
    Item item{};
  };

  Occupancy occupancy_;
  // Down to the last flag in one cache line.
  std::uint64_t mask_;
  std::unique_ptr<Entry[]> ring_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  Box* consumer_ = nullptr;
  TimePs not_before_ = 0;  ///< while the consumer waits: it has no use for an earlier step
  bool consumer_waits_ = true;
  bool producers_wait_ = false;
  std::vector<Box*> waiting_producers_;
};

}  // namespace mrc
