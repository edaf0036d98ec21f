#include "mrcsim/scenario_schema.h"

#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "parameters/quantity.h"
#include "parameters/registry.h"

namespace mrc {
namespace {

using SchemaJson = nlohmann::ordered_json;

/// As a number where it is whole, so that 8 is not written as 8.0.
SchemaJson number_json(double value) {
  constexpr double most_exact = 1LL << 53;
  const bool whole = value == static_cast<double>(static_cast<std::int64_t>(value)) && value <= most_exact;
  return whole ? SchemaJson(static_cast<std::int64_t>(value)) : SchemaJson(value);
}

struct SchemaValue {
  ParameterType type;
  std::string_view unit;
  double minimum;
  double maximum;
  const std::vector<std::string>& words;
};

/// A number alone, or as text with its unit.
SchemaJson number_schema(const SchemaValue& value) {
  const bool whole = value.type == ParameterType::integer;
  SchemaJson plain{{"type", whole ? "integer" : "number"},
                   {"minimum", number_json(value.minimum)},
                   {"maximum", number_json(value.maximum)}};
  if (!value.words.empty()) {
    plain = {{"enum", SchemaJson::array()}};
    for (const std::string& word : value.words) plain["enum"].push_back(SchemaJson::parse(word));
  }
  if (whole && value.unit.empty()) return plain;
  return {{"anyOf", {plain, {{"type", "string"}, {"pattern", quantity_pattern(value.unit)}}}}};
}

SchemaJson value_schema(const SchemaValue& value) {
  switch (value.type) {
    case ParameterType::boolean:
      return {{"type", "boolean"}};
    case ParameterType::integer:
    case ParameterType::real:
      return number_schema(value);
    case ParameterType::word:
    case ParameterType::text:
      break;
  }
  SchemaJson schema{{"type", "string"}};
  if (!value.words.empty()) schema["enum"] = value.words;
  return schema;
}

SchemaJson default_json(const Parameter& p) {
  static const ScenarioConfig defaults;
  return std::visit([](const auto& value) { return SchemaJson(value); }, p.get(defaults, defaults.node_default));
}

SchemaJson empty_table() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", SchemaJson::object()}};
}

/// Tables by the parts of the parameters' names.
SchemaJson tables_of(bool only_of_nodes) {
  SchemaJson root = empty_table();
  for (const Parameter& p : parameters()) {
    if (only_of_nodes && !p.per_node) continue;
    SchemaJson* table = &root;
    std::string_view rest = p.name;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      SchemaJson& inner = (*table)["properties"][std::string(rest.substr(0, dot))];
      if (inner.is_null()) inner = empty_table();
      table = &inner;
      rest.remove_prefix(dot + 1);
    }
    SchemaJson schema = value_schema({p.type, p.unit, p.minimum, p.maximum, p.words});
    schema["description"] = fmt::format("{}{}{} (source of the default: {})", p.meaning, p.unit.empty() ? "" : ", in ",
                                        p.unit, to_string(p.source));
    schema["default"] = default_json(p);
    (*table)["properties"][std::string(rest)] = std::move(schema);
  }
  return root;
}

SchemaJson fault_schema(FaultKind kind) {
  SchemaJson schema = empty_table();
  const std::vector<std::string> allowed = fault_keys_of(kind);
  for (const std::string& name : allowed) {
    for (const FaultKey& key : fault_keys()) {
      if (key.name != name) continue;
      SchemaJson value = name == "kind" ? SchemaJson{{"const", to_string(kind)}}
                                        : value_schema({key.type, key.unit, key.minimum, key.maximum, key.words});
      value["description"] = fmt::format("{}{}{}", key.meaning, key.unit.empty() ? "" : ", in ", key.unit);
      schema["properties"][name] = std::move(value);
    }
  }
  schema["required"] = required_fault_keys_of(kind);
  return schema;
}

}  // namespace

std::string scenario_schema() {
  SchemaJson schema = tables_of(false);
  schema["properties"]["node"] = {{"description", "what differs on single nodes: [node.nic3.pcie]"},
                                  {"type", "object"},
                                  {"additionalProperties", false},
                                  {"patternProperties", {{"^nic[0-9]+(-[0-9]+)?$", tables_of(true)}}}};
  SchemaJson kinds = SchemaJson::array();
  const std::size_t count = fault_kinds().size();
  for (std::size_t kind = 0; kind < count; ++kind) kinds.push_back(fault_schema(static_cast<FaultKind>(kind)));
  schema["properties"]["fault"] = {{"description", "timed faults, a [[fault]] table for each"},
                                   {"type", "array"},
                                   {"items", {{"oneOf", std::move(kinds)}}}};
  // A scenario needs a trace.
  schema["required"] = {"traffic"};
  schema["properties"]["traffic"]["required"] = {"trace"};
  SchemaJson whole{{"$schema", "http://json-schema.org/draft-07/schema#"},
                   {"title", "Scenario of mrcsim " MRCSIM_VERSION},
                   {"description", "written by mrcsim params --format schema"}};
  whole.update(schema);
  return whole.dump(2) + "\n";
}

}  // namespace mrc
