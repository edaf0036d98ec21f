// What a PCIe link carries: the rate that is left for TLPs by generation, lanes and payload size, the bytes that each
// TLP adds, and into how many TLPs a transfer is cut.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "pcie/pcie_parameters.h"

namespace mrc {

struct PcieLaw {
  double gbps = 0;                   ///< rate for TLP bytes, all links of the NIC together
  std::uint32_t write_overhead = 0;  ///< bytes a posted write TLP adds to its data
  std::uint32_t read_overhead = 0;   ///< bytes of a read request TLP
  std::uint32_t completion_overhead = 0;
};

/// Gen6 and Gen7: FLIT mode, 236 of 256 bytes carry TLPs, headers only (4 DW request and write, 3 DW completion;
/// PCIe 6.0). Gen7 has the FLIT of Gen6 at twice the rate (PCIe 7.0: 128 GT/s, PAM4). Gen3 … Gen5: 128b/130b and per
/// TLP 2 B framing, 6 B sequence number and LCRC, header (64-bit addresses), of the rate that DLLPs leave.
/// Precondition: generation 3 … 7.
constexpr PcieLaw pcie_law(const PcieConfig& config) {
  const double lanes = static_cast<double>(config.lanes) * config.links;
  if (config.generation >= 6) return {(config.generation == 6 ? 64.0 : 128.0) * lanes * 236.0 / 256.0, 16, 16, 12};
  const double gigatransfers = config.generation == 5 ? 32.0 : config.generation == 4 ? 16.0 : 8.0;
  return {gigatransfers * lanes * 128.0 / 130.0 * (1.0 - dllp_share(config)), 24, 24, 20};
}

/// Bytes from `address` to the end of its block of `block` bytes (a power of two), at most `bytes`.
constexpr std::uint32_t bytes_in_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t block) {
  const std::uint64_t room = block - (address & (block - 1));
  return static_cast<std::uint32_t>(room < bytes ? room : bytes);
}

/// Number of TLPs that `bytes` at `address` take when none crosses a multiple of `block` (MPS, MRRS; each divides 4
/// KiB).
constexpr std::uint32_t tlp_count(std::uint64_t address, std::uint64_t bytes, std::uint64_t block) {
  const int shift = std::countr_zero(block);
  const std::uint64_t first = address >> shift;
  const std::uint64_t last = (address + bytes - 1) >> shift;
  return static_cast<std::uint32_t>(last - first + 1);
}

/// Bytes of the first completion of the `bytes` (at least 1) still owed from `address` on. All but the last completion
/// of a request end at a multiple of the RCB and none is larger than MPS, whatever the host's policy. `first`: of the
/// request's completions.
constexpr std::uint32_t completion_bytes(const PcieConfig& config, std::uint64_t address, std::uint64_t bytes,
                                         bool first) {
  switch (config.completion_split) {
    case CompletionSplit::rcb:
      return bytes_in_block(address, bytes, config.rcb_bytes);
    case CompletionSplit::mps: {
      const std::uint64_t end = (address + config.mps_bytes) & ~std::uint64_t{config.rcb_bytes - 1};
      return static_cast<std::uint32_t>(std::min(bytes, end - address));
    }
    case CompletionSplit::first_rcb:
      if (first) return bytes_in_block(address, bytes, config.rcb_bytes);
      break;
    case CompletionSplit::mps_aligned:
      break;
  }
  return bytes_in_block(address, bytes, config.mps_bytes);
}

/// Number of completions of a read request.
constexpr std::uint32_t completion_count(const PcieConfig& config, std::uint64_t address, std::uint64_t bytes) {
  if (config.completion_split == CompletionSplit::mps_aligned) return tlp_count(address, bytes, config.mps_bytes);
  if (config.completion_split == CompletionSplit::rcb) return tlp_count(address, bytes, config.rcb_bytes);
  const std::uint32_t first = completion_bytes(config, address, bytes, true);
  if (config.completion_split == CompletionSplit::first_rcb) {
    return first == bytes ? 1 : 1 + tlp_count(address + first, bytes - first, config.mps_bytes);
  }
  return static_cast<std::uint32_t>(1 + (bytes - first + config.mps_bytes - 1) / config.mps_bytes);
}

}  // namespace mrc
