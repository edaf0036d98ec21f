// The NIC's half of a reduction in switches: which packets it may send up one tree. Packet n uses slot n modulo the
// number of slots, as in the switches (mrc/reduction/reduction_slots.h), and may be sent when the NIC has the result of
// the slot's packet before it. So at most one packet for each slot has been sent without a result.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "mrc/ring.h"

namespace mrc {

class ReductionWindow {
 public:
  struct Transmission {
    std::uint64_t sequence = 0;
    std::uint32_t times_sent = 0;  ///< with this transmission
  };

  explicit ReductionWindow(std::uint32_t slots) : slots_(slots) {
    for (std::uint32_t slot = 0; slot < slots; ++slot) slots_[slot].next = slot;
  }

  /// The NIC has `packets` more to send.
  void extend(std::uint64_t packets) {
    const std::uint64_t begin = end_;
    end_ += packets;
    // The packets after these wait for the results of these.
    const std::uint64_t stop = std::min<std::uint64_t>(end_, begin + slots_.size());
    for (std::uint64_t sequence = begin; sequence < stop; ++sequence) {
      if (slot_of(sequence).next == sequence) ready_.push(sequence);
    }
  }
  /// Sequence number after that of the last packet that the NIC has.
  std::uint64_t end() const { return end_; }

  /// A packet may be sent now.
  bool has_ready() {
    // The result of a packet can arrive while its retransmission waits to be sent.
    while (!lost_.empty() && slot_of(lost_.front()).next != lost_.front()) lost_.pop();
    return !lost_.empty() || !ready_.empty();
  }
  /// The packet that is sent next: retransmissions first. Precondition: has_ready().
  Transmission take() {
    Ring<std::uint64_t>& from = lost_.empty() ? ready_ : lost_;
    const std::uint64_t sequence = from.front();
    from.pop();
    return {sequence, ++slot_of(sequence).times_sent};
  }
  /// The packet has no result, and `sent` was its last transmission.
  bool is_unanswered(const Transmission& sent) const {
    const Slot& slot = slot_of(sent.sequence);
    return slot.next == sent.sequence && slot.times_sent == sent.times_sent;
  }
  /// A packet that was sent and has no result may be sent once more.
  void retransmit(std::uint64_t sequence) { lost_.push(sequence); }
  /// The result of a packet. False: the NIC has it already.
  bool receive(std::uint64_t sequence) {
    Slot& slot = slot_of(sequence);
    if (slot.next != sequence || slot.times_sent == 0) return false;
    slot = {.next = sequence + slots_.size(), .times_sent = 0};
    if (slot.next < end_) ready_.push(slot.next);
    return true;
  }

  /// A packet was sent and has no result.
  bool has_unanswered() const {
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.times_sent > 0; });
  }
  /// A packet waits for its slot, whose packet before it was sent and has no result.
  bool waits_for_slot() const {
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const Slot& slot) { return slot.times_sent > 0 && slot.next + slots_.size() < end_; });
  }
  /// The first packet without a result; none: every packet has its result.
  std::optional<Transmission> oldest() const {
    const auto first =
        std::min_element(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) { return a.next < b.next; });
    if (first->next >= end_) return std::nullopt;
    return Transmission{first->next, first->times_sent};
  }

 private:
  struct Slot {
    std::uint64_t next = 0;        ///< first packet of this slot without a result
    std::uint32_t times_sent = 0;  ///< of that packet
  };

  Slot& slot_of(std::uint64_t sequence) { return slots_[sequence % slots_.size()]; }
  const Slot& slot_of(std::uint64_t sequence) const { return slots_[sequence % slots_.size()]; }

  std::vector<Slot> slots_;
  std::uint64_t end_ = 0;
  Ring<std::uint64_t> ready_;  ///< packets that may be sent for the first time, in this order
  Ring<std::uint64_t> lost_;   ///< packets that may be retransmitted, in this order
};

}  // namespace mrc
