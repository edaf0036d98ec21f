// Options of collectives.
#pragma once

#include <cstdint>

namespace mrc {

/// in_network: switches add, so there are no messages between ranks.
enum class AllReduceAlgorithm : std::uint8_t { ring, halving_doubling, double_binary_tree, hierarchical, in_network };
enum class AllToAllAlgorithm : std::uint8_t { direct, paced };

struct CollectiveOptions {
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::ring;
  AllToAllAlgorithm all_to_all = AllToAllAlgorithm::direct;
  std::uint32_t channels = 1;        ///< 1 or more equal parts of the buffer, in parallel
  std::uint64_t chunk_bytes = 0;     ///< longest message of rings, trees and chains; 0: a whole share
  std::uint32_t ranks_per_host = 8;  ///< inner group of the hierarchical all-reduce
  std::uint32_t window = 4;          ///< messages in flight per rank of a paced all-to-all
  double skew = 0;  ///< 0: even; s: bytes of the k-th most popular rank of an all-to-all are in proportion to 1 / k^s
  std::uint64_t seed = 1;  ///< of the order of popularity
};

}  // namespace mrc
