// The index of the entry for a 32-bit key in another array: a flat hash table, so that a look-up usually touches one
// cache line and allocates only when it grows.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mrc {

class FlatIndex {
 public:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  /// An existing key keeps its position. `position` is below kNone.
  void insert(std::uint32_t key, std::uint32_t position) {
    if (2 * (size_ + 1) > slots_.size()) reserve(size_ + 1);
    Slot& slot = slots_[slot_of(key)];
    if (slot.position != kNone) return;
    slot = {key, position};
    ++size_;
  }
  /// kNone for an unknown key.
  std::uint32_t find(std::uint32_t key) const { return slots_.empty() ? kNone : slots_[slot_of(key)].position; }
  void clear() {
    slots_.clear();
    size_ = 0;
  }
  /// Room for this number of keys, at most half full.
  void reserve(std::size_t keys) {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(std::bit_ceil(2 * keys), {});
    for (const Slot& slot : before) {
      if (slot.position != kNone) slots_[slot_of(slot.key)] = slot;
    }
  }

 private:
  struct Slot {
    std::uint32_t key = 0;
    std::uint32_t position = kNone;
  };

  /// The key's slot, or the empty one where it would go. Multiplicative hashing: the upper half of the product.
  std::size_t slot_of(std::uint32_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (std::uint64_t{key} * 0x9E37'79B9'7F4A'7C15ULL >> 32) & mask;
    while (slots_[at].position != kNone && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace mrc
