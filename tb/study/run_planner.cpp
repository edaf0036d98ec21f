#include "study/run_planner.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "parameters/scenario.h"
#include "study/digest.h"
#include "study/run_job.h"
#include "study/study_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

std::string with_rank(std::string path, std::uint32_t rank) {
  const std::size_t at = path.find("{rank}");
  return at == std::string::npos ? path : path.replace(at, 6, fmt::format("{}", rank));
}

/// The files of a trace: one, one per rank, or all of a folder in the order of their names.
std::vector<std::string> trace_files(const std::string& path) {
  std::vector<std::string> files;
  if (path.find("{rank}") != std::string::npos) {
    for (std::uint32_t rank = 0; fs::exists(with_rank(path, rank)); ++rank) files.push_back(with_rank(path, rank));
  } else if (fs::is_directory(path)) {
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
  } else if (fs::exists(path)) {
    files.push_back(path);
  }
  if (files.empty())
    throw StudyError(path + ": does not exist (traffic.trace; paths are relative to the scenario file)");
  return files;
}

std::string trace_digest(const std::string& path) {
  static std::map<std::string, std::string> known;
  const auto [entry, added] = known.try_emplace(path);
  if (added) {
    Digest digest;
    for (const std::string& file : trace_files(path)) digest.add_file(file);
    entry->second = digest.hex();
  }
  return entry->second;
}

/// What is set besides the trace, by key, in the parameters' canonical text: the later one wins.
std::map<std::string, std::string> canonical(const std::vector<std::string>& assignments, const Settings& settings) {
  std::map<std::string, std::string> values;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    const std::string key = assignment.substr(0, equals);
    const std::string place = "--set " + assignment;
    if (equals == std::string::npos) throw ParameterError(place, "expected key=value");
    if (names_fault(key)) {
      values[key] = assignment.substr(equals + 1);
      continue;
    }
    values[key] = to_string(parse_value(parameter_of_key(key, place), assignment.substr(equals + 1), place));
  }
  for (const auto& [key, value] : settings) values[key] = value;
  // Its content counts, wherever it is.
  values.erase("traffic.trace");
  return values;
}

std::vector<std::string> assignments_of(const RunSubject& subject, const Settings& settings) {
  std::vector<std::string> all = subject.assignments;
  for (const auto& [key, value] : settings) all.push_back(key + "=" + value);
  return all;
}

}  // namespace

RunPlanner::RunPlanner(RunSubject subject) : subject_(std::move(subject)) {
  first_seed_ = load_scenario(subject_.scenario, {subject_.assignments, std::nullopt}).seed;
  base_digest_ = Digest().add_file(subject_.scenario).add(own_build()).hex();
}

ScenarioConfig RunPlanner::scenario(const Settings& settings) const {
  return load_scenario(subject_.scenario, {assignments_of(subject_, settings), std::nullopt});
}

RunSpec RunPlanner::spec(const Settings& settings, std::uint64_t seed) const {
  Digest digest;
  const ScenarioConfig config = scenario(settings);
  digest.add(base_digest_).add(trace_digest(config.traffic.trace)).add(fmt::format("{}", seed));
  const auto add_histogram = [&](const NodeConfig& node) {
    if (!node.pcie.read_latency_histogram.empty()) digest.add_file(node.pcie.read_latency_histogram);
  };
  add_histogram(config.node_default);
  for (const auto& [id, node] : config.node_override) add_histogram(node);
  for (const auto& [key, value] : canonical(subject_.assignments, settings)) digest.add(key).add(value);
  return {.scenario = subject_.scenario, .settings = settings, .seed = seed, .digest = digest.hex()};
}

std::vector<RunSpec> RunPlanner::specs(const Settings& settings, std::uint32_t seeds) const {
  std::vector<RunSpec> all;
  for (std::uint32_t i = 0; i < seeds; ++i) all.push_back(spec(settings, first_seed_ + i));
  return all;
}

}  // namespace mrc
