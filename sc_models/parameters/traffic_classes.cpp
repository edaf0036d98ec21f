#include "parameters/traffic_classes.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "parameters/comma_list.h"
#include "parameters/parameter_value.h"

namespace mrc {
namespace {

template <typename Number>
std::vector<Number> numbers_of(const char* key, const std::string& text, Number minimum, Number maximum,
                               const std::string& place) {
  std::vector<Number> numbers;
  for (const std::string_view word : comma_list(text)) {
    Number number{};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool inside = number >= minimum && number <= maximum;
    if (error != std::errc() || end != word.data() + word.size() || !inside) {
      throw ParameterError(
          place, fmt::format("{} = \"{}\": \"{}\" is not a number {} … {}", key, text, word, minimum, maximum));
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::array<std::uint32_t, kMostTrafficClasses> class_weights(const TrafficClasses& classes, const std::string& place) {
  std::array<std::uint32_t, kMostTrafficClasses> weights{};
  weights.fill(1);
  const auto given = numbers_of<std::uint32_t>("traffic.classes.weights", classes.weights, 1, 1000, place);
  if (!given.empty() && given.size() != classes.count) {
    throw ParameterError(place,
                         fmt::format("traffic.classes.weights = \"{}\" has {} weights, traffic.classes.count is {}",
                                     classes.weights, given.size(), classes.count));
  }
  for (std::size_t i = 0; i < given.size(); ++i) weights[i] = given[i];
  return weights;
}

std::vector<double> tenant_rates_gbps(const Tenants& tenants, const std::string& place) {
  return numbers_of<double>("traffic.tenants.rate_limits_gbps", tenants.rate_limits_gbps, 0, 10'000, place);
}

std::vector<std::uint32_t> tenant_contexts(const Tenants& tenants, const std::string& place) {
  return numbers_of<std::uint32_t>("traffic.tenants.context_entries", tenants.context_entries, 0, 1'000'000, place);
}

std::vector<bool> played_jobs(const Tenants& tenants, const std::string& place) {
  std::vector<bool> played;
  for (const std::uint32_t job : numbers_of<std::uint32_t>("traffic.tenants.play", tenants.play, 0, kMostJobs, place)) {
    if (job >= played.size()) played.resize(job + 1, false);
    played[job] = true;
  }
  return played;
}

}  // namespace mrc
