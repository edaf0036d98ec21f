// The effective configuration as plain structs: what every box reads. The fields of each neighbourhood and their
// defaults are in its <name>_parameters.h; meaning, range and source of each are in its rows of the registry (`mrcsim
// params`).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fabric/fabric_parameters.h"
#include "fabric/fault_parameters.h"
#include "host/accelerator_parameters.h"
#include "host/host_parameters.h"
#include "host/traffic_parameters.h"
#include "mrc/protocol_config.h"
#include "mrc/types.h"
#include "nic/nic_parameters.h"
#include "pcie/pcie_parameters.h"
#include "run_parameters.h"
#include "transports/rocev2/rocev2_parameters.h"
#include "transports/uet/uet_parameters.h"

namespace mrc {

/// How far a node is modelled.
enum class Fidelity : std::uint8_t { detailed, endpoint };

struct NodeConfig {
  std::string transport = "mrc";  ///< of its QPs; both ends of a QP have the same
  Fidelity fidelity = Fidelity::detailed;
  NicConfig nic;
  PcieConfig pcie;
  HostConfig host;
};

struct ScenarioConfig {
  std::string name;  ///< file name without its ending
  std::uint64_t seed = 1;
  RunConfig run;
  TrafficConfig traffic;
  ProtocolConfig protocol;
  CongestionConfig cc;
  FabricConfig fabric;
  Rocev2Config rocev2;
  UetConfig uet;
  AcceleratorConfig accelerator;
  NodeConfig node_default;
  std::map<NodeId, NodeConfig> node_override;  ///< whole configuration of the nodes that differ
  std::vector<FaultConfig> faults;

  const NodeConfig& node(NodeId id) const {
    const auto it = node_override.find(id);
    return it == node_override.end() ? node_default : it->second;
  }
  /// Congestion control of a node, at the line rate of its ports.
  CongestionConfig congestion_of(const NodeConfig& node) const {
    CongestionConfig config = cc;
    config.line_rate_gbps = node.nic.port_gbps * node.nic.ports;
    return config;
  }
};

}  // namespace mrc
