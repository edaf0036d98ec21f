#include "simulation/model.h"

#include <fmt/format.h>

#include "parameters/transport.h"
#include "simulation/critical_paths.h"
#include "simulation/qp_resets.h"

namespace mrc {
namespace {

/// Memories and what else boxes share are built only where there are boxes.
std::unique_ptr<NodeContext> make_context(NodeId node, const ScenarioConfig& scenario, bool has_boxes) {
  if (has_boxes) return std::make_unique<NicContext>(node, scenario);
  return std::make_unique<NodeContext>(node, scenario);
}

}  // namespace

SimulationNode::SimulationNode(NodeId node, const ScenarioConfig& scenario, TimePs quantum_ps, bool runs_here,
                               bool for_programs, std::shared_ptr<WheelModule> shared_wheel)
    : id(node),
      here(runs_here),
      detailed(is_detailed(scenario, node)),
      name(fmt::format("nic{}", node)),
      own_context(make_context(node, scenario, detailed && here)),
      context(*own_context),
      boxes(detailed && here ? static_cast<NicContext*>(own_context.get()) : nullptr),
      transport(make_node_transport(context)),
      memory(boxes == nullptr && !for_programs ? PayloadMode::reference : context.config.host.payload,
             KeyedRandom(scenario.seed, fmt::format("nic{}.host.memory", node))) {
  if (detailed && !here) box_counters_elsewhere = std::make_unique<BoxCounters>();
  if (boxes == nullptr) return;
  owns_wheel = shared_wheel == nullptr;
  wheel = std::move(shared_wheel);
  if (!owns_wheel) return;
  wheel = std::make_shared<WheelModule>(fmt::format("node{}", node).c_str(), scenario.run.kernel, quantum_ps);
}

Model::Model(const ScenarioConfig& of_scenario, const Workload& of_workload, const std::vector<NodeId>& nics_of_ranks,
             SimulationOptions with)
    : scenario(of_scenario),
      workload(of_workload),
      placement(workload, nics_of_ranks, scenario.traffic.nics_per_rank, scenario.fabric.nics),
      options(std::move(with)),
      quantum_ps(Fabric::quantum_ps(scenario)) {}

Model::~Model() = default;

const std::string* SimulationNode::first_rtl_mismatch() const {
  if (!nic) return nullptr;
  for (const RtlPath* path : nic->rtl().paths()) {
    if (path->mismatches() > 0) return &path->first_mismatch();
  }
  return nullptr;
}

}  // namespace mrc
