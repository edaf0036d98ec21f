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

const Transport& transport_of(const ScenarioConfig& scenario) {
  for (const Transport* transport : transports()) {
    if (transport->name == scenario.transport) return *transport;
  }
  throw std::logic_error(fmt::format("transport \"{}\" has not been checked", scenario.transport));
}

bool is_detailed(const ScenarioConfig& scenario, NodeId node) {
  return transport_of(scenario).has_detailed_nic && scenario.node(node).fidelity == Fidelity::detailed;
}

}  // namespace mrc
