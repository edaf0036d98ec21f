// --hold: what a buffer's size must keep up.
#pragma once

#include <string>

#include "study/study_database.h"

namespace mrc {

struct Objective {
  enum class Metric : unsigned char { goodput, p99, step };

  Metric metric = Metric::goodput;
  double threshold = 0.99;  ///< a share of the reference, or an absolute value in Gb/s or us
  bool relative = true;
  std::string text;  ///< as it was given

  /// More is better for goodput, less for the times.
  bool more_is_better() const { return metric == Metric::goodput; }
  /// Gb/s or us; of a run that is not complete the worst value there is.
  double metric_of(const RunRecord& run) const;
  /// What is compared with the threshold: the metric, or its share of the reference's.
  double score(const RunRecord& run, const RunRecord& reference) const;
  bool holds(double score) const { return more_is_better() ? score >= threshold : score <= threshold; }
  const char* unit() const { return metric == Metric::goodput ? "Gb/s" : "us"; }
};

/// Reads "goodput>=99%" or "goodput>=700" (Gb/s); "p99<=110%" or "p99<=200" (us, message time); "step<=105%" or
/// "step<=5000" (us, until the last message is complete). Throws StudyError.
Objective parse_objective(const std::string& text);

}  // namespace mrc
