#include "parameters/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mrc {
namespace {

/// A value in the written unit, times `factor` and divided by `divisor`, is one in the unit of the parameter. Dividing
/// by a whole number rounds once: 1 % is the same number as 0.01.
struct UnitScale {
  std::string_view of;  ///< unit of the parameter
  std::string_view written;
  double factor;
  double divisor;
};

constexpr std::array<UnitScale, 28> kUnitScales{{
    {"bytes", "B", 1, 1},         {"bytes", "kB", 1e3, 1},
    {"bytes", "KB", 1e3, 1},      {"bytes", "MB", 1e6, 1},
    {"bytes", "GB", 1e9, 1},      {"bytes", "TB", 1e12, 1},
    {"bytes", "KiB", 1024, 1},    {"bytes", "MiB", 1 << 20, 1},
    {"bytes", "GiB", 1 << 30, 1}, {"bytes", "TiB", 1024.0 * (1 << 30), 1},
    {"Gb/s", "kb/s", 1, 1e6},     {"Gb/s", "Mb/s", 1, 1e3},
    {"Gb/s", "Gb/s", 1, 1},       {"Gb/s", "Gbps", 1, 1},
    {"Gb/s", "Tb/s", 1e3, 1},     {"ns", "ps", 1, 1e3},
    {"ns", "ns", 1, 1},           {"ns", "us", 1e3, 1},
    {"ns", "ms", 1e6, 1},         {"ns", "s", 1e9, 1},
    {"us", "ns", 1, 1e3},         {"us", "us", 1, 1},
    {"us", "ms", 1e3, 1},         {"us", "s", 1e6, 1},
    {"GHz", "MHz", 1, 1e3},       {"GHz", "GHz", 1, 1},
    {"GHz", "kHz", 1, 1e6},       {"", "%", 1, 100},
}};

struct SplitQuantity {
  double number = 0;
  std::string_view unit;
};

/// A number and what is behind it, apart from spaces in between.
std::optional<SplitQuantity> split(std::string_view text) {
  SplitQuantity parts;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, parts.number);
  if (error != std::errc() || !std::isfinite(parts.number)) return std::nullopt;
  parts.unit = std::string_view(end, static_cast<std::size_t>(last - end));
  parts.unit.remove_prefix(std::min(parts.unit.find_first_not_of(' '), parts.unit.size()));
  return parts;
}

/// The sign of micro and the Greek letter, as people type them.
std::string_view plain(std::string_view unit) {
  return unit == "\u00b5s" || unit == "\u03bcs" ? "us" : unit;
}

}  // namespace

std::vector<std::string> units_for(std::string_view unit) {
  std::vector<std::string> units;
  for (const UnitScale& scale : kUnitScales) {
    if (scale.of == unit) units.emplace_back(scale.written);
  }
  if (!unit.empty() && std::find(units.begin(), units.end(), unit) == units.end()) units.emplace_back(unit);
  return units;
}

std::optional<double> parse_quantity(std::string_view text, std::string_view unit) {
  const std::optional<SplitQuantity> parts = split(text);
  if (!parts || parts->unit.empty()) return std::nullopt;
  const std::string_view written = plain(parts->unit);
  if (written == unit) return parts->number;
  const auto scale = std::find_if(kUnitScales.begin(), kUnitScales.end(),
                                  [&](const UnitScale& s) { return s.of == unit && s.written == written; });
  if (scale == kUnitScales.end()) return std::nullopt;
  return parts->number * scale->factor / scale->divisor;
}

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  std::int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error == std::errc() && end == last) return number;
  const std::optional<double> bytes = parse_quantity(text, "bytes");
  constexpr double most = 9'223'372'036'854'774'784.0;
  if (!bytes || *bytes != std::floor(*bytes) || std::abs(*bytes) > most) return std::nullopt;
  return static_cast<std::int64_t>(*bytes);
}

std::optional<std::string_view> unit_behind_number(std::string_view text) {
  const std::optional<SplitQuantity> parts = split(text);
  return parts ? std::optional(parts->unit) : std::nullopt;
}

std::string quantity_pattern(std::string_view unit) {
  std::vector<std::string> units = units_for(unit);
  if (unit == "ns" || unit == "us") units.insert(units.end(), {"\u00b5s", "\u03bcs"});
  return fmt::format("^-?[0-9]*\\.?[0-9]+([eE][-+]?[0-9]+)? *({}){}$", fmt::join(units, "|"),
                     unit == "bytes" ? "?" : "");
}

}  // namespace mrc
