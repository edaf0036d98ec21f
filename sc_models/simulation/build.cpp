#include "simulation/build.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "engine/huge_pages.h"
#include "host/live_work.h"
#include "parameters/transport.h"
#include "programs/detailed_program_host.h"
#include "programs/light_program_host.h"
#include "programs/programs.h"
#include "simulation/connect.h"
#include "simulation/critical_paths.h"
#include "simulation/model_recording.h"
#include "simulation/qp_resets.h"
#include "simulation/ranks.h"
#include "simulation/reductions.h"

namespace mrc {
namespace {

void build_fabric(Model& model) {
  model.fabric = std::make_unique<Fabric>("fabric", model.scenario, model.quantum_ps);
  model.faults = std::make_unique<FaultTimeline>(model.scenario, model.fabric->topology());
  model.faults->apply(model.fabric->network());
  model.fault_log = std::make_unique<FaultLog>(model.scenario, model.fabric->topology(), *model.faults);
}

/// All but light endpoints without work, messages for them, or ports that go dark: those are not built. A program may
/// start on any node.
std::vector<bool> nodes_that_speak(const Model& model) {
  std::vector<bool> speaks(model.scenario.fabric.nics, model.options.programs != nullptr);
  if (model.options.programs != nullptr) return speaks;
  for (NodeId id = 0; id < model.scenario.fabric.nics; ++id) {
    speaks[id] = !model.placement.of_node[id].empty() || !model.faults->darkness_of(id).empty() ||
                 is_detailed(model.scenario, id) || model.scenario.run.node_under_test == fmt::format("nic{}", id);
  }
  for (const WorkNode& work : model.workload.nodes) {
    if (work.kind == WorkKind::send) speaks[model.placement.peer_node_of(work)] = true;
  }
  for (const RtlSelection& selection : model.options.rtl) speaks[selection.node] = true;
  if (model.placement.nics_per_rank > 1 || model.options.live != nullptr) {
    for (const NodeId id : model.placement.nics_of_ranks) speaks[id] = true;
  }
  return speaks;
}

void build_nodes(Model& model) {
  const std::vector<NodeId> first = model.placement.first_siblings();
  const std::vector<bool> speaks = nodes_that_speak(model);
  model.node_at.resize(model.scenario.fabric.nics, nullptr);
  for (NodeId id = 0; id < model.scenario.fabric.nics; ++id) {
    if (!speaks[id]) continue;
    const std::shared_ptr<WheelModule> shared = first[id] == id ? nullptr : model.at(first[id]).wheel;
    const bool here = !model.split || model.split->owns(id);
    model.nodes.push_back(std::make_unique<SimulationNode>(id, model.scenario, model.quantum_ps, here,
                                                           model.options.programs != nullptr, shared));
    model.node_at[id] = model.nodes.back().get();
    if (model.at(id).is_endpoint() == model.at(first[id]).is_endpoint()) continue;
    throw std::invalid_argument(
        fmt::format("nic{} and nic{} belong to one accelerator (traffic.nics_per_rank = {}) and differ in fidelity; "
                    "allowed: both detailed or both endpoint",
                    first[id], id, model.scenario.traffic.nics_per_rank));
  }
}

NicRtl make_rtl(const Model& model, NodeId node) {
  NicRtl rtl;
  for (const RtlSelection& selection : model.options.rtl) {
    if (selection.node == node) model.options.add_rtl(selection, model.scenario, rtl);
  }
  return rtl;
}

/// QPs of programs are towards nobody until they connect them.
void add_unconnected_qps(const Model& model) {
  if (model.options.programs == nullptr) return;
  for (const auto& node : model.nodes) {
    const std::uint32_t qps = node->context.config.host.programs.qps;
    node->transport->reserve(qps);
    for (std::uint32_t i = 0; i < qps; ++i) node->transport->add_qp().peer = ProgramHost::kNobody;
  }
}

void build_program_host(Model& model, SimulationNode& node) {
  auto host =
      std::make_unique<DetailedProgramHost>(fmt::format("host{}", node.id).c_str(), *node.wheel, *node.boxes, *node.nic,
                                            node.memory, model.placement, *node.transport, model.fabric->topology());
  node.programs = host.get();
  node.host = std::move(host);
  node.memory.use(model.options.programs->memory_of(node.id));
}

void build_light_program_host(Model& model, SimulationNode& node) {
  node.light_programs =
      std::make_unique<LightProgramHost>(node.context, *node.endpoint, *node.transport, *model.fabric);
  node.programs = node.light_programs.get();
  node.memory.use(model.options.programs->memory_of(node.id));
}

void attach_programs(const Model& model) {
  if (model.options.programs == nullptr) return;
  std::vector<ProgramHost*> hosts(model.node_at.size(), nullptr);
  for (const auto& node : model.nodes) hosts[node->id] = node->programs;
  model.options.programs->attach(hosts);
}

/// Any rank may get work.
void attach_live_work(Model& model) {
  if (model.options.live == nullptr) return;
  std::vector<WorkPlayer*> players;
  for (const NodeId id : model.placement.nics_of_ranks) players.push_back(&model.at(id).player());
  model.options.live->attach(model.placement, std::move(players));
}

void build_detailed_device(Model& model, SimulationNode& node) {
  node.nic = std::make_unique<Nic>(node.name.c_str(), *node.wheel, *node.boxes, node.memory,
                                   model.fabric->links_of(node.id), make_rtl(model, node.id));
  if (model.options.programs != nullptr) return build_program_host(model, node);
  node.host = std::make_unique<Host>(fmt::format("host{}", node.id).c_str(), *node.wheel, *node.boxes, *node.nic,
                                     node.memory, model.placement);
}

/// Stands where the NIC of a node of another rank is: the player here has only what is known of it when the run is
/// over.
class NicElsewhere final : public WorkDevice {
 public:
  bool can_post(TimePs /*now*/) override { return false; }
  void post(TimePs /*now*/, std::uint32_t /*qp*/, const WorkRequest& /*request*/, TimePs /*doorbell_at*/) override {}
  void message_begun(TimePs /*now*/) override {}
  void message_completed(TimePs /*now*/) override {}
  void work_done(TimePs /*now*/) override {}
  void work_arrived(TimePs /*now*/) override {}
};

void build_devices(Model& model) {
  static NicElsewhere elsewhere;
  for (auto& node : model.nodes) {
    if (node->is_endpoint()) {
      node->endpoint = node->transport->make_light_node(node->memory, model.fabric->network(), model.placement);
      if (model.is_under_test(*node)) node->endpoint->account_idle();
      if (model.options.programs != nullptr) build_light_program_host(model, *node);
    } else if (node->here) {
      build_detailed_device(model, *node);
    } else if (model.split->is_first()) {
      node->player_elsewhere = std::make_unique<WorkPlayer>(node->context, elsewhere, node->memory, model.placement);
    }
  }
}

/// Nodes that act on each other, or on programs, past the fabric go ahead by a cable alone; and with faults over time,
/// of which records look at what the nodes have sent.
bool hear_through_fabric_alone(const Model& model) {
  return model.scenario.run.quantum_ns == 0 && model.options.programs == nullptr && model.options.live == nullptr &&
         model.faults->empty();
}

void let_nodes_follow_fabric(Model& model) {
  if (!hear_through_fabric_alone(model)) return;
  std::vector<WheelModule*> wheels;
  for (const auto& node : model.nodes) {
    if (node->owns_wheel) wheels.push_back(node->wheel.get());
  }
  model.fabric->set_followers(std::move(wheels));
  model.fabric->let_follow(true);
}

/// Joins the players at the NICs of each rank.
void join_siblings(Model& model) {
  const std::uint32_t each = model.placement.nics_per_rank;
  const std::vector<NodeId>& nics = model.placement.nics_of_ranks;
  for (std::size_t i = 0; each > 1 && i < nics.size() / each * each; ++i) {
    const std::size_t first = i / each * each;
    for (std::size_t k = first; k < first + each; ++k) {
      if (nics[i] == nics[k] || !model.at(nics[i]).here) continue;
      model.at(nics[i]).player().add_sibling(nics[k], model.at(nics[k]).player());
    }
  }
}

/// Where a light endpoint takes part, payload is not compared by its bytes but by where it was placed.
void prepare_memories(Model& model) {
  const bool endpoints =
      std::any_of(model.nodes.begin(), model.nodes.end(), [](const auto& node) { return node->is_endpoint(); });
  for (auto& node : model.nodes) {
    if (endpoints) node->memory.track_placement();
    node->memory.skip_write(model.options.skip_memory_write);
  }
}

void build_capture(Model& model) {
  if (model.options.pcap.empty()) return;
  model.capture = std::make_unique<PacketCapture>(model.options.pcap, model.scenario);
  for (auto& node : model.nodes) node->context.capture = model.capture.get();
}

void observe_buffers(const Model& model) {
  if (!model.options.observe_buffer) return;
  for (const auto& node : model.nodes) {
    if (!node->nic) continue;
    for (const Occupancy* buffer : node->nic->buffers()) {
      buffer->observe(model.options.observe_buffer(node->name, *buffer));
    }
  }
}

void set_faults(const Model& model) {
  if (model.faults->empty()) return;
  for (const auto& node : model.nodes) {
    if (!node->here) continue;
    const std::vector<PortDarkness> darkness = model.faults->darkness_of(node->id);
    if (node->endpoint) {
      node->endpoint->set_darkness(darkness);
      node->endpoint->follow_drains(*model.faults);
    } else {
      node->nic->path_drain().follow(*model.faults);
      node->nic->set_faults(darkness, model.faults->rates_of(node->id), model.faults->pcie_stalls_of(node->id));
    }
  }
}

bool resets_qps(const ScenarioConfig& scenario) {
  return std::ranges::any_of(scenario.faults,
                             [](const FaultConfig& fault) { return fault.kind == FaultKind::qp_reset; });
}

/// NICs and caches know the regions that software registers and uses.
void register_regions(Model& model) {
  for (auto& node : model.nodes) {
    if (!node->nic) continue;
    PcieDma& pcie = node->nic->pcie();
    node->memory.for_each_region(
        [&pcie](std::uint64_t address, std::uint64_t bytes) { pcie.add_region(address, bytes); });
  }
}

bool all_detailed(const ScenarioConfig& scenario) {
  for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
    if (!is_detailed(scenario, node)) return false;
  }
  return true;
}

}  // namespace

void check_rtl_selections(const ScenarioConfig& scenario, const std::vector<RtlSelection>& selections) {
  const bool by_pins =
      std::ranges::any_of(selections, [](const auto& selection) { return selection.timing == RtlTiming::pins; });
  if (by_pins && resets_qps(scenario)) {
    throw std::invalid_argument(
        "--rtl-timing pins: QPs are connected anew ([[fault]] kind = \"qp_reset\") by transactions; "
        "allowed with it: transaction");
  }
  // Which packet is next is not what these blocks have been asked before.
  const TrafficConfig& traffic = scenario.traffic;
  const bool limited = !traffic.tenants.rate_limits_gbps.empty() || !traffic.tenants.context_entries.empty();
  for (const RtlSelection& selection : selections) {
    const bool schedules = selection.block == "qp_scheduler";
    if (traffic.classes.on() && (schedules || selection.block == "spray_scheduler")) {
      throw std::invalid_argument(
          fmt::format("--rtl, --shadow: {} has no traffic classes in RTL; allowed: "
                      "traffic.classes.count = 1, not {}",
                      selection.block, traffic.classes.count));
    }
    if (schedules && limited) {
      throw std::invalid_argument(
          "--rtl, --shadow: qp_scheduler has no limits of tenants in RTL; allowed: empty "
          "traffic.tenants.rate_limits_gbps and context_entries");
    }
  }
  const auto has_boxes = [&](const RtlSelection& selection) { return is_detailed(scenario, selection.node); };
  if (selections.empty() || std::any_of(selections.begin(), selections.end(), has_boxes)) return;
  const std::string why = transport_of(scenario).has_detailed_nic
                              ? "fidelity = \"endpoint\""
                              : fmt::format("transport = \"{}\" has no others", scenario.node_default.transport);
  throw std::invalid_argument(
      fmt::format("--rtl, --shadow: nic{} is a light endpoint, which has no boxes ({})", selections.front().node, why));
}

std::unique_ptr<Model> build_model(const ScenarioConfig& scenario, const Workload& workload,
                                   const std::vector<NodeId>& nics_of_ranks, SimulationOptions options) {
  // Packets of light endpoints touch memory all over a large model.
  constexpr std::size_t kLargeModelBytes = std::size_t{1} << 30;
  if (!all_detailed(scenario)) grow_heap_in_huge_pages(kLargeModelBytes);
  auto built = std::make_unique<Model>(scenario, workload, nics_of_ranks, std::move(options));
  Model& model = *built;
  build_fabric(model);
  build_split(model);
  build_nodes(model);
  const LongestSends longest = connect_nodes(model);
  add_unconnected_qps(model);
  build_devices(model);
  let_nodes_follow_fabric(model);
  build_reductions(model);
  join_siblings(model);
  check_rtl_selections(scenario, model.options.rtl);
  prepare_memories(model);
  build_channels(model, longest);
  register_regions(model);
  build_capture(model);
  observe_buffers(model);
  set_faults(model);
  if (resets_qps(scenario)) model.qp_resets = std::make_unique<QpResets>(model);
  build_recording(model);
  join_ranks(model);
  model.critical_paths = std::make_unique<CriticalPaths>(model);
  attach_programs(model);
  attach_live_work(model);
  return built;
}

}  // namespace mrc
