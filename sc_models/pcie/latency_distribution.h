// Host memory latency, drawn from a table of quantiles: a shifted exponential, fixed by its mean and p99, or a measured
// histogram.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "mrc/random.h"
#include "mrc/types.h"
#include "pcie/pcie_parameters.h"

namespace mrc {

class LatencyDistribution {
 public:
  /// Nanoseconds; p99 >= mean, and mean - (p99 - mean) / (ln 100 - 1) must not be negative.
  LatencyDistribution(double mean_ns, double p99_ns) {
    const double scale = (p99_ns - mean_ns) / kExponentialTail;
    for (std::size_t i = 0; i < kQuantiles; ++i) {
      const double quantile = (static_cast<double>(i) + 0.5) / kQuantiles;
      table_[i] = static_cast<TimePs>(1000.0 * (mean_ns - scale - scale * std::log1p(-quantile)));
    }
  }
  explicit LatencyDistribution(const PcieConfig& pcie)
      : LatencyDistribution(pcie.read_latency_mean_ns, pcie.read_latency_p99_ns) {
    if (pcie.read_times == nullptr) return;
    for (std::size_t i = 0; i < kQuantiles; ++i) {
      const double quantile = (static_cast<double>(i) + 0.5) / kQuantiles;
      table_[i] = static_cast<TimePs>(1000.0 * pcie.read_times->quantile_ns(quantile));
    }
  }
  TimePs draw(KeyedRandom& random) const { return table_[random.next() >> kShift]; }

 private:
  static constexpr std::size_t kQuantiles = 4096;
  static constexpr int kShift = 64 - 12;
  std::array<TimePs, kQuantiles> table_{};
};

}  // namespace mrc
