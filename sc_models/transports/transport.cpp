#include "parameters/transport.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "parameters/config.h"
#include "transports/list.h"

namespace mrc {

#define MRCSIM_DECLARE(name) extern const Transport name##_transport;
MRCSIM_TRANSPORTS(MRCSIM_DECLARE)
#undef MRCSIM_DECLARE

std::span<const Transport* const> transports() {
#define MRCSIM_ADDRESS(name) &name##_transport,
  static const std::array all{MRCSIM_TRANSPORTS(MRCSIM_ADDRESS)};
#undef MRCSIM_ADDRESS
  return all;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names;
  for (const Transport* transport : transports()) names.emplace_back(transport->name);
  return names;
}

namespace {

const Transport& transport_named(const std::string& name) {
  for (const Transport* transport : transports()) {
    if (transport->name == name) return *transport;
  }
  throw std::logic_error(fmt::format("transport \"{}\" has not been checked", name));
}

}  // namespace

const Transport& transport_of(const ScenarioConfig& scenario) {
  return transport_named(scenario.node_default.transport);
}

const Transport& transport_of(const ScenarioConfig& scenario, NodeId node) {
  return transport_named(scenario.node(node).transport);
}

std::vector<const Transport*> transports_in(const ScenarioConfig& scenario) {
  std::vector<const Transport*> all{&transport_of(scenario)};
  for (const auto& [id, node] : scenario.node_override) {
    const Transport* transport = &transport_named(node.transport);
    if (std::find(all.begin(), all.end(), transport) == all.end()) all.push_back(transport);
  }
  return all;
}

bool encrypts(const ScenarioConfig& scenario) {
  const auto used = transports_in(scenario);
  return std::any_of(used.begin(), used.end(), [](const Transport* transport) { return transport->encrypts; });
}

bool is_detailed(const ScenarioConfig& scenario, NodeId node) {
  return transport_of(scenario, node).has_detailed_nic && scenario.node(node).fidelity == Fidelity::detailed;
}

}  // namespace mrc
