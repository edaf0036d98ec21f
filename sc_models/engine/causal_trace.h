// Why packets start when they do. The start of a packet in a box is a maximum over a few predecessors: its own arrival,
// the previous packet (the server was busy), a place in the next queue, a token. A trace holds of each start the
// predecessor that came last, as a number of an earlier start, so that engine/critical_path can follow the chain back.
// Records are taken in windows: outside of one, a start costs a test.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cause.h"
#include "engine/ledger.h"
#include "mrc/types.h"

namespace mrc {

/// A start as the next ones refer to it. 0: not known.
using StartId = std::uint32_t;

/// Where something starts, and what came last before it did.
class StartPoint {
 public:
  /// All ports of a NIC are one place.
  static constexpr std::uint32_t kPorts = 0;
  static constexpr std::uint32_t kMostPlaces = 64;
  static constexpr std::uint32_t kMostNodes = 1U << 15;

  constexpr StartPoint() = default;
  /// It started as it arrived. Preconditions: node < kMostNodes, place < kMostPlaces.
  static constexpr StartPoint at_arrival(std::uint32_t node, std::uint32_t place) {
    return StartPoint(node << 16 | place << 8 | kNoPool);
  }
  /// It waited for `pool`: a server, or a token that the predecessor gave back.
  static constexpr StartPoint after(std::uint32_t node, std::uint32_t place, Cause pool) {
    return StartPoint(node << 16 | place << 8 | pool.index());
  }
  /// The time since the predecessor is a delay that `pool` is the cause of, such as a timer's.
  static constexpr StartPoint delayed_by(std::uint32_t node, std::uint32_t place, Cause pool) {
    return StartPoint(kDelay | node << 16 | place << 8 | pool.index());
  }
  /// Precondition: link < 2^30.
  static constexpr StartPoint on_link(std::uint32_t link, bool waited) {
    return StartPoint(kFabric | (waited ? kWaited : 0) | link);
  }

  constexpr bool is_link() const { return (bits_ & kFabric) != 0; }
  constexpr std::uint32_t link() const { return bits_ & (kWaited - 1); }
  constexpr std::uint32_t node() const { return bits_ >> 16 & (kMostNodes - 1); }
  constexpr bool is_port() const { return !is_link() && (bits_ >> 8 & (kMostPlaces - 1)) == kPorts; }
  constexpr bool has_pool() const { return is_link() ? (bits_ & kWaited) != 0 : (bits_ & 0xFF) != kNoPool; }
  constexpr bool is_delay() const { return !is_link() && (bits_ & kDelay) != 0; }
  /// Precondition: has_pool() and not is_link().
  constexpr Cause pool() const { return Cause::at(bits_ & 0xFF); }
  /// Equal for starts at the same place.
  constexpr std::uint32_t place_key() const { return is_link() ? bits_ & ~kWaited : bits_ & ~(kDelay | 0xFFU); }
  /// Equal for the same pool. Precondition: has_pool().
  constexpr std::uint32_t pool_key() const { return is_link() ? bits_ & ~kWaited : bits_ & ~(kDelay | 0xFF00U); }
  static constexpr StartPoint of_pool_key(std::uint32_t key) { return StartPoint(key); }

 private:
  constexpr explicit StartPoint(std::uint32_t bits) : bits_(bits) {}

  static constexpr std::uint32_t kNoPool = 0xFF;
  static constexpr std::uint32_t kDelay = 1U << 14;
  static constexpr std::uint32_t kWaited = 1U << 30;
  static constexpr std::uint32_t kFabric = 1U << 31;
  std::uint32_t bits_ = kNoPool;
};

struct StartRecord {
  TimePs at = 0;
  StartId from = 0;  ///< the predecessor that came last
  StartPoint point;
};

class CausalTrace {
 public:
  /// Records of a window: some round trips of all packets of a pair of NICs.
  static constexpr std::size_t kWindow = std::size_t{1} << 17;

  bool recording() const { return recording_; }
  /// Starts a window; the records of the last one are gone.
  void begin();
  /// Forgets them.
  void end();
  bool full() const { return records_.size() == kWindow; }

  /// Precondition: recording(). The window ends with the record that fills it.
  StartId add(TimePs at, StartId from, StartPoint point) {
    records_.push_back({at, from, point});
    if (full()) recording_ = false;
    return first_ + static_cast<StartId>(records_.size() - 1);
  }
  const std::vector<StartRecord>& records() const { return records_; }
  /// Null for a start of an earlier window, or unknown.
  const StartRecord* find(StartId id) const {
    return id < first_ || id - first_ >= records_.size() ? nullptr : &records_[id - first_];
  }
  StartId first() const { return first_; }

 private:
  std::vector<StartRecord> records_;
  StartId first_ = 1;
  bool recording_ = false;
};

/// A NIC's part of the trace: its number, and which start gave a token of each pool back last.
class NodeTrace {
 public:
  explicit NodeTrace(std::uint32_t node) : node_(node) {}
  /// Before the run. Null: nobody records.
  void record_to(CausalTrace* trace) { trace_ = node_ < StartPoint::kMostNodes ? trace : nullptr; }
  std::uint32_t new_place() { return places_ < StartPoint::kMostPlaces ? places_++ : places_ - 1; }

  bool on() const { return trace_ != nullptr && trace_->recording(); }
  /// Precondition of these three: on().
  StartId arrived(TimePs at, StartId from, std::uint32_t place) {
    return trace_->add(at, from, StartPoint::at_arrival(node_, place));
  }
  StartId waited(TimePs at, StartId from, std::uint32_t place, Cause pool) {
    return trace_->add(at, from, StartPoint::after(node_, place, pool));
  }
  StartId delayed(TimePs at, StartId from, std::uint32_t place, Cause pool) {
    return trace_->add(at, from, StartPoint::delayed_by(node_, place, pool));
  }

  /// `start` has given back a token of this pool.
  void give(Cause pool, StartId start) { gave_[pool.index()] = start; }
  StartId gave(Cause pool) const { return gave_[pool.index()]; }

 private:
  CausalTrace* trace_ = nullptr;
  std::uint32_t node_;
  std::uint32_t places_ = StartPoint::kPorts + 1;
  PerCause<StartId> gave_{};
};

/// The starts of one server.
class StartTrace {
 public:
  /// `server`: cause of what waits because it is busy.
  StartTrace(NodeTrace& node, Cause server) : StartTrace(node, server, node.new_place()) {}
  StartTrace(NodeTrace& node, Cause server, std::uint32_t place) : node_(node), server_(server), place_(place) {}

  bool on() const { return node_.on(); }
  std::uint32_t place() const { return place_; }
  /// The latest start; of what is no longer on record, an unknown one.
  StartId last() const { return last_; }

  /// What starts at `now` arrived by the start `arrived` and could be taken from `ready_at` on; the slot still has the
  /// state in which it waited. 0 while nobody records.
  StartId start(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at) {
    return on() ? record(now, slot, arrived, ready_at, slot.busy_until(), server_) : 0;
  }
  /// As start(), of a server whose slot does not say until when it was busy, and with what.
  StartId start(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at, TimePs free_at, Cause busy_with) {
    return on() ? record(now, slot, arrived, ready_at, free_at, busy_with) : 0;
  }
  /// As start(), where something else has had the server for itself for a while: that while, since it could have been
  /// taken, is attributed to `pool`.
  StartId start_held(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at, Cause pool);
  /// It waited for nothing else. Precondition: on().
  StartId start_at_arrival(TimePs now, StartId arrived) { return last_ = node_.arrived(now, arrived, place_); }
  /// It waited for `pool`, of which `giver` gave a token back. Precondition: on().
  StartId start_after(TimePs now, StartId giver, Cause pool) { return last_ = node_.waited(now, giver, place_, pool); }

 private:
  StartId record(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at, TimePs free_at, Cause busy_with);

  NodeTrace& node_;
  Cause server_;
  std::uint32_t place_;
  StartId last_ = 0;
};

}  // namespace mrc
