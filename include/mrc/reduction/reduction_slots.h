// The slots in which a switch adds for one tree. For each sequence number it adds one packet of each child; duplicates
// are not added. Packet n uses slot n modulo the number of slots. A slot has two versions, which its packets use in
// turn: the last result is kept while the next packet is added. Two are enough. A child sends a slot's next packet only
// when it has the result of the one before (mrc/reduction/reduction_window.h). So when all children have sent the next
// one, nobody needs that result. Sapio et al., Scaling Distributed Machine Learning with In-Network Aggregation, 2021,
// do the same with one switch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mrc/packet.h"

namespace mrc {

/// A slot keeps the last result while the next is added.
inline constexpr std::uint32_t kReductionVersions = 2;

class ReductionSlots {
 public:
  /// What the switch does with the packet of a child.
  enum class Added : std::uint8_t {
    counted,        ///< added; packets of other children are missing
    complete,       ///< added; it was the last child's, so the sum is complete
    duplicate,      ///< dropped: already added, and the result has not arrived yet
    resend_sum,     ///< dropped: already added; the sum is sent to the parent again
    resend_result,  ///< dropped: already added; the result is sent to this child again
    late            ///< dropped: every child has had the result
  };

  ReductionSlots(std::uint32_t slots, std::uint32_t children)
      : slots_(slots),
        children_(children),
        words_((children + 63) / 64),
        entries_(std::size_t{kReductionVersions} * slots) {
    seen_.resize(entries_.size() * words_);
  }

  std::uint32_t children() const { return children_; }

  /// A packet of `child`.
  Added add(std::uint32_t child, const ReductionFields& value) {
    const std::size_t place = place_of(value.sequence);
    Entry& entry = entries_[place];
    if (entry.used && entry.value.sequence > value.sequence) return Added::late;
    if (!entry.used || entry.value.sequence < value.sequence) begin(place, value);
    std::uint64_t& word = seen_[place * words_ + child / 64];
    const std::uint64_t bit = std::uint64_t{1} << (child % 64);
    if ((word & bit) != 0) return answer_to(entry, child);
    word |= bit;
    entry.value.sum += value.sum;
    entry.value.ranks += value.ranks;
    if (++entry.counted < children_) return Added::counted;
    return Added::complete;
  }

  /// The sum has left for the parent.
  void set_sent(std::uint64_t sequence) { entries_[place_of(sequence)].sent = true; }
  /// The sum of all ranks, from the parent or of the root itself. False: it is known, or the slot has a later packet.
  bool set_result(const ReductionFields& result) {
    Entry& entry = entries_[place_of(result.sequence)];
    if (!entry.used || entry.value.sequence != result.sequence || entry.has_result) return false;
    entry.value = result;
    entry.has_result = true;
    --adding_;
    return true;
  }
  /// The sum so far, or the result. Precondition: add() has had a packet of this sequence number, and none of a later
  /// one in its place.
  const ReductionFields& value(std::uint64_t sequence) const { return entries_[place_of(sequence)].value; }

  /// Slots with a packet of at least one child and no result yet.
  std::uint32_t adding() const { return adding_; }

 private:
  struct Entry {
    ReductionFields value;
    std::uint32_t counted = 0;  ///< children
    bool used = false;
    bool sent = false;
    bool has_result = false;
  };

  std::size_t place_of(std::uint64_t sequence) const {
    return static_cast<std::size_t>(sequence % slots_ * kReductionVersions + sequence / slots_ % kReductionVersions);
  }
  void begin(std::size_t place, const ReductionFields& value) {
    const Entry& before = entries_[place];
    if (!before.used || before.has_result) ++adding_;
    entries_[place] = {.value = {.sequence = value.sequence, .sum = 0, .tree = value.tree, .ranks = 0}, .used = true};
    std::fill_n(seen_.begin() + static_cast<std::ptrdiff_t>(place * words_), words_, 0);
  }
  /// All children wait for the same result, so the packets of one child are enough to ask the parent.
  static Added answer_to(const Entry& entry, std::uint32_t child) {
    if (entry.has_result) return Added::resend_result;
    return entry.sent && child == 0 ? Added::resend_sum : Added::duplicate;
  }

  std::uint32_t slots_;
  std::uint32_t children_;
  std::size_t words_;
  std::vector<Entry> entries_;       ///< by slot, two versions each
  std::vector<std::uint64_t> seen_;  ///< a bit for each child of each entry
  std::uint32_t adding_ = 0;
};

}  // namespace mrc
