// What every node has, detailed or light: its QPs, what its receivers may write, and its counters. The boxes' part of a
// detailed NIC is NicContext.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/clock_domain.h"
#include "mrc/packet.h"
#include "mrc/rx/protection.h"
#include "mrc/rx/psn_tracker.h"
#include "mrc/types.h"
#include "node/associations.h"
#include "node/qp.h"
#include "parameters/config.h"

namespace mrc {

class PacketCapture;

/// Packets, and payload of the data packets among them.
struct PacketSum {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  void add(const Packet& packet) {
    ++packets;
    if (is_data(packet.opcode)) bytes += packet.payload_bytes;
  }
};

/// What becomes of encrypted packets.
struct EncryptionCounters {
  std::uint64_t encrypted = 0;     ///< sent
  std::uint64_t decrypted = 0;     ///< accepted
  std::uint64_t tag_failures = 0;  ///< dropped: corrupted on the way
  std::uint64_t replayed = 0;      ///< dropped: their number was accepted before
  std::uint64_t too_old = 0;       ///< dropped: their number is below the replay window
  std::uint64_t unverified = 0;    ///< dropped: trimmed, with protocol.encryption.trimmed = "drop"
  std::uint64_t unknown = 0;       ///< dropped: no association has their SPI

  /// Counts, and says whether the packet goes on.
  bool admit(Associations::Admission admission) {
    using enum Associations::Admission;
    switch (admission) {
      case accepted:
        ++decrypted;
        return true;
      case replayed:
        ++this->replayed;
        return false;
      case too_old:
        ++this->too_old;
        return false;
      case unverified:
        ++this->unverified;
        return false;
      case unknown:
        ++this->unknown;
        return false;
    }
    return false;
  }
};

/// What a node counts. The first lines are what a light endpoint touches for each data packet.
struct NodeCounters {
  PacketSum received;              ///< all packets that reached a port
  std::uint64_t data_packets = 0;  ///< sent, retransmissions included
  std::uint64_t data_payload_bytes = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t first_payload_bytes = 0;  ///< payload of first transmissions
  std::uint64_t control_packets = 0;
  std::uint64_t delivered = 0;  ///< data packets placed in memory
  std::uint64_t delivered_bytes = 0;
  std::uint64_t sacks_sent = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t ce_received = 0;
  std::uint64_t nacks_sent = 0;
  std::uint64_t trimmed_received = 0;
  std::uint64_t corrupted_received = 0;  ///< dropped by ICRC
  std::uint64_t unknown_qp = 0;          ///< dropped: no such QP, or one that only sends
  EncryptionCounters encryption;
};

struct NodeContext {
  NodeContext(NodeId id, const ScenarioConfig& scenario_config)
      : node(id), scenario(scenario_config), config(scenario_config.node(id)), clock(config.nic.core_clock_ghz) {}
  virtual ~NodeContext() = default;
  NodeContext(const NodeContext&) = delete;
  NodeContext& operator=(const NodeContext&) = delete;

  NodeId node;
  std::uint32_t ports_up = ~0U;  ///< bit p: the node sends through port p
  const ScenarioConfig& scenario;
  const NodeConfig& config;
  std::vector<Qp> qps;  ///< index = QP number - kFirstQpNumber
  NodeCounters counters;
  PacketCapture* capture = nullptr;                         ///< null: nobody captures
  BitmapPool bitmaps{config.nic.psn_tracker.bitmap_banks};  ///< of all QPs' receive windows
  ProtectionTable protection;
  std::vector<CongestionDomain> congestion;
  std::unique_ptr<Associations> associations;  ///< null: nothing is encrypted
  ClockDomain clock;

  /// Returns null for a number that this node has not assigned.
  Qp* find_qp(QpNumber number) {
    const std::uint64_t index = std::uint64_t{number} - kFirstQpNumber;
    return index < qps.size() ? &qps[index] : nullptr;
  }
  std::uint32_t index_of(const Qp& qp) const { return qp.number - kFirstQpNumber; }
  std::uint32_t index_of(const CongestionDomain& domain) const {
    return static_cast<std::uint32_t>(&domain - congestion.data());
  }
};

}  // namespace mrc
