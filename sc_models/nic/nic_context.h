// What the boxes of one NIC share: its clock, its QPs, its packets, its counters. Boxes talk to each other through
// queues; this is the state that in silicon would be SRAM beside them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/cause.h"
#include "engine/clock_domain.h"
#include "engine/ledger.h"
#include "engine/memories.h"
#include "engine/packet_pool.h"
#include "nic/nic_memories.h"
#include "nic/qp.h"
#include "parameters/config.h"

namespace mrc {

class HostPort;
class PacketCapture;
class Recorder;

/// Packets, and payload of the data packets among them.
struct PacketSum {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  void add(const Packet& packet) {
    ++packets;
    if (is_data(packet.opcode)) bytes += packet.payload_bytes;
  }
};

struct NicCounters {
  PacketSum segmented;             ///< data packets that the segmenter has cut
  PacketSum received;              ///< all packets that reached a port
  PacketSum overrun;               ///< of them, dropped for want of room
  PacketSum damaged;               ///< dropped by ICRC, or for an uncorrectable error in a memory
  PacketSum discarded;             ///< data and probes that were not placed: duplicate, refused, trimmed
  PacketSum control_received;      ///< taken by the SACK processor
  std::uint64_t data_packets = 0;  ///< sent, retransmissions included
  std::uint64_t data_payload_bytes = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t retransmitted_wire_bytes = 0;
  std::array<std::uint64_t, kCutCauses> retransmitted_wire_bytes_by_cause{};  ///< by CutCause
  std::uint64_t first_payload_bytes = 0;                                      ///< payload of first transmissions
  std::uint64_t data_wire_bytes = 0;
  std::uint64_t control_packets = 0;
  std::uint64_t control_wire_bytes = 0;
  std::uint64_t delivered = 0;  ///< data packets placed in memory
  std::uint64_t delivered_bytes = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t trimmed_received = 0;
  std::uint64_t corrupted_received = 0;  ///< dropped by ICRC
  std::uint64_t rx_overrun = 0;          ///< dropped for want of room in front of the parser
  std::uint64_t nacks_sent = 0;
  std::uint64_t sacks_sent = 0;
  std::uint64_t ce_received = 0;
  std::uint64_t cqes = 0;
  std::uint64_t cqe_writes = 0;      ///< PCIe writes that carried them
  std::uint64_t memory_dropped = 0;  ///< data packets dropped for an uncorrectable error in a memory
  std::uint64_t unknown_qp = 0;      ///< dropped: no such QP, or one that only sends
};

/// Something that a user wants to find in the result with its time.
struct NicEvent {
  TimePs time = 0;
  std::string what;
  std::string where;
  std::string effect;
};

struct NicContext {
  NicContext(NodeId id, const ScenarioConfig& scenario_config)
      : node(id), scenario(scenario_config), config(scenario_config.node(id)), clock(config.nic.core_clock_ghz) {}

  NodeId node;
  const ScenarioConfig& scenario;
  const NodeConfig& config;
  ClockDomain clock;
  CauseTable causes;
  Memories memories{nic_memories({config, scenario.protocol, {}}), config.nic, scenario.seed,
                    "nic" + std::to_string(node), causes};
  PacketPool packets;
  BitmapPool bitmaps{config.nic.psn_tracker.bitmap_banks};
  ProtectionTable protection;
  std::vector<Qp> qps;  ///< index = QP number - kFirstQpNumber
  std::vector<CongestionDomain> congestion;
  WorkClock tx_work;  ///< messages posted and not completed
  WorkClock rx_work;  ///< data packets between port and memory
  NicCounters counters;
  std::uint32_t reads_under_way = 0;  ///< payload reads issued and not answered
  bool host_has_more = false;         ///< messages wait in the host for a completion to make room
  bool doorbells_full = false;        ///< they wait because the NIC takes no more doorbells
  PacketCapture* capture = nullptr;   ///< null: nobody captures
  Recorder* recorder = nullptr;       ///< null: nobody records
  std::uint32_t ports_up = ~0U;       ///< bit p: the NIC sends through port p
  HostPort* host_port = nullptr;      ///< null: the host is the model's own
  std::vector<NicEvent> events;       ///< the first kMostEvents

  /// An uncorrectable error in this memory; `effect`: what the NIC does about it.
  void memory_failed(TimePs now, const MemoryStructure& memory, std::string effect) {
    if (events.size() >= kMostEvents) return;
    events.push_back({now, "uncorrectable memory error", memory.name(), std::move(effect)});
  }
  std::uint32_t index_of(const CongestionDomain& domain) const {
    return static_cast<std::uint32_t>(&domain - congestion.data());
  }

  static constexpr std::size_t kMostEvents = 1'000;
  static constexpr QpNumber kFirstQpNumber = 16;
  /// Null for a number that this NIC has not given out.
  Qp* find_qp(QpNumber number) {
    const std::uint64_t index = std::uint64_t{number} - kFirstQpNumber;
    return index < qps.size() ? &qps[index] : nullptr;
  }
  std::uint32_t index_of(const Qp& qp) const { return qp.number - kFirstQpNumber; }
};

}  // namespace mrc
