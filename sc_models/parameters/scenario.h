// Scenario files: TOML laid out like the registry's names, with [node.nicN] for what differs on one node and [[fault]]
// for the timeline of faults.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parameters/config.h"
#include "parameters/registry.h"

namespace mrc {

/// What the command line says about a scenario; it wins over the file.
struct ScenarioOverrides {
  /// "key=value"; key as in the registry, or node.nicN.key; or fault, fault.1 … with a fault as an inline table
  std::vector<std::string> assignments;
  std::optional<std::uint64_t> seed;
};

/// Reads, overrides and checks a scenario. Throws ParameterError with file, line and what is allowed; nothing is
/// half-read. Paths in the result are resolved against the file's folder. `unused` gets a sentence for each setting
/// that nothing reads (unused_settings.h).
ScenarioConfig load_scenario(const std::string& path, const ScenarioOverrides& overrides,
                             std::vector<std::string>* unused = nullptr);

/// A key of the command line that adds a fault.
bool names_fault(std::string_view key);

/// The defaults with what the overrides say, for who has no scenario file. Throws ParameterError.
ScenarioConfig make_scenario(const ScenarioOverrides& overrides);

/// Rules between parameters; throws ParameterError whose message begins with `place`.
void check_scenario(const ScenarioConfig& scenario, const std::string& place);

}  // namespace mrc
