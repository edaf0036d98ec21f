// spray_scheduler by RTL: the path tables of the NIC are also in the engine, and whatever changes them goes through
// both. In `rtl` mode the engine's choice of EV, its EV states and its cycles are the only ones that count and ring 1's
// tables follow them; in `shadow` mode ring 1's are. Every answer is compared. By pins, ring 1's tables decide when an
// operation is made, the engine's cycles count, and its answer is compared when it comes out.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/box.h"
#include "engine/pin_bridge.h"
#include "engine/rtl_path.h"
#include "mrc/control/path_table.h"
#include "nic/nic_context.h"
#include "nic/tx/spray_scheduler_engine.h"

namespace mrc {

/// Makes a block that has at least these sizes; throws std::invalid_argument, naming both, where there is none.
using MakeSpraySchedulerEngine = std::function<std::unique_ptr<SpraySchedulerEngine>(const SpraySizes& needed)>;

/// By pins: an operation, and what ring 1's table has answered.
struct SprayAsk : SprayItem {
  const PathTable* table = nullptr;
  SpraySelection selection;
  SprayUpdate changed;
  Psn psn = 0;
  RtlCycles systemc;
};

class SpraySchedulerRtlPath : public RtlPath {
 public:
  using Pins = PinBridge<SpraySchedulerEngine, SprayAsk>;

  SpraySchedulerRtlPath(RtlMode mode, RtlTiming timing, MakeSpraySchedulerEngine make)
      : RtlPath("spray_scheduler", mode, timing), make_(std::move(make)) {}
  ~SpraySchedulerRtlPath() override;

  /// Loads the tables of all QPs of `nic`, which outlives this.
  void attach(NicContext& nic);
  /// A QP that was connected while time passes sends from now on; its table is new, or one of those that are there.
  void add(NicPathTable& paths);

  /// The choice for a packet of `bytes` on the wire. `room` is what the ports' FIFOs have, `free_ports` those that the
  /// model would give ring 1. The answer is that which counts in this mode.
  SpraySelection select(Qp& qp, const Packet& packet, std::uint32_t bytes, std::span<const std::uint64_t> room,
                        std::uint32_t free_ports, TimePs now);

  /// Changes of a table, carried out there and in the block.
  void report(PathTable& table, EvIndex ev, PathEvent event, TimePs now);
  void set_port_status(PathTable& table, std::uint32_t reachable_mask);
  // What a controller does.
  void deny(PathTable& table, EvIndex ev);
  void allow(PathTable& table, EvIndex ev);
  /// Compares the content of all tables; to be called at the end of a run.
  void compare_state(TimePs now);

  std::uint64_t cycles() const override { return engine_->cycles(); }
  /// One selection, and what the SystemC box takes for it.
  void count_selection(const SpraySelection& selection, RtlCycles systemc) {
    if (by_pins()) {
      operations_.back().systemc = systemc;
    } else {
      count({selection.occupied_cycles, selection.latency_cycles}, systemc);
    }
  }

  /// By pins: `box` is stepped when a table changes.
  void wake(Box& box) { box_ = &box; }
  /// No operation waits for the RTL to take it.
  bool is_free() const { return operations_.empty() && pins_->is_free(); }
  /// The packet whose path was selected last goes on with the answer.
  void let_go() { operations_.back().goes = true; }
  /// Nothing waits or is inside.
  bool is_idle() const { return operations_.empty() && pins_->is_idle(); }
  /// A cycle of the RTL's clock, with the next operation at its input.
  PinCycle clock(std::uint64_t cycle);
  bool was_occupied() const { return pins_->was_occupied(); }
  /// What was begun in this cycle is a packet that goes on.
  bool begins_packet() { return pins_->newest().goes; }
  /// The oldest answer came out. True for a packet that goes on.
  bool conclude(std::uint64_t cycle);

 private:
  /// What changes a table and gives no answer.
  void control(const PathTable& table, SprayItem::Kind kind, std::uint32_t what);
  /// Returns the slot of the table, which is not open yet.
  std::uint32_t hold(NicPathTable& paths);
  std::span<const EvIndex> next_order(std::uint32_t slot);
  /// The block has done nothing since its last operation; one that takes `cycles` begins.
  void begin_operation(TimePs now, std::uint64_t cycles);
  std::uint32_t slot_of(const PathTable& table) const { return slots_.at(&table); }
  /// Where a difference is met: the table's first QP and what was done.
  struct Place {
    const PathTable& table;
    std::string what;
    TimePs now;
  };
  void compare(const Place& place, std::string_view field, std::uint64_t expected, std::uint64_t actual);
  /// False where they differ.
  bool compare_selection(const PathTable& table, Psn psn, std::uint32_t bytes, TimePs now,
                         const SpraySelection& expected, const SpraySelection& actual);
  bool compare_update(const PathTable& table, PathEvent event, TimePs now, const SprayUpdate& expected,
                      const SprayUpdate& actual);
  /// Room that has come back since the last packet, into returned_.
  void return_room(std::span<const std::uint64_t> room);
  SprayItem update_item(const PathTable& table, EvIndex ev, PathEvent event, TimePs now) const;
  void compare_record(PathTable& table, EvIndex ev, TimePs now);

  MakeSpraySchedulerEngine make_;
  NicContext* nic_ = nullptr;
  std::unique_ptr<SpraySchedulerEngine> engine_;
  std::vector<NicPathTable*> nic_tables_;  ///< by slot
  std::vector<PathTable*> tables_;         ///< of these, ring 1's
  std::unordered_map<const PathTable*, std::uint32_t> slots_;
  std::vector<KeyedRandom> orders_;  ///< of each table, as ring 1 draws them
  std::vector<bool> opened_;
  std::vector<EvIndex> order_;
  std::vector<std::uint64_t> credit_;  ///< bytes of room that the block knows of, by plane
  std::vector<std::uint32_t> returned_;
  std::uint64_t free_cycle_ = 0;  ///< in which the block could take the next operation; by pins, the next one
  std::unique_ptr<Pins> pins_;    ///< by pins
  std::deque<SprayAsk> operations_;
  Box* box_ = nullptr;
};

}  // namespace mrc
