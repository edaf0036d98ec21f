// Host memory latency, drawn from a table of quantiles: a shifted exponential, fixed by its mean and p99, or a measured
// histogram.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <tuple>

#include "mrc/random.h"
#include "mrc/types.h"
#include "pcie/pcie_parameters.h"

namespace mrc {

class LatencyDistribution {
 public:
  /// Nanoseconds; p99 >= mean, and mean - (p99 - mean) / (ln 100 - 1) must not be negative.
  LatencyDistribution(double mean_ns, double p99_ns) : table_(exponential(mean_ns, p99_ns)) {}
  explicit LatencyDistribution(const PcieConfig& pcie) : times_(pcie.read_times), table_(shared(pcie)) {}
  TimePs draw(KeyedRandom& random) const { return (*table_)[random.next() >> kShift]; }

 private:
  static constexpr std::size_t kQuantiles = 4096;
  static constexpr int kShift = 64 - 12;
  using Table = std::array<TimePs, kQuantiles>;

  static double quantile_of(std::size_t i) { return (static_cast<double>(i) + 0.5) / kQuantiles; }
  static std::shared_ptr<const Table> exponential(double mean_ns, double p99_ns) {
    auto table = std::make_shared<Table>();
    const double scale = (p99_ns - mean_ns) / kExponentialTail;
    for (std::size_t i = 0; i < kQuantiles; ++i) {
      (*table)[i] = static_cast<TimePs>(1000.0 * (mean_ns - scale - scale * std::log1p(-quantile_of(i))));
    }
    return table;
  }
  static std::shared_ptr<const Table> measured(const LatencyHistogram& times) {
    auto table = std::make_shared<Table>();
    for (std::size_t i = 0; i < kQuantiles; ++i) {
      (*table)[i] = static_cast<TimePs>(1000.0 * times.quantile_ns(quantile_of(i)));
    }
    return table;
  }
  /// NICs whose hosts are alike have one table.
  static std::shared_ptr<const Table> shared(const PcieConfig& pcie) {
    using Key = std::tuple<double, double, const LatencyHistogram*>;
    thread_local std::map<Key, std::weak_ptr<const Table>> tables;
    std::weak_ptr<const Table>& known =
        tables[Key{pcie.read_latency_mean_ns, pcie.read_latency_p99_ns, pcie.read_times.get()}];
    std::shared_ptr<const Table> table = known.lock();
    if (table == nullptr) {
      table = pcie.read_times == nullptr ? exponential(pcie.read_latency_mean_ns, pcie.read_latency_p99_ns)
                                         : measured(*pcie.read_times);
      known = table;
    }
    return table;
  }

  std::shared_ptr<const LatencyHistogram> times_;  ///< kept, since its table is known by its address
  std::shared_ptr<const Table> table_;
};

}  // namespace mrc
