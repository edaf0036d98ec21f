// All parameters in the order of the documentation.
#include "fabric/fabric_parameters.h"
#include "host/accelerator_parameters.h"
#include "host/host_parameters.h"
#include "host/traffic_parameters.h"
#include "nic/nic_parameters.h"
#include "parameters/parameter_table.h"
#include "parameters/transport.h"
#include "pcie/pcie_parameters.h"
#include "run_parameters.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<Fidelity>() {
  return {"detailed", "endpoint"};
}

namespace {

void add_scenario_parameters(ParameterTable& table) {
  MRC_SCENARIO(seed, "", 0, 9.2e18, "seed of all random draws; the same seed gives the same run", assumption);
  MRC_NODE(transport, "", 0, 0,
           "transport, the same at both ends of a QP; rocev2: the baseline; uet: Ultra Ethernet's RUD; ideal: "
           "serialization and a fixed latency "
           "only, the upper bound",
           spec);
  table.only(transport_names());
}

void add_node_parameters(ParameterTable& table) {
  table.node(
      "fidelity", [](NodeConfig & c) -> auto& { return c.fidelity; }, "", {0, 0},
      "detailed: all boxes of the NIC; endpoint: the same protocol at line rate, fast enough for thousands of nodes",
      assumption);
}

std::vector<Parameter> make_parameters() {
  ParameterTable table;
  add_scenario_parameters(table);
  add_run_parameters(table);
  add_traffic_parameters(table);
  add_accelerator_parameters(table);
  add_node_parameters(table);
  add_nic_parameters(table);
  add_pcie_parameters(table);
  add_host_parameters(table);
  for (const Transport* transport : transports()) {
    if (transport->add_parameters != nullptr) transport->add_parameters(table);
  }
  add_fabric_parameters(table);
  return table.take();
}

}  // namespace

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all = make_parameters();
  return all;
}

}  // namespace mrc
