// The network between the NICs: one T0 a plane, all of it on one event wheel. Tables are set once and never change.
#pragma once

#include <memory>
#include <vector>

#include "engine/packet_pool.h"
#include "engine/wheel_module.h"
#include "fabric/link.h"
#include "fabric/switch_ingress.h"
#include "fabric/switch_port.h"
#include "mrc/srv6_usid.h"
#include "nic/nic.h"
#include "parameters/config.h"

namespace mrc {

class Fabric : public WheelModule {
 public:
  /// `scenario` outlives the fabric. Node n's port p goes to the T0 of plane p, downlink n.
  Fabric(const sc_core::sc_module_name& name, const ScenarioConfig& scenario, TimePs quantum_ps);

  /// How far a scenario lets wheels run ahead of the kernel.
  static TimePs quantum_ps(const ScenarioConfig& scenario);
  /// The cables of a node's ports.
  std::vector<PortLinks> links_of(NodeId node);
  /// Path template from any node to `destination`.
  static UsidTemplate route_to(const FabricConfig& config, NodeId destination);

  ImpairmentCounts impairments() const;
  std::uint64_t dropped() const;
  std::uint64_t without_route() const;
  const std::vector<std::unique_ptr<SwitchPort>>& ports() const { return ports_; }

 private:
  std::size_t at(std::uint32_t plane, NodeId node) const { return std::size_t{plane} * nics_ + node; }

  std::uint32_t planes_;
  std::uint32_t nics_;
  PacketPool packets_;
  std::vector<std::unique_ptr<Link>> up_;  ///< NIC to T0, by plane and node
  std::vector<std::unique_ptr<Link>> down_;
  std::vector<ForwardingTable> tables_;    ///< a T0 each
  std::vector<std::unique_ptr<SwitchPort>> ports_;
  std::vector<std::unique_ptr<SwitchIngress>> ingresses_;
};

}  // namespace mrc
