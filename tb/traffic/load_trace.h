// Any trace that mrcsim reads, recognised by its content.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/workload.h"

namespace mrc {

struct TraceRequest {
  std::string path;             ///< a file, a folder of name.<rank>.et files, or a pattern with {rank}
  std::string format = "auto";  ///< auto, chakra, flow_csv
  std::uint32_t ranks = 0;      ///< see ChakraOptions
  bool strict = false;
  double byte_scale = 1.0;  ///< factor on each message's bytes, which stay within 1 … 2^40
};

struct LoadedTrace {
  Workload workload;
  std::vector<std::string> warnings;
};

/// Throws TraceError with file and place.
LoadedTrace load_trace(const TraceRequest& request);

/// Throws TraceError, naming the first place that uses a rank of `nodes` or more.
void check_ranks(const Workload& workload, std::uint32_t nodes);

/// The collectives of a Chakra trace as they stand in its files, played or not; empty where there are none.
std::string describe_collectives(const TraceRequest& request);

/// Ranks, messages, bytes and sizes, as text of a few lines.
std::string describe(const Workload& workload);

}  // namespace mrc
