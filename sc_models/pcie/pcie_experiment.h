// Experiments on the PCIe link and the host behind it, without a NIC around them: the latency of single transfers and
// the bandwidth of many, as the pcie-bench study measures them (Neugebauer et al., SIGCOMM 2018), and what the closed
// form of the link allows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parameters/config.h"

namespace mrc {

enum class PcieTest : std::uint8_t {
  read_latency,        ///< from asking for a read until its last byte is there
  write_latency,       ///< from asking for a write until its last byte is visible
  write_read_latency,  ///< a write, and at once a read of the same bytes, until the last byte of the read is there
  read_bandwidth,
  write_bandwidth,
  mixed_bandwidth  ///< reads and writes in turns; the rate of each of the two
};
enum class AccessPattern : std::uint8_t { sequential, random };

/// Words in the order of the values above.
const std::vector<std::string>& pcie_test_words();
const std::vector<std::string>& access_pattern_words();
constexpr bool is_latency(PcieTest test) {
  return test <= PcieTest::write_read_latency;
}

/// One point of an experiment. Transfers begin at multiples of whole cache lines that hold offset and bytes, plus the
/// offset, in a window whose begin is a multiple of 1 GiB.
struct PciePoint {
  PcieTest test = PcieTest::read_latency;
  std::uint32_t bytes = 64;
  std::uint32_t offset_bytes = 0;  ///< below 4,096
  std::uint64_t window_bytes = 8192;
  AccessPattern pattern = AccessPattern::random;
  bool peer_memory = false;  ///< the window is an accelerator's memory

  std::uint64_t unit_bytes() const { return (offset_bytes + bytes + 63ULL) / 64 * 64; }
  /// Places of a transfer in the window; 0: not even one fits.
  std::uint64_t units() const { return window_bytes / unit_bytes(); }
};

/// Where the transfers of a point find their data; what is not named is as the host is set.
struct PciePlace {
  std::optional<CacheState> cache;     ///< of a host with a cache
  std::optional<double> remote_share;  ///< of the transfers, to the memory of the other socket
  friend bool operator==(const PciePlace&, const PciePlace&) = default;
};
void put_at(const PciePlace& place, HostConfig& host);

/// Words of tables for cache and memory of a point on a host.
std::string cache_word(const HostConfig& host);
std::string memory_word(const PciePoint& point, const HostConfig& host);
/// What such a word says of a point, empty: nothing. False for other words.
bool read_cache_word(const std::string& word, PciePlace& place);
bool read_memory_word(const std::string& word, PciePoint& point, PciePlace& place);

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
