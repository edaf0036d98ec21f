// QPs that wait for their turn to send, each once at most. Whoever schedules asks pick() whose turn it is: the order of
// turns is there and nowhere else.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "mrc/types.h"

namespace mrc {

class ReadyList {
 public:
  struct Entry {
    TimePs from = 0;  ///< time from which it may be picked
    std::uint32_t qp = 0;
  };

  /// At most `qps` QPs, numbered from 0.
  explicit ReadyList(std::size_t qps) : states_(qps), entries_(std::bit_ceil(qps + 1)) {}

  bool empty() const { return head_ == tail_; }
  std::uint64_t size() const { return tail_ - head_; }
  bool is_listed(std::uint32_t qp) const { return states_[qp] == State::listed; }
  /// The one that pick() returns next.
  const Entry& front() const { return entries_[head_ & (entries_.size() - 1)]; }

  /// The QP is ready; true if this puts it on the list. Where it has its turn, this is kept until the turn ends.
  bool activate(std::uint32_t qp, TimePs from) {
    State& state = states_[qp];
    if (state == State::turn) state = State::turn_again;
    if (state != State::idle) return false;
    push(qp, from);
    return true;
  }
  /// Its turn begins: first come, first served.
  Entry pick() {
    const Entry entry = entries_[head_++ & (entries_.size() - 1)];
    states_[entry.qp] = State::turn;
    return entry;
  }
  /// Its turn ends. `again`: it wants another. True if it is on the list.
  bool end_turn(std::uint32_t qp, bool again, TimePs from) {
    again = again || states_[qp] == State::turn_again;
    states_[qp] = State::idle;
    if (again) push(qp, from);
    return again;
  }

 private:
  enum class State : std::uint8_t { idle, listed, turn, turn_again };

  void push(std::uint32_t qp, TimePs from) {
    states_[qp] = State::listed;
    entries_[tail_++ & (entries_.size() - 1)] = {from, qp};
  }

  std::vector<State> states_;
  std::vector<Entry> entries_;  ///< ring
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace mrc
