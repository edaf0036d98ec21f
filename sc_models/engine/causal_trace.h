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
  /// Precondition: not is_link().
  constexpr std::uint32_t place() const { return bits_ >> 8 & (kMostPlaces - 1); }
  constexpr bool is_port() const { return !is_link() && place() == kPorts; }
  constexpr bool has_pool() const { return is_link() ? (bits_ & kWaited) != 0 : (bits_ & 0xFF) != kNoPool; }
  constexpr bool is_delay() const { return !is_link() && (bits_ & kDelay) != 0; }
  /// Precondition: has_pool() and not is_link().
  constexpr Cause pool() const { return Cause::at(bits_ & 0xFF); }

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
  /// Records of a window, of which a run has several.
  static constexpr std::size_t kMostRecords = std::size_t{1} << 17;

  /// `most`: records of its longest window.
  explicit CausalTrace(std::size_t most = kMostRecords) : most_(most) { records_.reserve(kMostRecords); }

  bool recording() const { return recording_; }
  /// `recording` is true while starts are recorded: whoever records tests a flag of its own. Before the run.
  void tell(bool& recording) { told_.push_back(&recording); }
  /// Starts a window of `records`, at most those of the longest; the records of the last one are gone.
  void begin(TimePs now, std::size_t records);
  /// Forgets them.
  void end();
  bool full() const { return records_.size() == window_; }
  TimePs began_at() const { return began_at_; }

  /// Precondition: recording(). The window ends with the record that fills it.
  StartId add(TimePs at, StartId from, StartPoint point) {
    records_.push_back({at, from, point});
    if (full()) [[unlikely]]
      record(false);
    return first_ + static_cast<StartId>(records_.size() - 1);
  }
  const std::vector<StartRecord>& records() const { return records_; }
  /// Null for a start of an earlier window, or unknown.
  const StartRecord* find(StartId id) const {
    return id < first_ || id - first_ >= records_.size() ? nullptr : &records_[id - first_];
  }

 private:
  [[gnu::noinline, gnu::cold]] void record(bool on);

  std::size_t most_;
  std::vector<StartRecord> records_;
  std::vector<bool*> told_;
  TimePs began_at_ = 0;
  std::size_t window_ = 0;
  StartId first_ = 1;
  bool recording_ = false;
};

/// A NIC's part of the trace: which start gave a token of each pool back last.
class NodeTrace {
 public:
  /// `number`: of the node in the trace, below StartPoint::kMostNodes. Before the run; otherwise nobody records.
  void record_to(CausalTrace& trace, std::uint32_t number) {
    trace_ = &trace;
    node_ = number;
    trace.tell(on_);
  }
  std::uint32_t new_place() { return places_ < StartPoint::kMostPlaces ? places_++ : places_ - 1; }

  bool on() const { return on_; }
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
  void give(Cause pool, StartId start) {
    if (on_) gave_[pool.index()] = start;
  }
  StartId gave(Cause pool) const { return gave_[pool.index()]; }

 private:
  bool on_ = false;
  CausalTrace* trace_ = nullptr;
  std::uint32_t node_ = 0;
  std::uint32_t places_ = StartPoint::kPorts + 1;
  PerCause<StartId> gave_{};
};

/// The starts of one server. While nobody records, a start costs a test, and numbers of starts keep their last values:
/// those of an earlier window are unknown to the next.
class StartTrace {
 public:
  /// `server`: cause of what waits because it is busy. `queue`: cause of what waits for a place in front of it, which
  /// each start gives back.
  StartTrace(NodeTrace& node, Cause server, Cause queue = {}) : StartTrace(node, server, queue, node.new_place()) {}
  StartTrace(NodeTrace& node, Cause server, Cause queue, std::uint32_t place)
      : node_(node), server_(server), queue_(queue), place_(place) {}

  bool on() const { return node_.on(); }
  /// The latest start.
  StartId last() const { return last_; }

  /// A probe comes of no other start, `id` is 0: who waits behind one is followed to the packet before it.
  void follow_packet_before(StartId& id) const {
    if (on() && id == 0) id = last_;
  }
  /// What starts at `now` arrived by the start `id`, which becomes this start, and could be taken from `ready_at` on;
  /// the slot still has the state in which it waited.
  void start(TimePs now, const IssueSlot& slot, StartId& id, TimePs ready_at) {
    if (on()) id = record(now, slot, id, ready_at, slot.busy_until(), server_);
  }
  /// As start(), of a server whose slot does not say until when it was busy, and with what.
  void start(TimePs now, const IssueSlot& slot, StartId& id, TimePs ready_at, TimePs free_at, Cause busy_with) {
    if (on()) id = record(now, slot, id, ready_at, free_at, busy_with);
  }
  /// As start(), where something else has had the server for itself for a while: that while, since it could have been
  /// taken, is attributed to `pool`.
  void start_held(TimePs now, const IssueSlot& slot, StartId& id, TimePs ready_at, Cause pool) {
    if (on()) id = record_held(now, slot, id, ready_at, pool);
  }
  /// As start(); where the slot was last blocked by `pool`, which something else has had for itself, as start_held().
  void start_after_block(TimePs now, const IssueSlot& slot, StartId& id, TimePs ready_at, Cause pool) {
    if (!on()) return;
    if (slot.is_blocked() && slot.blocked_by() == pool) {
      id = record_held(now, slot, id, ready_at, pool);
    } else {
      id = record(now, slot, id, ready_at, slot.busy_until(), server_);
    }
  }
  /// What has started goes on `delay` later, for want of a memory's port, as the slot was told: what waits behind it
  /// waits for the memory, which is busy for longer than the server.
  void stall(TimePs delay, const IssueSlot& slot) {
    if (on() && delay > 0) stalled_by_ = slot.stalled_by();
  }
  /// It waited for nothing else. Precondition of this and the next: on().
  StartId start_at_arrival(TimePs now, StartId arrived) { return keep(node_.arrived(now, arrived, place_)); }
  /// It waited for `pool`, of which `giver` gave a token back.
  StartId start_after(TimePs now, StartId giver, Cause pool) { return keep(node_.waited(now, giver, place_, pool)); }

 private:
  StartId record(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at, TimePs free_at, Cause busy_with);
  StartId record_held(TimePs now, const IssueSlot& slot, StartId arrived, TimePs ready_at, Cause pool);
  StartId keep(StartId start);

  NodeTrace& node_;
  Cause server_;
  Cause queue_;
  std::uint32_t place_;
  StartId last_ = 0;
  Cause stalled_by_;  ///< none: a memory's port did not delay the last start
};

}  // namespace mrc
