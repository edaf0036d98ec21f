#include "mrcsim/help_command.h"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "mrcsim/command_table.h"
#include "parameters/parameter_value.h"

namespace mrc {
namespace {

struct HelpOptions {
  std::vector<std::string> command;
  std::string format = "text";
};

void print_help(const CLI::App& app, const HelpOptions& options) {
  if (options.format == "man") fmt::print("{}", man_page(command_table(app)));
  if (options.format == "bash") fmt::print("{}", bash_completion(command_table(app)));
  if (options.format == "text") fmt::print("{}", app.help());
}

const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
    known.push_back(command->get_name());
  }
  throw std::invalid_argument(fmt::format("help: unknown command {}; nearest: {}", name, nearest(name, known)));
}

}  // namespace

void add_help_command(CLI::App& app) {
  auto options = std::make_shared<HelpOptions>();
  CLI::App* command = app.add_subcommand("help", "Print the help of mrcsim or of a command");
  command->add_option("COMMAND", options->command, "a command, such as run or trace info; default: all of mrcsim");
  command
      ->add_option("--format", options->format,
                   "all commands as text, as a man page (man), or as completion for a shell (bash)")
      ->check(CLI::IsMember({"text", "man", "bash"}));
  command->callback([&app, options] { print_help(app, *options); });
}

std::vector<std::string> with_help_last(const CLI::App& app, std::vector<std::string> arguments) {
  const auto is_option = [](const std::string& argument) { return argument.starts_with("-"); };
  if (arguments.empty() || arguments.front() != "help" || std::any_of(arguments.begin(), arguments.end(), is_option)) {
    return arguments;
  }
  arguments.erase(arguments.begin());
  const CLI::App* command = &app;
  for (const std::string& name : arguments) command = subcommand(*command, name);
  arguments.emplace_back("--help");
  return arguments;
}

}  // namespace mrc
