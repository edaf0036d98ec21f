#include "mrcsim/floorplan_command.h"

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "mrcsim/option_checks.h"
#include "nic/nic_memories.h"
#include "parameters/registry.h"
#include "parameters/scenario.h"

namespace mrc {
namespace {

struct FloorplanOptions {
  std::string scenario;
  std::vector<std::string> assignments;
  std::string node;
  std::uint32_t qps = 0;
  std::uint32_t destinations = 0;
  std::string format = "table";
};

NodeId node_of(const ScenarioConfig& scenario, const std::string& name) {
  NodeId id = 0;
  const char* end = name.data() + name.size();
  const bool nic = name.starts_with("nic") && name.size() > 3;
  const bool parsed = nic && std::from_chars(name.data() + 3, end, id).ptr == end;
  if (parsed && id < scenario.fabric.nics) return id;
  throw ParameterError("--node " + name, fmt::format("unknown node; allowed: nic0 … nic{}", scenario.fabric.nics - 1));
}

void print_table(const std::vector<SramResult>& rows) {
  fmt::print("{:<32} {:>4} {:>9} {:>6} {:>5} {:>5} {:>12} {:>11} {:>9}  {:<8} {}\n", "structure", "x", "depth", "width",
             "ports", "banks", "bits", "check bits", "mm2", "kind", "word");
  std::uint64_t bits = 0;
  std::uint64_t ecc_bits = 0;
  double area_mm2 = 0;
  for (const SramResult& r : rows) {
    bits += r.bits;
    ecc_bits += r.ecc_bits;
    area_mm2 += r.area_mm2;
    fmt::print("{:<32} {:>4} {:>9} {:>6} {:>5} {:>5} {:>12} {:>11} {:>9.5f}  {:<8} {}\n", r.structure, r.instances,
               r.depth, r.width_bits, r.ports, r.banks, r.bits, r.ecc_bits, r.area_mm2,
               r.register_file ? "register" : "SRAM", r.fields);
  }
  fmt::print("{:<32} {:>4} {:>9} {:>6} {:>5} {:>5} {:>12} {:>11} {:>9.5f}\n", "sum", "", "", "", "", "", bits, ecc_bits,
             area_mm2);
}

void print_csv(const std::vector<SramResult>& rows) {
  fmt::print("structure,instances,depth,width_bits,ports,banks,bits,ecc_bits,area_mm2,kind,word\n");
  for (const SramResult& r : rows) {
    fmt::print("{},{},{},{},{},{},{},{},{},{},\"{}\"\n", r.structure, r.instances, r.depth, r.width_bits, r.ports,
               r.banks, r.bits, r.ecc_bits, r.area_mm2, r.register_file ? "register_file" : "sram", r.fields);
  }
}

void run(const FloorplanOptions& options) {
  const ScenarioConfig scenario = load_scenario(options.scenario, {options.assignments, {}});
  const NodeId node = node_of(scenario, options.node.empty() ? scenario.run.node_under_test : options.node);
  // Without a run nobody knows who talks to whom: room for everybody.
  const std::uint32_t destinations = options.destinations > 0 ? options.destinations : scenario.fabric.nics - 1;
  const std::uint32_t qps = options.qps > 0 ? options.qps : destinations * scenario.traffic.qps_per_peer;
  const std::vector<SramResult> rows =
      floorplan({scenario.node(node), scenario.protocol, {.qps = qps, .destinations = destinations}});
  if (options.format == "csv") {
    print_csv(rows);
    return;
  }
  fmt::print("nic{} of {}: {} QPs to {} destinations\n", node, options.scenario, qps, destinations);
  print_table(rows);
}

}  // namespace

void add_floorplan_command(CLI::App& app) {
  auto options = std::make_shared<FloorplanOptions>();
  CLI::App* command = app.add_subcommand("floorplan", "List the memories of a NIC: size, ports, banks, area");
  command->add_option("SCENARIO", options->scenario, "scenario file (TOML)")->required();
  command->add_option("--set", options->assignments, "key=value; wins over the file, may be repeated")
      ->take_all()
      ->expected(1, -1);
  command->add_option("--node", options->node, "nic<number>; default: the node under test");
  command->add_option("--qps", options->qps, "QPs of the NIC; default: traffic.qps_per_peer to every other NIC")
      ->check(positive_number());
  command->add_option("--destinations", options->destinations, "number of peers; default: every other NIC")
      ->check(positive_number());
  command->add_option("--format", options->format, "table or csv")->check(CLI::IsMember({"table", "csv"}));
  command->callback([options] { run(*options); });
}

}  // namespace mrc
