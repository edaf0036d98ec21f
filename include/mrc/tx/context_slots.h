// Slots of a NIC for QP contexts. A slot is chosen when the fetch of a context begins, by second chance: a hand goes
// round and takes the first slot that is not in use, and was neither chosen nor used since the hand passed it. In use
// is a slot from the choice until the context is used for the first time, and while its QP has a grant.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mrc {

/// What a lookup finds.
enum class ContextLookup : std::uint8_t {
  here = 0,
  loading = 1,
  fetched = 2,  ///< its fetch begins now
  no_room = 3,  ///< it is missing, and nothing can be fetched now
};

class ContextSlots {
 public:
  struct Fetch {
    std::uint32_t slot = 0;
    std::optional<std::uint32_t> evicted{};  ///< QP that was in the slot
    std::uint32_t passed = 0;                ///< slots that the hand has passed
  };

  ContextSlots(std::uint32_t qps, std::uint32_t slots) : entries_(qps), slots_(slots) {}

  bool here(std::uint32_t qp) const { return entries_[qp].state >= State::fresh; }
  bool loading(std::uint32_t qp) const { return entries_[qp].state == State::loading; }
  std::uint32_t slot_of(std::uint32_t qp) const { return entries_[qp].slot; }
  std::uint32_t held() const { return held_; }
  std::uint32_t resident() const { return resident_; }

  /// The QP's turn needs the context (`turn`: its slot stays in use until give_back()), or its receiving side does.
  /// `room`: a fetch could begin. Where this returns `fetched`, begin_fetch() follows.
  ContextLookup look(std::uint32_t qp, bool turn, bool room) {
    Entry& entry = entries_[qp];
    if (entry.state == State::loading) return ContextLookup::loading;
    if (entry.state == State::none)
      return room && held_ < slots_.size() ? ContextLookup::fetched : ContextLookup::no_room;
    Slot& slot = slots_[entry.slot];
    const bool first_use = entry.state == State::fresh;
    slot.recent = true;
    entry.state = State::used;
    if (turn || first_use) hold(slot, turn);
    return ContextLookup::here;
  }
  /// Chooses the slot.
  Fetch begin_fetch(std::uint32_t qp) {
    std::uint32_t passed = 0;
    for (; slots_[hand_].busy || slots_[hand_].recent; ++passed) {
      if (!slots_[hand_].busy) slots_[hand_].recent = false;
      advance();
    }
    Fetch fetch{hand_, slots_[hand_].qp, passed};
    if (fetch.evicted) {
      entries_[*fetch.evicted].state = State::none;
      --resident_;
    }
    slots_[hand_].qp = qp;
    // Its packets are on their way: it stays as long as a context that was used again.
    slots_[hand_].recent = true;
    hold(slots_[hand_], true);
    entries_[qp] = {State::loading, hand_};
    advance();
    return fetch;
  }
  /// The context has come. `used`: nobody waits for it who would use it first.
  void fill(std::uint32_t qp, bool used) {
    entries_[qp].state = used ? State::used : State::fresh;
    ++resident_;
    if (used) hold(slots_[entries_[qp].slot], false);
  }
  /// The grant of a turn that found its context in this slot is over.
  void give_back(std::uint32_t slot) { hold(slots_[slot], false); }
  /// What is in the slot is unusable: it is fetched again when it is needed.
  void drop(std::uint32_t qp) {
    Entry& entry = entries_[qp];
    if (!here(qp)) return;
    if (entry.state == State::fresh) hold(slots_[entry.slot], false);
    slots_[entry.slot].qp.reset();
    entry.state = State::none;
    --resident_;
  }

 private:
  enum class State : std::uint8_t { none, loading, fresh, used };
  struct Entry {
    State state = State::none;
    std::uint32_t slot = 0;
  };
  struct Slot {
    std::optional<std::uint32_t> qp;
    bool busy = false;
    bool recent = false;  ///< chosen or used since the hand passed it
  };

  void hold(Slot& slot, bool busy) {
    held_ += busy ? 1 : 0;
    held_ -= slot.busy ? 1 : 0;
    slot.busy = busy;
  }
  void advance() { hand_ = hand_ + 1 == slots_.size() ? 0 : hand_ + 1; }

  std::vector<Entry> entries_;
  std::vector<Slot> slots_;
  std::uint32_t hand_ = 0;
  std::uint32_t held_ = 0;
  std::uint32_t resident_ = 0;
};

}  // namespace mrc
