// Which QPs' contexts are in the slots of a block in a run, and the contexts that are not. The block itself moves them:
// one goes out by a store and comes in by a load, in the order of what else it is asked.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cosim/bench/ports.h"

namespace mrc {

/// `Row`: a context as it is on the block's pins. A QP without a slot gets the one that was given away longest ago
/// (assumption: in a NIC qp_scheduler gives slots, with a context for all blocks).
template <typename Row>
class ResidentContexts {
 public:
  struct Move {
    bool store = false;  ///< else a load
    std::uint32_t slot = 0;
    std::uint32_t qp = 0;
  };

  /// `fresh`: context of a QP that was never in the block; none: it begins with an operation that makes its context.
  explicit ResidentContexts(std::uint32_t slots, std::optional<Row> fresh = std::nullopt)
      : qp_of_(slots, kNone), fresh_(std::move(fresh)) {}

  /// What is to be done next before anything is asked about this QP; null: nothing.
  const Move* next(std::uint32_t qp) {
    if (moves_.empty() && !holds(qp)) plan(qp);
    return moves_.empty() ? nullptr : &moves_.front();
  }
  /// The row of the next move, a load, has not come out of the block yet.
  bool waits_for_row() const { return !moves_.front().store && leaving_of(moves_.front().qp); }
  /// Of the next move, a load.
  const Row& row() const {
    const auto kept = rows_.find(moves_.front().qp);
    return kept == rows_.end() ? *fresh_ : kept->second;
  }
  /// The block has taken the next move.
  void moved() {
    if (moves_.front().store) {
      leaving_.push_back(moves_.front().qp);
    } else {
      rows_.erase(moves_.front().qp);
    }
    moves_.pop_front();
  }
  /// The row of the oldest store that is under way came out.
  void stored(Row row) {
    rows_.insert_or_assign(leaving_.front(), std::move(row));
    leaving_.pop_front();
  }
  /// Does that at once: `run(move)` has the block do a move, after which `read_row()` gives what a store puts out.
  template <typename Run, typename ReadRow>
  void make_resident(std::uint32_t qp, const Run& run, const ReadRow& read_row) {
    while (const Move* move = next(qp)) {
      const bool stores = move->store;
      run(*move);
      moved();
      if (stores) stored(read_row());
    }
  }
  /// Precondition: next(qp) is null.
  std::uint32_t slot_of(std::uint32_t qp) const { return slot_of_[qp]; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  bool holds(std::uint32_t qp) const { return qp < slot_of_.size() && slot_of_[qp] != kNone; }
  bool leaving_of(std::uint32_t qp) const {
    for (const std::uint32_t leaving : leaving_) {
      if (leaving == qp) return true;
    }
    return false;
  }
  void plan(std::uint32_t qp) {
    if (slot_of_.size() <= qp) slot_of_.resize(qp + 1, kNone);
    const std::uint32_t slot = hand_;
    hand_ = hand_ + 1 == qp_of_.size() ? 0 : hand_ + 1;
    const std::uint32_t evicted = std::exchange(qp_of_[slot], qp);
    if (evicted != kNone) {
      slot_of_[evicted] = kNone;
      moves_.push_back({.store = true, .slot = slot, .qp = evicted});
    }
    slot_of_[qp] = slot;
    if (fresh_ || rows_.contains(qp) || leaving_of(qp)) moves_.push_back({.store = false, .slot = slot, .qp = qp});
  }

  std::vector<std::uint32_t> qp_of_;             ///< by slot
  std::vector<std::uint32_t> slot_of_;           ///< by QP
  std::uint32_t hand_ = 0;                       ///< slot that is given next
  std::deque<Move> moves_;                       ///< to be done, in this order
  std::deque<std::uint32_t> leaving_;            ///< QPs whose rows are under way
  std::unordered_map<std::uint32_t, Row> rows_;  ///< by QP
  std::optional<Row> fresh_;
};

/// What is inside a block that answers everything, in order: operations of the run, and moves of contexts, whose
/// answers are the contexts' alone.
template <typename Row>
class AnswersInOrder {
 public:
  explicit AnswersInOrder(ResidentContexts<Row>& contexts) : contexts_(contexts) {}

  bool next_is_of_move() const { return !inside_.empty() && inside_.front() != Inside::operation; }
  /// The block has taken a move, or an operation of the run: null.
  void taken(const typename ResidentContexts<Row>::Move* move) {
    inside_.push_back(move == nullptr ? Inside::operation : move->store ? Inside::store : Inside::load);
    if (move != nullptr) contexts_.moved();
  }
  /// The next answer was taken. `read_row()` gives what a store puts out. Nothing where the block answers what it has
  /// not taken.
  template <typename ReadRow>
  void answered(const ReadRow& read_row) {
    answered_in_parts([&] { contexts_.stored(read_row()); });
  }
  /// As answered(), where the rest of a context comes out elsewhere: `take_part()` is called with the answer to a
  /// store.
  template <typename TakePart>
  void answered_in_parts(const TakePart& take_part) {
    if (inside_.empty()) return;
    if (inside_.front() == Inside::store) take_part();
    inside_.pop_front();
  }

 private:
  enum class Inside : std::uint8_t { operation, load, store };

  ResidentContexts<Row>& contexts_;
  std::deque<Inside> inside_;  ///< the oldest first
};

/// A context on wide pins, in words of 32 bits.
template <typename Pins>
using ContextRow = std::array<std::uint32_t, sizeof(Pins) / sizeof(std::uint32_t)>;

template <typename Pins>
ContextRow<Pins> row_of(const Pins& pins) {
  ContextRow<Pins> row;
  std::copy_n(&pins[0], row.size(), row.begin());
  return row;
}
template <typename Row, typename Pins>
void put_row(const Row& row, Pins& pins) {
  std::ranges::copy(row, &pins[0]);
}
/// A transfer whose last field is the context on these pins.
template <typename Pins>
cosim::Transaction with_context(cosim::Transaction values, const Pins& pins) {
  for (const std::uint32_t word : row_of(pins)) values.push_back(word);
  return values;
}

}  // namespace mrc
