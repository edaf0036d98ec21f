#include "mrcsim/command_table.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mrcsim/exit_code.h"
#include "parameters/registry.h"

namespace mrc {
namespace {

/// Options whose values are keys of parameters, and those whose values are key=value.
constexpr std::array<std::string_view, 2> kOptionsOfKeys{"--explain", "--buffer"};
constexpr std::array<std::string_view, 2> kOptionsOfSettings{"--set", "--vary"};

/// The words of a check such as "TEXT:{table,markdown,json}".
std::vector<std::string> choices_of(const std::string& type) {
  const std::size_t open = type.find(":{");
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> words;
  const std::string list = type.substr(open + 2, close - open - 2);
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    words.push_back(list.substr(start, comma - start));
    start = comma + 1;
  }
  return words;
}

/// What the tables before it are for. Bash has "key=word" as three words.
constexpr std::string_view kCompletionFunctions = R"bash(  esac
}
_mrcsim() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' option='' key='' kind='' word i
  local -a words
  if [ "$current" = '=' ]; then
    key=$before
    current=
  elif [ "$before" = '=' ]; then
    key=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -* ]]; then
      option=$word
    elif [ -z "$option" ] && [[ " $(_mrcsim_words_of_command "$command") " == *" $word "* ]]; then
      command=${command:+$command }$word
    fi
  done
  COMPREPLY=()
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_mrcsim_words_of_command "$command")" -- "$current")
    return
  fi
  [ -z "$option" ] || kind=$(_mrcsim_kind_of_value "$command" "$option")
  case "$kind" in
    keys) mapfile -t COMPREPLY < <(compgen -W "$_mrcsim_keys" -- "$current") ;;
    settings)
      if [ -n "$key" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_mrcsim_words_of_key "${key#node.nic*.}")" -- "$current")
      else
        mapfile -t COMPREPLY < <(compgen -W "$_mrcsim_keys" -S = -- "$current")
        compopt -o nospace 2>/dev/null
      fi
      ;;
    'values '*) mapfile -t COMPREPLY < <(compgen -W "${kind#values }" -- "$current") ;;
    files) ;;
    *)
      mapfile -t words < <(compgen -W "$(_mrcsim_words_of_command "$command")" -- "$current")
      for word in "${words[@]}"; do [[ $word == -* ]] || COMPREPLY+=("$word"); done
      ;;
  esac
}
# Where there is nothing to offer, files.
complete -o default -F _mrcsim mrcsim
)bash";

CommandOption option_row(const CLI::Option& option) {
  CommandOption row;
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  const std::string type = option.get_type_name();
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) row.value = row.names.empty() ? option.get_single_name() : type.substr(0, type.find(':'));
  row.choices = choices_of(type);
  row.description = option.get_description();
  row.repeated = option.get_items_expected_max() > 1;
  row.required = option.get_required();
  return row;
}

void add_rows(const CLI::App& app, const std::string& path, std::vector<CommandRow>& rows) {
  CommandRow row{path, app.get_description(), {}, {}};
  const std::vector<const CLI::App*> below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* command : below) row.commands.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options()) row.options.push_back(option_row(*option));
  rows.push_back(std::move(row));
  for (const CLI::App* command : below) {
    add_rows(*command, path.empty() ? command->get_name() : path + " " + command->get_name(), rows);
  }
}

/// Text of a man page: a backslash and a dash mean something else there, and so does a dot or quote that begins a line.
std::string troff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string usage_of(const CommandRow& row) {
  std::string usage;
  if (!row.path.empty()) usage += " " + row.path;
  for (const CommandOption& option : row.options) {
    if (!option.names.empty()) continue;
    const std::string name = option.value + (option.repeated ? " …" : "");
    usage += option.required ? " " + name : fmt::format(" [{}]", name);
  }
  if (!row.commands.empty()) usage += " COMMAND";
  return usage + " [OPTIONS]";
}

void write_options(const CommandRow& row, std::string& page) {
  for (const CommandOption& option : row.options) {
    const std::string value = option.choices.empty() ? option.value : fmt::format("{}", fmt::join(option.choices, "|"));
    const std::string names = option.names.empty() ? option.value : fmt::format("{}", fmt::join(option.names, ", "));
    page += fmt::format(".TP\n.B {}\n", troff(option.names.empty() || value.empty() ? names : names + " " + value));
    page += troff(option.description) + "\n";
  }
}

bool is_one_of(std::string_view name, const auto& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string words_of_commands(const CommandRow& row) {
  std::vector<std::string> words = row.commands;
  for (const CommandOption& option : row.options) words.insert(words.end(), option.names.begin(), option.names.end());
  return fmt::format("{}", fmt::join(words, " "));
}

/// "case" rows of all options of all commands that `text_of` has something for.
std::string option_rows(const std::vector<CommandRow>& commands, const auto& text_of) {
  std::string rows;
  for (const CommandRow& command : commands) {
    for (const CommandOption& option : command.options) {
      const std::string text = text_of(option);
      if (option.names.empty() || text.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(fmt::format("\"{} {}\"", command.path, name));
      rows += fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), text);
    }
  }
  return rows;
}

}  // namespace

std::vector<CommandRow> command_table(const CLI::App& app) {
  std::vector<CommandRow> rows;
  add_rows(app, "", rows);
  return rows;
}

std::string man_page(const std::vector<CommandRow>& commands) {
  std::string page(
      ".\\\" Written by mrcsim help --format man.\n"
      ".TH MRCSIM 1 \"\" \"mrcsim " MRCSIM_VERSION
      "\" \"User commands\"\n"
      ".SH NAME\nmrcsim \\- cycle\\-approximate model of an MRC NIC\n.SH SYNOPSIS\n");
  for (const CommandRow& row : commands) {
    // A space at the begin of a line would begin a new line of the page.
    if (!row.path.empty() && row.commands.empty())
      page += fmt::format(".B mrcsim\n{}\n.br\n", troff(usage_of(row).substr(1)));
  }
  page += fmt::format(".SH DESCRIPTION\n{}\n", troff(commands.front().description));
  page += ".SH OPTIONS\n";
  write_options(commands.front(), page);
  for (const CommandRow& row : commands) {
    if (row.path.empty()) continue;
    page += fmt::format(".SH \"mrcsim {}\"\n{}\n", troff(row.path), troff(row.description));
    write_options(row, page);
  }
  page += fmt::format(
      ".SH EXIT STATUS\n.TP\n{} \ncomplete, or run.max_time_us has passed\n.TP\n{} \na bug in mrcsim\n.TP\n{} \nbad "
      "input or usage\n.TP\n{} \nno message made progress; for mrcsim size: no size meets the objective\n.TP\n{} "
      "\nRTL and reference differ, or memory at the receiver differs from the source\n.TP\n{} \na message ended in an "
      "error\n.TP\n{} \ninterrupted\n",
      int{kExitOk}, int{kExitBug}, int{kExitBadInput}, int{kExitStalled}, int{kExitMismatch}, int{kExitMessageFailed},
      int{kExitInterrupted});
  page +=
      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nif not empty, terminals get no colors\n.TP\n.B TERM\nif it is dumb, "
      "terminals get no colors and no line of progress\n";
  return page;
}

std::string bash_completion(const std::vector<CommandRow>& commands) {
  std::string script(
      "# Completion of mrcsim for bash; written by mrcsim help --format bash.\n"
      "_mrcsim_keys='");
  for (const Parameter& p : parameters()) script += p.name + " ";
  script += "'\n_mrcsim_words_of_key() {\n  case \"$1\" in\n";
  for (const Parameter& p : parameters()) {
    const bool flag = p.type == ParameterType::boolean;
    if (flag || !p.words.empty())
      script +=
          fmt::format("    {}) echo '{}' ;;\n", p.name, flag ? "true false" : fmt::to_string(fmt::join(p.words, " ")));
  }
  script += "  esac\n}\n_mrcsim_words_of_command() {\n  case \"$1\" in\n";
  for (const CommandRow& row : commands)
    script += fmt::format("    \"{}\") echo '{}' ;;\n", row.path, words_of_commands(row));
  script +=
      "  esac\n}\n# values WORD …, keys, settings, files or nothing\n_mrcsim_kind_of_value() {\n  case \"$1 $2\" in\n";
  script += option_rows(commands, [](const CommandOption& option) -> std::string {
    const std::string name = option.names.empty() ? "" : option.names.front();
    if (is_one_of(name, kOptionsOfKeys)) return "echo keys";
    if (is_one_of(name, kOptionsOfSettings)) return "echo settings";
    if (!option.choices.empty()) return fmt::format("echo 'values {}'", fmt::join(option.choices, " "));
    return option.value.empty() ? "" : "echo files";
  });
  script += kCompletionFunctions;
  return script;
}

}  // namespace mrc
