// What a PCIe link carries: the rate that is left for TLPs by generation, lanes and payload size, the bytes that each
// TLP adds, and into how many TLPs a transfer is cut.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parameters/config.h"

namespace mrc {

struct PcieLaw {
  double gbps = 0;                   ///< rate for TLP bytes, all links of the NIC together
  std::uint32_t write_overhead = 0;  ///< bytes a posted write TLP adds to its data
  std::uint32_t read_overhead = 0;   ///< bytes of a read request TLP
  std::uint32_t completion_overhead = 0;
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

/// Gen6: FLIT mode, 236 of 256 bytes carry TLPs, headers only (4 DW request and write, 3 DW completion; PCIe 6.0).
/// Gen3 … Gen5: 128b/130b and per TLP 2 B framing, 6 B sequence number and LCRC, header (64-bit addresses), of the rate
/// that DLLPs leave.
/// Precondition: generation 3 … 6.
constexpr PcieLaw pcie_law(const PcieConfig& config) {
  const double lanes = static_cast<double>(config.lanes) * config.links;
  if (config.generation >= 6) return {64.0 * lanes * 236.0 / 256.0, 16, 16, 12};
  const double gigatransfers = config.generation == 5 ? 32.0 : config.generation == 4 ? 16.0 : 8.0;
  return {gigatransfers * lanes * 128.0 / 130.0 * (1.0 - dllp_share(config)), 24, 24, 20};
}

/// Requests that a link can tell apart: 8-bit tags in Gen3, 10-bit in Gen4 and Gen5 (256 of the codes are reserved),
/// 14-bit in Gen6 (likewise; PCIe 3.0, 4.0, 6.0).
constexpr std::uint32_t max_tags_per_link(std::uint32_t generation) {
  return generation >= 6 ? 15'360 : generation >= 4 ? 768 : 256;
}

/// Bytes from `address` to the end of its block of `block` bytes (a power of two), at most `bytes`.
constexpr std::uint32_t bytes_in_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t block) {
  const std::uint64_t room = block - (address & (block - 1));
  return static_cast<std::uint32_t>(room < bytes ? room : bytes);
}

/// Number of TLPs that `bytes` at `address` take when none crosses a multiple of `block` (MPS, MRRS; each divides 4
/// KiB).
constexpr std::uint32_t tlp_count(std::uint64_t address, std::uint64_t bytes, std::uint64_t block) {
  const std::uint64_t first = address / block;
  const std::uint64_t last = (address + bytes - 1) / block;
  return static_cast<std::uint32_t>(last - first + 1);
}

/// Bytes of the first completion of the `bytes` (at least 1) still owed from `address` on. All but the last completion
/// of a request end at a multiple of the RCB and none is larger than MPS, whatever the host's policy.
constexpr std::uint32_t completion_bytes(const PcieConfig& config, std::uint64_t address, std::uint64_t bytes) {
  switch (config.completion_split) {
    case CompletionSplit::rcb:
      return bytes_in_block(address, bytes, config.rcb_bytes);
    case CompletionSplit::mps: {
      const std::uint64_t end = (address + config.mps_bytes) & ~std::uint64_t{config.rcb_bytes - 1};
      return static_cast<std::uint32_t>(std::min(bytes, end - address));
    }
    case CompletionSplit::mps_aligned:
      break;
  }
  return bytes_in_block(address, bytes, config.mps_bytes);
}

/// Number of completions of a read request.
constexpr std::uint32_t completion_count(const PcieConfig& config, std::uint64_t address, std::uint64_t bytes) {
  if (config.completion_split == CompletionSplit::mps_aligned) return tlp_count(address, bytes, config.mps_bytes);
  if (config.completion_split == CompletionSplit::rcb) return tlp_count(address, bytes, config.rcb_bytes);
  const std::uint32_t first = completion_bytes(config, address, bytes);
  return static_cast<std::uint32_t>(1 + (bytes - first + config.mps_bytes - 1) / config.mps_bytes);
}

}  // namespace mrc
