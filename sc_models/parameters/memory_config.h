// Banks and ports of a memory, and the errors injected into its cells.
#pragma once

#include <cstdint>

namespace mrc {

/// Accesses per cycle and bank: one; one read and one write; any two.
enum class MemoryPorts : std::uint8_t { one_rw, one_r_one_w, two_rw };
enum class EccScheme : std::uint8_t { none, secded };

struct MemoryConfig {
  std::uint32_t banks = 1;
  MemoryPorts ports = MemoryPorts::one_rw;
  double correctable_per_gbit = 0;    ///< single-bit errors per 2^30 bits read
  double uncorrectable_per_gbit = 0;  ///< double-bit errors per 2^30 bits read
};

}  // namespace mrc
