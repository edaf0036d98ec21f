// Builds the registry: what a *_parameters.cpp needs to add the rows of its neighbourhood.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parameters/registry.h"

namespace mrc {

/// The words of an enumeration in the order of its values; specialized beside the rows that use it.
template <typename Enum>
std::vector<std::string> words_of();

struct ParameterRange {
  double minimum = 0;
  double maximum = 0;
};

template <typename Field>
ParameterType parameter_type() {
  if constexpr (std::is_same_v<Field, bool>) return ParameterType::boolean;
  if constexpr (std::is_enum_v<Field>) return ParameterType::word;
  if constexpr (std::is_floating_point_v<Field>) return ParameterType::real;
  if constexpr (std::is_same_v<Field, std::string>) return ParameterType::text;
  return ParameterType::integer;
}

template <typename Field>
ParameterValue parameter_value(const Field& field) {
  if constexpr (std::is_same_v<Field, bool> || std::is_same_v<Field, std::string>)
    return field;
  else if constexpr (std::is_enum_v<Field>)
    return words_of<Field>()[static_cast<std::size_t>(field)];
  else if constexpr (std::is_floating_point_v<Field>)
    return static_cast<double>(field);
  else
    return static_cast<std::int64_t>(field);
}

template <typename Field>
void set_field(Field& field, const ParameterValue& value) {
  if constexpr (std::is_same_v<Field, bool>)
    field = std::get<bool>(value);
  else if constexpr (std::is_same_v<Field, std::string>)
    field = std::get<std::string>(value);
  else if constexpr (std::is_enum_v<Field>) {
    const auto words = words_of<Field>();
    field = static_cast<Field>(std::find(words.begin(), words.end(), std::get<std::string>(value)) - words.begin());
  } else if constexpr (std::is_floating_point_v<Field>)
    field = std::get<double>(value);
  else
    field = static_cast<Field>(std::get<std::int64_t>(value));
}

/// The table under construction. `field` is a function from a configuration to a reference to the field.
class ParameterTable {
 public:
  template <typename FieldOf>
  void node(std::string name, FieldOf field, std::string_view unit, ParameterRange range, std::string_view meaning,
            ParameterSource source) {
    using Field = std::remove_reference_t<decltype(field(std::declval<NodeConfig&>()))>;
    Parameter& p = add<Field>(std::move(name), unit, range, meaning, source);
    p.per_node = true;
    p.get = [field](const ScenarioConfig&, const NodeConfig& config) {
      return parameter_value(field(const_cast<NodeConfig&>(config)));
    };
    p.set = [field](ScenarioConfig&, NodeConfig& config, const ParameterValue& value) {
      set_field(field(config), value);
    };
  }
  template <typename FieldOf>
  void scenario(std::string name, FieldOf field, std::string_view unit, ParameterRange range, std::string_view meaning,
                ParameterSource source) {
    using Field = std::remove_reference_t<decltype(field(std::declval<ScenarioConfig&>()))>;
    Parameter& p = add<Field>(std::move(name), unit, range, meaning, source);
    p.get = [field](const ScenarioConfig& config, const NodeConfig&) {
      return parameter_value(field(const_cast<ScenarioConfig&>(config)));
    };
    p.set = [field](ScenarioConfig& config, NodeConfig&, const ParameterValue& value) {
      set_field(field(config), value);
    };
  }
  /// A time that the model keeps in picoseconds and people write in nanoseconds.
  template <typename FieldOf>
  void scenario_ns(std::string name, FieldOf field, ParameterRange range, std::string_view meaning,
                   ParameterSource source) {
    Parameter& p = add<double>(std::move(name), "ns", range, meaning, source);
    p.get = [field](const ScenarioConfig& config, const NodeConfig&) {
      return ParameterValue(static_cast<double>(field(const_cast<ScenarioConfig&>(config))) / 1000.0);
    };
    p.set = [field](ScenarioConfig& config, NodeConfig&, const ParameterValue& value) {
      field(config) = static_cast<TimePs>(std::llround(std::get<double>(value) * 1000.0));
    };
  }
  /// The parameter added last takes only these.
  void only(std::vector<std::string> words) { parameters_.back().words = std::move(words); }
  /// What the parameter added last may be in existing hardware and software.
  void plausible(double low, double high) {
    parameters_.back().plausible_low = low;
    parameters_.back().plausible_high = high;
  }

  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  template <typename Field>
  Parameter& add(std::string name, std::string_view unit, ParameterRange range, std::string_view meaning,
                 ParameterSource source) {
    Parameter p{.name = std::move(name),
                .type = parameter_type<Field>(),
                .unit = unit,
                .minimum = range.minimum,
                .maximum = range.maximum,
                .words = {},
                .meaning = meaning,
                .source = source,
                .per_node = false,
                .get = {},
                .set = {}};
    if constexpr (std::is_enum_v<Field>) p.words = words_of<Field>();
    parameters_.push_back(std::move(p));
    return parameters_.back();
  }

  std::vector<Parameter> parameters_;
};

inline constexpr double k1M = 1 << 20;
inline constexpr double k1G = 1 << 30;

}  // namespace mrc

// Rows of a function whose ParameterTable is called `table`. A parameter is named like its field, so that the name is
// written once.
#define MRC_NODE(field, unit, minimum, maximum, meaning, source) \
  table.node(                                                    \
      #field, [](NodeConfig & c) -> auto& { return c.field; }, unit, {minimum, maximum}, meaning, source)
#define MRC_SCENARIO(field, unit, minimum, maximum, meaning, source) \
  table.scenario(                                                    \
      #field, [](ScenarioConfig & c) -> auto& { return c.field; }, unit, {minimum, maximum}, meaning, source)
// A box's pipeline; `source` says whether its RTL was measured.
#define MRC_PIPELINE(box, source)                                                                               \
  table.node(                                                                                                   \
      #box ".latency_cycles", [](NodeConfig & c) -> auto& { return c.box.pipeline.latency_cycles; }, "cycles",  \
      {1, 10'000}, "cycles from accepting an item to its result", source);                                      \
  table.node(                                                                                                   \
      #box ".initiation_interval_cycles",                                                                       \
      [](NodeConfig & c) -> auto& { return c.box.pipeline.initiation_interval_cycles; }, "cycles", {1, 10'000}, \
      "minimum cycles from accepting an item to accepting the next", source)

// A memory of the floorplan: its banks and ports, and the errors it is given.
#define MRC_MEMORY(memory)                                                                                         \
  MRC_NODE(memory.banks, "SRAM banks", 1, 64, "banks, each with its own ports", assumption);                       \
  table.only({"1", "2", "4", "8", "16", "32", "64"});                                                              \
  MRC_NODE(memory.ports, "", 0, 0, "ports per bank: one access per cycle, one read and one write, or any two",     \
           assumption);                                                                                            \
  MRC_NODE(memory.correctable_per_gbit, "1/Gbit", 0, 1e9, "single-bit errors per 2^30 bits accessed", assumption); \
  MRC_NODE(memory.uncorrectable_per_gbit, "1/Gbit", 0, 1e9, "double-bit errors per 2^30 bits accessed", assumption)
