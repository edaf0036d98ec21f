#include "study/relief.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "parameters/registry.h"
#include "parameters/unused_settings.h"
#include "study/axis.h"

namespace mrc {
namespace {

bool ends_with_one_of(std::string_view name, const auto& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

bool is_buffer(std::string_view name) {
  constexpr std::array<std::string_view, 10> endings{"entries",     "_banks",   "_tags",  ".bytes", "_buffer_bytes",
                                                     "_fifo_bytes", "_credits", "_depth", ".batch", "_misses"};
  return (name.starts_with("nic.") || name.starts_with("pcie.")) && ends_with_one_of(name, endings);
}

/// Parameters of which a factor relieves, with it.
struct Factor {
  std::string_view name;
  double factor;
  ReliefKind kind;
};
constexpr std::array<Factor, 19> kFactors{{{"nic.core_clock_ghz", 2, ReliefKind::design},
                                           {"nic.datapath_bits", 2, ReliefKind::design},
                                           {"nic.encrypt.width_bits", 2, ReliefKind::design},
                                           {"nic.decrypt.width_bits", 2, ReliefKind::design},
                                           {"nic.qp_scheduler.quantum_bytes", 4, ReliefKind::design},
                                           {"pcie.credit_return_ns", 0.5, ReliefKind::environment},
                                           {"pcie.read_latency_mean_ns", 0.5, ReliefKind::environment},
                                           {"host.post_ns", 0.5, ReliefKind::environment},
                                           {"host.doorbell_ns", 0.5, ReliefKind::environment},
                                           {"host.residual_ns", 0.5, ReliefKind::environment},
                                           {"protocol.mpr_units", 4, ReliefKind::protocol},
                                           {"protocol.max_write_imm", 4, ReliefKind::protocol},
                                           {"protocol.encryption.replay_window", 4, ReliefKind::protocol},
                                           {"cc.base_rtt_ns", 2, ReliefKind::protocol},
                                           {"cc.max_cwnd_bytes", 4, ReliefKind::protocol},
                                           {"traffic.outstanding_messages", 4, ReliefKind::environment},
                                           {"traffic.qps_per_peer", 4, ReliefKind::environment},
                                           {"fabric.cable_delay_ns", 0.5, ReliefKind::environment},
                                           {"fabric.t1_link_gbps", 2, ReliefKind::environment}}};

/// Parameters that one value relieves.
struct Value {
  std::string_view name;
  double value;
  ReliefKind kind;
};
constexpr std::array<Value, 8> kValues{{{"pcie.mrrs_bytes", 4096, ReliefKind::design},
                                        {"pcie.mps_bytes", 512, ReliefKind::design},
                                        {"nic.completion.moderation_count", 1, ReliefKind::design},
                                        {"protocol.mtu_bytes", 4096, ReliefKind::protocol},
                                        {"protocol.sack_threshold_bytes", 16'384, ReliefKind::protocol},
                                        {"fabric.loss_rate", 0, ReliefKind::environment},
                                        {"fabric.corrupt_rate", 0, ReliefKind::environment},
                                        {"fabric.trim_rate", 0, ReliefKind::environment}}};

/// Better is less: intervals, latencies, thresholds that have a value to go to.
bool wants_less(std::string_view name) {
  return name.ends_with("_rate") || name.ends_with("threshold_bytes") || name.ends_with("moderation_count");
}

struct Better {
  double value;
  ReliefKind kind;
};

/// The value that relieves `parameter`, which is `now`; nothing where it cannot be relieved or is already there.
std::optional<Better> better(const Parameter& parameter, double now, double by_default, const NodeConfig& node) {
  const std::string_view name = parameter.name;
  const double largest = parameter.maximum;
  for (const Factor& f : kFactors) {
    if (name != f.name || now == 0) continue;
    // What is below its default by more than the factor returns to it.
    const double value = f.factor < 1 ? now * f.factor : std::min(std::max(now * f.factor, by_default), largest);
    return value == now ? std::nullopt : std::optional<Better>({value, f.kind});
  }
  for (const Value& v : kValues) {
    if (name != v.name) continue;
    const bool helps = wants_less(name) ? now > v.value : now < v.value;
    return helps ? std::optional<Better>({v.value, v.kind}) : std::nullopt;
  }
  if (name == "pcie.generation") {
    // The generation of the defaults, and the one after it for a NIC that has that already.
    return now < largest ? std::optional<Better>({now < by_default ? by_default : largest, ReliefKind::design})
                         : std::nullopt;
  }
  if (name == "pcie.links") {
    return node.pcie.generation >= 6 && now < largest ? std::optional<Better>({2 * now, ReliefKind::design})
                                                      : std::nullopt;
  }
  if (name.starts_with("nic.") && name.ends_with("_cycles")) {
    return now > by_default ? std::optional<Better>({by_default, ReliefKind::design}) : std::nullopt;
  }
  if (!is_buffer(name) || now == 0 || now == largest) return std::nullopt;
  return Better{std::min(now * kBufferRelief, largest), ReliefKind::design};
}

std::string text_of(const Parameter& parameter, double value) {
  if (parameter.type == ParameterType::integer) return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

/// The nodes whose own parameters are worth a look; "": those of all nodes together, for what both are short of.
std::vector<std::string> nodes_of(const ScenarioConfig& scenario) {
  if (scenario.fabric.nics != 2) return {""};
  const std::string& first = scenario.run.node_under_test;
  return {"", first, first == "nic0" ? "nic1" : "nic0"};
}

}  // namespace

std::string_view to_string(ReliefKind kind) {
  constexpr std::array<std::string_view, 3> names{"design", "protocol", "environment"};
  return names[static_cast<std::size_t>(kind)];
}

std::vector<Relief> reliefs(const ScenarioConfig& scenario) {
  const ScenarioConfig defaults;
  std::vector<Relief> found;
  for (const Parameter& parameter : parameters()) {
    if (parameter.type != ParameterType::integer && parameter.type != ParameterType::real) continue;
    // Engines that are not built need no relief.
    if (!scenario.protocol.encryption.on() && is_of_encryption(parameter.name)) continue;
    const double by_default = number_of(parameter.get(defaults, defaults.node_default));
    const auto add = [&](const std::string& node, const NodeConfig& config) {
      const double now = number_of(parameter.get(scenario, config));
      const auto relief = better(parameter, now, by_default, config);
      if (!relief) return;
      const std::string key = node.empty() ? parameter.name : fmt::format("node.{}.{}", node, parameter.name);
      found.push_back({key, text_of(parameter, relief->value), relief->kind});
    };
    if (!parameter.per_node) {
      add("", scenario.node_default);
      continue;
    }
    for (const std::string& node : nodes_of(scenario)) {
      const bool all = node.empty();
      add(node, all ? scenario.node_default : scenario.node(static_cast<NodeId>(std::stoul(node.substr(3)))));
    }
  }
  return found;
}

}  // namespace mrc
