// Interface that replaces spray_scheduler: path tables in a block that is driven operation by operation or clocked by
// its pins. The Verilated RTL implements it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "engine/pins_engine.h"
#include "mrc/control/ev_profile.h"
#include "mrc/control/path_table.h"

namespace mrc {

/// What a block is built for.
struct SpraySizes {
  std::uint32_t tables = 0;
  std::uint32_t evs = 0;  ///< of a profile
  std::uint32_t planes = 0;
};

struct SpraySelection {
  bool found = false;
  EvIndex ev = kNoEv;  ///< kNoEv without one
  Ev value = 0;        ///< 0 without an EV, as `plane`
  std::uint8_t plane = 0;
  std::uint32_t free_ports = 0;  ///< up and with room for the packet
  bool no_good = false;          ///< nothing found, and no EV on any reachable plane is GOOD
  std::uint32_t rotations = 0;   ///< that ended with this selection
  TimePs skip_end = kNever;      ///< with SkipDuration::fixed_time: when the first SKIP EV is GOOD again
  std::uint64_t latency_cycles = 0;
  std::uint64_t occupied_cycles = 0;  ///< until another packet could be taken
};

struct SprayUpdate {
  bool found = false;  ///< the EV is one of the profile's; without it the rest says nothing
  EvIndex ev = kNoEv;
  EvState state = EvState::good;
  bool active = false;
  bool reported = false;   ///< became ASSUMED_BAD, or GOOD after that
  bool held = false;       ///< kept, since its plane is at the floor
  EvIndex backup = kNoEv;  ///< took its place
};

/// The record of an EV in the block.
struct SprayRecord {
  EvState state = EvState::good;
  bool active = false;
  std::uint32_t position = 0;
  std::uint32_t losses = 0;  ///< at most 15
  std::uint32_t probe_successes = 0;
  bool operator==(const SprayRecord&) const = default;
};

/// State of a table besides the records of its EVs.
struct SprayTableState {
  std::uint32_t pointer = 0;    ///< place in scan order where the next search begins
  std::uint32_t reachable = 0;  ///< one bit per plane of the block
  std::uint32_t rotations = 0;  ///< since the order was last drawn
};

/// An operation by pins.
struct SprayItem {
  enum class Kind : std::uint8_t { select, update, port_status, open, deny, allow };
  Kind kind = Kind::select;
  std::uint32_t slot = 0;
  TimePs now = 0;
  std::uint32_t bytes = 0;     ///< select
  std::uint32_t ports_up = 0;  ///< select
  bool any_returned = false;   ///< select: room comes back with it
  std::array<std::uint32_t, PathTable::kMostPlanes> returned{};
  PathEvent event{};           ///< update
  bool by_value = false;       ///< update
  EvIndex ev = kNoEv;          ///< update, not by value
  Ev value = 0;                ///< update, by value
  std::uint32_t argument = 0;  ///< port_status: planes, a bit each; open: EVs in use; deny, allow: the EV
  bool goes = false;           ///< select: the packet goes on with the path that was found
};

/// Of an operation: the part that is of its kind.
struct SprayAnswer {
  SpraySelection selection;
  SprayUpdate update;
};

class SpraySchedulerEngine : public PinsEngine<SprayItem, SprayAnswer> {
 public:
  /// Gives the next scan order of a table, with all EVs, when the block requests it.
  using OrderSource = std::function<std::span<const EvIndex>(std::uint32_t slot)>;

  virtual SpraySizes sizes() const = 0;
  /// Once, before anything else. `example` is any of the tables, which have the same profile and configuration.
  virtual void configure(const EvProfile& profile, const PathTable& example, OrderSource orders) = 0;
  virtual void open(std::uint32_t slot, std::uint32_t active_evs) = 0;

  /// Room in bytes that has come back since the last call, by plane.
  virtual void return_credit(std::span<const std::uint32_t> bytes) = 0;
  virtual SpraySelection select(std::uint32_t slot, std::uint32_t bytes, std::uint32_t ports_up, TimePs now) = 0;
  virtual SprayUpdate update(std::uint32_t slot, EvIndex ev, PathEvent event, TimePs now) = 0;
  virtual SprayUpdate update_by_value(std::uint32_t slot, Ev value, PathEvent event, TimePs now) = 0;
  virtual void deny(std::uint32_t slot, EvIndex ev) = 0;
  virtual void allow(std::uint32_t slot, EvIndex ev) = 0;
  virtual void set_port_status(std::uint32_t slot, std::uint32_t reachable_mask) = 0;
  virtual SprayRecord read(std::uint32_t slot, EvIndex ev) = 0;
  virtual SprayTableState read_table(std::uint32_t slot) = 0;
  /// So many cycles in which nothing is asked: a scan order comes in, if one does.
  virtual void idle(std::uint64_t cycles) = 0;
  /// Clock edges evaluated so far.
  virtual std::uint64_t cycles() const = 0;
};

}  // namespace mrc
