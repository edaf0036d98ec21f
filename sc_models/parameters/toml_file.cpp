#include "parameters/toml_file.h"

#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "parameters/input_file.h"

namespace mrc {
namespace {

std::string read_file(const std::string& path) {
  if (const std::string why = why_unreadable(path); !why.empty()) throw ParameterError(path, why);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ParameterError(path, "cannot be read");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Each part of a dotted key is a table in the one before, and the library takes them apart by recursion.
void refuse_deep_keys(const std::string& text, const std::string& place) {
  constexpr std::size_t most_parts = 32;
  constexpr std::string_view between = " \t";
  constexpr std::string_view quotes = "\"'";
  std::size_t line = 1;
  std::size_t dots = 0;
  char before = '\n';
  for (const char c : text) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
                      quotes.find(c) != std::string_view::npos;
    if (between.find(c) != std::string_view::npos) continue;
    if (c == '\n') ++line;
    if (c == '.' && before != '.') ++dots;
    if (!part && c != '.') dots = 0;
    before = c;
    if (dots < most_parts) continue;
    throw ParameterError(fmt::format("{}:{}", place, line), fmt::format("a key has more than {} parts", most_parts));
  }
}

}  // namespace

toml::table parse_toml(const std::string& text, const std::string& place) {
  refuse_deep_keys(text, place);
  try {
    return toml::parse(text, place);
  } catch (const toml::parse_error& error) {
    throw ParameterError(fmt::format("{}:{}:{}", place, error.source().begin.line, error.source().begin.column),
                         fmt::format("TOML syntax: {}", error.description()));
  }
}

toml::table read_toml(const std::string& path) {
  return parse_toml(read_file(path), path);
}

std::string place_of(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}", path, source.begin.line);
}

ParameterValue scalar_of(const toml::node& node, const std::string& name, const std::string& place) {
  if (const auto value = node.value_exact<bool>()) return *value;
  if (const auto value = node.value_exact<std::int64_t>()) return *value;
  if (const auto value = node.value_exact<double>()) return *value;
  if (const auto value = node.value_exact<std::string>()) return *value;
  throw ParameterError(place, fmt::format("{}: expected a number, text, true or false", name));
}

}  // namespace mrc
