// Keys of security associations that an engine of the NIC holds, the least recently used making room, and the packets
// that wait beside the engine while a key is read over PCIe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/box.h"
#include "engine/occupancy.h"
#include "nic/nic_context.h"
#include "nic/tx/context_cache.h"
#include "pcie/pcie_dma.h"

namespace mrc {

/// `Item`: what the engine takes from its queues.
template <typename Item>
class AssociationKeys final : public ReadClient {
 public:
  struct Shape {
    std::string name;                 ///< of the box
    std::uint32_t entries = 1;        ///< keys held
    std::uint32_t bytes = 64;         ///< of a key as it is read
    std::uint32_t wait_entries = 1;   ///< packets that may wait
    std::uint64_t table = 0;          ///< address of the keys in host memory
    std::uint64_t* misses = nullptr;  ///< counts the keys that are read
  };
  struct Waiting {
    Item item{};
    std::uint32_t association = 0;
    TimePs ready_at = kNever;  ///< from when on its key is there
    StartId because = 0;
  };
  enum class Lookup : std::uint8_t {
    held,
    being_read,
    no_read_room  ///< the box is woken when PCIe takes a read again
  };

  /// All arguments but `shape` outlive it.
  AssociationKeys(Box& box, NicContext& nic, PcieDma& pcie, const Shape& shape)
      : box_(box),
        trace_(nic.trace),
        pcie_(pcie),
        shape_(shape),
        miss_(nic.causes.declare(shape.name + ".key_miss", {"nic." + shape.name + ".key_cache_entries"})),
        wait_full_(nic.causes.declare(shape.name + ".key_wait", {"nic." + shape.name + ".key_wait_entries"})),
        cache_(associations_of(nic), shape.entries),
        counts_(associations_of(nic)),
        keys_(box, shape.name + ".key_cache", "keys", shape.entries),
        wait_(box, shape.name + ".key_wait", "entries", shape.wait_entries) {
    // Software writes the key with the QP's context when a connection is made.
    const std::uint32_t held = std::min(associations_of(nic), shape.entries);
    for (std::uint32_t association = 0; association < held; ++association) {
      cache_.insert(association);
      cache_.used(association);
    }
    if (held > 0) keys_.set(0, held);
    declare_tokens(miss_, shape.entries, "keys");
    declare_tokens(wait_full_, shape.wait_entries, "entries");
    waiting_.reserve(shape.wait_entries);
  }

  /// A packet that will come to the engine needs the key: it is read now, ahead of the packet's payload, so that what
  /// fills the completion buffer never waits for a read that needs room in it. False: PCIe takes no read, and `caller`
  /// is woken when it does.
  bool ask(TimePs now, std::uint32_t association, StartId because, Box& caller) {
    const bool read = !cache_.touch(association) && !cache_.loading(association);
    if (read && !pcie_.can_read()) {
      pcie_.wait_read_room(now, caller);
      return false;
    }
    if (read) begin_read(now, association, because);
    ++counts_[association].asked;
    return true;
  }
  /// The key that the next packet of the association has asked for is there; another may have taken its place since.
  bool has_come(std::uint32_t association) const {
    const Counts& counts = counts_[association];
    return !cache_.loading(association) || counts.served < counts.asked_before_read;
  }
  /// A packet that has asked leaves the engine.
  void served(std::uint32_t association) { ++counts_[association].served; }

  /// Of a packet that has not asked. Whether the key can be used now; if not, its read has begun unless PCIe takes
  /// none.
  Lookup look_up(TimePs now, std::uint32_t association, StartId because) {
    if (cache_.touch(association)) return Lookup::held;
    if (cache_.loading(association)) return Lookup::being_read;
    if (!pcie_.can_read()) {
      pcie_.wait_read_room(now, box_);
      return Lookup::no_read_room;
    }
    begin_read(now, association, because);
    return Lookup::being_read;
  }

  bool has_wait_room() const { return wait_.fits(1); }
  void refuse_wait(TimePs now) { wait_.refuse(now); }
  void set_aside(TimePs now, Item item, std::uint32_t association) {
    waiting_.push_back({.item = std::move(item), .association = association});
    wait_.add(now, 1);
  }
  bool any_waits() const { return !waiting_.empty(); }
  /// The first that waits for nothing but what `can_go(item)` says; null without one. take() removes it.
  template <typename CanGo>
  const Waiting* first_ready(TimePs now, CanGo can_go) const {
    for (const Waiting& waiting : waiting_) {
      if (waiting.ready_at <= now && can_go(waiting.item)) return &waiting;
    }
    return nullptr;
  }
  Waiting take(TimePs now, const Waiting* waiting) {
    const Waiting taken = *waiting;
    waiting_.erase(waiting_.begin() + (waiting - waiting_.data()));
    wait_.remove(now, 1);
    return taken;
  }
  /// Items whose keys are there.
  template <typename Visit>
  void for_each_ready(TimePs now, Visit visit) const {
    for (const Waiting& waiting : waiting_) {
      if (waiting.ready_at <= now) visit(waiting.item);
    }
  }
  bool any_ready(TimePs now) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.ready_at <= now; });
  }
  /// When the next key that is on its way to the engine can be used, after `now`; kNever where none is announced.
  TimePs next_ready(TimePs now) const {
    TimePs next = kNever;
    for (const Waiting& waiting : waiting_) {
      if (waiting.ready_at > now) next = std::min(next, waiting.ready_at);
    }
    return next;
  }
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Waiting& waiting : waiting_) visit(waiting.item);
  }

  Cause miss() const { return miss_; }
  Cause wait_full() const { return wait_full_; }
  Cause read_queue_full() const { return pcie_.read_queue_full(); }
  const Occupancy& wait_room() const { return wait_; }

 private:
  /// Of an association: packets that asked for its key, those of them that the key was there for or came for before the
  /// latest read began, and those that have left the engine.
  struct Counts {
    std::uint64_t asked = 0;
    std::uint64_t asked_before_read = 0;
    std::uint64_t served = 0;
  };

  void begin_read(TimePs now, std::uint32_t association, StartId because) {
    cache_.begin_load(association);
    counts_[association].asked_before_read = counts_[association].asked;
    ++*shape_.misses;
    const std::uint64_t address = shape_.table + std::uint64_t{association} * shape_.bytes;
    pcie_.read(now, address, shape_.bytes, *this, association, false, nullptr, because);
  }
  static std::uint32_t associations_of(const NicContext& nic) { return nic.associations->count(); }

  void declare_tokens(Cause cause, std::uint64_t capacity, const char* unit) {
    box_.declare(DeclaredTokens{.cause = cause,
                                .capacity = capacity,
                                .unit = unit,
                                .taken_by = shape_.name,
                                .returned_by = shape_.name,
                                .way = TokenWay::pcie_read});
  }
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override {
    const auto association = static_cast<std::uint32_t>(cookie);
    pcie_.release_completion_buffer(now, shape_.bytes);
    cache_.insert(association);
    keys_.set(now, cache_.resident());
    if (counts_[association].asked > counts_[association].asked_before_read) cache_.used(association);
    for (Waiting& waiting : waiting_) {
      if (waiting.association != association || waiting.ready_at != kNever) continue;
      waiting.ready_at = done_at;
      waiting.because = pcie_.done_by();
      // What waited for the key uses it, even if another has taken its place when it is served.
      cache_.used(association);
    }
    trace_.give(miss_, pcie_.done_by());
    trace_.give(wait_full_, pcie_.done_by());
    box_.wake_at(std::max(now, done_at));
  }

  Box& box_;
  NodeTrace& trace_;
  PcieDma& pcie_;
  Shape shape_;
  Cause miss_;
  Cause wait_full_;
  ContextCache cache_;
  std::vector<Counts> counts_;  ///< by association
  Occupancy keys_;
  Occupancy wait_;
  std::vector<Waiting> waiting_;  ///< in the order in which they came
};

}  // namespace mrc
