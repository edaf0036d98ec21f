// What the result of a run has of one detailed NIC. That of another rank comes as bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/byte_stream.h"
#include "mrc/types.h"
#include "nic/nic.h"
#include "pcie/pcie_counts.h"
#include "results/run_result.h"

namespace mrc {

struct SimulationNode;

/// The slot of payload writes: its whole time, and what of it it was busy or held up.
struct WriteSlotTime {
  TimePs all_ps = 0;
  TimePs busy_ps = 0;
  std::map<std::string, TimePs> blocked_ps;  ///< by cause, without those that never held it up
};

/// So far.
WriteSlotTime write_slot_time_of(const Nic& nic);
/// Packets that found no room behind a port so far, by full queue.
std::map<std::string, std::uint64_t> overruns_of(const Nic& nic);

struct NicResult {
  std::vector<BufferResult> buffers;
  std::vector<LedgerResult> ledger;
  PcieCounts pcie;
  std::vector<EventResult> events;
  std::vector<AccountResult> accounts;
  std::uint64_t box_steps = 0;           ///< of its wheel, at the NIC that owns it; 0 at the others
  std::uint64_t kernel_activations = 0;  ///< likewise
  WriteSlotTime writes;
  std::map<std::string, std::uint64_t> overruns;

  void put(ByteWriter& to) const;
  void get(ByteReader& from);
};

/// Closes the NIC's ledger at `end`. Precondition: the node is detailed and runs here.
NicResult collect_nic(const SimulationNode& node, TimePs end);

}  // namespace mrc
