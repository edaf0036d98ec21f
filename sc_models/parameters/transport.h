// The transports that a scenario can name. Each has a folder in sc_models/transports/ and a row in its list.h. What
// other code needs to know about a transport before its nodes exist is in Transport; make_node_transport()
// (node_transport.h) makes its nodes.
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

/// Fixed properties of a transport, known before anything is built. Independent of SystemC.
struct Transport {
  std::string_view name;  ///< value of the scenario's `transport`
  /// Its packets are simulated. False: the result is computed from the trace, without nodes or a fabric, and the fields
  /// below are unused.
  bool simulated = true;
  bool has_detailed_nic = false;  ///< the NIC's boxes know it; otherwise all nodes are light endpoints
  bool captured = false;          ///< --pcap knows its packet formats
  bool encrypts = false;          ///< it reads protocol.encryption
  bool source_routed = false;     ///< its packets can carry their path (fabric.routing = "usid"); false: always ECMP
  /// Retransmissions stay behind what was sent before them: they may not overtake it in a queue of their own.
  bool keeps_order = false;
  /// Bytes of link time, preamble and gap included, of a packet as it is now: a trimmed one is short. Others have
  /// headers by opcode and timestamp, and their padded payload.
  std::uint32_t (*link_bytes)(const Packet& packet, const ScenarioConfig& scenario) = nullptr;
  /// Marking, trimming and room of a switch port of `gbps`; `last_hop`: to a NIC.
  QueueLaw (*queue_law)(const ScenarioConfig& scenario, double gbps, bool last_hop) = nullptr;
  /// Null: switches never pause a sender.
  PauseLaw (*pause_law)(const ScenarioConfig& scenario) = nullptr;
  /// Time in ps after which a sender detects a loss by its timer alone. Null: the transport loses nothing.
  double (*timeout_ps)(const ScenarioConfig& scenario) = nullptr;
  /// Adds the scenario keys that only this transport reads. Null: it has none.
  void (*add_parameters)(ParameterTable& table) = nullptr;
};

/// All of them, in the order of list.h.
std::span<const Transport* const> transports();
std::vector<std::string> transport_names();
/// Of all nodes but those that the scenario names. Precondition: `scenario` has passed its check.
const Transport& transport_of(const ScenarioConfig& scenario);
const Transport& transport_of(const ScenarioConfig& scenario, NodeId node);
/// Those that its nodes have, each once, that of all others first.
std::vector<const Transport*> transports_in(const ScenarioConfig& scenario);
/// Some of its nodes' transports read protocol.encryption.
bool encrypts(const ScenarioConfig& scenario);
/// The node is simulated with the NIC's boxes: the scenario asks for it and the transport supports it.
bool is_detailed(const ScenarioConfig& scenario, NodeId node);

}  // namespace mrc
