// A memory's banks and ports, and the errors that its cells are given.
#pragma once

#include <cstdint>

namespace mrc {

/// What a bank of a memory does in one cycle: one access; a read and a write; two accesses.
enum class MemoryPorts : std::uint8_t { one_rw, one_r_one_w, two_rw };
enum class EccScheme : std::uint8_t { none, secded };

struct MemoryConfig {
  std::uint32_t banks = 1;
  MemoryPorts ports = MemoryPorts::one_rw;
  double correctable_per_gbit = 0;    ///< single-bit errors per 2^30 bits read
  double uncorrectable_per_gbit = 0;  ///< double-bit errors per 2^30 bits read
};

}  // namespace mrc
