// Limits of all trace formats, so that times in ps and sums of bytes fit 64 bits.
#pragma once

#include <cstdint>

namespace mrc {

inline constexpr std::uint32_t kMostRank = 131'071;
inline constexpr std::uint64_t kMostMessageBytes = 1ULL << 40;
inline constexpr std::uint64_t kMostTraceTimeUs = 1'000'000'000'000;
/// Nodes of a workload; they take about 5 GB of memory.
inline constexpr std::uint64_t kMostWorkNodes = 1ULL << 26;

/// The highest priority that a trace can give; what exceeds it is as urgent.
inline constexpr std::uint64_t kMostPriority = 3;
constexpr std::uint8_t class_of_priority(std::uint64_t priority) {
  return static_cast<std::uint8_t>(priority < kMostPriority ? priority : kMostPriority);
}

}  // namespace mrc
