// Records of the packets that a QP has sent and that are not cumulatively acknowledged: PSN → EV, send time, size,
// state. Applies SACKs, finds the oldest gap, and knows the order of sending, from which loss is inferred and timers
// run. It is the plain store of a requestor (requestor.h lists what a store has).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
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
  bool copy_unanswered = false;       ///< an earlier transmission was declared lost without an answer
};

class RetransmitBuffer {
 public:
  explicit RetransmitBuffer(Psn first_psn) : unacked_(first_psn), next_(first_psn) { reserve(kFirstRecords); }

  Psn unacked_psn() const { return unacked_; }
  Psn next_psn() const { return next_; }
  /// PSNs between the oldest unacknowledged and the next to send.
  std::uint32_t span() const { return static_cast<std::uint32_t>(psn_distance(next_, unacked_)); }
  bool contains(Psn psn) const { return psn_distance(psn, unacked_) >= 0 && psn_distance(psn, next_) < 0; }
  SendRecord& at(Psn psn) { return records_[slot(psn)]; }
  const SendRecord& at(Psn psn) const { return records_[slot(psn)]; }

  /// A record for the next PSN, which is returned: the packet is in the pipeline. Precondition: span() below 2^23.
  Psn append(std::uint64_t message, std::uint32_t message_offset, std::uint32_t nominal_bytes, TimePs /*now*/ = 0) {
    if (span() == records_.size()) reserve(static_cast<std::uint32_t>(records_.size()) * 2);
    const Psn psn = next_;
    // In place: to copy a temporary that was just written field by field stalls the processor.
    ::new (&at(psn)) SendRecord{.message = message, .message_offset = message_offset, .nominal_bytes = nominal_bytes};
    set(acked_, psn, false);
    next_ = psn_add(next_, 1);
    return psn;
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

  /// Acknowledges all up to `last`, then bit i of `bitmap` for PSN `base` + i, and forgets what is acknowledged at the
  /// old end; true if that end moved. `acked(record, was_lost)` is called for each packet that is newly acknowledged;
  /// `was_lost`: it waited for retransmission.
  template <typename Acked>
  bool acknowledge(Psn last, Psn base, std::uint64_t bitmap, TimePs /*now*/, const Acked& acked) {
    acknowledge_through(last, acked);
    acknowledge_bits(base, bitmap, acked);
    return advance();
  }
  /// The responder has refused a packet; false if it is not outstanding.
  bool refuse(Psn psn, CutCause cause, TimePs /*now*/) {
    if (!mark_lost(psn)) return false;
    at(psn).lost_by = cause;
    return true;
  }
  /// Declares lost each longest outstanding packet after which `threshold` packets were sent and acknowledged.
  /// `lost(record)` is called for each.
  template <typename Lost>
  void lose_overtaken(std::uint64_t threshold, TimePs /*now*/, const Lost& lost) {
    Psn psn = 0;
    while (oldest_outstanding(psn) && at(psn).sequence + threshold <= highest_acked_) lost(declare_lost(psn));
  }
  /// Declares lost the packets of a timer that were sent at least `limit` ago, the longest first.
  template <typename Lost>
  void lose_overdue(std::uint32_t timer, TimePs limit, TimePs now, const Lost& lost) {
    Psn psn = 0;
    while (oldest_outstanding(timer, psn) && at(psn).sent_at + limit <= now) lost(declare_lost(psn));
  }
  /// The oldest lost packet goes into the pipeline again; which one that is. Precondition: has_lost().
  Psn take_lost(TimePs /*now*/) {
    const Psn psn = oldest_lost();
    take(psn);
    return psn;
  }
  /// When the longest outstanding packet of a timer was sent; kNever without one.
  TimePs oldest_sent(std::uint32_t timer) {
    Psn psn = 0;
    return oldest_outstanding(timer, psn) ? at(psn).sent_at : kNever;
  }

  /// One packet; nothing happens if it is acknowledged already or not in the buffer.
  template <typename Acked>
  void acknowledge(Psn psn, const Acked& acked) {
    if (!contains(psn)) return;
    SendRecord& record = at(psn);
    if (record.state == RecordState::acked) return;
    const bool was_lost = record.state == RecordState::lost;
    if (was_lost) set_lost(psn, false);
    record.state = RecordState::acked;
    set(acked_, psn, true);
    // A retransmitted packet may be acknowledged for its first copy: it says nothing about what was sent before the
    // second.
    if (record.transmissions == 1 && record.sequence > highest_acked_) highest_acked_ = record.sequence;
    acked(record, was_lost);
  }
  /// What a SACK newly acknowledges, in the order in which acknowledge() takes it: all up to `last`, then bit i
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
  /// mark_lost() without an answer from the responder.
  SendRecord& declare_lost(Psn psn) {
    mark_lost(psn);
    SendRecord& record = at(psn);
    record.lost_by = CutCause::loss;
    return record;
  }
  bool is_in(Psn psn, RecordState state) const { return contains(psn) && at(psn).state == state; }
  bool has_lost() const { return lost_count_ > 0; }
  /// Oldest packet that waits for retransmission; precondition: has_lost().
  Psn oldest_lost() const {
    const std::uint32_t first = bit_of(unacked_);
    const auto words = static_cast<std::uint32_t>(lost_.size());
    const std::uint32_t word = first / 64;
    if (const std::uint64_t bits = lost_[word] & (~0ULL << (first % 64))) return psn_of(word, bits);
    for (std::uint32_t i = 1; i <= words; ++i) {
      const std::uint32_t w = (word + i) % words;
      if (lost_[w] != 0) return psn_of(w, lost_[w]);
    }
    return unacked_;
  }
  /// A lost packet goes into the pipeline again.
  void take(Psn psn) {
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
  /// What lose_overtaken() would declare lost. Of one timer only.
  void find_overtaken(std::uint64_t threshold, std::vector<Psn>& psns) const {
    find_oldest(0, psns, [&](const SendRecord& record) { return record.sequence + threshold <= highest_acked_; });
  }
  /// What lose_overdue() would declare lost.
  void find_overdue(std::uint32_t timer, TimePs limit, TimePs now, std::vector<Psn>& psns) const {
    find_oldest(timer, psns, [&](const SendRecord& record) { return record.sent_at + limit <= now; });
  }

 private:
  static constexpr std::uint32_t kFirstRecords = 16;  ///< many QPs never have more

  struct Sent {
    Psn psn = 0;
    std::uint64_t sequence = 0;
  };

  template <typename Acked>
  void acknowledge_through(Psn last, const Acked& acked) {
    const std::int32_t count = psn_distance(last, unacked_) + 1;
    const std::int32_t held = std::min(count, static_cast<std::int32_t>(span()));
    for (std::int32_t i = 0; i < held; i += 64) {
      const std::uint64_t wanted = held - i >= 64 ? ~0ULL : (1ULL << (held - i)) - 1;
      acknowledge_bits(psn_add(unacked_, i), wanted, acked);
    }
  }
  /// Bit i of `bits` for PSN `base` + i.
  template <typename Acked>
  void acknowledge_bits(Psn base, std::uint64_t bits, const Acked& acked) {
    bits = not_acknowledged(base, bits);
    for (; bits != 0; bits &= bits - 1) acknowledge(psn_add(base, std::countr_zero(bits)), acked);
  }
  /// Those bits of `bitmap` whose PSNs, bit i for PSN `base` + i, have not been acknowledged yet; also bits of PSNs
  /// that are not in the buffer. Most of what a SACK says was said by the one before, and the records need not be
  /// looked at.
  std::uint64_t not_acknowledged(Psn base, std::uint64_t bitmap) const {
    const std::uint32_t first = bit_of(base);
    const std::uint32_t shift = first % 64;
    std::uint64_t acked = acked_[first / 64] >> shift;
    if (shift != 0) acked |= acked_[(first / 64 + 1) & (acked_.size() - 1)] << (64 - shift);
    return bitmap & ~acked;
  }

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
  /// Of a PSN in lost_ and acked_, which have a word at least.
  std::uint32_t bit_of(Psn psn) const { return psn & (static_cast<std::uint32_t>(acked_.size()) * 64 - 1); }
  Psn psn_of(std::uint32_t word, std::uint64_t bits) const {
    const std::uint32_t bit = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    return psn_add(unacked_, (bit - bit_of(unacked_)) & (acked_.size() * 64 - 1));
  }
  bool is_acked(Psn psn) const { return (acked_[bit_of(psn) / 64] >> (bit_of(psn) % 64) & 1) != 0; }
  void set(std::vector<std::uint64_t>& bits, Psn psn, bool on) {
    const std::uint32_t index = bit_of(psn);
    const std::uint64_t bit = 1ULL << (index % 64);
    bits[index / 64] = on ? bits[index / 64] | bit : bits[index / 64] & ~bit;
  }
  void set_lost(Psn psn, bool lost) {
    set(lost_, psn, lost);
    lost_count_ += lost ? 1U : ~0U;
  }
  /// `entries`: a power of two.
  void reserve(std::uint32_t entries) {
    std::vector<SendRecord> larger(entries);
    const std::uint32_t words = std::max(entries / 64, 1U);
    std::vector<std::uint64_t> lost(words);
    std::vector<std::uint64_t> acked(words);
    for (Psn psn = unacked_; psn != next_; psn = psn_add(psn, 1)) {
      larger[psn & (entries - 1)] = at(psn);
      const std::uint32_t index = psn & (words * 64 - 1);
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
  std::vector<std::uint64_t> lost_;   ///< one bit per record
  std::vector<std::uint64_t> acked_;  ///< likewise; of a PSN without a record it says nothing
  std::uint32_t lost_count_ = 0;
  Ring<Sent> order_;  ///< of the first timer, in order of sending
  std::vector<Ring<Sent>> more_orders_;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t highest_acked_ = 0;
};

}  // namespace mrc
