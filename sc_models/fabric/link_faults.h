// Timed faults of one direction of a cable: intervals in which it carries nothing, and intervals in which it loses or
// corrupts packets at random. All of them are known before the run, so links are not changed during it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "mrc/packet.h"
#include "mrc/random.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

/// Identifies a packet, to find it again.
struct PacketName {
  NodeId source = 0;
  NodeId destination = 0;
  QpNumber destination_qp = 0;
  Psn psn = 0;
  Ev ev = 0;
  std::uint8_t plane = 0;

  static PacketName of(const Packet& packet) {
    return {packet.source_node, packet.destination_node, packet.destination_qp, packet.psn, packet.ev, packet.plane};
  }
  /// The same data, on any path.
  bool repeats(const PacketName& other) const {
    return source == other.source && destination == other.destination && destination_qp == other.destination_qp &&
           psn == other.psn;
  }
};

class FaultJournal;

/// Effects of one fault on packets. Written by events of the fabric only; in a run on several ranks each rank keeps a
/// journal of these calls, and the record is written from all journals after the run.
struct FaultRecord {
  TimePs begins_at = 0;
  TimePs ends_at = kNever;  ///< end of its last interval
  std::uint64_t lost_data = 0;
  std::uint64_t lost_control = 0;  ///< SACKs, NACKs, ACKs, probes, endpoint operations
  std::uint64_t corrupted = 0;
  TimePs last_lost_data_sent_at = 0;  ///< when the last bit of the last lost data packet left its sender
  TimePs longest_bypass_ps = 0;       ///< begin of an outage until that time, the longest of its outages
  TimePs longest_on_ev_ps = 0;        ///< first to last data packet lost on one EV in one outage, the longest
  TimePs back_in_use_at = kNever;     ///< first data packet that began to cross after its end

  /// The first data packet that it dropped, until that is retransmitted.
  struct FirstLoss {
    TimePs lost_at = kNever;
    TimePs sent_again_at = kNever;
    PacketName packet;
  } first_loss;
  FaultJournal* journal = nullptr;  ///< null: this is the record itself

  void lose_control();
  void lose_data(TimePs first_out, TimePs last_in, const PacketName& packet);
  void lose_in_outage(TimePs outage_from, TimePs first_out, const PacketName& packet);
  void corrupt();
  void use_again(TimePs first_out);
  void sent_again(TimePs now, const PacketName& packet) {
    if (packet.repeats(first_loss.packet) && awaits_retransmission()) first_loss.sent_again_at = now;
  }

  bool awaits_retransmission() const { return first_loss.lost_at != kNever && first_loss.sent_again_at == kNever; }

 private:
  TimePs outage_from_ = kNever;
  std::map<std::array<std::uint32_t, 4>, TimePs> first_on_ev_;
};

/// Calls of FaultRecord as one rank made them.
class FaultJournal {
 public:
  enum class Call : std::uint8_t { lose_control, lose_data, lose_in_outage, corrupt, use_again, sent_again };
  struct Entry {
    TimePs now = 0;          ///< of the event that made the call
    std::uint32_t link = 0;  ///< where it happened; ties in time go by it, as on the event queue
    Call call = Call::lose_control;
    const FaultRecord* record = nullptr;  ///< its position among the records once the journal is closed
    TimePs first = 0;
    TimePs second = 0;
    PacketName packet;
  };

  /// The event that the following calls belong to.
  void at(TimePs now, std::uint32_t link) {
    now_ = now;
    link_ = link;
  }
  void add(Call call, const FaultRecord& record, TimePs first, TimePs second, const PacketName& packet) {
    entries_.push_back({now_, link_, call, &record, first, second, packet});
  }
  void sent_again(TimePs now, const PacketName& packet) {
    entries_.push_back({now, ~0U, Call::sent_again, nullptr, now, 0, packet});
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  TimePs now_ = 0;
  std::uint32_t link_ = 0;
  std::vector<Entry> entries_;
};

inline void FaultRecord::lose_control() {
  if (journal != nullptr) return journal->add(FaultJournal::Call::lose_control, *this, 0, 0, {});
  ++lost_control;
}

inline void FaultRecord::lose_data(TimePs first_out, TimePs last_in, const PacketName& packet) {
  if (journal != nullptr) return journal->add(FaultJournal::Call::lose_data, *this, first_out, last_in, packet);
  ++lost_data;
  last_lost_data_sent_at = std::max(last_lost_data_sent_at, first_out);
  if (first_loss.lost_at == kNever) first_loss = {last_in, kNever, packet};
}

inline void FaultRecord::lose_in_outage(TimePs outage_from, TimePs first_out, const PacketName& packet) {
  if (journal != nullptr)
    return journal->add(FaultJournal::Call::lose_in_outage, *this, outage_from, first_out, packet);
  longest_bypass_ps = std::max(longest_bypass_ps, first_out > outage_from ? first_out - outage_from : 0);
  if (outage_from != outage_from_) first_on_ev_.clear();
  outage_from_ = outage_from;
  const auto [it, added] =
      first_on_ev_.try_emplace({packet.source, packet.destination_qp, packet.plane, packet.ev}, first_out);
  if (!added && first_out > it->second) longest_on_ev_ps = std::max(longest_on_ev_ps, first_out - it->second);
}

inline void FaultRecord::corrupt() {
  if (journal != nullptr) return journal->add(FaultJournal::Call::corrupt, *this, 0, 0, {});
  ++corrupted;
}

inline void FaultRecord::use_again(TimePs first_out) {
  if (journal != nullptr) journal->add(FaultJournal::Call::use_again, *this, first_out, 0, {});
  // Also with a journal, so that a link is not checked forever.
  if (back_in_use_at == kNever) back_in_use_at = first_out;
}

class LinkFaults {
 public:
  enum class Verdict : std::uint8_t { pass, cut, lost, corrupted };

  struct Damage {
    TimePs from = 0;
    TimePs until = kNever;
    double probability = 0;
    bool corrupts = false;
    FaultPackets packets = FaultPackets::all;
    bool any_ev = true;
    Ev ev = 0;
    KeyedRandom random;
    FaultRecord* record = nullptr;
  };

  /// Nothing crosses in [from, until), not even in part. Given in order of `from`.
  void add_outage(TimePs from, TimePs until, FaultRecord& record) { outages_.push_back({from, until, &record}); }
  void add_damage(const Damage& damage) { damages_.push_back(damage); }

  /// A packet whose first bit enters the cable at `first_out` and whose last bit leaves it at `last_in`; packets come
  /// in order of time. Marks what is corrupted.
  Verdict apply(TimePs first_out, TimePs last_in, Packet& packet);
  /// Nothing that enters the cable at `now` crosses it.
  bool cuts_at(TimePs now) const {
    return std::any_of(outages_.begin(), outages_.end(),
                       [now](const Outage& outage) { return outage.from <= now && now < outage.until; });
  }
  /// All intervals are over.
  bool over() const { return over_; }

 private:
  struct Outage {
    TimePs from;
    TimePs until;
    FaultRecord* record;
  };

  static bool meets(const Damage& damage, const Packet& packet);
  static void count_loss(FaultRecord& record, TimePs first_out, TimePs last_in, const Packet& packet);
  void look_for_use(TimePs first_out, const Packet& packet);

  std::vector<Outage> outages_;
  std::vector<Damage> damages_;
  std::size_t next_outage_ = 0;  ///< all before it are over
  bool over_ = false;
};

inline bool LinkFaults::meets(const Damage& damage, const Packet& packet) {
  if (!damage.any_ev && packet.ev != damage.ev) return false;
  const bool data = is_data(packet.opcode) && packet.damage != mrc::Damage::trimmed;
  switch (damage.packets) {
    case FaultPackets::all:
      return true;
    case FaultPackets::data:
      return data && !packet.retransmission;
    case FaultPackets::retransmission:
      return data && packet.retransmission;
    case FaultPackets::control:
      return !data;
  }
  return true;
}

inline void LinkFaults::count_loss(FaultRecord& record, TimePs first_out, TimePs last_in, const Packet& packet) {
  if (is_data(packet.opcode)) {
    record.lose_data(first_out, last_in, PacketName::of(packet));
  } else {
    record.lose_control();
  }
}

inline void LinkFaults::look_for_use(TimePs first_out, const Packet& packet) {
  over_ = true;
  const auto look = [&](FaultRecord& record) {
    if (record.back_in_use_at != kNever) return;
    if (first_out >= record.ends_at && is_data(packet.opcode)) {
      record.use_again(first_out);
    } else {
      over_ = false;
    }
  };
  for (const Outage& outage : outages_) look(*outage.record);
  for (const Damage& damage : damages_) look(*damage.record);
}

inline LinkFaults::Verdict LinkFaults::apply(TimePs first_out, TimePs last_in, Packet& packet) {
  while (next_outage_ < outages_.size() && outages_[next_outage_].until <= first_out) ++next_outage_;
  for (std::size_t i = next_outage_; i < outages_.size() && outages_[i].from < last_in; ++i) {
    const Outage& outage = outages_[i];
    if (outage.until <= first_out) continue;
    count_loss(*outage.record, first_out, last_in, packet);
    if (is_data(packet.opcode)) outage.record->lose_in_outage(outage.from, first_out, PacketName::of(packet));
    return Verdict::cut;
  }
  bool corrupted = false;
  for (Damage& damage : damages_) {
    if (first_out < damage.from || first_out >= damage.until || !meets(damage, packet)) continue;
    if (!damage.random.chance(damage.probability)) continue;
    if (!damage.corrupts) {
      count_loss(*damage.record, first_out, last_in, packet);
      return Verdict::lost;
    }
    if (packet.damage == mrc::Damage::corrupted) continue;
    packet.damage = mrc::Damage::corrupted;
    packet.corrupt_bit = static_cast<std::uint32_t>(damage.random.next());
    damage.record->corrupt();
    corrupted = true;
  }
  if (next_outage_ == outages_.size()) look_for_use(first_out, packet);
  return corrupted ? Verdict::corrupted : Verdict::pass;
}

}  // namespace mrc
