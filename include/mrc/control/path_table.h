// State of every EV of a QP (or of what shares the table) and the choice of the next one. By MRC's rotation: GOOD EVs
// in a pseudo-random scan order, those skipped come back with the rotation. Or by a policy, among the EVs that are
// GOOD. Those that lose packets give way to backups of the same plane.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "mrc/control/ev_profile.h"
#include "mrc/control/path_policy.h"
#include "mrc/protocol_config.h"
#include "mrc/random.h"
#include "mrc/ring.h"
#include "mrc/types.h"

namespace mrc {

/// EV states of the specification's Figure 5.
enum class EvState : std::uint8_t { good, skip, assumed_bad, denied };
inline constexpr std::size_t kEvStates = 4;

/// An EV that became ASSUMED_BAD or GOOD again (OCP API: the only two that are reported).
struct EvEvent {
  EvIndex ev = kNoEv;
  EvState state = EvState::good;
  TimePs time = 0;
};

/// The next order in which `count` EVs are scanned: position → EV.
inline void draw_scan_order(KeyedRandom& random, std::size_t count, std::vector<EvIndex>& order) {
  order.resize(count);
  std::iota(order.begin(), order.end(), EvIndex{0});
  // Copies, so that both stay in registers: this is done once per rotation, for every EV.
  KeyedRandom draws = random;
  EvIndex* const at = order.data();
  for (std::size_t i = count; i > 1; --i) std::swap(at[i - 1], at[draws.below(i)]);
  random = draws;
}

class PathTable {
 public:
  static constexpr std::uint32_t kMostPlanes = 32;

  /// `planes` 1 … 32. `random` orders the scan. `policy` null: MRC's rotation. Tables may share `evs`.
  PathTable(std::shared_ptr<const EvDirectory> evs, const ProtocolConfig& config, std::uint32_t planes,
            KeyedRandom random, std::unique_ptr<PathPolicy> policy = nullptr)
      : config_(&config),
        policy_(std::move(policy)),
        planes_(planes),
        entries_(evs->profile().value.size()),
        directory_(std::move(evs)),
        random_(random) {
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].plane = directory_->profile().plane[i];
    const std::size_t active = std::min<std::size_t>(config.ev_active, entries_.size()) / planes * planes;
    active_total_ = static_cast<std::uint32_t>(active);
    least_active_a_plane_ = std::max<std::uint32_t>(1, config.least_active_evs() / planes);
    counts_[static_cast<std::size_t>(EvState::good)] = static_cast<std::uint32_t>(entries_.size());
    set_first_order();
    words_ = static_cast<std::uint32_t>((entries_.size() + 63) / 64);
    eligible_.assign(std::size_t{words_} * planes_, 0);
    for (std::size_t i = 0; i < active; ++i) activate(static_cast<EvIndex>(i));
  }
  /// As above, with the EVs for itself.
  PathTable(const EvProfile& profile, const ProtocolConfig& config, std::uint32_t planes, KeyedRandom random,
            std::unique_ptr<PathPolicy> policy = nullptr)
      : PathTable(std::make_shared<const EvDirectory>(profile), config, planes, random, std::move(policy)) {}

  /// Next EV to send on: one that is GOOD, active and whose plane is in `free_ports` (bit p = port p). kNoEv when there
  /// is none. By the rotation the first in scan order; SKIP EVs become GOOD again when the scan passes the end of its
  /// rotation.
  EvIndex select(std::uint32_t free_ports, TimePs now) {
    if (policy_ != nullptr) return pick(free_ports, now);
    wake_skipped(now);
    const std::uint32_t usable = free_ports & reachable_;
    std::uint32_t position = find_from(pointer_, usable);
    // A rotation is over when the scan wraps, or when all that it could find is skipped; busy ports do not end it.
    if (position == kNoPosition && (find_from(0, usable) != kNoPosition || !has_good(~0U))) {
      end_rotation();
      // With nothing GOOD the rotation that the skipped ones sit out is empty.
      if (!has_good(~0U)) end_rotation();
      position = find_from(0, usable);
    }
    if (position == kNoPosition) return kNoEv;
    pointer_ = position + 1U;
    return order_[position];
  }

  /// With SkipDuration::fixed_time: when the first SKIP EV is GOOD again; kNever without one.
  TimePs next_skip_end() const {
    TimePs end = kNever;
    if (config_->skip_duration != SkipDuration::fixed_time) return end;
    for (const Skipped& skipped : skipped_) end = std::min(end, skipped.until);
    return end;
  }

  /// Some EV is GOOD, active and on one of `ports`.
  bool has_good(std::uint32_t ports) const {
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      if ((ports & reachable_ & (1U << plane)) != 0 && good_active_[plane] > 0) return true;
    }
    return false;
  }

  void report(EvIndex ev, PathEvent event, TimePs now) {
    last_backup_ = kNoEv;
    if (config_->path_feedback == PathFeedback::oblivious) return;
    switch (event) {
      case PathEvent::delivered:
        if (lossy_ > 0) set_losses(ev, 0);
        break;
      case PathEvent::ecn:
      case PathEvent::trimmed:
        skip(ev, now);
        break;
      case PathEvent::always_skip:
        probe_ended(ev);
        health(ev).was_lost = false;
        remove(ev, now);
        break;
      case PathEvent::lost:
        set_losses(ev, health(ev).losses + 1);
        health(ev).was_lost = true;
        if (health(ev).losses >= config_->assumed_bad_losses) remove(ev, now);
        break;
      case PathEvent::trimmed_lasthop:
        break;
      case PathEvent::probe_delivered:
        lost_probes_in_a_row_ = 0;
        probe_ended(ev);
        probe_good(ev, now);
        break;
      case PathEvent::probe_ecn:
        lost_probes_in_a_row_ = 0;
        probe_ended(ev);
        probe_marked(ev, now);
        break;
      case PathEvent::probe_lost:
        ++lost_probes_in_a_row_;
        probe_ended(ev);
        health(ev).probe_successes = 0;
        break;
    }
    if (policy_ != nullptr) policy_->heard(ev, event, now);
  }

  /// Position of an EV value that a SACK or NACK echoes; kNoEv for one that is not in the profile.
  EvIndex find(Ev value) const { return directory_->find(value); }
  Ev value(EvIndex ev) const { return directory_->profile().value[ev]; }
  std::uint8_t plane(EvIndex ev) const { return entries_[ev].plane; }
  EvState state(EvIndex ev) const { return entries_[ev].state; }
  bool active(EvIndex ev) const { return entries_[ev].active; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(entries_.size()); }
  std::uint32_t count(EvState state) const { return counts_[static_cast<std::size_t>(state)]; }
  std::uint32_t good_active(std::uint32_t plane) const { return good_active_[plane]; }
  /// Losses that did not remove their EV because its plane was at the floor.
  std::uint64_t held_at_floor() const { return held_at_floor_; }

  /// The controller forbids an EV.
  void deny(EvIndex ev) {
    if (entries_[ev].active) deactivate(ev);
    end_skip(ev);
    set_state(ev, EvState::denied);
    replace(ev);
  }
  /// The controller allows it again.
  void allow(EvIndex ev) {
    if (entries_[ev].state != EvState::denied) return;
    set_state(ev, EvState::good);
    take_back(ev);
  }
  /// The controller's minimum of EVs in use, counted per plane, in place of the configured one.
  void set_least_active(std::uint32_t evs) { least_active_a_plane_ = std::max<std::uint32_t>(1, evs / planes_); }
  /// Bit p set: plane p can be used, at this end and at the peer's.
  void set_port_status(std::uint32_t reachable_mask) { reachable_ = reachable_mask; }

  // For who keeps a second table and decides by that.
  /// The scan goes on behind `ev`.
  void follow_selection(EvIndex ev) { pointer_ = entries_[ev].position + 1U; }
  /// The EV is in this state, and no backup takes its place.
  void follow_state(EvIndex ev, EvState state, bool active) {
    end_skip(ev);
    entries_[ev].active = active;
    if (state == EvState::assumed_bad && entries_[ev].state != state) bad_.push_back(ev);
    set_state(ev, state);
    if (state == EvState::skip) skipped_.push_back({ev, kNever, false});
  }
  /// What the tables of a NIC have in common, besides `config`.
  std::uint32_t most_active_a_plane() const { return active_total_ / planes_; }
  std::uint32_t least_active_a_plane() const { return least_active_a_plane_; }
  std::uint32_t active_total() const { return active_total_; }
  const ProtocolConfig& config() const { return *config_; }
  std::uint32_t planes() const { return planes_; }
  /// Position → EV, and where the next order comes from.
  const std::vector<EvIndex>& scan_order() const { return order_; }
  KeyedRandom order_random() const { return random_; }
  std::uint32_t position(EvIndex ev) const { return entries_[ev].position; }
  std::uint32_t pointer() const { return pointer_; }
  std::uint32_t reachable() const { return reachable_; }
  /// The EV that took another's place in the last report(), kNoEv for none.
  EvIndex last_backup() const { return last_backup_; }
  /// Events that were queued so far.
  std::uint64_t events() const { return queued_events_ + dropped_events_; }
  std::uint32_t losses(EvIndex ev) const { return health_.empty() ? 0 : health_[ev].losses; }
  std::uint32_t probe_successes(EvIndex ev) const { return health_.empty() ? 0 : health_[ev].probe_successes; }
  /// Rotations that have ended, and those of them after which the order was drawn anew.
  std::uint64_t rotations() const { return rotations_; }
  std::uint64_t reshuffles() const { return reshuffles_; }

  /// When an ASSUMED_BAD EV is next to be probed; kNever without one, and while as many probes as allowed have no
  /// answer.
  TimePs next_probe_time() const {
    return bad_.empty() || unanswered_ >= config_->unanswered_probes ? kNever : next_probe_;
  }
  /// The ASSUMED_BAD EV whose turn it is, kNoEv when none is due at `now`. A probe event of the EV, or
  /// probe_not_sent(), follows.
  EvIndex take_due_probe(TimePs now) {
    if (now < next_probe_time()) return kNoEv;
    const EvIndex ev = bad_[probe_turn_++ % bad_.size()];
    const TimePs interval = config_->probe_interval_ps << std::min(lost_probes_in_a_row_, config_->probe_backoff);
    next_probe_ = now + std::max<TimePs>(1, interval / bad_.size());
    unanswered_ += health(ev).unanswered ? 0 : 1;
    health(ev).unanswered = true;
    return ev;
  }
  /// The NIC has no room for the probe that was taken: the EV waits for its next turn.
  void probe_not_sent(EvIndex ev) { probe_ended(ev); }

  /// Oldest event not yet taken. When more than the queue holds were not taken, the newest are dropped and counted.
  bool pop_event(EvEvent& event) {
    if (events_.empty()) return false;
    event = events_.front();
    events_.pop();
    return true;
  }
  std::uint64_t dropped_events() const { return dropped_events_; }
  /// From now on events are also added to `to`, which outlives the table: for a second reader.
  void copy_events(std::vector<EvEvent>& to) { event_copies_ = &to; }

 private:
  static constexpr std::uint32_t kNoPosition = 0xFFFF'FFFF;
  static constexpr std::uint64_t kMostEvents = 256;

  /// What each packet looks at: sixteen in a cache line.
  struct Entry {
    EvIndex position = 0;  ///< in scan order
    std::uint8_t plane = 0;
    EvState state : 7 = EvState::good;
    bool active : 1 = false;
  };
  static_assert(sizeof(Entry) == 4);
  /// What only EVs in trouble have.
  struct Health {
    std::uint32_t losses = 0;
    std::uint32_t probe_successes = 0;
    bool unanswered = false;  ///< a probe is on its way
    bool was_lost = false;    ///< it went out of use by losses, not by congestion
  };
  struct Skipped {
    EvIndex ev;
    TimePs until;
    bool one_rotation_left;
  };

  /// A policy finds EV i at position i.
  void set_first_order() {
    if (policy_ == nullptr) {
      draw_scan_order(random_, entries_.size(), order_);
    } else {
      order_.resize(entries_.size());
      std::iota(order_.begin(), order_.end(), EvIndex{0});
    }
    for (std::size_t i = 0; i < order_.size(); ++i) entries_[order_[i]].position = static_cast<EvIndex>(i);
  }

  /// So that QPs do not fall in step with each other, nor an order with the pattern in which ports become free.
  void reshuffle() {
    ++reshuffles_;
    draw_scan_order(random_, entries_.size(), order_);
    std::fill(eligible_.begin(), eligible_.end(), 0);
    Entry* const entries = entries_.data();
    const EvIndex* const order = order_.data();
    const std::size_t count = order_.size();
    std::uint64_t* words = eligible_.data();
    for (std::size_t first = 0; first < count; first += 64, words += planes_) {
      const std::size_t end = std::min(first + 64, count);
      for (std::size_t i = first; i < end; ++i) {
        Entry& entry = entries[order[i]];
        entry.position = static_cast<EvIndex>(i);
        // Without a branch: in a random order it would be guessed wrong.
        const auto is_good = static_cast<std::uint64_t>(entry.state == EvState::good);
        words[entry.plane] |= (is_good & static_cast<std::uint64_t>(entry.active)) << (i - first);
      }
    }
  }
  Health& health(EvIndex ev) {
    if (health_.empty()) health_.resize(entries_.size());
    return health_[ev];
  }
  void set_losses(EvIndex ev, std::uint32_t losses) {
    std::uint32_t& of_ev = health(ev).losses;
    lossy_ += (losses > 0 ? 1U : 0U) - (of_ev > 0 ? 1U : 0U);
    of_ev = losses;
  }

  std::uint64_t& word_of(const Entry& entry) { return eligible_[entry.position / 64U * planes_ + entry.plane]; }

  void set_eligible(EvIndex ev, bool on) {
    const Entry& entry = entries_[ev];
    std::uint64_t& word = word_of(entry);
    const std::uint64_t bit = 1ULL << (entry.position % 64);
    if (((word & bit) != 0) == on) return;
    word ^= bit;
    good_active_[entry.plane] += on ? 1U : ~0U;
  }
  void refresh(EvIndex ev) { set_eligible(ev, entries_[ev].active && entries_[ev].state == EvState::good); }
  void activate(EvIndex ev) {
    entries_[ev].active = true;
    refresh(ev);
  }
  void deactivate(EvIndex ev) {
    entries_[ev].active = false;
    refresh(ev);
  }
  void set_state(EvIndex ev, EvState state) {
    Entry& entry = entries_[ev];
    if (entry.state == EvState::assumed_bad && state != EvState::assumed_bad) {
      bad_.erase(std::find(bad_.begin(), bad_.end(), ev));
    }
    --counts_[static_cast<std::size_t>(entry.state)];
    ++counts_[static_cast<std::size_t>(state)];
    entry.state = state;
    refresh(ev);
  }

  EvIndex pick(std::uint32_t free_ports, TimePs now) {
    const std::uint32_t usable = free_ports & reachable_ & planes_mask();
    if (!has_good(usable)) return kNoEv;
    const PathChoices choices(eligible_.data(), words_, planes_, usable, reachable_ & planes_mask());
    const EvIndex ev = policy_->pick(choices, now);
    assert(ev == kNoEv || choices.may_use(ev));
    return ev;
  }

  /// The first position from `position` on of an EV that may be sent on; kNoPosition without one.
  std::uint32_t find_from(std::uint32_t position, std::uint32_t ports) const {
    std::uint32_t word = position / 64;
    std::uint64_t mask = ~0ULL << (position % 64);
    for (; word < words_; ++word, mask = ~0ULL) {
      std::uint64_t candidates = 0;
      for (std::uint32_t left = ports & planes_mask(); left != 0; left &= left - 1) {
        candidates |= eligible_[word * planes_ + static_cast<std::uint32_t>(std::countr_zero(left))];
      }
      candidates &= mask;
      if (candidates != 0) return word * 64 + static_cast<std::uint32_t>(std::countr_zero(candidates));
    }
    return kNoPosition;
  }
  std::uint32_t planes_mask() const { return planes_ >= 32 ? ~0U : (1U << planes_) - 1; }

  void skip(EvIndex ev, TimePs now) {
    // A policy hears of marks and answers them itself.
    if (policy_ != nullptr || entries_[ev].state != EvState::good) return;
    set_state(ev, EvState::skip);
    skipped_.push_back({ev, now + config_->skip_time_ps, config_->skip_duration == SkipDuration::one_rotation});
  }
  /// An EV that goes out of use: what was left of its skip must not end a later one.
  void end_skip(EvIndex ev) {
    if (entries_[ev].state != EvState::skip) return;
    std::erase_if(skipped_, [ev](const Skipped& skipped) { return skipped.ev == ev; });
  }
  void wake_skipped(TimePs now) {
    if (config_->skip_duration != SkipDuration::fixed_time) return;
    std::erase_if(skipped_, [&](const Skipped& skipped) {
      if (skipped.until > now) return false;
      revive(skipped.ev);
      return true;
    });
  }
  void revive(EvIndex ev) {
    if (entries_[ev].state != EvState::skip) return;
    set_state(ev, EvState::good);
    // A backup that was skipped may be wanted by now: its plane has lost EVs meanwhile.
    if (!entries_[ev].active) take_back(ev);
  }
  void end_rotation() {
    pointer_ = 0;
    ++rotations_;
    if (config_->reshuffle_rotations != 0 && rotations_ % config_->reshuffle_rotations == 0) reshuffle();
    if (config_->skip_duration == SkipDuration::fixed_time) return;
    std::erase_if(skipped_, [&](Skipped& skipped) {
      if (skipped.one_rotation_left) {
        skipped.one_rotation_left = false;
        return false;
      }
      revive(skipped.ev);
      return true;
    });
  }

  std::uint32_t active_in(std::uint32_t plane) const {
    std::uint32_t n = 0;
    for (const Entry& entry : entries_) {
      const bool in_use = entry.state == EvState::good || entry.state == EvState::skip;
      if (entry.plane == plane && entry.active && in_use) ++n;
    }
    return n;
  }
  EvIndex backup_in(std::uint32_t plane) const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (entry.plane == plane && !entry.active && entry.state == EvState::good) return static_cast<EvIndex>(i);
    }
    return kNoEv;
  }
  /// A backup EV of the same plane takes the place of `ev`.
  void replace(EvIndex ev) {
    const EvIndex backup = backup_in(entries_[ev].plane);
    if (backup == kNoEv || active_in(entries_[ev].plane) >= active_total_ / planes_) return;
    activate(backup);
    last_backup_ = backup;
  }
  /// A backup in use becomes a backup again. False if the plane uses none.
  bool withdraw_backup(std::uint32_t plane) {
    for (std::size_t i = entries_.size(); i > active_total_; --i) {
      const Entry& entry = entries_[i - 1];
      if (!entry.active || entry.plane != plane) continue;
      deactivate(static_cast<EvIndex>(i - 1));
      return true;
    }
    return false;
  }
  void take_back(EvIndex ev) {
    if (active_in(entries_[ev].plane) >= active_total_ / planes_) {
      const bool returns = config_->backups_return && health(ev).was_lost && ev < active_total_;
      if (!returns || !withdraw_backup(entries_[ev].plane)) return;
    }
    activate(ev);
  }
  void remove(EvIndex ev, TimePs now) {
    Entry& entry = entries_[ev];
    if (entry.state == EvState::assumed_bad || entry.state == EvState::denied || !entry.active) return;
    if (backup_in(entry.plane) == kNoEv && active_in(entry.plane) <= least_active_a_plane_) {
      ++held_at_floor_;
      return;
    }
    deactivate(ev);
    end_skip(ev);
    set_state(ev, EvState::assumed_bad);
    health(ev).probe_successes = 0;
    if (bad_.empty()) next_probe_ = now + config_->probe_interval_ps;
    bad_.push_back(ev);
    replace(ev);
    push_event({ev, EvState::assumed_bad, now});
  }
  void probe_ended(EvIndex ev) {
    if (health_.empty()) return;
    unanswered_ -= health_[ev].unanswered ? 1 : 0;
    health_[ev].unanswered = false;
  }
  void probe_good(EvIndex ev, TimePs now) {
    Entry& entry = entries_[ev];
    if (entry.state != EvState::assumed_bad || ++health(ev).probe_successes < config_->probe_successes) return;
    set_losses(ev, 0);
    set_state(ev, EvState::good);
    take_back(ev);
    push_event({ev, EvState::good, now});
  }
  void probe_marked(EvIndex ev, TimePs now) {
    probe_good(ev, now);
    if (config_->probe_skip_state == ProbeSkipState::skip) skip(ev, now);
  }
  void push_event(const EvEvent& event) {
    if (event_copies_ != nullptr) event_copies_->push_back(event);
    if (events_.size() == kMostEvents) {
      ++dropped_events_;
      return;
    }
    events_.push(event);
    ++queued_events_;
  }

  // What each packet looks at comes first.
  const ProtocolConfig* config_;
  std::unique_ptr<PathPolicy> policy_;  ///< null: the rotation
  std::uint32_t planes_;
  std::uint32_t words_ = 0;
  std::uint32_t pointer_ = 0;
  std::uint32_t reachable_ = ~0U;
  std::uint32_t lossy_ = 0;  ///< EVs with losses
  EvIndex last_backup_ = kNoEv;
  std::vector<std::uint64_t> eligible_;  ///< bit: position in scan order; per 64 of them a word for each plane
  std::vector<EvIndex> order_;           ///< scan order: position → EV
  std::vector<Entry> entries_;
  std::shared_ptr<const EvDirectory> directory_;
  std::array<std::uint32_t, kMostPlanes> good_active_{};
  std::vector<Skipped> skipped_;
  KeyedRandom random_;
  std::vector<Health> health_;  ///< empty until an EV has lost a packet or is probed
  std::uint64_t rotations_ = 0;
  std::uint64_t reshuffles_ = 0;
  std::uint32_t active_total_ = 0;
  std::uint32_t least_active_a_plane_ = 1;
  std::array<std::uint32_t, kEvStates> counts_{};
  std::vector<EvIndex> bad_;
  std::uint64_t probe_turn_ = 0;
  std::uint32_t unanswered_ = 0;  ///< EVs with a probe on its way
  std::uint32_t lost_probes_in_a_row_ = 0;
  TimePs next_probe_ = kNever;
  std::uint64_t held_at_floor_ = 0;
  Ring<EvEvent> events_;
  std::vector<EvEvent>* event_copies_ = nullptr;
  std::uint64_t queued_events_ = 0;
  std::uint64_t dropped_events_ = 0;
};

}  // namespace mrc
