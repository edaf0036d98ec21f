// Records of the packets that a QP has sent and that are not cumulatively acknowledged: PSN → EV, send time, size,
// state. Applies SACKs, finds the oldest gap, and knows the order of sending, from which loss is inferred and timers
// run.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "mrc/control/congestion.h"
#include "mrc/ring.h"
#include "mrc/types.h"

namespace mrc {

enum class RecordState : std::uint8_t {
  in_pipeline,  ///< taken for sending, its payload is on its way through the NIC
  outstanding,
  acked,
  lost  ///< waits for retransmission
};

struct SendRecord {
  TimePs sent_at = 0;
  std::uint64_t sequence = 0;  ///< of its latest transmission, in order of sending, from 1
  std::uint64_t message = 0;   ///< number of its message on the QP
  std::uint32_t message_offset = 0;
  std::uint32_t nominal_bytes = 0;
  EvIndex ev = kNoEv;
  std::uint16_t transmissions = 0;
  std::uint8_t timeouts = 0;  ///< of this packet, saturating
  RecordState state = RecordState::in_pipeline;
  CutCause lost_by = CutCause::none;  ///< why it was declared lost last
};

class RetransmitBuffer {
 public:
  explicit RetransmitBuffer(Psn first_psn) : unacked_(first_psn), next_(first_psn) { reserve(64); }

  Psn unacked_psn() const { return unacked_; }
  Psn next_psn() const { return next_; }
  /// PSNs between the oldest unacknowledged and the next to send.
  std::uint32_t span() const { return static_cast<std::uint32_t>(psn_distance(next_, unacked_)); }
  bool contains(Psn psn) const { return psn_distance(psn, unacked_) >= 0 && psn_distance(psn, next_) < 0; }
  SendRecord& at(Psn psn) { return records_[slot(psn)]; }
  const SendRecord& at(Psn psn) const { return records_[slot(psn)]; }

  /// A record for the next PSN; precondition: span() below 2^23.
  SendRecord& append() {
    if (span() == records_.size()) reserve(static_cast<std::uint32_t>(records_.size()) * 2);
    SendRecord& record = at(next_);
    record = SendRecord{};
    set(acked_, next_, false);
    next_ = psn_add(next_, 1);
    return record;
  }
  /// The packet has left the spray scheduler. Nothing happens to one that was acknowledged meanwhile. Packets of one
  /// `timer` have the same timeout, so that the oldest is the next due.
  void transmitted(Psn psn, EvIndex ev, TimePs now, std::uint32_t timer = 0) {
    if (!contains(psn) || at(psn).state != RecordState::in_pipeline) return;
    SendRecord& record = at(psn);
    record.state = RecordState::outstanding;
    record.ev = ev;
    record.sent_at = now;
    record.sequence = ++last_sequence_;
    ++record.transmissions;
    if (timer >= timers()) more_orders_.resize(timer);
    order(timer).push({psn, record.sequence});
  }

  /// Marks `psn` received. False if it was already, or is not in the buffer.
  bool acknowledge(Psn psn) {
    if (!contains(psn)) return false;
    SendRecord& record = at(psn);
    if (record.state == RecordState::acked) return false;
    if (record.state == RecordState::lost) set_lost(psn, false);
    record.state = RecordState::acked;
    set(acked_, psn, true);
    // A retransmitted packet may be acknowledged for its first copy: it says nothing about what was sent before the
    // second.
    if (record.transmissions == 1 && record.sequence > highest_acked_) highest_acked_ = record.sequence;
    return true;
  }
  /// Those bits of `bitmap` whose PSNs, bit i for PSN `base` + i, have not been acknowledged yet; also bits of PSNs
  /// that are not in the buffer. Most of what a SACK says was said by the one before, and the records need not be
  /// looked at.
  std::uint64_t not_acknowledged(Psn base, std::uint64_t bitmap) const {
    const std::uint32_t first = slot(base);
    const std::uint32_t shift = first % 64;
    std::uint64_t acked = acked_[first / 64] >> shift;
    if (shift != 0) acked |= acked_[(first / 64 + 1) & (acked_.size() - 1)] << (64 - shift);
    return bitmap & ~acked;
  }
  /// What a SACK newly acknowledges, in the order in which acknowledge() is to be called: all up to `last`, then bit i
  /// of `bitmap` for PSN `base` + i.
  void find_acknowledged(Psn last, Psn base, std::uint64_t bitmap, std::vector<Psn>& psns) const {
    psns.clear();
    const std::int32_t count = std::min(psn_distance(last, unacked_) + 1, static_cast<std::int32_t>(span()));
    const auto note = [&](Psn psn) {
      if (contains(psn) && at(psn).state != RecordState::acked) psns.push_back(psn);
    };
    for (std::int32_t i = 0; i < count; ++i) note(psn_add(unacked_, i));
    for (; bitmap != 0; bitmap &= bitmap - 1) {
      const Psn psn = psn_add(base, std::countr_zero(bitmap));
      if (psn_distance(psn, unacked_) >= std::max(count, 0)) note(psn);
    }
  }
  /// Forgets acknowledged records at the old end; true if the end moved.
  bool advance() { return advance(next_); }
  /// Likewise, but not past `limit`.
  bool advance(Psn limit) {
    const Psn before = unacked_;
    while (unacked_ != next_ && unacked_ != limit && is_acked(unacked_)) {
      unacked_ = psn_add(unacked_, 1);
    }
    return unacked_ != before;
  }

  /// Declares an outstanding packet lost and queues it; false in any other state.
  bool mark_lost(Psn psn) {
    if (!contains(psn) || at(psn).state != RecordState::outstanding) return false;
    at(psn).state = RecordState::lost;
    set_lost(psn, true);
    return true;
  }
  bool is_in(Psn psn, RecordState state) const { return contains(psn) && at(psn).state == state; }
  bool has_lost() const { return lost_count_ > 0; }
  /// Oldest packet that waits for retransmission; precondition: has_lost().
  Psn oldest_lost() const {
    const std::uint32_t first = slot(unacked_);
    const auto words = static_cast<std::uint32_t>(lost_.size());
    const std::uint32_t word = first / 64;
    if (const std::uint64_t bits = lost_[word] & (~0ULL << (first % 64))) return psn_of(word, bits);
    for (std::uint32_t i = 1; i <= words; ++i) {
      const std::uint32_t w = (word + i) % words;
      if (lost_[w] != 0) return psn_of(w, lost_[w]);
    }
    return unacked_;
  }
  /// The oldest lost packet goes into the pipeline again.
  void take_lost(Psn psn) {
    set_lost(psn, false);
    at(psn).state = RecordState::in_pipeline;
  }

  std::uint32_t timers() const { return static_cast<std::uint32_t>(more_orders_.size()) + 1; }
  /// The longest outstanding packet of a timer; false when it has none.
  bool oldest_outstanding(std::uint32_t timer, Psn& psn) {
    Ring<Sent>& sent = order(timer);
    while (!sent.empty()) {
      const Sent& head = sent.front();
      if (is_current(head)) {
        psn = head.psn;
        return true;
      }
      sent.pop();
    }
    return false;
  }
  /// The longest outstanding packet; false when nothing is outstanding.
  bool oldest_outstanding(Psn& psn) {
    bool found = false;
    Psn candidate = 0;
    for (std::uint32_t timer = 0; timer < timers(); ++timer) {
      if (!oldest_outstanding(timer, candidate)) continue;
      if (!found || at(candidate).sequence < at(psn).sequence) psn = candidate;
      found = true;
    }
    return found;
  }
  /// The longest outstanding packet if at least `threshold` packets sent after it have been acknowledged.
  bool overtaken(std::uint64_t threshold, Psn& psn) {
    return oldest_outstanding(psn) && at(psn).sequence + threshold <= highest_acked_;
  }
  /// What overtaken() would give one after the other if each were declared lost. Of one timer only.
  void find_overtaken(std::uint64_t threshold, std::vector<Psn>& psns) const {
    find_oldest(0, psns, [&](const SendRecord& record) { return record.sequence + threshold <= highest_acked_; });
  }
  /// Outstanding packets of a timer that were sent at least `limit` ago, the longest first.
  void find_expired(std::uint32_t timer, TimePs limit, TimePs now, std::vector<Psn>& psns) const {
    find_oldest(timer, psns, [&](const SendRecord& record) { return record.sent_at + limit <= now; });
  }

 private:
  struct Sent {
    Psn psn = 0;
    std::uint64_t sequence = 0;
  };

  template <typename Condition>
  void find_oldest(std::uint32_t timer, std::vector<Psn>& psns, const Condition& condition) const {
    psns.clear();
    const Ring<Sent>& sent = timer == 0 ? order_ : more_orders_[timer - 1];
    for (std::uint64_t i = 0; i < sent.size(); ++i) {
      if (!is_current(sent[i])) continue;
      if (!condition(at(sent[i].psn))) return;
      psns.push_back(sent[i].psn);
    }
  }
  /// By timer; the first, which is the only one unless timeouts back off by packet, is at hand.
  Ring<Sent>& order(std::uint32_t timer) { return timer == 0 ? order_ : more_orders_[timer - 1]; }
  bool is_current(const Sent& sent) const {
    if (!contains(sent.psn) || is_acked(sent.psn)) return false;
    return at(sent.psn).state == RecordState::outstanding && at(sent.psn).sequence == sent.sequence;
  }
  std::uint32_t slot(Psn psn) const { return psn & (static_cast<std::uint32_t>(records_.size()) - 1); }
  Psn psn_of(std::uint32_t word, std::uint64_t bits) const {
    const std::uint32_t at_slot = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    return psn_add(unacked_, (at_slot - slot(unacked_)) & (records_.size() - 1));
  }
  bool is_acked(Psn psn) const { return (acked_[slot(psn) / 64] >> (slot(psn) % 64) & 1) != 0; }
  void set(std::vector<std::uint64_t>& bits, Psn psn, bool on) {
    const std::uint32_t index = slot(psn);
    const std::uint64_t bit = 1ULL << (index % 64);
    bits[index / 64] = on ? bits[index / 64] | bit : bits[index / 64] & ~bit;
  }
  void set_lost(Psn psn, bool lost) {
    set(lost_, psn, lost);
    lost_count_ += lost ? 1U : ~0U;
  }
  /// `entries`: a power of two, at least the 64 of a word of bits.
  void reserve(std::uint32_t entries) {
    std::vector<SendRecord> larger(entries);
    std::vector<std::uint64_t> lost(entries / 64);
    std::vector<std::uint64_t> acked(entries / 64);
    for (Psn psn = unacked_; psn != next_; psn = psn_add(psn, 1)) {
      const std::uint32_t index = psn & (entries - 1);
      larger[index] = at(psn);
      if (at(psn).state == RecordState::lost) lost[index / 64] |= 1ULL << (index % 64);
      if (at(psn).state == RecordState::acked) acked[index / 64] |= 1ULL << (index % 64);
    }
    records_.swap(larger);
    lost_.swap(lost);
    acked_.swap(acked);
  }

  Psn unacked_;
  Psn next_;
  std::vector<SendRecord> records_;
  std::vector<std::uint64_t> lost_;   ///< a bit a record slot
  std::vector<std::uint64_t> acked_;  ///< likewise; of a slot without a record it says nothing
  std::uint32_t lost_count_ = 0;
  Ring<Sent> order_;  ///< of the first timer, in order of sending
  std::vector<Ring<Sent>> more_orders_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t highest_acked_ = 0;
};

}  // namespace mrc
