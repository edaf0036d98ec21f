// Where the context of a QP lies in host memory.
#pragma once

#include <cstdint>

#include "nic/nic_context.h"
#include "pcie/host_port.h"

namespace mrc::timing {

inline std::uint64_t context_address(const NicContext& nic, std::uint32_t qp) {
  if (nic.host_port != nullptr) return nic.host_port->context_address(qp);
  return std::uint64_t{qp} * nic.config.nic.qp_scheduler.context_bytes;
}

}  // namespace mrc::timing
