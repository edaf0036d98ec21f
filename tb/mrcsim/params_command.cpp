#include "mrcsim/params_command.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "mrcsim/parameter_causes.h"
#include "mrcsim/scenario_schema.h"
#include "parameters/registry.h"
#include "parameters/scenario.h"

namespace mrc {
namespace {

struct ParamsOptions {
  std::string scenario;
  std::vector<std::string> assignments;
  std::string format = "table";
  std::vector<std::string> explain;
};

std::string default_of(const Parameter& p) {
  static const ScenarioConfig defaults;
  return to_string(p.get(defaults, defaults.node_default));
}

std::string section_of(const Parameter& p) {
  const std::size_t dot = p.name.find('.');
  return dot == std::string::npos ? "top level" : p.name.substr(0, dot);
}

void print_table() {
  fmt::print("{:<48} {:>14}  {:<34} {:<10} {}\n", "name", "default", "allowed", "source", "meaning");
  for (const Parameter& p : parameters()) {
    fmt::print("{:<48} {:>14}  {:<34} {:<10} {}\n", p.name, default_of(p), p.allowed(), to_string(p.source), p.meaning);
  }
}

void print_markdown() {
  fmt::print(
      "# Parameters\n\nWritten by `mrcsim params --format markdown`. A scenario file sets parameters in tables of the "
      "same names; "
      "`--set name=value` overrides the file, and\n`[node.nicN]` overrides those marked *node*. Numbers "
      "may be written with "
      "units: \"512KiB\", \"64MB\", \"100Gb/s\", \"1.5us\", \"1%\". Sources: spec (OCP MRC 1.0), api (its C headers), "
      "paper, measured,\ncalibrated (fitted once to one "
      "published "
      "figure), assumption (not published; vary it before you rely on it).\n");
  std::string section;
  for (const Parameter& p : parameters()) {
    if (section_of(p) != section) {
      section = section_of(p);
      fmt::print("\n## {}\n\n| name | default | allowed | | source | meaning |\n|---|---|---|---|---|---|\n", section);
    }
    std::string allowed = p.allowed();
    for (std::size_t at = allowed.find('|'); at != std::string::npos; at = allowed.find('|', at + 2))
      allowed.replace(at, 1, "\\|");
    fmt::print("| `{}` | {} | {} | {} | {} | {} |\n", p.name, default_of(p), allowed, p.per_node ? "node" : "",
               to_string(p.source), p.meaning);
  }
}

void print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Parameter& p : parameters()) {
    nlohmann::ordered_json row{
        {"name", p.name}, {"type", to_string(p.type)}, {"unit", p.unit}, {"default", default_of(p)}};
    if (p.type == ParameterType::integer || p.type == ParameterType::real) {
      row["minimum"] = p.minimum;
      row["maximum"] = p.maximum;
    }
    row["words"] = p.words;
    row["per_node"] = p.per_node;
    row["source"] = to_string(p.source);
    row["meaning"] = p.meaning;
    all.push_back(std::move(row));
  }
  fmt::print("{}\n", all.dump(2));
}

void print_schema() {
  fmt::print("{}", scenario_schema());
}

/// What a label of source says about the default.
std::string_view why_default(ParameterSource source) {
  switch (source) {
    case ParameterSource::spec:
      return "OCP MRC 1.0 has it, or names its range";
    case ParameterSource::api:
      return "the C headers of MRC have it";
    case ParameterSource::paper:
      return "the MRC paper has it";
    case ParameterSource::measured:
      return "measured on hardware, with the measurement published";
    case ParameterSource::calibrated:
      return "fitted once to one published figure (docs/latency.md)";
    case ParameterSource::assumption:
      return "chosen, not published: vary it before you rely on a result";
  }
  return "";
}

/// Documents by the beginning of a parameter's name; the longest that fits.
std::string_view document_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 33> documents{{
      {"", "docs/result.md"},
      {"traffic.", "docs/traces.md"},
      {"accelerator.", "docs/traces.md"},
      {"nic.", "docs/limits.md"},
      {"nic.memory.", "docs/floorplan.md"},
      {"nic.port.", "docs/faults.md"},
      {"nic.port.mac_fec_latency_ns", "docs/latency.md"},
      {"pcie.", "docs/pcie.md"},
      {"host.", "docs/latency.md"},
      {"host.root_complex.", "docs/pcie.md"},
      {"host.iommu.", "docs/pcie.md"},
      {"host.cache.", "docs/pcie.md"},
      {"host.memory.", "docs/pcie.md"},
      {"host.numa.", "docs/pcie.md"},
      {"protocol.", "docs/architecture.md"},
      {"protocol.ev_", "docs/path_policies.md"},
      {"protocol.path_", "docs/path_policies.md"},
      {"protocol.assumed_bad_losses", "docs/faults.md"},
      {"protocol.probe_", "docs/faults.md"},
      {"protocol.timeout_", "docs/faults.md"},
      {"cc.", "docs/validation.md"},
      {"rocev2.", "docs/baselines.md"},
      {"uet.", "docs/transports.md"},
      {"transport", "docs/baselines.md"},
      {"fabric.", "docs/fabric.md"},
      {"fabric.macsec", "docs/encryption.md"},
      {"fabric.fec", "docs/links.md"},
      {"fabric.bit_error_rate", "docs/links.md"},
      {"fabric.link_retry", "docs/links.md"},
      {"nic.encrypt.", "docs/encryption.md"},
      {"nic.decrypt.", "docs/encryption.md"},
      {"nic.port.encrypt_fifo_entries", "docs/encryption.md"},
      {"protocol.encryption.", "docs/encryption.md"},
  }};
  std::pair<std::string_view, std::string_view> best = documents.front();
  for (const auto& document : documents) {
    if (name.starts_with(document.first) && document.first.size() > best.first.size()) best = document;
  }
  return best.second;
}

/// How one sees in a result that the value limits.
std::string sign_of_limit(const Parameter& p) {
  const std::vector<std::string> causes = causes_relieved_by(p.name);
  if (!causes.empty()) {
    return fmt::format("a row {} in limits of result.json, which another value relieves", fmt::join(causes, " or "));
  }
  return fmt::format("no cause of limits names it: mrcsim sweep SCENARIO --vary {}=… shows what it changes", p.name);
}

void explain(const std::string& name) {
  const Parameter* p = find_parameter(name);
  if (p == nullptr) throw ParameterError("--explain " + name, "unknown key; nearest: " + nearest_parameter(name));
  fmt::print("{}\n  {}\n  type     {}\n  default  {}{}{}\n  allowed  {}\n  source   {}: {}\n  node     {}\n", p->name,
             p->meaning, to_string(p->type), default_of(*p), p->unit.empty() ? "" : " ", p->unit, p->allowed(),
             to_string(p->source), why_default(p->source),
             p->per_node ? "can differ: node.nicN." + p->name : "the same on all nodes");
  fmt::print("  limits   {}\n  read on  {}\n", sign_of_limit(*p), document_of(p->name));
}

/// What a scenario has of all parameters, and what nodes of it have that differs.
struct Chosen {
  std::string name;
  std::string value;
  std::string usual;
};

std::vector<Chosen> values_of(const ScenarioConfig& scenario) {
  std::vector<Chosen> values;
  for (const Parameter& p : parameters()) {
    const std::string value = to_string(p.get(scenario, scenario.node_default));
    values.push_back({p.name, value, default_of(p)});
    for (const auto& [node, config] : scenario.node_override) {
      const std::string own = to_string(p.get(scenario, config));
      if (p.per_node && own != value) values.push_back({fmt::format("node.nic{}.{}", node, p.name), own, value});
    }
  }
  return values;
}

void print_scenario(const ParamsOptions& options) {
  if (options.format == "markdown" || options.format == "schema")
    throw ParameterError("--format " + options.format, "is about all parameters and takes no scenario");
  const ScenarioConfig scenario = load_scenario(options.scenario, {options.assignments, std::nullopt});
  if (options.format == "json") {
    nlohmann::ordered_json all = nlohmann::ordered_json::object();
    for (const Chosen& chosen : values_of(scenario)) all[chosen.name] = chosen.value;
    fmt::print("{}\n", all.dump(2));
    return;
  }
  fmt::print("  {:<54} {:>20}  {}\n", "name", "value", "default, if different");
  for (const Chosen& chosen : values_of(scenario)) {
    const bool other = chosen.value != chosen.usual;
    fmt::print("{} {:<54} {:>20}  {}\n", other ? '*' : ' ', chosen.name, chosen.value, other ? chosen.usual : "");
  }
}

void run(const ParamsOptions& options) {
  static const std::map<std::string, void (*)()> printers{
      {"table", print_table}, {"markdown", print_markdown}, {"json", print_json}, {"schema", print_schema}};
  if (!options.explain.empty()) {
    std::for_each(options.explain.begin(), options.explain.end(), explain);
    return;
  }
  if (!options.scenario.empty()) {
    print_scenario(options);
    return;
  }
  if (!options.assignments.empty()) throw ParameterError("--set", "SCENARIO is missing");
  printers.at(options.format)();
}

}  // namespace

void add_params_command(CLI::App& app) {
  auto options = std::make_shared<ParamsOptions>();
  CLI::App* command = app.add_subcommand("params", "List all parameters, or the values of a scenario");
  command->add_option("SCENARIO", options->scenario, "scenario file (TOML): lists its values, * if not the default");
  command->add_option("--set", options->assignments, "key=value for SCENARIO")->take_all()->expected(1, -1);
  command
      ->add_option("--format", options->format,
                   "table, markdown or json; schema: a JSON schema of scenario files, for editors and validators")
      ->check(CLI::IsMember({"table", "markdown", "json", "schema"}));
  command->add_option("--explain", options->explain, "print everything about these parameters")->expected(1, -1);
  command->callback([options] { run(*options); });
}

}  // namespace mrc
