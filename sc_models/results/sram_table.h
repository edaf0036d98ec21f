// The memories that a NIC's parameters make: depth x width, ports, banks, check bits and an estimate of their area.
#pragma once

#include <cstdint>
#include <vector>

#include "parameters/config.h"
#include "results/run_result.h"

namespace mrc {

/// How much a NIC is connected to; tables with an entry a QP or a destination grow with it.
struct NicScale {
  std::uint32_t qps = 1;
  std::uint32_t destinations = 1;
};

/// One row a structure, transmit, receive, control. A word's width is the sum of the fields in `fields`: widths are
/// those of the packet format where the field is in a header (spec), else what holds the parameter's range
/// (assumption).
std::vector<SramResult> sram_table(const NodeConfig& node, const ProtocolConfig& protocol, const NicScale& scale);

/// Check bits of one word of `data_bits` with single error correction and double error detection (Hamming and parity).
std::uint32_t secded_bits(std::uint32_t data_bits);

}  // namespace mrc
