#include "simulation/reductions.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "parameters/transport.h"

namespace mrc {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("traffic.collective.all_reduce = \"in_network\": " + what);
}

void check(const Model& model) {
  const ScenarioConfig& scenario = model.scenario;
  if (model.split) refuse("not supported on several ranks; start mrcsim run without mpirun");
  if (!model.options.pcap.empty()) refuse("--pcap does not know packets of reductions");
  if (scenario.protocol.encryption.on()) {
    refuse("switches cannot add what is encrypted; allowed: protocol.encryption.framing = \"none\"");
  }
  if (model.fabric->network().pauses_senders()) {
    refuse("packets that switches create are not subject to PFC; allowed: rocev2.pfc = false");
  }
  if (scenario.fabric.reduction.slot_bytes > scenario.protocol.mtu_bytes) {
    refuse(fmt::format("fabric.reduction.slot_bytes = {} is more than protocol.mtu_bytes = {}: a slot holds a packet",
                       scenario.fabric.reduction.slot_bytes, scenario.protocol.mtu_bytes));
  }
  for (const ReductionStream& stream : model.reduction_plan->streams()) {
    std::set<NodeId> nics;
    for (const NodeId node : stream.nics) {
      if (is_detailed(scenario, node)) {
        refuse(fmt::format("nic{} is a detailed NIC, which has no part in reductions; allowed: fidelity = \"endpoint\"",
                           node));
      }
      if (!nics.insert(node).second) {
        refuse(
            fmt::format("two ranks of a group are on nic{}; allowed: traffic.ranks_per_nic = 1, and a placement with "
                        "a NIC for each rank",
                        node));
      }
    }
  }
}

}  // namespace

void build_reductions(Model& model) {
  if (model.workload.reductions.empty()) return;
  model.reduction_plan = std::make_unique<ReductionPlan>(model.workload, model.placement, model.scenario.seed);
  check(model);
  std::vector<std::vector<NodeId>> groups;
  for (const ReductionStream& stream : model.reduction_plan->streams()) groups.push_back(stream.nics);
  model.fabric->network().reduce_for(groups);
  for (const auto& node : model.nodes) {
    if (!model.reduction_plan->streams_of(node->id).empty()) node->endpoint->reduce_by(*model.reduction_plan);
  }
}

void collect_reductions(RunResult& result, const Model& model, TimePs end) {
  const SwitchReduction* switches = model.fabric->network().reduction();
  if (switches == nullptr) return;
  RunResult::Reduction& row = result.reduction;
  const ReductionConfig& config = model.scenario.fabric.reduction;
  row.trees = switches->trees();
  row.switches = switches->switches();
  for (std::uint32_t g = 0; g < model.reduction_plan->streams().size(); ++g) {
    const std::uint32_t window = switches->window(g);
    row.least_window = row.least_window == 0 ? window : std::min(row.least_window, window);
  }
  row.slots = switches->most_slots();
  row.most_slots_adding = switches->most_slots_adding();
  row.memory_bytes = row.slots * kReductionVersions * config.slot_bytes;
  row.busiest_adder_share = switches->busiest_adder_share(end);
  const ReductionCounts& counts = switches->counts();
  row.added = counts.added;
  row.duplicates = counts.duplicates;
  row.retransmitted_sums = counts.retransmitted_sums;
  row.retransmitted_results = counts.retransmitted_results;
  row.damaged = counts.damaged;
  for (const auto& node : model.nodes) {
    if (!node->endpoint || node->endpoint->reductions() == nullptr) continue;
    row.timeouts += node->endpoint->reductions()->counts().timeouts;
    row.duplicate_results += node->endpoint->reductions()->counts().duplicate_results;
  }
  // Packets end in switches and begin there.
  for (AccountResult& account : result.accounts) {
    if (account.part != "fabric") continue;
    account.in += counts.sent;
    account.out += counts.received;
  }
}

}  // namespace mrc
