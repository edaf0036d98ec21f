// The transports that a scenario can name. A transport is a folder here and a row of list.h; whoever has to know
// something about the scenario's transport finds it in its Transport, and makes its nodes by make_node_transport()
// (node_transport.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mrc/packet.h"
#include "mrc/types.h"
#include "parameters/queue_law.h"

namespace mrc {

class ParameterTable;
struct ScenarioConfig;

/// What is fixed about a transport, before anything of it is built. Without SystemC.
struct Transport {
  std::string_view name;  ///< value of the scenario's `transport`
  /// Its packets are simulated. False: the result is computed from the trace; there are no nodes, no fabric and none of
  /// what follows.
  bool simulated = true;
  bool has_detailed_nic = false;  ///< the NIC's boxes know it; otherwise all nodes are light endpoints
  bool captured = false;          ///< --pcap knows its packet formats
  bool source_routed = false;     ///< its packets can carry their path (fabric.routing = "usid"); false: always ECMP
  /// Retransmissions stay behind what was sent before them: they may not overtake it in a queue of their own.
  bool keeps_order = false;
  /// Bytes of link time, preamble and gap included, of a packet as it is now: a trimmed one is short.
  std::uint32_t (*link_bytes)(const Packet& packet, const ScenarioConfig& scenario) = nullptr;
  /// Marking, trimming and room of a switch port of `gbps`; `last_hop`: to a NIC.
  QueueLaw (*queue_law)(const ScenarioConfig& scenario, double gbps, bool last_hop) = nullptr;
  /// Null: switches never pause a sender.
  PauseLaw (*pause_law)(const ScenarioConfig& scenario) = nullptr;
  /// Adds the scenario's keys that this transport alone reads. Null: it has none.
  void (*add_parameters)(ParameterTable& table) = nullptr;
};

/// All of them, in the order of list.h.
std::span<const Transport* const> transports();
std::vector<std::string> transport_names();
/// Precondition: `scenario` has passed its check, so that its transport exists.
const Transport& transport_of(const ScenarioConfig& scenario);
/// The node has the NIC's boxes: the scenario asks for them and the transport has them.
bool is_detailed(const ScenarioConfig& scenario, NodeId node);

}  // namespace mrc
