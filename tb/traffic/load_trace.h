// Any trace that mrcsim reads, detected by its content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/workload.h"
#include "traffic/read_options.h"
#include "traffic/trace_totals.h"

namespace mrc {

/// In a path: replaced by the rank.
inline constexpr std::string_view kRankInName = "{rank}";

struct TraceRequest {
  std::string path;                  ///< a file, a folder of name.<rank>.et files, or a pattern with {rank}
  std::string format = "auto";       ///< one of trace_formats()
  std::uint32_t ranks = 0;           ///< for a trace in which one file represents all ranks; 0: the number in the trace
  std::uint64_t rows = 0;            ///< limit on flows, connections, layers or nodes; 0: all
  std::uint32_t ranks_per_host = 8;  ///< see ReadOptions
  bool strict = false;               ///< entries that would be dropped with a warning are errors
  double byte_scale = 1.0;           ///< factor on each message's bytes, which stay within 1 … 2^40
  ReadProgress progress = {};        ///< may be empty
};

struct LoadedTrace {
  Workload workload;
  std::vector<std::string> warnings;
};

/// Summary of a trace, without the work itself.
struct TraceContents {
  std::string format;
  std::uint32_t ranks = 0;
  bool same_on_all_ranks = false;  ///< the totals are those of one rank
  TraceTotals totals;
  std::vector<std::string> warnings;
};

/// Names of formats: "auto" (by content) and one for each reader.
const std::vector<std::string>& trace_formats();

/// Throws TraceError with file and place.
LoadedTrace load_trace(const TraceRequest& request);

/// Reads to the end with memory that does not grow with the file, so what needs the whole trace is not checked: that
/// sends meet receives, and dependencies. byte_scale does not count. Throws TraceError.
TraceContents count_trace(const TraceRequest& request);

/// Throws TraceError, naming the first place that uses a rank of `ranks`, which `nics` NICs have room for, or more.
void check_ranks(const Workload& workload, std::uint32_t ranks, std::uint32_t nics);

/// Ranks, messages, collectives, bytes and sizes, as text of a few lines.
std::string describe(const TraceRequest& request, const TraceContents& contents);

}  // namespace mrc
