#include "results/late_faults.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

#include "fabric/fault_parameters.h"

namespace mrc {
namespace {

constexpr std::size_t kMostNamed = 4;

/// Outages of a flapping link that begin after `end_us`.
std::string late_outages(const FaultConfig& fault, double end_us) {
  std::uint32_t late = 0;
  bool one_more_may_be_late = false;
  for (std::uint32_t i = 0; i < fault.count; ++i) {
    const double earliest_us = fault.at_us + i * fault.period_us;
    if (earliest_us > end_us) {
      ++late;
    } else if (earliest_us + fault.jitter * (fault.period_us - fault.for_us) > end_us) {
      // Drawn in the timeline, which is gone when the result is made.
      one_more_may_be_late = true;
    }
  }
  if (late == 0) return "";
  return fmt::format("{}{} of {} outages of {} of {}", one_more_may_be_late ? "at least " : "", late, fault.count,
                     to_string(fault.kind), fault.where);
}

std::string late_part(const FaultConfig& fault, double end_us) {
  if (fault.at_us > end_us) return fmt::format("{} of {} at {} us", to_string(fault.kind), fault.where, fault.at_us);
  return fault.kind == FaultKind::link_flap ? late_outages(fault, end_us) : "";
}

}  // namespace

std::vector<std::string> late_fault_notes(const ScenarioConfig& scenario, double end_us) {
  std::vector<std::string> parts;
  for (const FaultConfig& fault : scenario.faults) {
    if (std::string part = late_part(fault, end_us); !part.empty()) parts.push_back(std::move(part));
  }
  if (parts.empty()) return {};
  std::string line = fmt::format("the run ended at {:.1f} us; never happened: ", end_us);
  for (std::size_t i = 0; i < std::min(parts.size(), kMostNamed); ++i) line += (i == 0 ? "" : ", ") + parts[i];
  if (parts.size() > kMostNamed) line += fmt::format(", and {} other faults", parts.size() - kMostNamed);
  return {line};
}

}  // namespace mrc
