#include "mrcsim/host_command.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mrcsim/run_command.h"
#include "programs/launcher.h"
#include "programs/lock_step.h"

namespace mrc {
namespace {

struct HostOptions {
  RunOptions run;
  std::vector<std::string> words;  ///< of all programs, with -- between them
  std::vector<std::uint32_t> nodes;
  std::optional<std::uint32_t> node;
  std::string join;
  bool beyond_mrc = false;
};

/// Programs with what they are started by, which has to outlive them.
class LaunchedPrograms : public LockStep {
 public:
  LaunchedPrograms(const ScenarioConfig& scenario, std::unique_ptr<Launcher> launcher,
                   std::vector<ProgramCommand> commands, bool beyond_mrc)
      : LockStep(scenario, *launcher, std::move(commands), beyond_mrc), launcher_(std::move(launcher)) {}

 private:
  std::unique_ptr<Launcher> launcher_;
};

std::vector<ProgramCommand> commands_of(const HostOptions& options, const ScenarioConfig& scenario) {
  std::vector<ProgramCommand> commands(1);
  for (const std::string& word : options.words) {
    if (word == "--") {
      commands.emplace_back();
    } else {
      commands.back().words.push_back(word);
    }
  }
  if (!options.nodes.empty() && options.nodes.size() != commands.size()) {
    throw std::invalid_argument(
        fmt::format("--nodes names {} nodes for {} programs", options.nodes.size(), commands.size()));
  }
  for (std::size_t i = 0; i < commands.size(); ++i) {
    commands[i].node = options.nodes.empty() ? static_cast<NodeId>(i) : options.nodes[i];
    if (commands[i].words.empty()) throw std::invalid_argument(fmt::format("program {} is empty", i + 1));
    if (commands[i].node < scenario.fabric.nics) continue;
    throw std::invalid_argument(
        fmt::format("{} is to run on nic{}; the scenario has nic0 to nic{} (fabric.nics, --nodes)",
                    commands[i].words.front(), commands[i].node, scenario.fabric.nics - 1));
  }
  return commands;
}

/// Goodput and limits are those of the last program's node, a client as a rule, unless the command line says otherwise.
void choose_node_under_test(HostOptions& options) {
  const std::string key = "run.node_under_test=";
  for (const std::string& assignment : options.run.assignments) {
    if (assignment.starts_with(key)) return;
  }
  const auto last = std::count(options.words.begin(), options.words.end(), "--");
  const std::uint32_t node = options.nodes.empty() ? static_cast<std::uint32_t>(last) : options.nodes.back();
  options.run.assignments.insert(options.run.assignments.begin(), fmt::format("{}nic{}", key, node));
}

std::filesystem::path needed_libraries() {
  std::filesystem::path libraries = verbs_folder();
  if (libraries.empty()) {
    throw std::invalid_argument(
        "host: the provider for libibverbs is not beside this mrcsim; it is built where libibverbs' headers are "
        "(Debian: libibverbs-dev)");
  }
  return libraries;
}

void use_node(HostOptions& options) {
  if (!options.node) return;
  if (!options.nodes.empty()) throw std::invalid_argument("host: --node and --nodes; expected one of them");
  if (std::find(options.words.begin(), options.words.end(), "--") != options.words.end()) {
    throw std::invalid_argument("host: --node is for one program; --nodes names a node for each");
  }
  options.nodes = {*options.node};
}

[[noreturn]] void join(const HostOptions& options) {
  if (!options.node) {
    throw std::invalid_argument("host: no scenario; expected SCENARIO, or --node N to join a run that has one");
  }
  const RunOptions& run = options.run;
  if (!run.assignments.empty() || run.seed || !run.out.empty() || options.beyond_mrc) {
    throw std::invalid_argument("host: a program that joins a run takes the run's settings: expected --node N -- …");
  }
  join_run(options.join, {*options.node, options.words}, needed_libraries());
}

std::unique_ptr<Programs> make_programs(const HostOptions& options, const ScenarioConfig& scenario) {
  std::vector<ProgramCommand> commands = commands_of(options, scenario);
  auto launcher = std::make_unique<Launcher>(scenario.fabric.nics, needed_libraries());
  return std::make_unique<LaunchedPrograms>(scenario, std::move(launcher), std::move(commands), options.beyond_mrc);
}

}  // namespace

std::vector<std::string> take_programs(std::vector<std::string>& arguments) {
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark == arguments.end()) return {};
  std::vector<std::string> programs(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return programs;
}

void add_host_command(CLI::App& app, const std::vector<std::string>& programs, int& exit_code) {
  auto options = std::make_shared<HostOptions>();
  CLI::App* command =
      app.add_subcommand("host", "Run programs that use RDMA on the modeled NICs: SCENARIO -- program … -- program …");
  command->add_option("SCENARIO", options->run.scenario,
                      "scenario file (TOML), whose trace is not played. Without it the program joins a run");
  command
      ->add_option("--nodes", options->nodes,
                   "node of each program, such as 0,1,1; default: the first on nic0, the second on nic1 …")
      ->delimiter(',');
  command->add_option("--node", options->node, "node of the one program, such as 1");
  command->add_option("--join", options->join, "folder of the run to join, where there are several");
  command->add_flag("--beyond-mrc", options->beyond_mrc,
                    "carry SEND, READ and atomic operations too, which MRC does not have");
  add_run_options(*command, options->run);
  command->callback([options, &programs, &exit_code] {
    if (programs.empty()) throw std::invalid_argument("host: no program; expected SCENARIO -- PROGRAM … -- PROGRAM …");
    options->words = programs;
    use_node(*options);
    if (options->run.scenario.empty()) join(*options);
    choose_node_under_test(*options);
    exit_code = run_programs(options->run, [&](const ScenarioConfig& s) { return make_programs(*options, s); });
  });
}

}  // namespace mrc
