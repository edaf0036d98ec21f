#include "fabric/cable_delays.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "parameters/parameter_value.h"

namespace mrc {
namespace {

constexpr double kLeastNs = 1;
constexpr double kMostNs = 1e6;

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::vector<CableDelay> cable_delays_of(const FabricConfig& fabric, const std::string& place) {
  std::vector<CableDelay> delays;
  std::string_view rest = without_blanks(fabric.cable_delays_ns);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view entry = without_blanks(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto equals = entry.find('=');
    const std::string_view where = without_blanks(entry.substr(0, equals));
    const std::string_view number =
        equals == std::string_view::npos ? std::string_view() : without_blanks(entry.substr(equals + 1));
    double ns = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), ns);
    if (where.empty() || error != std::errc() || end != number.data() + number.size() || !(ns >= kLeastNs) ||
        ns > kMostNs) {
      throw ParameterError(place, fmt::format("fabric.cable_delays_ns: \"{}\" is not WHERE=NS, such as plane3=500 or "
                                              "nic1.port2=900, with {} to {} ns",
                                              entry, kLeastNs, kMostNs));
    }
    delays.push_back({std::string(where), ns});
  }
  return delays;
}

double shortest_cable_ns(const FabricConfig& fabric) {
  double shortest = fabric.cable_delay_ns;
  for (const CableDelay& cable : cable_delays_of(fabric, "")) shortest = std::min(shortest, cable.ns);
  return shortest;
}

}  // namespace mrc
