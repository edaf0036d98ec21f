// Runs the executable and keeps what it printed.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace mrc {

struct ProcessResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// `command` goes to a shell in the repository's root; "mrcsim" at its beginning is replaced by the executable's path.
ProcessResult run_process(const std::string& command);

/// A new folder of the running test's own; commands name it with %D.
std::filesystem::path test_folder();

/// Writes flows.csv with `flows` (lines of a flow CSV) and scenario.toml, whose trace it is, into the test's folder.
/// Runs it with `arguments` into the folder `out`, expects exit 0 and returns result.json.
nlohmann::json run_flows(const std::string& flows, const std::string& scenario, const std::string& arguments = "",
                         const std::string& out = "out");

std::string read_text(const std::filesystem::path& path);
nlohmann::json read_json(const std::filesystem::path& path);
/// result.json in `folder` of the test's folder.
nlohmann::json result_of(const std::string& folder = "out");

/// Arguments: 64 MiB with losses, trimmed packets, marks and duplicates, so holes, NACKs and SACKs of every kind.
inline constexpr const char* kLossyRun =
    " run tb/scenarios/pair.toml --quiet --set traffic.rows=64 --set fabric.loss_rate=0.001 "
    "--set fabric.trim_rate=0.002 --set fabric.ecn_rate=0.01 ";

}  // namespace mrc
