// How far an answer depends on what nobody has published.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "study/sizer.h"

namespace mrc {

/// The answer with one assumption set to another value.
struct SensitivityRow {
  std::string parameter;
  std::string usual;  ///< the scenario's value
  std::string value;
  std::optional<std::int64_t> answer;
  std::string why_none;
  double factor = 1;  ///< answer over the base answer; infinite without one
};

/// What is varied: every parameter whose source is `assumption`, but for the run's own control, the traffic, and the
/// sized parameter itself.
std::vector<const Parameter*> assumptions(const std::string& sized_key);

/// The values that one parameter takes: the ends of its registered range and half and twice its usual value, as far as
/// the scenario's rules allow; of words all others.
std::vector<std::string> sensitivity_levels(const RunPlanner& planner, const Settings& context,
                                            const Parameter& parameter);

/// The ends of the plausible range, as far as the scenario's rules allow; none of a parameter without such a range.
std::vector<std::string> plausible_levels(const RunPlanner& planner, const Settings& context,
                                          const Parameter& parameter);

/// The answer over the plausible ranges of the assumptions, one at a time.
struct AssumedInterval {
  std::int64_t low = 0;  ///< with the intervals over the seeds of the answer as it is
  std::int64_t high = 0;
  std::vector<SensitivityRow> rows;  ///< those that move the answer, the largest change first
};
AssumedInterval assumed_interval(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database,
                                 const SizingResult& base,
                                 const std::function<void(std::size_t done, std::size_t of)>& on_row);

/// Largest change of the answer first. `on_row` hears of each level before it is looked at.
std::vector<SensitivityRow> sensitivity(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database,
                                        const SizingResult& base,
                                        const std::function<void(std::size_t done, std::size_t of)>& on_row);

}  // namespace mrc
