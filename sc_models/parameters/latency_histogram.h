// A measured latency of host memory: how often each time was seen.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mrc {

class LatencyHistogram {
 public:
  /// Reads a CSV file with the columns ns,count: times of 1 to 1,000,000 ns, in any order. Throws ParameterError with
  /// file and line.
  explicit LatencyHistogram(const std::string& path);

  double mean_ns() const { return mean_ns_; }
  double shortest_ns() const { return bins_.front().first; }
  /// The time below or at which this share of the measurements lies; `share` in (0, 1).
  double quantile_ns(double share) const;

 private:
  std::vector<std::pair<double, double>> bins_;  ///< time, and measurements up to it as a share; rising
  double mean_ns_ = 0;
};

}  // namespace mrc
