#include "study/objective.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "study/study_error.h"

namespace mrc {

double Objective::metric_of(const RunRecord& run) const {
  if (!run.complete()) return more_is_better() ? 0 : std::numeric_limits<double>::infinity();
  switch (metric) {
    case Metric::goodput:
      return run.goodput_gbps;
    case Metric::p99:
      return run.message_time_p99_us;
    case Metric::step:
      return run.simulated_time_us;
  }
  return 0;
}

double Objective::score(const RunRecord& run, const RunRecord& reference) const {
  return relative ? metric_of(run) / metric_of(reference) : metric_of(run);
}

Objective parse_objective(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    throw StudyError(fmt::format(
        "--hold {}: {}; expected goodput>=99%, goodput>=700 (Gb/s), p99<=110%, p99<=200 (us), step<=105% or step<=5000",
        text, why));
  };
  Objective objective;
  objective.text = text;
  const std::size_t at = text.find_first_of("<>");
  const std::string name = text.substr(0, at);
  if (name == "goodput") {
    objective.metric = Objective::Metric::goodput;
  } else if (name == "p99") {
    objective.metric = Objective::Metric::p99;
  } else if (name == "step") {
    objective.metric = Objective::Metric::step;
  } else {
    refuse(fmt::format("\"{}\" is not a metric", name));
  }
  const std::string sign = at == std::string::npos ? "" : text.substr(at, 2);
  if (sign != (objective.more_is_better() ? ">=" : "<="))
    refuse(objective.more_is_better() ? "goodput takes >=" : "a time takes <=");
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at + 2, end, objective.threshold);
  objective.relative = rest != end && *rest == '%';
  if (error != std::errc() || rest + (objective.relative ? 1 : 0) != end || !(objective.threshold > 0) ||
      !std::isfinite(objective.threshold))
    refuse("no number above 0");
  if (objective.relative) objective.threshold /= 100;
  if (objective.relative && objective.more_is_better() && objective.threshold > 1)
    refuse("a finite buffer is measured against an unlimited one; at most 100%");
  return objective;
}

}  // namespace mrc
