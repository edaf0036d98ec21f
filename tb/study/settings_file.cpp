#include "study/settings_file.h"

#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "parameters/scenario.h"
#include "parameters/toml_file.h"
#include "study/axis.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

void collect_sizes(const std::string& path, const toml::table& table, const std::string& prefix, BufferSizes& sizes) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    const std::string place = place_of(path, key.source());
    if (const toml::table* inner = node.as_table()) {
      collect_sizes(path, *inner, name, sizes);
      continue;
    }
    const Parameter& parameter = parameter_of_key(name, place);
    if (parameter.type != ParameterType::integer || !parameter.words.empty() || name == "seed")
      throw ParameterError(place, fmt::format("{} is not a size: sizes are whole numbers of a range", name));
    const ParameterValue value = checked_value(parameter, scalar_of(node, name, place), place);
    sizes.emplace_back(name, std::get<std::int64_t>(value));
  }
}

/// The table in which the last part of a dotted key lies, made where there is none, and that part.
std::pair<toml::table*, std::string> place_in(toml::table& root, const std::string& key) {
  toml::table* table = &root;
  std::size_t begin = 0;
  for (std::size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.', begin)) {
    const std::string part = key.substr(begin, dot - begin);
    if (!table->contains(part)) table->insert(part, toml::table{});
    table = table->get(part)->as_table();
    begin = dot + 1;
  }
  return {table, key.substr(begin)};
}

void set(toml::table& root, const std::string& key, const ParameterValue& value) {
  const auto [table, name] = place_in(root, key);
  std::visit([&, table = table, &name = name](const auto& v) { table->insert_or_assign(name, v); }, value);
}

void add_fault(toml::table& root, const std::string& key, const std::string& text) {
  const toml::table parsed = parse_toml("fault = " + text, key);
  if (!root.contains("fault")) root.insert("fault", toml::array{});
  toml::table fault = *parsed.get("fault")->as_table();
  fault.is_inline(false);
  root.get("fault")->as_array()->push_back(std::move(fault));
}

}  // namespace

BufferSizes read_sizes(const std::string& path) {
  BufferSizes sizes;
  collect_sizes(path, read_toml(path), "", sizes);
  if (sizes.empty())
    throw ParameterError(path, "holds no size; expected lines such as nic.retransmit_buffer.entries = 283");
  return sizes;
}

void write_sizes(const std::string& path, const Settings& sizes) {
  std::string text =
      fmt::format("{}, for mrcsim attack --sizes; a scenario takes the same lines.\n", kSizesFile.contains);
  for (const auto& [key, value] : sizes) text += fmt::format("{} = {}\n", key, value);
  write_whole_file(path, text, kSizesFile);
}

std::string scenario_text(const RunSubject& subject, const Settings& settings, std::uint64_t seed,
                          const std::string& folder, const std::string& trace) {
  toml::table root = read_toml(subject.scenario);
  Settings all;
  for (const std::string& assignment : subject.assignments) {
    const std::size_t equals = assignment.find('=');
    all.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  all.insert(all.end(), settings.begin(), settings.end());
  for (const auto& [key, value] : all) {
    if (names_fault(key)) {
      add_fault(root, key, value);
    } else {
      set(root, key, parse_value(parameter_of_key(key, key), value, key));
    }
  }
  const ScenarioConfig scenario = load_scenario(subject.scenario, {subject.assignments, std::nullopt});
  const auto from_folder = [&](const std::string& path) {
    return fs::proximate(fs::absolute(path), fs::absolute(folder)).string();
  };
  set(root, "traffic.trace", trace.empty() ? from_folder(scenario.traffic.trace) : trace);
  const auto set_histogram = [&](const std::string& node, const NodeConfig& config) {
    const std::string& path = config.pcie.read_latency_histogram;
    if (!path.empty()) set(root, node + "pcie.read_latency_histogram", from_folder(path));
  };
  set_histogram("", scenario.node_default);
  for (const auto& [id, node] : scenario.node_override) set_histogram(fmt::format("node.nic{}.", id), node);
  set(root, "seed", static_cast<std::int64_t>(seed));
  std::ostringstream text;
  text << root << "\n";
  return text.str();
}

}  // namespace mrc
