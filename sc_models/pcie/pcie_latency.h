// What PCIe adds to the latency of a single transfer on an idle link.
#pragma once

#include "parameters/config.h"
#include "pcie/pcie_law.h"

namespace mrc {

inline double pcie_tlp_ns(const PcieLaw& law, double bytes) {
  return bytes * 8.0 / law.gbps;
}

/// pcie_dma, the request upstream, mean latency of host memory, the completion downstream, pcie_dma.
inline double pcie_read_ns(const NodeConfig& node, double bytes) {
  const PcieConfig& pcie = node.pcie;
  const PcieLaw law = pcie_law(pcie);
  return pcie.request_cycles / node.nic.core_clock_ghz + pcie_tlp_ns(law, law.read_overhead) +
         pcie.read_latency_mean_ns + pcie_tlp_ns(law, bytes + law.completion_overhead) +
         pcie.report_cycles / node.nic.core_clock_ghz;
}

/// Two posted writes of `bytes` together, one behind the other, until the last is in memory.
inline double pcie_two_writes_ns(const NodeConfig& node, double bytes) {
  const PcieLaw law = pcie_law(node.pcie);
  return node.pcie.write_cycles / node.nic.core_clock_ghz + pcie_tlp_ns(law, bytes + 2.0 * law.write_overhead) +
         node.pcie.write_latency_ns;
}

}  // namespace mrc
