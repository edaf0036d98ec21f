// Experiments on the PCIe link and the host behind it, without a NIC around them: the latency of single transfers and
// the bandwidth of many, as the pcie-bench study measures them (Neugebauer et al., SIGCOMM 2018), and what the closed
// form of the link allows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parameters/config.h"
#include "pcie/pcie_point.h"

namespace mrc {

/// What the link, the tags and the credits of a scenario allow, by Little's law and without any queue. With parts of
/// the host switched on, their latency is not in it.
struct PcieClosedForm {
  double gbps = 0;        ///< of payload; of a mixed test in each direction
  std::string bound_by;   ///< "link", or the parameter that binds
  double link_gbps = 0;   ///< of the link alone
  double latency_ns = 0;  ///< mean, of a single transfer
};
PcieClosedForm pcie_closed_form(const NodeConfig& node, const PciePoint& point);

struct PcieMeasurement {
  std::uint64_t transfers = 0;  ///< measured; of a mixed test, reads and writes
  double gbps = 0;              ///< of a bandwidth test, payload; of a mixed test in each direction
  double mean_ns = 0;           ///< of a latency test, as the next
  std::vector<std::pair<double, double>> quantiles_ns;  ///< share and time, rising; 0 is the shortest, 1 the longest
  std::uint64_t iotlb_lookups = 0;
  std::uint64_t page_walks = 0;
  std::uint64_t cache_misses = 0;
  std::uint64_t cache_evictions = 0;
  std::uint64_t table_lookups = 0;  ///< keys and pages in the NIC
  std::uint64_t table_misses = 0;
  std::uint64_t translation_lookups = 0;  ///< in the NIC
  std::uint64_t translation_misses = 0;

  /// Of the shares that `quantiles_ns` has.
  double quantile_ns(double share) const;
};

/// One point as a model of its own. All experiments of a process are built before the first is run.
class PcieExperiment {
 public:
  /// `name` is that of a SystemC module and differs from others. `on_progress` is told of finished transfers from time
  /// to time.
  PcieExperiment(const std::string& name, const NodeConfig& node, const PciePoint& point, std::uint64_t seed,
                 std::uint32_t transfers, KernelMode kernel, std::function<void(std::uint64_t)> on_progress);
  ~PcieExperiment();
  PcieExperiment(const PcieExperiment&) = delete;
  PcieExperiment& operator=(const PcieExperiment&) = delete;

  /// After run_pcie_experiments().
  const PcieMeasurement& measured() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Runs all that are built, one after another with the event wheel.
void run_pcie_experiments();

}  // namespace mrc
