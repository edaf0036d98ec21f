// State that the boxes of one detailed NIC share, beyond what every node has: memories, packets, times with work and
// counters. Boxes talk to each other through queues; this is the state that in silicon would be SRAM beside them.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/causal_trace.h"
#include "engine/cause.h"
#include "engine/ledger.h"
#include "engine/memories.h"
#include "engine/packet_pool.h"
#include "nic/nic_memories.h"
#include "node/node_context.h"
#include "parameters/link_bytes.h"

namespace mrc {

class HostPort;
class Recorder;

/// What the boxes count besides what every node counts.
struct BoxCounters {
  PacketSum segmented;         ///< data packets that the segmenter has cut
  PacketSum overrun;           ///< of the packets that reached a port, dropped for want of room
  PacketSum damaged;           ///< dropped by ICRC, or for an uncorrectable error in a memory
  PacketSum discarded;         ///< data and probes that were not placed: duplicate, refused, trimmed
  PacketSum control_received;  ///< taken by the SACK processor
  std::uint64_t retransmitted_wire_bytes = 0;
  std::array<std::uint64_t, kCutCauses> retransmitted_wire_bytes_by_cause{};  ///< by CutCause
  std::uint64_t data_wire_bytes = 0;
  std::uint64_t control_wire_bytes = 0;
  std::uint64_t rx_overrun = 0;  ///< dropped for want of room before the parser
  std::uint64_t cqes = 0;
  std::uint64_t cqe_writes = 0;          ///< PCIe writes that carried them
  std::uint64_t memory_dropped = 0;      ///< data packets dropped for an uncorrectable error in a memory
  std::uint64_t contexts_read = 0;       ///< of QPs, over PCIe
  std::uint64_t contexts_evicted = 0;    ///< that made room for another
  std::uint64_t contexts_written = 0;    ///< of these, over PCIe
  std::uint64_t encrypt_key_misses = 0;  ///< keys that were read to send
  std::uint64_t decrypt_key_misses = 0;  ///< keys that were read to receive
};

/// Something that a user wants to find in the result with its time.
struct NicEvent {
  TimePs time = 0;
  std::string what;
  std::string where;
  std::string effect;
};

struct NicContext : NodeContext {
  NicContext(NodeId id, const ScenarioConfig& scenario_config)
      : NodeContext(id, scenario_config), link_bytes(scenario_config, transport_of(scenario_config, id)) {}

  const LinkBytes link_bytes;
  CauseTable causes;
  NodeTrace trace;
  /// How many QPs there will be is not known yet: of those that only some NICs have, all.
  Memories memories{nic_memories({config, scenario.protocol, {.qps = std::numeric_limits<std::uint32_t>::max()}}),
                    config.nic, scenario.seed, "nic" + std::to_string(node), causes};
  PacketPool packets;
  WorkClock tx_work;  ///< messages posted and not completed
  WorkClock rx_work;  ///< data packets between port and memory
  BoxCounters box_counters;
  std::uint32_t reads_under_way = 0;  ///< payload reads issued and not answered
  bool host_has_more = false;         ///< messages wait in the host for a completion to make room
  bool doorbells_full = false;        ///< they wait because the NIC takes no more doorbells
  Recorder* recorder = nullptr;       ///< null: nobody records
  HostPort* host_port = nullptr;      ///< null: the host is the model's own
  std::vector<NicEvent> events;       ///< the first kMostEvents

  /// Traffic classes that have a queue of their own where packets can wait: with strict scheduling. Shares by weights
  /// are those of the QP scheduler, and what it has granted stays in order.
  std::uint32_t queue_classes() const {
    const TrafficClasses& classes = scenario.traffic.classes;
    return classes.strict() ? classes.count : 1;
  }

  static constexpr std::size_t kMostEvents = 1'000;
  /// An uncorrectable error in this memory; `effect`: what the NIC does about it.
  void memory_failed(TimePs now, const MemoryStructure& memory, std::string effect) {
    if (events.size() >= kMostEvents) return;
    events.push_back({now, "uncorrectable memory error", memory.name(), std::move(effect)});
  }
};

}  // namespace mrc
