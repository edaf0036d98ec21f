// Options of every trace reader.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mrc {

struct TraceTotals;

/// Receives the share of the files that has been read, 0 … 1, every few KiB.
using ReadProgress = std::function<void(double share)>;

struct ReadOptions {
  std::uint32_t ranks = 0;           ///< for a trace in which one file represents all ranks; 0: the number in the trace
  std::uint64_t rows = 0;            ///< limit on flows, connections, layers or nodes; 0: all
  std::uint32_t ranks_per_host = 8;  ///< inner dimension where a trace does not say how its world is divided
  bool strict = false;               ///< entries that would be dropped with a warning are errors
  TraceTotals* totals = nullptr;     ///< count only: the workload stays empty
  ReadProgress progress = {};        ///< of files that the reader opens itself
};

using Warnings = std::vector<std::string>;

}  // namespace mrc
