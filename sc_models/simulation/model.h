// What a simulation is made of: the nodes and the fabric of a scenario, and what watches them. Built by build.h, run by
// run.h, read by sample.h and collect.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "endpoint/light_node.h"
#include "engine/wheel_module.h"
#include "fabric/fabric.h"
#include "fabric/fault_log.h"
#include "fabric/fault_timeline.h"
#include "host/host.h"
#include "host/reduction_plan.h"
#include "host/skipped_time.h"
#include "host/work_player.h"
#include "nic/nic.h"
#include "nic/nic_context.h"
#include "node/packet_capture.h"
#include "pcie/host_memory.h"
#include "programs/program_host.h"
#include "results/recording.h"
#include "simulation/nic_result.h"
#include "simulation/options.h"
#include "simulation/skipped_counts.h"
#include "split/split.h"
#include "transports/node_transport.h"

namespace mrc {

/// A node as the simulation holds it: a detailed NIC with its host, or a light endpoint.
struct SimulationNode {
  /// `runs_here`: false for a node of another rank, of which there is what its peers here and the results need.
  /// `for_programs`: programs drive it, so that a light endpoint's memory has bytes too.
  /// `shared_wheel`: of the NIC that software drives together with this one, null where it is the first.
  SimulationNode(NodeId node, const ScenarioConfig& scenario, TimePs quantum_ps, bool runs_here, bool for_programs,
                 std::shared_ptr<WheelModule> shared_wheel);

  bool is_endpoint() const { return !detailed; }
  /// Precondition: the node is here or light, or this is the rank that has the result.
  WorkPlayer& player() const {
    if (player_elsewhere) return *player_elsewhere;
    return host ? host->player() : endpoint->player();
  }
  /// Null where no RTL differs from ring 1.
  const std::string* first_rtl_mismatch() const;
  /// Null of a light endpoint.
  const BoxCounters* box_counters() const {
    return boxes != nullptr ? &boxes->box_counters : box_counters_elsewhere.get();
  }

  NodeId id;
  bool here;
  bool detailed;
  std::string name;
  std::unique_ptr<NodeContext> own_context;
  NodeContext& context;
  NicContext* boxes;  ///< the same context where the node is detailed and runs here; null otherwise
  std::unique_ptr<NodeTransport> transport;
  HostMemory memory;
  std::map<NodeId, std::vector<std::uint32_t>> qps_of_peer;
  std::map<FlowKey, std::vector<std::uint32_t>> qps_of_flow;
  std::map<FlowKey, MemoryRegion> regions_at_peers;  ///< where an intruder looks for them
  std::shared_ptr<WheelModule> wheel;                ///< with nic and host: of a detailed node
  bool owns_wheel = false;
  std::unique_ptr<Nic> nic;
  std::unique_ptr<Host> host;
  std::unique_ptr<LightNode> endpoint;
  std::unique_ptr<ProgramHost> light_programs;  ///< with endpoint
  ProgramHost* programs = nullptr;              ///< where programs drive the node: light_programs, or the host
  /// Of a node of another rank, when the run is over.
  struct Waits {
    std::vector<std::string> qps;
    std::vector<std::string> work;
  } waits_elsewhere;
  // Of a detailed node of another rank, where the result is made.
  std::unique_ptr<WorkPlayer> player_elsewhere;
  std::unique_ptr<BoxCounters> box_counters_elsewhere;
  std::unique_ptr<NicResult> nic_elsewhere;  ///< null until the run is over
  std::unique_ptr<SkippedCounts> skipped;    ///< null: nothing was skipped
  /// What was counted, and what would have been in skipped time.
  NodeCounters all_counters() const { return skipped ? sum_of(context.counters, skipped->counters) : context.counters; }
};

class CriticalPaths;
class QpResets;

struct Model {
  /// `of_scenario` and `of_workload` outlive the model.
  Model(const ScenarioConfig& of_scenario, const Workload& of_workload, const std::vector<NodeId>& nics_of_ranks,
        SimulationOptions with);
  ~Model();

  /// Precondition: the node speaks.
  SimulationNode& at(NodeId id) const { return *node_at[id]; }
  bool is_under_test(const SimulationNode& node) const { return node.name == scenario.run.node_under_test; }

  const ScenarioConfig& scenario;
  const Workload& workload;
  WorkPlacement placement;
  SimulationOptions options;
  TimePs quantum_ps;
  std::unique_ptr<PacketCapture> capture;  ///< null: nobody captures
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<FaultTimeline> faults;
  std::unique_ptr<FaultLog> fault_log;
  std::unique_ptr<ReductionPlan> reduction_plan;       ///< null: switches reduce nothing
  std::unique_ptr<Split> split;                        ///< null: this process carries the whole run
  TransportCounts counts_elsewhere;                    ///< of the other ranks, when the run is over
  std::vector<std::unique_ptr<SimulationNode>> nodes;  ///< that speak, in their order
  std::vector<SimulationNode*> node_at;                ///< by number, null for a node that does not speak
  std::unique_ptr<Recording> recording;                ///< null: nobody records
  std::unique_ptr<CriticalPaths> critical_paths;
  SkippedTime skipped;                  ///< that the kernel's clock does not have
  std::unique_ptr<QpResets> qp_resets;  ///< null: no fault asks for any
};

}  // namespace mrc
