#include "mrcsim/fabric_command.h"

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fabric/topology.h"
#include "mrcsim/exit_code.h"
#include "parameters/registry.h"
#include "parameters/scenario.h"

namespace mrc {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostWalks = 5'000'000;

struct FabricOptions {
  std::string scenario;
  std::vector<std::string> assignments;
  std::string format = "text";
  bool routes = false;
};

/// What the numbers of the scenario come to.
struct Numbers {
  std::uint32_t paths = 0;           ///< between NICs below different T0s, over all planes
  std::size_t paths_of_profile = 0;  ///< of them that the EVs of nic0 reach
  double oversubscription = 0;       ///< of a T0: down over up
  std::uint64_t links = 0;           ///< cables
};

Numbers numbers_of(const ScenarioConfig& scenario, const Topology& topology) {
  Numbers n;
  n.links = topology.links().size() / 2;
  n.paths =
      topology.planes() * std::max(topology.t1s(), 1U) * std::max(topology.t2s() / std::max(topology.t1s(), 1U), 1U);
  if (topology.t1s() > 0) {
    const SwitchInfo& t0 = topology.switches().front();
    n.oversubscription = topology.nics_per_t0() * scenario.node_default.nic.port_gbps /
                         (static_cast<double>(t0.up.size()) * topology.links()[t0.up.front()].gbps);
  }
  const EvProfile profile = ev_profile_of(scenario, 0);
  std::set<std::vector<std::uint32_t>> paths;
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    paths.insert(topology.walk(0, topology.nics() - 1, profile.plane[i], profile.value[i]));
  }
  n.paths_of_profile = paths.size();
  return n;
}

std::string far_end(const Topology& topology, const LinkInfo& link) {
  return link.last_hop() ? fmt::format("nic{}", link.node) : topology.switch_name(link.to);
}

/// Calls `row(switch, next uSID, link)` for each entry of each table, in order.
template <typename Row>
void for_each_entry(const Topology& topology, Row row) {
  for (std::uint32_t at = 0; at < topology.switches().size(); ++at) {
    const SwitchInfo& here = topology.switches()[at];
    for (std::size_t role = 0; role < here.next.size(); ++role) {
      for (std::uint32_t index = 0; index < here.next[role].size(); ++index) {
        const std::uint32_t link = here.next[role][index];
        if (link != Topology::kNoLink) row(at, make_usid(here.plane, static_cast<UsidRole>(role), index), link);
      }
    }
  }
}

std::string checked(const Topology& topology, const Topology::RouteCheck& check) {
  if (!check.broken.empty()) return "BROKEN: " + check.broken;
  if (check.every_pair) return fmt::format("all {} paths between all NICs arrive", check.walked);
  return fmt::format(
      "{} {} checked, all arrive", check.walked,
      check.walked > topology.links().size() ? "paths from one NIC per T0 to all NICs" : "table entries");
}

void print_text(const ScenarioConfig& scenario, const Topology& topology, const Topology::RouteCheck& check) {
  const Numbers n = numbers_of(scenario, topology);
  const NicConfig& nic = scenario.node_default.nic;
  const auto line = [](const char* label, const std::string& text) { fmt::print("  {:<10} {}\n", label, text); };
  fmt::print("{}\n", scenario.name);
  line("NICs", fmt::format("{}, {} ports of {:g} Gb/s each, one plane per port", topology.nics(), topology.planes(),
                           nic.port_gbps));
  line("T0", fmt::format("{} per plane, {} in total, {} NICs below each", topology.t0s(),
                         topology.t0s() * topology.planes(), std::min(topology.nics_per_t0(), topology.nics())));
  if (topology.t1s() > 0) {
    line("T1", fmt::format("{} per plane, {} in total, {:g} Gb/s to each T0{}", topology.t1s_per_plane(),
                           topology.t1s_per_plane() * topology.planes(),
                           topology.links()[topology.switches().front().up.front()].gbps,
                           topology.pods() > 1 ? fmt::format(" of its pod ({} pods)", topology.pods()) : ""));
    line("T0 load", fmt::format("{:.3g} (downlink to uplink bandwidth)", n.oversubscription));
  }
  if (topology.t2s() > 0)
    line("T2", fmt::format("{} per plane, {} in total", topology.t2s(), topology.t2s() * topology.planes()));
  line("cables", fmt::format("{}", n.links));
  line("longest", fmt::format("{} switches, {:.3f} us round trip without queueing", topology.longest_path(),
                              static_cast<double>(topology.round_trip_ps()) / 1e6));
  line("paths", fmt::format("{} between NICs below different T0s; the {} EVs of nic0 use {} of them to nic{}", n.paths,
                            scenario.protocol.ev_count, n.paths_of_profile, topology.nics() - 1));
  constexpr std::array<const char*, 3> texts{"uSID, static tables", "ECMP", "adaptive: the shortest queue up"};
  line("routing", texts[static_cast<std::size_t>(topology.routing())]);
  line("checked", checked(topology, check));
}

void print_routes(const Topology& topology) {
  std::uint32_t last = ~0U;
  for_each_entry(topology, [&](std::uint32_t at, Usid next, std::uint32_t link) {
    if (at != last) fmt::print("{} uSID {:#06x}\n", topology.switch_name(at), topology.switches()[at].usid);
    last = at;
    const LinkInfo& info = topology.links()[link];
    fmt::print("  {:#06x} -> {}{} to {}\n", next, info.up ? "up" : "down", info.number, far_end(topology, info));
  });
}

void print_json(const ScenarioConfig& scenario, const Topology& topology, const Topology::RouteCheck& check,
                bool routes) {
  const Numbers n = numbers_of(scenario, topology);
  Json j;
  j["scenario"] = scenario.name;
  j["planes"] = topology.planes();
  j["nics"] = topology.nics();
  j["port_gbps"] = scenario.node_default.nic.port_gbps;
  j["pods"] = topology.pods();
  j["t0s_per_plane"] = topology.t0s();
  j["t1s_per_plane"] = topology.t1s_per_plane();
  j["t2s_per_plane"] = topology.t2s();
  j["nics_per_t0"] = topology.nics_per_t0();
  j["cables"] = n.links;
  j["switches_on_longest_path"] = topology.longest_path();
  j["round_trip_us"] = static_cast<double>(topology.round_trip_ps()) / 1e6;
  j["oversubscription"] = n.oversubscription;
  j["paths"] = n.paths;
  j["paths_of_nic0"] = n.paths_of_profile;
  j["routing"] = find_parameter("fabric.routing")->words[static_cast<std::size_t>(topology.routing())];
  j["check"] = {{"walked", check.walked}, {"every_pair", check.every_pair}, {"broken", check.broken}};
  if (routes) {
    j["locator_block"] = fmt::format("{:#010x}", scenario.fabric.locator_block);
    j["switches"] = Json::array();
    for (std::uint32_t at = 0; at < topology.switches().size(); ++at) {
      j["switches"].push_back({{"switch", topology.switch_name(at)},
                               {"usid", fmt::format("{:#06x}", topology.switches()[at].usid)},
                               {"table", Json::array()}});
    }
    for_each_entry(topology, [&](std::uint32_t at, Usid next, std::uint32_t link) {
      j["switches"][at]["table"].push_back({{"next", fmt::format("{:#06x}", next)},
                                            {"port", topology.port_name(link)},
                                            {"to", far_end(topology, topology.links()[link])}});
    });
  }
  fmt::print("{}\n", j.dump(2));
}

int run(const FabricOptions& options) {
  const ScenarioConfig scenario = load_scenario(options.scenario, {options.assignments, std::nullopt});
  const Topology topology(scenario);
  const Topology::RouteCheck check = topology.check_routes(kMostWalks);
  if (options.format == "json") {
    print_json(scenario, topology, check, options.routes);
  } else {
    print_text(scenario, topology, check);
    if (options.routes) print_routes(topology);
  }
  return check.broken.empty() ? kExitOk : kExitBug;
}

}  // namespace

void add_fabric_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<FabricOptions>();
  CLI::App* command = app.add_subcommand("fabric", "Print the network of a scenario and check its routes");
  command->add_option("SCENARIO", options->scenario, "scenario file (TOML)")->required();
  command->add_option("--set", options->assignments, "key=value; wins over the file, may be repeated")
      ->take_all()
      ->expected(1, -1);
  command->add_flag("--routes", options->routes, "print every table entry of every switch");
  command->add_option("--format", options->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace mrc
