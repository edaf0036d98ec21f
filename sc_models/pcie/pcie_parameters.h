// The PCIe link, its buffers and credits, and the host's side of it.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "parameters/latency_histogram.h"

namespace mrc {

class ParameterTable;

/// Where the host cuts the completions of a read request: at each RCB, at multiples of MPS, as late as MPS allows (each
/// but the last ends at a multiple of the RCB), or the first at the RCB and the others at multiples of MPS: a host that
/// sends what it has, and has the rest when that has left.
enum class CompletionSplit : std::uint8_t { rcb, mps_aligned, mps, first_rcb };
/// How PCIe is stepped: the TLPs of a request in one loop, or an event each (the oracle of the tests).
enum class PcieStepping : std::uint8_t { train, tlp };
/// How the NIC gets a translation that it does not have: in a fixed time, or by a request over the link, which the
/// host's IOMMU answers.
enum class TranslationRequest : std::uint8_t { fixed, link };
/// Between requests; within one, completions are always in order.
enum class CompletionOrder : std::uint8_t { out_of_order, in_order };

/// Of an exponential distribution: its 99th percentile less its mean, over the mean. Read latencies are one that begins
/// at a shortest time (pcie/latency_distribution.h).
inline const double kExponentialTail = std::log(100.0) - 1.0;

struct PcieConfig {
  PcieStepping stepping = PcieStepping::train;
  std::uint32_t generation = 6;
  std::uint32_t lanes = 16;
  std::uint32_t links = 1;
  std::uint32_t mps_bytes = 256;
  std::uint32_t mrrs_bytes = 512;
  std::uint32_t rcb_bytes = 64;
  CompletionSplit completion_split = CompletionSplit::mps_aligned;
  std::uint32_t ack_interval_bytes = 0;        ///< Gen3 … Gen5; 0: the specification's latency limit
  std::uint32_t fc_update_interval_bytes = 0;  ///< likewise
  std::uint32_t read_tags = 512;
  std::uint64_t completion_buffer_bytes = 256ULL << 10;
  std::uint32_t posted_header_credits = 256;
  std::uint32_t posted_data_credits = 4096;  ///< unit 16 B
  std::uint32_t non_posted_header_credits = 256;
  double credit_return_ns = 300.0;
  double read_latency_mean_ns = 1000.0;
  double read_latency_p99_ns = 1600.0;
  std::string read_latency_histogram;                  ///< path; empty: mean and p99 count
  std::shared_ptr<const LatencyHistogram> read_times;  ///< of that file; mean and p99 are its own
  double write_latency_ns = 400.0;                     ///< last TLP issued to byte visible
  std::uint32_t request_cycles = 2;  ///< read taken until its first request; this and the next two as measured
  std::uint32_t report_cycles = 3;   ///< last completion of a read until it is reported
  std::uint32_t write_cycles = 2;    ///< write taken until its first TLP
  std::uint32_t completion_header_credits = 0;  ///< 0 = infinite, as endpoints advertise
  std::uint32_t completion_data_credits = 0;    ///< unit 16 B; 0 = infinite
  CompletionOrder completion_order = CompletionOrder::out_of_order;
  bool id_based_ordering = false;
  bool relaxed_ordering = false;
  struct AddressTranslation {
    std::uint32_t entries = 0;  ///< 0 = no translation
    std::uint64_t page_bytes = 4096;
    double hit_ns = 0;
    double miss_ns = 1000.0;
    std::uint32_t outstanding_misses = 16;
    TranslationRequest request = TranslationRequest::fixed;
  } address_translation;
  /// Keys of regions (MPT) and places of their pages (MTT), in host memory and cached in the NIC.
  struct MemoryTable {
    std::uint32_t key_entries = 0;   ///< 0: all keys are in the NIC
    std::uint32_t page_entries = 0;  ///< 0: all pages are
    std::uint64_t page_bytes = 4096;
    std::uint32_t pages_per_read = 8;
    std::uint32_t outstanding_misses = 16;
    double deregister_every_us = 0;  ///< 0: never
  } memory_table;
  double duplicate_completion_rate = 0;
  double poisoned_completion_rate = 0;
  double lost_completion_rate = 0;
  double completion_timeout_us = 100.0;
};

/// Link bytes between two ACK DLLPs, and between two UpdateFC DLLPs: the latency limit of the PCIe base specification,
/// (MPS + 28) * AckFactor / lanes + 115 symbol times from 8 GT/s on. Neugebauer et al. (SIGCOMM 2018) charge one DLLP
/// of 8 B per that many bytes of the link, which gives their 57.88 Gb/s for Gen3 x8; so does this model.
constexpr double dllp_interval_bytes(std::uint32_t lanes, std::uint32_t mps_bytes) {
  const bool small = mps_bytes <= 256;
  const double ack_factor = lanes == 4 ? (small ? 1.4 : 1.0) : lanes == 8 ? (small ? 2.5 : 1.0) : (small ? 3.0 : 2.0);
  return static_cast<double>(static_cast<std::uint32_t>((mps_bytes + 28) * ack_factor / lanes + 115.0));
}

/// Share of the link's bytes that ACKs, flow control updates and SKP ordered sets (4 of 1,538 B) take, Gen3 … Gen5.
constexpr double dllp_share(const PcieConfig& config) {
  constexpr double dllp_bytes = 8.0;  // framing 2, DLLP 4, CRC 2
  const double law = dllp_interval_bytes(config.lanes, config.mps_bytes);
  const double ack = config.ack_interval_bytes > 0 ? static_cast<double>(config.ack_interval_bytes) : law;
  const double flow_control =
      config.fc_update_interval_bytes > 0 ? static_cast<double>(config.fc_update_interval_bytes) : law;
  return dllp_bytes / ack + dllp_bytes / flow_control + 4.0 / 1538.0;
}

/// Requests that a link can tell apart: 8-bit tags in Gen3, 10-bit in Gen4 and Gen5 (256 of the codes are reserved),
/// 14-bit from Gen6 on (likewise; PCIe 3.0, 4.0, 6.0).
constexpr std::uint32_t max_tags_per_link(std::uint32_t generation) {
  return generation >= 6 ? 15'360 : generation >= 4 ? 768 : 256;
}

/// Reads the histogram, if there is one, into read_times, mean and p99. Throws ParameterError.
void read_latency_times(PcieConfig& pcie);

/// What in a configuration cannot work, in one line; empty when nothing does.
std::string contradiction(const PcieConfig& pcie);

void add_pcie_parameters(ParameterTable& table);

/// The shortest read latency that the parameters can draw.
inline double shortest_read_ns(const PcieConfig& pcie) {
  if (pcie.read_times != nullptr) return pcie.read_times->shortest_ns();
  return pcie.read_latency_mean_ns - (pcie.read_latency_p99_ns - pcie.read_latency_mean_ns) / kExponentialTail;
}

}  // namespace mrc
