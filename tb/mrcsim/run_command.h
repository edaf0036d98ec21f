// `mrcsim run`: one scenario, one result. `mrcsim host` is a run too, whose NICs programs drive.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parameters/config.h"

namespace mrc {

class Programs;

struct RunOptions {
  std::string scenario;
  std::vector<std::string> assignments;
  std::optional<std::uint64_t> seed;
  std::string out;
  std::string rtl;
  std::string shadow;
  std::string rtl_timing = "transaction";
  bool rtl_apart = false;
  bool bins = false;
  std::string pcap;
  std::string waves;
  std::vector<std::string> wave_nodes;
  std::string wave_window;
  std::string perfetto;
  std::string perfetto_packets;
  std::string format = "text";  ///< of standard output
  bool quiet = false;
  bool only_result = false;
  bool yes = false;
};

/// Adds the subcommand; when it is given, `exit_code` is what the run ended with.
void add_run_command(CLI::App& app, int& exit_code);

/// Options of a run that do not depend on who drives its NICs.
void add_run_options(CLI::App& command, RunOptions& options);
/// A run of the scenario without its trace. `programs` is called once the scenario is known to be sound. Returns the
/// exit code.
int run_programs(const RunOptions& options,
                 const std::function<std::unique_ptr<Programs>(const ScenarioConfig&)>& programs);

}  // namespace mrc
