// The receive window of a QP: a bitmap of the PSNs above the cumulative edge, in banks of 128 bits that are allocated
// from a pool shared by all QPs of the NIC and returned when the edge passes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "mrc/types.h"

namespace mrc {

/// 128-bit bitmap banks that the QPs of a NIC share.
class BitmapPool {
 public:
  explicit BitmapPool(std::uint32_t banks) : capacity_(banks) {}

  bool take() {
    if (in_use_ == capacity_) return false;
    high_water_ = std::max(high_water_, ++in_use_);
    return true;
  }
  void give_back() { --in_use_; }
  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t in_use() const { return in_use_; }
  std::uint32_t high_water() const { return high_water_; }

 private:
  std::uint32_t capacity_;
  std::uint32_t in_use_ = 0;
  std::uint32_t high_water_ = 0;
};

/// The four outcomes of section 6.3.1 of the specification, and one for an empty pool.
enum class PsnOutcome : std::uint8_t { accept, duplicate_below, duplicate_above, out_of_window, no_bitmap };

class PsnTracker {
 public:
  static constexpr std::uint32_t kBankPsns = 128;

  /// Window of `mpr_psns` (a multiple of 128) from `first_psn` on. `pool` outlives the tracker.
  PsnTracker(Psn first_psn, std::uint32_t mpr_psns, BitmapPool& pool)
      : pool_(&pool),
        window_(mpr_psns),
        // One more bank than the window size: its first and last PSN may be in partial banks.
        slots_(std::bit_ceil(mpr_psns / kBankPsns + 1) * kBankPsns),
        expected_(first_psn),
        highest_(psn_add(first_psn, -1)) {}

  std::uint32_t banks_held() const { return held_count_; }
  /// The bank of this PSN, which is in the window, is allocated.
  bool bank_held(Psn psn) const { return !banks_.empty() && banks_[bank(psn)].held; }
  /// Banks that this window has or could allocate.
  std::uint32_t banks_within_reach() const { return held_count_ + pool_->capacity() - pool_->in_use(); }
  /// Next PSN of the cumulative edge: everything before it has arrived.
  Psn expected_psn() const { return expected_; }
  Psn cack_psn() const { return psn_add(expected_, -1); }
  /// Highest PSN received, cack_psn() when nothing is above the edge.
  Psn highest_psn() const { return highest_; }
  /// Packets received above a gap, saturating at 32,767 (15-bit field).
  std::uint16_t ooo_count() const { return static_cast<std::uint16_t>(std::min<std::uint32_t>(ooo_, 32'767)); }
  std::uint32_t window_psns() const { return window_; }
  /// The window of future classifications; PSNs already accepted beyond a smaller one stay.
  void set_window(std::uint32_t psns) { window_ = std::min(psns, slots_ - kBankPsns); }

  PsnOutcome classify(Psn psn) const {
    const std::int32_t ahead = psn_distance(psn, expected_);
    if (ahead < 0) return PsnOutcome::duplicate_below;
    if (static_cast<std::uint32_t>(ahead) >= window_) return PsnOutcome::out_of_window;
    if (received(psn)) return PsnOutcome::duplicate_above;
    // The expected packet needs no bit: the edge passes it at once.
    if (ahead > 0 && !bank_held(psn) && pool_->in_use() == pool_->capacity()) return PsnOutcome::no_bitmap;
    return PsnOutcome::accept;
  }

  /// Accepts a packet for which classify() returned accept. Returns the number of messages that the edge has closed,
  /// which is the number of message ends that it has passed.
  std::uint32_t accept(Psn psn, bool ends_message) {
    if (psn_distance(psn, highest_) > 0) highest_ = psn;
    if (psn != expected_) {
      if (!bank_held(psn)) hold_bank(psn);
      set(psn, ends_message);
      ++ooo_;
      return 0;
    }
    std::uint32_t closed = ends_message ? 1 : 0;
    advance();
    while (ooo_ > 0 && test(expected_)) {
      if (take(expected_)) ++closed;
      --ooo_;
      advance();
    }
    return closed;
  }

  /// Returns all banks; the tracker must not be used afterwards.
  void release() {
    for (; held_count_ > 0; --held_count_) pool_->give_back();
  }

  /// Bit i: PSN base + i has been received. Precondition: base is not below expected_psn().
  std::uint64_t bitmap_from(Psn base) const {
    if (ooo_ == 0 || psn_distance(highest_, base) < 0) return 0;
    // Below the edge and above the newest no bit is set, and the slots are more than the window and these 64 together.
    const std::uint32_t shift = base % 64;
    std::uint64_t bits = half(base).received >> shift;
    if (shift != 0) bits |= half(psn_add(base, 64)).received << (64 - shift);
    return bits;
  }
  /// Above the edge and received.
  bool received(Psn psn) const {
    const std::int32_t ahead = psn_distance(psn, expected_);
    if (ahead <= 0 || static_cast<std::uint32_t>(ahead) >= slots_) return false;
    return !banks_.empty() && test(psn);
  }

 private:
  /// State of 64 PSNs.
  struct Half {
    std::uint64_t received = 0;
    std::uint64_t ends = 0;  ///< of those received: they end a message
  };
  struct Bank {
    std::array<Half, kBankPsns / 64> halves;
    bool held = false;
  };

  std::uint32_t bank(Psn psn) const { return (psn & (slots_ - 1)) / kBankPsns; }
  const Half& half(Psn psn) const { return banks_[bank(psn)].halves[psn / 64 % 2]; }
  Half& half(Psn psn) { return banks_[bank(psn)].halves[psn / 64 % 2]; }
  bool test(Psn psn) const { return (half(psn).received >> (psn % 64) & 1) != 0; }
  void set(Psn psn, bool ends_message) {
    Half& of = half(psn);
    const std::uint64_t bit = 1ULL << (psn % 64);
    of.received |= bit;
    of.ends = ends_message ? of.ends | bit : of.ends & ~bit;
  }
  /// Clears a PSN that was received; true if it ends a message.
  bool take(Psn psn) {
    Half& of = half(psn);
    const std::uint64_t bit = 1ULL << (psn % 64);
    const bool ends = (of.ends & bit) != 0;
    of.received &= ~bit;
    of.ends &= ~bit;
    return ends;
  }
  void hold_bank(Psn psn) {
    if (banks_.empty()) banks_.resize(slots_ / kBankPsns);
    if (!pool_->take()) return;
    ++held_count_;
    banks_[bank(psn)].held = true;
  }
  /// The edge moves by one; a bank that it leaves returns to the pool.
  void advance() {
    const std::uint32_t left = bank(expected_);
    expected_ = psn_add(expected_, 1);
    if (psn_distance(expected_, highest_) > 0) highest_ = cack_psn();
    if (banks_.empty() || !banks_[left].held) return;
    const bool nothing_above = ooo_ == 0;
    if (bank(expected_) == left && !nothing_above) return;
    banks_[left].held = false;
    pool_->give_back();
    --held_count_;
  }

  BitmapPool* pool_;
  std::uint32_t window_;
  std::uint32_t slots_;
  Psn expected_;
  Psn highest_;
  std::uint32_t ooo_ = 0;
  std::uint32_t held_count_ = 0;
  std::vector<Bank> banks_;  ///< allocated when the first packet arrives out of order
};

}  // namespace mrc
