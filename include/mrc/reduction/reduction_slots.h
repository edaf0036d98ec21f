// The slots in which a switch adds for one tree: a packet of each child for each sequence number, each counted once
// however often it comes. A slot is used by every `slots`-th sequence number, in turn in two versions, so that the
// result of one is kept while the next is being added: a child sends the next only when it has the result, and the
// result of the one before is then with all children. (Sapio et al., Scaling Distributed Machine Learning with
// In-Network Aggregation, 2021, do the same with one switch.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mrc/packet.h"

namespace mrc {

class ReductionSlots {
 public:
  /// What the switch does with the packet of a child.
  enum class Added : std::uint8_t {
    counted,     ///< added; packets of other children are still missing
    complete,    ///< added; it was the last child's, so the sum is complete
    repeated,    ///< dropped: this child was counted before, and the result has not arrived
    resend_sum,  ///< dropped likewise; the sum, which was sent to the parent before, is repeated
    answer,      ///< dropped likewise; the result, which has arrived, is repeated to this child
    late         ///< dropped: every child has received the result
  };

  ReductionSlots(std::uint32_t slots, std::uint32_t children)
      : slots_(slots), children_(children), words_((children + 63) / 64), entries_(std::size_t{2} * slots) {
    seen_.resize(entries_.size() * words_);
  }

  std::uint32_t slots() const { return slots_; }
  std::uint32_t children() const { return children_; }

  /// `value` counts once for `child`.
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
  /// The sum of all ranks, from the parent, or of the root itself. False: it is known, or the slot is used by a later
  /// one.
  bool set_result(const ReductionFields& result) {
    Entry& entry = entries_[place_of(result.sequence)];
    if (!entry.used || entry.value.sequence != result.sequence || entry.has_result) return false;
    entry.value = result;
    entry.has_result = true;
    --adding_;
    return true;
  }
  /// What children have brought, or the result; the slot is in use by this sequence number.
  const ReductionFields& value(std::uint64_t sequence) const { return entries_[place_of(sequence)].value; }

  /// Slots with a packet of at least one child and no result yet, now and at most.
  std::uint32_t adding() const { return adding_; }
  std::uint32_t most_adding() const { return most_adding_; }

 private:
  struct Entry {
    ReductionFields value;
    std::uint32_t counted = 0;  ///< children
    bool used = false;
    bool sent = false;
    bool has_result = false;
  };

  std::size_t place_of(std::uint64_t sequence) const {
    return static_cast<std::size_t>(sequence % slots_ * 2 + sequence / slots_ % 2);
  }
  void begin(std::size_t place, const ReductionFields& value) {
    const Entry& before = entries_[place];
    if (!before.used || before.has_result) ++adding_;
    most_adding_ = std::max(most_adding_, adding_);
    entries_[place] = {.value = {.sequence = value.sequence, .sum = 0, .tree = value.tree, .ranks = 0}, .used = true};
    std::fill_n(seen_.begin() + static_cast<std::ptrdiff_t>(place * words_), words_, 0);
  }
  /// All children wait for the same, so one of them asks for all.
  static Added answer_to(const Entry& entry, std::uint32_t child) {
    if (entry.has_result) return Added::answer;
    return entry.sent && child == 0 ? Added::resend_sum : Added::repeated;
  }

  std::uint32_t slots_;
  std::uint32_t children_;
  std::size_t words_;
  std::vector<Entry> entries_;       ///< by slot, two versions each
  std::vector<std::uint64_t> seen_;  ///< a bit for each child of each entry
  std::uint32_t adding_ = 0;
  std::uint32_t most_adding_ = 0;
};

}  // namespace mrc
