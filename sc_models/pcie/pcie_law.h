// What a PCIe link carries: raw rate by generation and lanes, and the bytes that each TLP adds.
#pragma once

#include <cstdint>

#include "parameters/config.h"

namespace mrc {

struct PcieLaw {
  double gbps = 0;                     ///< rate for TLP bytes, all links of the NIC together
  std::uint32_t write_overhead = 0;    ///< bytes a posted write TLP adds to its data
  std::uint32_t read_overhead = 0;     ///< bytes of a read request TLP
  std::uint32_t completion_overhead = 0;
};

/// Gen6: FLIT mode, 236 of 256 bytes carry TLPs, headers only (4 DW request and write, 3 DW completion; PCIe 6.0).
/// Gen3 … Gen5: 128b/130b and per TLP 2 B framing, 6 B sequence number and LCRC, header (Neugebauer et al., SIGCOMM
/// 2018), of the rate that DLLPs leave (their 57.88 of 62.96 Gb/s for Gen3 x8).
/// Precondition: generation 3 … 6.
constexpr PcieLaw pcie_law(const PcieConfig& config) {
  const double lanes = static_cast<double>(config.lanes) * config.links;
  if (config.generation >= 6) return {64.0 * lanes * 236.0 / 256.0, 16, 16, 12};
  const double gigatransfers = config.generation == 5 ? 32.0 : config.generation == 4 ? 16.0 : 8.0;
  return {gigatransfers * lanes * 128.0 / 130.0 * (57.88 / 62.96), 24, 24, 20};
}

/// Bytes from `address` to the end of its block of `block` bytes (a power of two), at most `bytes`.
constexpr std::uint32_t bytes_in_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t block) {
  const std::uint64_t room = block - (address & (block - 1));
  return static_cast<std::uint32_t>(room < bytes ? room : bytes);
}

/// Number of TLPs that `bytes` at `address` take when none crosses a multiple of `block` (MPS, MRRS; each divides 4 KiB).
constexpr std::uint32_t tlp_count(std::uint64_t address, std::uint64_t bytes, std::uint64_t block) {
  const std::uint64_t first = address / block;
  const std::uint64_t last = (address + bytes - 1) / block;
  return static_cast<std::uint32_t>(last - first + 1);
}

}  // namespace mrc
