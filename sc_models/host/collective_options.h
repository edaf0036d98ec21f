// How collectives are carried out.
#pragma once

#include <cstdint>

namespace mrc {

enum class AllReduceAlgorithm : std::uint8_t { ring, halving_doubling, double_binary_tree, hierarchical };
enum class AllToAllAlgorithm : std::uint8_t { direct, paced };

struct CollectiveOptions {
  AllReduceAlgorithm all_reduce = AllReduceAlgorithm::ring;
  AllToAllAlgorithm all_to_all = AllToAllAlgorithm::direct;
  std::uint32_t channels = 1;        ///< 1 or more equal parts of the buffer, carried out side by side
  std::uint64_t chunk_bytes = 0;     ///< longest message of rings, trees and chains; 0: a share whole
  std::uint32_t ranks_per_host = 8;  ///< inner group of the hierarchical all-reduce
  std::uint32_t window = 4;          ///< messages that a rank of a paced all-to-all has under way
  double skew = 0;                   ///< 0: even; s: the k-th most popular rank gets 1 / k^s of an all-to-all's bytes
  std::uint64_t seed = 1;            ///< of the order of popularity
};

}  // namespace mrc
