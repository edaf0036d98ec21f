#include "study/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "parameters/node_key.h"
#include "study/statistics.h"
#include "study/study_error.h"

namespace mrc {
namespace {

using Json = nlohmann::json;
/// Name → value of one result; what is missing is 0.
using Numbers = std::map<std::string, double>;
using Extract = Numbers (*)(const Json&);

Numbers metrics_of(const Json& result) {
  Numbers numbers;
  for (const char* key : {"goodput_gbps", "simulated_time_us"}) numbers[key] = result.at(key).get<double>();
  for (const char* group : {"message_time_us", "messages", "bytes", "packets"}) {
    for (const auto& [key, value] : result.at(group).items()) {
      if (value.is_number()) numbers[fmt::format("{}.{}", group, key)] = value.get<double>();
    }
  }
  const auto add_unless_zero = [&](const std::string& name, double value) {
    if (value != 0) numbers[name] = value;
  };
  // Counters of one transport, and rates of idle nodes, are 0 in most results.
  for (const char* group : {"rocev2", "uet", "reduction"}) {
    if (!result.contains(group)) continue;
    for (const auto& [key, value] : result.at(group).items())
      add_unless_zero(fmt::format("{}.{}", group, key), value.get<double>());
  }
  for (const Json& node : result.at("nodes")) {
    for (const char* key : {"tx_gbps", "rx_gbps"})
      add_unless_zero(fmt::format("{}.{}", node.at("node").get<std::string>(), key), node.at(key).get<double>());
  }
  return numbers;
}

Numbers limits_of(const Json& result) {
  Numbers numbers;
  for (const Json& limit : result.at("limits"))
    numbers[limit.at("cause").get<std::string>()] = limit.at("gbps").get<double>();
  return numbers;
}

Numbers ledger_of(const Json& result) {
  Numbers numbers;
  for (const Json& row : result.at("ledger")) {
    const std::string box = fmt::format("{} {}", row.at("node").get<std::string>(), row.at("box").get<std::string>());
    for (const char* state : {"busy", "starved", "idle"}) numbers[box + " " + state] = row.at(state).get<double>();
    for (const auto& [cause, share] : row.at("blocked").items())
      numbers[box + " blocked by " + cause] = share.get<double>();
  }
  return numbers;
}

Numbers sram_of(const Json& result) {
  Numbers numbers;
  for (const Json& row : result.at("sram"))
    numbers[row.at("structure").get<std::string>()] = row.at("bits").get<double>();
  return numbers;
}

std::vector<ComparedMetric> compare_numbers(const std::vector<ResultGroup>& groups, Extract extract) {
  std::vector<std::vector<Numbers>> numbers;
  std::set<std::string> names;
  for (const ResultGroup& group : groups) {
    auto& of_group = numbers.emplace_back();
    for (const Json& result : group.results) {
      of_group.push_back(extract(result));
      for (const auto& [name, value] : of_group.back()) names.insert(name);
    }
  }
  std::vector<ComparedMetric> metrics;
  for (const std::string& name : names) {
    ComparedMetric metric{.name = name, .mean = {}, .beyond_noise = {}};
    std::vector<double> first;
    for (const auto& of_group : numbers) {
      std::vector<double> values;
      for (const Numbers& of_result : of_group) {
        const auto at = of_result.find(name);
        values.push_back(at == of_result.end() ? 0 : at->second);
      }
      if (first.empty()) first = values;
      metric.mean.push_back(confidence_interval(values).mean);
      metric.beyond_noise.push_back(metric.mean.size() > 1 && beyond_noise(first, values));
    }
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

double largest_difference(const ComparedMetric& metric) {
  double largest = 0;
  for (const double mean : metric.mean) largest = std::max(largest, std::abs(mean - metric.mean.front()));
  return largest;
}

std::vector<ComparedMetric> differing(std::vector<ComparedMetric> metrics) {
  std::erase_if(metrics, [](const ComparedMetric& metric) { return largest_difference(metric) == 0; });
  std::stable_sort(metrics.begin(), metrics.end(), [](const ComparedMetric& a, const ComparedMetric& b) {
    return largest_difference(a) > largest_difference(b);
  });
  return metrics;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

void add_to_list(std::string& list, const std::string& item) {
  if (!list.empty()) list += ", ";
  list += item;
}

/// The parameters of a result, and beside them what else was chosen for the run: faults and RTL blocks.
std::map<std::string, std::string> choices_of(const Json& result) {
  std::map<std::string, std::string> choices;
  for (const auto& [name, value] : result.at("parameters").items()) choices[name] = text_of(value);
  choices.erase("seed");
  for (const Json& row : result.at("rtl")) {
    add_to_list(choices["rtl of " + row.at("node").get<std::string>()],
                fmt::format("{} ({})", row.at("block").get<std::string>(), row.at("mode").get<std::string>()));
  }
  for (const Json& event : result.at("events")) {
    const auto what = event.at("what").get<std::string>();
    if (!what.starts_with("fault.")) continue;
    add_to_list(choices[fmt::format("{} at {} us", what, event.at("time_us").dump())],
                event.at("where").get<std::string>());
  }
  return choices;
}

/// One row for consecutive nodes with the same values, named as in a scenario: "node.nic64-126.transport".
std::map<std::string, std::vector<std::string>> with_ranges_of_nodes(
    const std::map<std::string, std::vector<std::string>>& parameters) {
  std::map<std::string, std::vector<std::string>> joined;
  std::map<std::pair<std::string, NodeId>, const std::vector<std::string>*> of_nodes;
  for (const auto& [name, values] : parameters) {
    if (const std::optional<NodeKey> of_node = parse_node_key(name)) {
      of_nodes[{of_node->key, of_node->node}] = &values;
    } else {
      joined[name] = values;
    }
  }
  for (auto first = of_nodes.begin(); first != of_nodes.end();) {
    const auto& [key, from] = first->first;
    NodeId to = from;
    auto next = std::next(first);
    for (; next != of_nodes.end() && next->first == std::pair(key, to + 1) && *next->second == *first->second; ++next)
      ++to;
    const std::string nodes = to == from ? fmt::format("{}", from) : fmt::format("{}-{}", from, to);
    joined[fmt::format("node.nic{}.{}", nodes, key)] = *first->second;
    first = next;
  }
  return joined;
}

void compare_parameters(const std::vector<ResultGroup>& groups, Comparison& comparison) {
  std::set<std::string> names;
  std::vector<std::map<std::string, std::string>> choices;
  for (const ResultGroup& group : groups) {
    for (const auto& [name, value] : choices.emplace_back(choices_of(group.results.front()))) names.insert(name);
  }
  for (const std::string& name : names) {
    std::vector<std::string> values;
    for (const auto& of_group : choices) {
      const auto at = of_group.find(name);
      values.push_back(at == of_group.end() ? "-" : at->second);
    }
    const bool differs = std::any_of(values.begin(), values.end(), [&](const auto& v) { return v != values.front(); });
    if (differs) comparison.parameters[name] = std::move(values);
  }
  comparison.parameters = with_ranges_of_nodes(comparison.parameters);
}

Comparison compare_whole(const std::vector<ResultGroup>& groups) {
  Comparison comparison;
  for (const ResultGroup& group : groups) {
    comparison.names.push_back(group.name);
    comparison.seeds.push_back(group.results.size());
    comparison.noise_known = comparison.noise_known || group.results.size() > 1;
  }
  compare_parameters(groups, comparison);
  comparison.metrics = compare_numbers(groups, metrics_of);
  comparison.limits = differing(compare_numbers(groups, limits_of));
  comparison.ledger = differing(compare_numbers(groups, ledger_of));
  comparison.sram = differing(compare_numbers(groups, sram_of));
  return comparison;
}

}  // namespace

Comparison compare(const std::vector<ResultGroup>& groups) {
  try {
    return compare_whole(groups);
  } catch (const Json::exception& error) {
    std::string names;
    for (const ResultGroup& group : groups) names += (names.empty() ? "" : " or ") + group.name;
    throw StudyError(fmt::format("{} is damaged: {}", names, error.what()));
  }
}

}  // namespace mrc
