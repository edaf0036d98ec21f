// Timed faults: the content of [[fault]], with keys, words and ranges. The existence of the place is checked when the
// network is built (FaultTimeline).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parameters/parameter_value.h"

namespace mrc {

/// What a fault does; the words of [[fault]] kind are the enumerators' names.
enum class FaultKind : std::uint8_t {
  link_down,
  link_up,
  link_flap,
  link_rate,
  loss,
  corruption,
  switch_reboot,
  plane_loss,
  nic_port_loss,
  pcie_stall,
  drain,
  qp_reset
};
/// Packets that `loss` and `corruption` affect: first transmissions, retransmissions, or all others.
enum class FaultPackets : std::uint8_t { all, data, control, retransmission };

/// One entry of [[fault]]; meaning and range of its keys are in docs/faults.md.
struct FaultConfig {
  std::string place;  ///< file and line of its `where`
  FaultKind kind = FaultKind::link_down;
  std::string where;
  double at_us = 0;
  double for_us = 0;     ///< 0: until the run ends; of link_flap: each outage
  double period_us = 0;  ///< link_flap: begin of an outage to begin of the next
  double jitter = 0;     ///< link_flap: share of the rest of the period by which an outage may begin later
  std::uint32_t count = 1;
  double share = 1;        ///< link_rate: remaining share of the line rate
  double probability = 1;  ///< loss, corruption: of each packet
  FaultPackets packets = FaultPackets::all;
  std::int64_t ev = -1;        ///< loss, corruption: only packets on this EV; -1: on any
  std::int64_t ev_index = -1;  ///< the same by its position in the sending node's EV profile
  bool light = false;  ///< switch_reboot: its ports keep their signal, so that no neighbor detects a port as down
};

/// The word of a scenario file.
std::string to_string(FaultKind kind);

/// One [[fault]] as the scenario file has it. Places are file and line.
struct FaultEntry {
  struct Key {
    std::string name;
    ParameterValue value;
    std::string place;
  };
  std::string place;
  std::vector<Key> keys;
};

/// What a key of [[fault]] takes.
struct FaultKey {
  std::string_view name;
  ParameterType type = ParameterType::real;
  std::string_view unit;  ///< "" without one
  double minimum = 0;     ///< of numbers
  double maximum = 0;
  std::vector<std::string> words;  ///< allowed words; empty: any text
  std::string_view meaning;
};

/// All keys of all kinds.
const std::vector<FaultKey>& fault_keys();
/// The words of `kind`, in the order of FaultKind.
std::vector<std::string> fault_kinds();
/// The keys that a fault of this kind may have, and those that it needs.
std::vector<std::string> fault_keys_of(FaultKind kind);
std::vector<std::string> required_fault_keys_of(FaultKind kind);

/// Throws ParameterError with file, line, and the nearest word where one is misspelled.
FaultConfig read_fault(const FaultEntry& entry);

}  // namespace mrc
