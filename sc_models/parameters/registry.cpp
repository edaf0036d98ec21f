#include "parameters/registry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parameters/input_file.h"
#include "parameters/quantity.h"

namespace mrc {
namespace {

std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

/// As in a scenario file: text is in quotes.
std::string quoted(const ParameterValue& value) {
  const std::string text = to_string(value);
  return std::holds_alternative<std::string>(value) ? '"' + text + '"' : text;
}

[[noreturn]] void refuse(const Parameter& p, const std::string& given, const std::string& place) {
  throw ParameterError(place, fmt::format("{} = {} is not allowed; allowed: {}", p.name, given, p.allowed()));
}

ParameterValue checked_number(const Parameter& p, double value, const ParameterValue& result,
                              const std::string& place) {
  const bool inside = value >= p.minimum && value <= p.maximum;
  const std::string text = to_string(result);
  const bool listed = p.words.empty() || std::find(p.words.begin(), p.words.end(), text) != p.words.end();
  if (!inside || !listed) refuse(p, text, place);
  return result;
}

ParameterValue checked_word(const Parameter& p, const std::string& word, const std::string& place) {
  if (printable(word) != word) {
    throw ParameterError(place, fmt::format("{} = \"{}\" has a control character", p.name, printable(word)));
  }
  if (p.words.empty() || std::find(p.words.begin(), p.words.end(), word) != p.words.end()) return word;
  throw ParameterError(place, fmt::format("{} = \"{}\" is not allowed; allowed: {}; nearest: {}", p.name, word,
                                          p.allowed(), nearest(word, p.words)));
}

/// "; units: B, kB, …" where a number may have other units than the name of what it counts.
std::string units_hint(const Parameter& p) {
  const bool share = p.type == ParameterType::real && p.unit.empty();
  const bool number = p.type == ParameterType::integer || p.type == ParameterType::real;
  const std::vector<std::string> units =
      number && (share || !p.unit.empty()) ? units_for(p.unit) : std::vector<std::string>();
  if (units.empty() || (units.size() == 1 && units.front() == p.unit)) return "";
  return fmt::format("; units: {}", fmt::join(units, ", "));
}

[[noreturn]] void refuse_type(const Parameter& p, const ParameterValue& value, const std::string& place) {
  throw ParameterError(place, fmt::format("{} = {} is not of type {}; allowed: {}{}", p.name, quoted(value),
                                          to_string(p.type), p.allowed(), units_hint(p)));
}

/// A number with a unit.
ParameterValue checked_quantity(const Parameter& p, const std::string& text, const std::string& place) {
  const bool whole = p.type == ParameterType::integer;
  if (whole && p.unit == "bytes") {
    if (const auto bytes = parse_bytes(text)) return checked_number(p, static_cast<double>(*bytes), *bytes, place);
  }
  const std::optional<double> value = whole && p.unit.empty() ? std::nullopt : parse_quantity(text, p.unit);
  if (value && !whole) return checked_number(p, *value, *value, place);
  constexpr double most_exact = 1LL << 53;
  if (value && *value == std::floor(*value) && std::abs(*value) <= most_exact) {
    return checked_number(p, *value, static_cast<std::int64_t>(*value), place);
  }
  const std::optional<std::string_view> unit = unit_behind_number(text);
  if (value || !unit || unit->empty() || units_hint(p).empty()) refuse_type(p, text, place);
  throw ParameterError(place, fmt::format("{} = \"{}\": \"{}\" is not a unit of it; allowed: {}{}", p.name,
                                          printable(text), printable(*unit), p.allowed(), units_hint(p)));
}

}  // namespace

std::string Parameter::allowed() const {
  if (type == ParameterType::boolean) return "true | false";
  if (!words.empty()) return fmt::format("{}{}{}", fmt::join(words, " | "), unit.empty() ? "" : " ", unit);
  if (type == ParameterType::text) return "text";
  return fmt::format("{} … {}{}{}", number(minimum), number(maximum), unit.empty() ? "" : " ", unit);
}

const Parameter* find_parameter(std::string_view name) {
  const auto& all = parameters();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; });
  return it == all.end() ? nullptr : &*it;
}

std::string nearest_parameter(std::string_view name) {
  std::vector<std::string> names;
  for (const Parameter& p : parameters()) names.push_back(p.name);
  return nearest(name, names);
}

ParameterValue checked_value(const Parameter& p, const ParameterValue& value, const std::string& place) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const auto* text = std::get_if<std::string>(&value);
  switch (p.type) {
    case ParameterType::boolean:
      if (std::holds_alternative<bool>(value)) return value;
      break;
    case ParameterType::integer:
      if (integer != nullptr) return checked_number(p, static_cast<double>(*integer), *integer, place);
      if (text != nullptr) return checked_quantity(p, *text, place);
      break;
    case ParameterType::real:
      if (integer != nullptr)
        return checked_number(p, static_cast<double>(*integer), static_cast<double>(*integer), place);
      if (real != nullptr && std::isfinite(*real)) return checked_number(p, *real, *real, place);
      if (text != nullptr) return checked_quantity(p, *text, place);
      break;
    case ParameterType::word:
    case ParameterType::text:
      if (text != nullptr) return checked_word(p, *text, place);
      break;
  }
  refuse_type(p, value, place);
}

ParameterValue parse_value(const Parameter& p, std::string_view text, const std::string& place) {
  const auto parsed = [&](auto number_of) -> ParameterValue {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number_of);
    if (error != std::errc() || end != text.data() + text.size()) return std::string(text);
    return number_of;
  };
  switch (p.type) {
    case ParameterType::boolean:
      if (text == "true" || text == "false") return text == "true";
      break;
    case ParameterType::integer:
      return checked_value(p, parsed(std::int64_t{}), place);
    case ParameterType::real:
      return checked_value(p, parsed(double{}), place);
    default:
      break;
  }
  return checked_value(p, std::string(text), place);
}

std::string to_string(const ParameterValue& value) {
  struct Printer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return number(v); }
    std::string operator()(const std::string& v) const { return v; }
  };
  return std::visit(Printer{}, value);
}

std::string_view to_string(ParameterSource source) {
  static constexpr std::array<std::string_view, 6> names{"spec",     "api",        "paper",
                                                         "measured", "assumption", "calibrated"};
  return names[static_cast<std::size_t>(source)];
}

std::string_view to_string(ParameterType type) {
  static constexpr std::array<std::string_view, 5> names{"boolean", "integer", "real", "word", "text"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace mrc
