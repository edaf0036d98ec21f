// Anti-replay window of a security association (RFC 4303, section 3.4.3): which packet numbers were accepted, from the
// highest one down. A packet whose number is below the window is dropped, even if it was never seen: what arrives far
// out of order needs a window that is larger than the spread of the paths in packets.
#pragma once

#include <cstdint>
#include <vector>

namespace mrc {

class ReplayWindow {
 public:
  enum class Verdict : std::uint8_t {
    fresh,
    replayed,  ///< accepted before
    too_old    ///< below the window
  };

  /// `size`: packet numbers, a multiple of 64; 0: every number is fresh.
  explicit ReplayWindow(std::uint32_t size) : size_(size) {}

  /// Nothing changes: who asks before the tag is checked must not move the window.
  Verdict look(std::uint64_t number) const {
    if (size_ == 0 || number > highest_) return Verdict::fresh;
    if (highest_ - number >= size_) return Verdict::too_old;
    return is_set(number) ? Verdict::replayed : Verdict::fresh;
  }
  /// The tag of the packet with this number is right. Numbers begin at 1.
  Verdict accept(std::uint64_t number) {
    const Verdict verdict = look(number);
    if (size_ == 0 || verdict != Verdict::fresh) return verdict;
    if (bits_.empty()) bits_.resize(size_ / kWordBits);
    if (number > highest_) advance(number);
    word_of(number) |= bit_of(number);
    return verdict;
  }
  std::uint64_t highest() const { return highest_; }
  std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kWordBits = 64;

  std::uint64_t bit_of(std::uint64_t number) const { return std::uint64_t{1} << number % kWordBits; }
  std::uint64_t& word_of(std::uint64_t number) { return bits_[number % size_ / kWordBits]; }
  bool is_set(std::uint64_t number) const {
    return !bits_.empty() && (bits_[number % size_ / kWordBits] & bit_of(number)) != 0;
  }
  /// Each bit belongs to one number at a time: those that come into the window have not been accepted.
  void advance(std::uint64_t number) {
    if (number - highest_ >= size_) {
      bits_.assign(bits_.size(), 0);
    } else {
      for (std::uint64_t next = highest_ + 1; next <= number; ++next) word_of(next) &= ~bit_of(next);
    }
    highest_ = number;
  }

  std::uint32_t size_;
  std::uint64_t highest_ = 0;
  std::vector<std::uint64_t> bits_;  ///< empty until the first packet
};

}  // namespace mrc
