// What every trace reader is told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mrc {

struct TraceTotals;

struct ReadOptions {
  std::uint32_t ranks = 0;        ///< of a trace that stands for all ranks; 0: as many as it says
  std::uint64_t rows = 0;         ///< only the first so many flows, connections, layers or nodes; 0: all
  bool strict = false;            ///< what would be dropped with a warning is an error
  TraceTotals* totals = nullptr;  ///< count only: the workload stays empty
};

using Warnings = std::vector<std::string>;

}  // namespace mrc
