// A queue over a power-of-two array that allocates only when it grows.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace mrc {

template <typename Item>
class Ring {
 public:
  bool empty() const { return head_ == tail_; }
  std::uint64_t size() const { return tail_ - head_; }
  Item& front() { return items_[head_ & mask()]; }
  const Item& front() const { return items_[head_ & mask()]; }
  Item& back() { return items_[(tail_ - 1) & mask()]; }
  /// Entry `i` from the front; precondition: i < size().
  Item& operator[](std::uint64_t i) { return items_[(head_ + i) & mask()]; }
  const Item& operator[](std::uint64_t i) const { return items_[(head_ + i) & mask()]; }
  void push(Item item) {
    if (size() == items_.size()) grow();
    items_[tail_++ & mask()] = std::move(item);
  }
  void pop() { ++head_; }
  /// Pops as long as `take(front)` says so.
  template <typename Take>
  void pop_while(Take take) {
    const Item* const items = items_.data();
    const std::uint64_t mask = this->mask();
    std::uint64_t head = head_;
    while (head != tail_ && take(items[head & mask])) ++head;
    head_ = head;
  }
  /// Pushes what `make()` returns, `count` times.
  template <typename Make>
  void push_all(std::uint64_t count, Make make) {
    while (size() + count > items_.size()) grow();
    Item* const items = items_.data();
    const std::uint64_t mask = this->mask();
    std::uint64_t tail = tail_;
    for (std::uint64_t i = 0; i < count; ++i) items[tail++ & mask] = make();
    tail_ = tail;
  }
  void clear() { head_ = tail_; }

 private:
  static constexpr std::size_t kFirst = 4;  ///< most rings of a QP never hold more

  std::uint64_t mask() const { return items_.size() - 1; }
  void grow() {
    std::vector<Item> larger(items_.empty() ? kFirst : items_.size() * 2);
    for (std::uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = std::move(items_[i & mask()]);
    items_.swap(larger);
  }

  std::vector<Item> items_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace mrc
