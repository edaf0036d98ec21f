#include "study/buffers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "nic/nic_memories.h"
#include "parameters/registry.h"
#include "study/axis.h"

namespace mrc {
namespace {

std::uint64_t sram_bits(const ScenarioConfig& scenario, const NodeConfig& node) {
  const NicScale scale{.qps = scenario.traffic.qps_per_peer, .destinations = 1};
  std::uint64_t bits = 0;
  for (const SramResult& row : floorplan({node, scenario.protocol, scale})) bits += row.bits;
  return bits;
}

/// Capacities are named so; other sizes (of a context, of a request) are not what a buffer is made larger by.
bool is_capacity(const Parameter& parameter) {
  static constexpr std::array<std::string_view, 6> endings{"entries", "_banks",        "_tags",
                                                           ".bytes",  "_buffer_bytes", "_fifo_bytes"};
  return parameter.per_node && parameter.type == ParameterType::integer && parameter.words.empty() &&
         std::any_of(endings.begin(), endings.end(),
                     [&](std::string_view ending) { return parameter.name.ends_with(ending); });
}

}  // namespace

std::vector<std::string> buffer_keys(const ScenarioConfig& scenario) {
  std::vector<std::string> keys;
  for (const Parameter& parameter : parameters()) {
    if (!is_capacity(parameter)) continue;
    ScenarioConfig changed = scenario;
    const double value = number_of(parameter.get(scenario, scenario.node_default));
    const double other = value == parameter.maximum ? parameter.minimum : parameter.maximum;
    parameter.set(changed, changed.node_default, static_cast<std::int64_t>(other));
    if (sram_bits(scenario, scenario.node_default) != sram_bits(changed, changed.node_default))
      keys.push_back(parameter.name);
  }
  return keys;
}

}  // namespace mrc
