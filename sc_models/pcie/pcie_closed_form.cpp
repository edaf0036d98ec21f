#include <algorithm>

#include "pcie/pcie_experiment.h"
#include "pcie/pcie_law.h"

namespace mrc {
namespace {

/// Of the transfers of a point, on average over the places of its window.
struct MeanTransfer {
  double requests = 0;
  double write_tlps = 0;
  double completions = 0;
};

MeanTransfer mean_transfer(const PcieConfig& pcie, const PciePoint& point) {
  // Units are whole lines, so that their alignment within 4 KiB repeats after 64 of them at the latest.
  const std::uint64_t places = std::clamp<std::uint64_t>(point.units(), 1, 64);
  MeanTransfer mean;
  for (std::uint64_t unit = 0; unit < places; ++unit) {
    const std::uint64_t address = unit * point.unit_bytes() + point.offset_bytes;
    mean.requests += tlp_count(address, point.bytes, pcie.mrrs_bytes);
    mean.write_tlps += tlp_count(address, point.bytes, pcie.mps_bytes);
    std::uint64_t at = address;
    for (std::uint32_t left = point.bytes; left > 0;) {
      const std::uint32_t request = bytes_in_block(at, left, pcie.mrrs_bytes);
      mean.completions += completion_count(pcie, at, request);
      at += request;
      left -= request;
    }
  }
  const auto count = static_cast<double>(places);
  return {mean.requests / count, mean.write_tlps / count, mean.completions / count};
}

/// Keeps the tightest of several bounds on the time between two transfers.
class Bounds {
 public:
  void at_least(double interval_ns, const char* by) {
    if (interval_ns <= interval_ns_) return;
    interval_ns_ = interval_ns;
    by_ = by;
  }
  double interval_ns() const { return interval_ns_; }
  const char* by() const { return by_; }

 private:
  double interval_ns_ = 0;
  const char* by_ = "link";
};

/// Line time of a transfer's TLPs: the busier direction.
double line_ns(const PcieLaw& law, const MeanTransfer& mean, const PciePoint& point) {
  const bool reads = point.test != PcieTest::write_bandwidth && point.test != PcieTest::write_latency;
  const bool writes = point.test != PcieTest::read_bandwidth && point.test != PcieTest::read_latency;
  const double up = (reads ? mean.requests * law.read_overhead : 0) +
                    (writes ? point.bytes + mean.write_tlps * law.write_overhead : 0);
  const double down = reads ? point.bytes + mean.completions * law.completion_overhead : 0;
  return std::max(up, down) * 8.0 / law.gbps;
}

void bound_reads(const NodeConfig& node, const PcieLaw& law, const MeanTransfer& mean, const PciePoint& point,
                 Bounds& bounds) {
  const PcieConfig& pcie = node.pcie;
  const double request_ns = law.read_overhead * 8.0 / law.gbps;
  const double data_ns = (point.bytes + mean.completions * law.completion_overhead) / mean.requests * 8.0 / law.gbps;
  const double tag_ns = request_ns + pcie.read_latency_mean_ns + data_ns;
  bounds.at_least(tag_ns * mean.requests / pcie.read_tags, "pcie.read_tags");
  const double held_ns = tag_ns + pcie.report_cycles / node.nic.core_clock_ghz;
  bounds.at_least(held_ns * point.bytes / static_cast<double>(pcie.completion_buffer_bytes),
                  "pcie.completion_buffer_bytes");
  bounds.at_least((request_ns + pcie.credit_return_ns) * mean.requests / pcie.non_posted_header_credits,
                  "pcie.non_posted_header_credits");
  bounds.at_least(mean.requests / node.nic.core_clock_ghz, "nic.core_clock_ghz");
  const double credit_ns = data_ns * mean.requests / mean.completions + pcie.credit_return_ns;
  if (pcie.completion_header_credits > 0) {
    bounds.at_least(credit_ns * mean.completions / pcie.completion_header_credits, "pcie.completion_header_credits");
  }
  if (pcie.completion_data_credits > 0) {
    bounds.at_least(credit_ns * point.bytes / 16.0 / pcie.completion_data_credits, "pcie.completion_data_credits");
  }
}

void bound_writes(const PcieConfig& pcie, const PcieLaw& law, const MeanTransfer& mean, const PciePoint& point,
                  Bounds& bounds) {
  const double tlp_ns = (point.bytes / mean.write_tlps + law.write_overhead) * 8.0 / law.gbps;
  const double credit_ns = tlp_ns + pcie.credit_return_ns;
  bounds.at_least(credit_ns * mean.write_tlps / pcie.posted_header_credits, "pcie.posted_header_credits");
  bounds.at_least(credit_ns * point.bytes / 16.0 / pcie.posted_data_credits, "pcie.posted_data_credits");
}

double latency_ns(const NodeConfig& node, const PcieLaw& law, const MeanTransfer& mean, const PciePoint& point) {
  const PcieConfig& pcie = node.pcie;
  const double cycle_ns = 1.0 / node.nic.core_clock_ghz;
  const double write_ns = pcie.write_cycles * cycle_ns +
                          (point.bytes + mean.write_tlps * law.write_overhead) * 8.0 / law.gbps + pcie.write_latency_ns;
  if (point.test == PcieTest::write_latency) return write_ns;
  const double data_ns = (point.bytes + mean.completions * law.completion_overhead) * 8.0 / law.gbps;
  const double report_ns = pcie.report_cycles * cycle_ns;
  const double read_ns =
      pcie.request_cycles * cycle_ns + law.read_overhead * 8.0 / law.gbps + pcie.read_latency_mean_ns;
  if (point.test == PcieTest::read_latency) return read_ns + data_ns + report_ns;
  // The read request leaves behind the write, and is answered when the write is visible.
  const double behind_ns =
      write_ns - pcie.write_latency_ns + law.read_overhead * 8.0 / law.gbps + pcie.read_latency_mean_ns;
  const double visible_ns = pcie.id_based_ordering ? 0 : write_ns;
  return std::max(behind_ns, visible_ns) + data_ns + report_ns;
}

}  // namespace

PcieClosedForm pcie_closed_form(const NodeConfig& node, const PciePoint& point) {
  const PcieLaw law = pcie_law(node.pcie);
  const MeanTransfer mean = mean_transfer(node.pcie, point);
  PcieClosedForm form;
  form.latency_ns = latency_ns(node, law, mean, point);
  const double link_ns = line_ns(law, mean, point);
  Bounds bounds;
  bounds.at_least(link_ns, "link");
  if (point.test != PcieTest::write_bandwidth) bound_reads(node, law, mean, point, bounds);
  if (point.test != PcieTest::read_bandwidth) bound_writes(node.pcie, law, mean, point, bounds);
  form.link_gbps = point.bytes * 8.0 / link_ns;
  form.gbps = point.bytes * 8.0 / bounds.interval_ns();
  form.bound_by = bounds.by();
  return form;
}

}  // namespace mrc
