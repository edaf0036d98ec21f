// A node as the simulation holds it: a detailed NIC with its host, or a light endpoint.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "endpoint/light_node.h"
#include "engine/wheel_module.h"
#include "host/host.h"
#include "host/host_memory.h"
#include "nic/nic.h"
#include "nic/nic_context.h"
#include "nic/qp_assembly.h"
#include "simulation.h"

namespace mrc {

struct Simulation::Node {
  /// `runs_here`: false for a node of another rank, of which there is what its peers here and the results need.
  /// `shared_wheel`: of the NIC that software drives together with this one, null where it is the first.
  Node(NodeId node, const ScenarioConfig& scenario, TimePs quantum_ps, bool runs_here,
       std::shared_ptr<WheelModule> shared_wheel)
      : id(node),
        here(runs_here),
        name(fmt::format("nic{}", node)),
        context(node, scenario),
        qps(context),
        memory(is_endpoint() || !here ? PayloadMode::reference : context.config.host.payload,
               KeyedRandom(scenario.seed, fmt::format("nic{}.host.memory", node))) {
    if (is_endpoint() || !here) return;
    owns_wheel = shared_wheel == nullptr;
    wheel = std::move(shared_wheel);
    if (!owns_wheel) return;
    wheel = std::make_shared<WheelModule>(fmt::format("node{}", node).c_str(), scenario.run.kernel, quantum_ps);
  }

  /// There is no detailed NIC of the baseline.
  bool is_endpoint() const { return context.config.fidelity == Fidelity::endpoint || context.scenario.is_rocev2(); }
  WorkPlayer& player() const { return host ? host->player() : endpoint->player(); }
  /// Null where no RTL differs from ring 1.
  const std::string* first_rtl_mismatch() const {
    if (!nic) return nullptr;
    for (const RtlPath* path : nic->rtl().paths()) {
      if (path->mismatches() > 0) return &path->first_mismatch();
    }
    return nullptr;
  }

  NodeId id;
  bool here;
  std::string name;
  NicContext context;
  QpAssembly qps;
  HostMemory memory;
  std::map<NodeId, std::vector<std::uint32_t>> qps_of_peer;
  std::shared_ptr<WheelModule> wheel;  ///< with nic and host: of a detailed node
  bool owns_wheel = false;
  std::unique_ptr<Nic> nic;
  std::unique_ptr<Host> host;
  std::unique_ptr<LightNode> endpoint;
  /// Of a node of another rank, when the run is over.
  struct Waits {
    std::vector<std::string> qps;
    std::vector<std::string> work;
  } waits_elsewhere;
};

}  // namespace mrc
