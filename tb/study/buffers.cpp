#include "study/buffers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "nic/nic_memories.h"
#include "parameters/registry.h"
#include "study/axis.h"

namespace mrc {
namespace {

std::map<std::string, std::uint64_t> bits_of(const ScenarioConfig& scenario, const NodeConfig& node) {
  const NicScale scale{.qps = scenario.traffic.qps_per_peer, .destinations = 1};
  std::map<std::string, std::uint64_t> bits;
  for (const SramResult& row : floorplan({node, scenario.protocol, scale})) bits[row.structure] += row.bits;
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

/// A capacity of 0 leaves its cache out of the model: there is nothing to size, and a large one would switch it on.
bool is_modelled(const Parameter& parameter, const ScenarioConfig& scenario) {
  for (NodeId node = 0; node < scenario.fabric.nics; ++node)
    if (number_of(parameter.get(scenario, scenario.node(node))) != 0) return true;
  return false;
}

/// port3.tx_fifo is sized by nic.port.tx_fifo_bytes.
std::string without_port_number(std::string_view buffer) {
  constexpr std::string_view port = "port";
  const std::size_t dot = buffer.find('.');
  if (!buffer.starts_with(port) || dot == std::string_view::npos) return std::string(buffer);
  return std::string(port) + std::string(buffer.substr(dot));
}

}  // namespace

std::vector<std::string> buffer_keys(const ScenarioConfig& scenario) {
  std::vector<std::string> keys;
  for (const Parameter& parameter : parameters()) {
    if (!is_capacity(parameter) || !is_modelled(parameter, scenario)) continue;
    ScenarioConfig changed = scenario;
    const double value = number_of(parameter.get(scenario, scenario.node_default));
    const double other = value == parameter.maximum ? parameter.minimum : parameter.maximum;
    parameter.set(changed, changed.node_default, static_cast<std::int64_t>(other));
    if (bits_of(scenario, scenario.node_default) != bits_of(changed, changed.node_default))
      keys.push_back(parameter.name);
  }
  return keys;
}

bool sizes_buffer(std::string_view key, std::string_view node, std::string_view buffer) {
  if (!node_part(key).empty() && node_part(key) != node) return false;
  std::string_view name = parameter_part(key);
  constexpr std::string_view nic = "nic.";
  if (name.starts_with(nic)) name.remove_prefix(nic.size());
  // The queue is in host memory; the NIC counts its entries.
  if (name == "completion.cq_entries") return buffer == "host.completion_queue";
  const std::string row = without_port_number(buffer);
  if (name == row) return true;
  constexpr std::array<std::string_view, 6> endings{"_entries", "_bytes", ".entries", ".bytes", "_banks", "_depth"};
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
    return name.ends_with(ending) && name.substr(0, name.size() - ending.size()) == row;
  });
}

std::map<std::string, std::uint64_t> structure_bits(const ScenarioConfig& scenario, std::string_view key) {
  const std::string node(node_part(key).empty() ? scenario.run.node_under_test : node_part(key));
  return bits_of(scenario, scenario.node(static_cast<NodeId>(std::stoul(node.substr(3)))));
}

}  // namespace mrc
