#include "traffic/prepare_job.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "parameters/input_file.h"
#include "parameters/transport.h"
#include "traffic/class_rules.h"
#include "traffic/expand_collectives.h"
#include "traffic/line_reader.h"
#include "traffic/load_trace.h"
#include "traffic/nic_lanes.h"
#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

constexpr const char* kPlacement = "traffic.placement";

/// A missing file is the scenario's fault: says which key named it.
LoadedTrace load(const TraceRequest& request, const char* key) {
  if (request.path.find("{rank}") == std::string::npos && why_unreadable(request.path) == "does not exist") {
    throw TraceError(request.path, fmt::format("does not exist ({}; paths are relative to the scenario file)", key));
  }
  return load_trace(request);
}

/// Gives the job's work its class. A job that is not played has its ranks and NICs, and nothing to do.
void prepare(Workload& workload, const TrafficConfig& traffic, std::uint32_t number) {
  const std::vector<bool> played = played_jobs(traffic.tenants, "scenario");
  if (!played.empty() && (number >= played.size() || !played[number])) {
    workload.nodes.clear();
    workload.dependents.clear();
    workload.groups.clear();
    workload.collectives.clear();
    return;
  }
  classify(workload, traffic.classes, number);
}

/// The other's ranks follow those that are there.
void append(Workload& workload, const Workload& other) {
  const auto nodes = static_cast<std::uint32_t>(workload.nodes.size());
  const auto edges = static_cast<std::uint32_t>(workload.dependents.size());
  const auto groups = static_cast<std::uint32_t>(workload.groups.size());
  const auto collectives = static_cast<std::uint32_t>(workload.collectives.size());
  for (WorkNode node : other.nodes) {
    node.rank += workload.ranks;
    node.peer += workload.ranks;
    if (node.match != kNoWork) node.match += node.kind == WorkKind::collective ? collectives : nodes;
    node.first_dependent += edges;
    workload.nodes.push_back(node);
  }
  for (const std::uint32_t dependent : other.dependents) workload.dependents.push_back(dependent + nodes);
  for (RankGroup group : other.groups) {
    for (std::uint32_t& rank : group.ranks) rank += workload.ranks;
    workload.groups.push_back(std::move(group));
  }
  for (Collective collective : other.collectives) {
    collective.group += groups;
    workload.collectives.push_back(collective);
  }
  for (const CollectiveSpan& span : other.spans)
    workload.spans.push_back({span.collective + collectives, span.start + nodes, span.end + nodes});
  workload.ranks += other.ranks;
}

std::vector<NodeId> listed(const std::string& list, std::uint32_t ranks, std::uint32_t nics_each) {
  std::vector<NodeId> nodes;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');)
    nodes.push_back(static_cast<NodeId>(parse_integer(word, kPlacement, "a rank's NIC", 0, kMostRank)));
  if (nodes.size() >= std::size_t{ranks} * nics_each) return nodes;
  throw TraceError(kPlacement,
                   fmt::format("names {} NICs, but there are {} ranks with {} each", nodes.size(), ranks, nics_each));
}

void add_background(Job& job, const ScenarioConfig& scenario, const std::string& scenario_file) {
  job.workload.job_ranks = job.workload.ranks;
  NodeId next = *std::max_element(job.nics_of_ranks.begin(), job.nics_of_ranks.end()) + 1;
  std::uint32_t jobs = 0;
  for (std::string name : background_traces(scenario.traffic)) {
    const std::size_t at = name.rfind('@');
    NodeId first = next;
    if (at != std::string::npos) {
      first = static_cast<NodeId>(parse_integer(std::string_view(name).substr(at + 1), "traffic.background",
                                                "the NIC of rank 0 (behind @)", 0, kMostRank));
      name.resize(at);
    }
    const std::filesystem::path folder = std::filesystem::path(scenario_file).parent_path();
    LoadedTrace other = load({.path = (folder / name).string()}, "traffic.background");
    job.warnings.insert(job.warnings.end(), other.warnings.begin(), other.warnings.end());
    if (++jobs > kMostJobs) throw TraceError("traffic.background", fmt::format("names more than {} traces", kMostJobs));
    Workload whole = replicate(std::move(other.workload));
    prepare(whole, scenario.traffic, jobs);
    check_node_count(name, job.workload.nodes.size() + whole.nodes.size());
    const std::uint32_t nics = whole.ranks * scenario.traffic.nics_per_rank;
    for (std::uint32_t i = 0; i < nics; ++i) job.nics_of_ranks.push_back(first + i);
    next = std::max(next, first + nics);
    append(job.workload, whole);
  }
}

/// One rank can represent all: ranks differ only in their number.
bool stands_for_all(const Workload& workload, const ScenarioConfig& scenario) {
  const TrafficConfig& traffic = scenario.traffic;
  if (!workload.same_on_all_ranks || !traffic.background.empty() || traffic.ranks_per_nic > 1) return false;
  if (traffic.nics_per_rank > 1 && traffic.placement != "linear") return false;
  return std::all_of(workload.collectives.begin(), workload.collectives.end(), [&](const Collective& c) {
    const auto ranks = static_cast<std::uint32_t>(workload.groups[c.group].ranks.size());
    return is_symmetric(c.kind, ranks, scenario.traffic.collective);
  });
}

void require_placed(const Job& job, const ScenarioConfig& scenario) {
  const NodeId most = *std::max_element(job.nics_of_ranks.begin(), job.nics_of_ranks.end());
  if (most < scenario.fabric.nics) return;
  throw TraceError(kPlacement, fmt::format("a rank is on nic{}, but fabric.nics = {}", most, scenario.fabric.nics));
}

/// What is known before messages are made of collectives.
void refuse_in_network(const Workload& workload, const ScenarioConfig& scenario) {
  const TrafficConfig& traffic = scenario.traffic;
  const bool reduces = std::any_of(workload.collectives.begin(), workload.collectives.end(),
                                   [](const Collective& c) { return c.kind == CollectiveKind::all_reduce; });
  if (!reduces || traffic.collective.all_reduce != AllReduceAlgorithm::in_network) return;
  const auto refuse = [](const std::string& what) {
    throw TraceError("traffic.collective.all_reduce", "\"in_network\": " + what);
  };
  if (!transport_of(scenario).simulated) {
    refuse(
        fmt::format("transport = \"{}\" has no switches; allowed: mrc, rocev2, uet", scenario.node_default.transport));
  }
  if (traffic.nics_per_rank > 1 && traffic.nic_choice == NicChoice::stripe) {
    refuse("traffic.nic_choice = \"stripe\" divides messages; allowed: channel, with traffic.collective.channels");
  }
}

/// NICs that one piece of software drives are simulated together.
void require_same_fidelity(const Job& job, const ScenarioConfig& scenario) {
  const std::uint32_t each = scenario.traffic.nics_per_rank;
  for (std::size_t i = 0; i < job.nics_of_ranks.size(); ++i) {
    const NodeId first = job.nics_of_ranks[i / each * each];
    const NodeId other = job.nics_of_ranks[i];
    if (scenario.node(first).fidelity == scenario.node(other).fidelity) continue;
    throw TraceError(fmt::format("node.nic{}.fidelity", other),
                     fmt::format("nic{} and nic{} belong to rank {} (traffic.nics_per_rank = {}); allowed: both "
                                 "detailed or both endpoint",
                                 first, other, i / each, each));
  }
}

}  // namespace

std::vector<NodeId> place_ranks(const ScenarioConfig& scenario, std::uint32_t ranks) {
  const std::string& placement = scenario.traffic.placement;
  const std::uint32_t each = scenario.traffic.nics_per_rank;
  std::vector<NodeId> nics_of_ranks(std::size_t{ranks} * each);
  if (placement == "rails") {
    const std::uint32_t host = scenario.traffic.collective.ranks_per_host;
    if (ranks % host != 0) {
      throw TraceError(kPlacement, fmt::format("rails need whole hosts: {} ranks are not a multiple of "
                                               "traffic.collective.ranks_per_host = {}",
                                               ranks, host));
    }
    const std::uint32_t nics_a_host = host * each;
    for (std::uint32_t i = 0; i < ranks * each; ++i)
      nics_of_ranks[i] = i % nics_a_host * (ranks / host) + i / nics_a_host;
  } else if (placement == "linear") {
    for (std::uint32_t i = 0; i < ranks * each; ++i) nics_of_ranks[i] = i / scenario.traffic.ranks_per_nic;
  } else if (placement.find_first_not_of("0123456789,") == std::string::npos) {
    nics_of_ranks = listed(placement, ranks, each);
  } else {
    throw TraceError(kPlacement,
                     fmt::format("is \"{}\"; allowed: linear, rails, or a list of NICs such as 3,0,2,1", placement));
  }
  return nics_of_ranks;
}

Job prepare_job(const ScenarioConfig& scenario, const std::string& scenario_file, const ReadProgress& progress) {
  const TrafficConfig& traffic = scenario.traffic;
  LoadedTrace trace = load({.path = traffic.trace,
                            .format = traffic.format,
                            .ranks = traffic.ranks,
                            .rows = traffic.rows,
                            .ranks_per_host = traffic.collective.ranks_per_host,
                            .strict = false,
                            .byte_scale = traffic.byte_scale,
                            .progress = progress},
                           "traffic.trace");
  Job job;
  job.workload = std::move(trace.workload);
  job.warnings = std::move(trace.warnings);
  if (traffic.ranks != 0) job.cut.push_back(fmt::format("traffic.ranks = {}", traffic.ranks));
  if (traffic.rows != 0) job.cut.push_back(fmt::format("traffic.rows = {}", traffic.rows));
  if (traffic.byte_scale != 1.0) job.cut.push_back(fmt::format("traffic.byte_scale = {}", traffic.byte_scale));
  const bool computed = !transport_of(scenario).simulated;
  if (job.workload.ranks < 2 && !job.workload.collectives.empty()) {
    throw TraceError(job.workload.source,
                     "holds collectives of one rank; traffic.ranks says over how many ranks they run");
  }
  if (computed && stands_for_all(job.workload, scenario)) {
    refuse_in_network(job.workload, scenario);
    job.nics_of_ranks.assign(job.workload.ranks, 0);
    return job;
  }
  const std::string source = job.workload.source;
  const std::string format = job.workload.format;
  job.workload = replicate(std::move(job.workload));
  if (traffic.placement == "linear") {
    check_ranks(job.workload, scenario.fabric.nics * traffic.ranks_per_nic / traffic.nics_per_rank,
                scenario.fabric.nics);
  }
  job.nics_of_ranks = place_ranks(scenario, job.workload.ranks);
  prepare(job.workload, traffic, 0);
  if (!traffic.background.empty()) add_background(job, scenario, scenario_file);
  require_placed(job, scenario);
  require_same_fidelity(job, scenario);
  if (job.workload.nodes.empty() && !traffic.tenants.play.empty()) {
    throw TraceError("traffic.tenants.play",
                     fmt::format("is \"{}\": no job has this number (0 is traffic.trace, 1 is the first "
                                 "of traffic.background)",
                                 traffic.tenants.play));
  }
  if (traffic.nics_per_rank > 1) number_lanes(job.workload);
  refuse_in_network(job.workload, scenario);
  if (computed) return job;
  CollectiveOptions collective = traffic.collective;
  collective.seed = scenario.seed;
  const std::uint32_t job_ranks = job.workload.job_ranks;
  job.workload = expand_collectives(std::move(job.workload), collective,
                                    static_cast<TimePs>(scenario.accelerator.collective_launch_ns * 1000.0 + 0.5));
  job.workload.source = source;
  job.workload.format = format;
  job.workload.job_ranks = job_ranks;
  if (traffic.nics_per_rank > 1 && traffic.nic_choice == NicChoice::stripe) {
    job.workload = stripe(std::move(job.workload), traffic.nics_per_rank);
  }
  return job;
}

std::uint64_t expected_packets(const Workload& workload, std::uint32_t mtu_bytes) {
  std::uint64_t packets = 0;
  for (const WorkNode& node : workload.nodes) {
    if (is_sent(node)) packets += (node.bytes + mtu_bytes - 1) / mtu_bytes;
  }
  return packets;
}

}  // namespace mrc
