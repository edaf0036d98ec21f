// The command line: subcommands, and one clear line with exit code 2 for everything that is wrong with the input.
#include "mrcsim/command_line.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "mpi/launcher.h"
#include "mrcsim/attack_command.h"
#include "mrcsim/build_info.h"
#include "mrcsim/calibrate_command.h"
#include "mrcsim/compare_command.h"
#include "mrcsim/cosim_command.h"
#include "mrcsim/exit_code.h"
#include "mrcsim/fabric_command.h"
#include "mrcsim/fit_command.h"
#include "mrcsim/floorplan_command.h"
#include "mrcsim/help_command.h"
#include "mrcsim/host_command.h"
#include "mrcsim/isolation_command.h"
#include "mrcsim/latency_command.h"
#include "mrcsim/params_command.h"
#include "mrcsim/pcie_command.h"
#include "mrcsim/report_command.h"
#include "mrcsim/report_error.h"
#include "mrcsim/run_command.h"
#include "mrcsim/size_command.h"
#include "mrcsim/sweep_command.h"
#include "mrcsim/trace_command.h"
#include "mrcsim/validate_command.h"
#include "mrcsim/why_command.h"
#include "parameters/input_file.h"

namespace mrc {
namespace {

constexpr const char* kProgram = "mrcsim";

/// What may have been meant: options where it begins with a dash, commands otherwise, where there are some.
std::vector<std::string> names_like(const CLI::App& app, const std::string& word) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  if (!word.starts_with("-") && !commands.empty()) return commands;
  std::vector<std::string> options;
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) options.push_back("--" + option->get_lnames().front());
  }
  return options;
}

/// CLI11's own exit codes lie above 100; ours are 0 for help and version, 2 for anything wrong.
int usage(const CLI::App& app, const CLI::ParseError& error) {
  if (!speaks()) return kExitOk;
  if (error.get_exit_code() == 0) return app.exit(error);
  const CLI::App* command = &app;
  for (auto chosen = command->get_subcommands(); !chosen.empty(); chosen = command->get_subcommands())
    command = chosen.front();
  const std::vector<std::string> unknown = command->remaining();
  if (!unknown.empty()) {
    fmt::print(stderr, "mrcsim: unknown argument {}; nearest: {} (see mrcsim{} --help)\n", printable(unknown.front()),
               nearest(unknown.front(), names_like(*command, unknown.front())),
               command == &app ? "" : " " + command->get_name());
  } else {
    fmt::print(stderr, "mrcsim: {}\n", printable(error.what()));
  }
  return kExitBadInput;
}

void add_commands_beside_run(CLI::App& app, std::vector<std::string>& programs, int& exit_code) {
  add_host_command(app, programs, exit_code);
  add_fabric_command(app, exit_code);
  add_params_command(app);
  add_floorplan_command(app);
  add_latency_command(app);
  add_pcie_command(app);
  add_fit_command(app);
  add_trace_command(app, exit_code);
  add_sweep_command(app, exit_code);
  add_size_command(app, exit_code);
  add_why_command(app, exit_code);
  add_isolation_command(app, exit_code);
  add_attack_command(app, exit_code);
  add_compare_command(app);
  add_cosim_command(app, exit_code);
  add_calibrate_command(app, exit_code);
  add_report_command(app);
  add_validate_command(app, exit_code);
  add_help_command(app);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  int exit_code = kExitOk;
  CLI::App app("mrcsim: a cycle-approximate model of an MRC NIC");
  app.name("mrcsim");
  app.set_version_flag("--version", version_text, "Print version, commit and what is built in");
  app.require_subcommand(1);
  add_run_command(app, exit_code);
  std::vector<std::string> programs;
  // A study begins thousands of runs: no other command is made ready for them.
  const bool runs = argc > 1 && std::string_view(argv[1]) == "run";
  if (!runs) add_commands_beside_run(app, programs, exit_code);
  try {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (!words.empty() && words.front() == "host") programs = take_programs(words);
    std::vector<std::string> arguments = with_help_last(app, std::move(words));
    const std::string command = arguments.empty() ? "" : arguments.front();
    if (launched_processes() > 1 && command != "run" && !command.starts_with("-")) {
      throw std::invalid_argument(fmt::format(
          "{} processes were started together, but only run supports several processes", launched_processes()));
    }
    // The parser takes them from the end.
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return usage(app, error);
  } catch (...) {
    return report_error(kProgram);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return report_bad_input(kProgram, "standard output cannot be written: what was printed is not whole");
  }
  return exit_code;
}

}  // namespace mrc
