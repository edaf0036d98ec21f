// The commands as a table, from what they have declared to the parser of the command line: help, man page and
// completion come from it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mrc {

struct CommandOption {
  std::vector<std::string> names;    ///< "--out", "-o"; empty: positional
  std::string value;                 ///< name of its value, or of the positional; empty: a flag
  std::vector<std::string> choices;  ///< allowed values; empty: any
  std::string description;
  bool repeated = false;
  bool required = false;
};

struct CommandRow {
  std::string path;  ///< "trace generate"
  std::string description;
  std::vector<std::string> commands;  ///< below it
  std::vector<CommandOption> options;
};

/// All commands, the program itself first with an empty path.
std::vector<CommandRow> command_table(const CLI::App& app);

/// As troff of section 1.
std::string man_page(const std::vector<CommandRow>& commands);

/// A script for bash: commands, options, their values, keys of --set and similar options and the words of these keys.
std::string bash_completion(const std::vector<CommandRow>& commands);

}  // namespace mrc
