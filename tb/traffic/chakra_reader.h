// Chakra execution traces: a file a rank, or one file that stands for every rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/workload.h"

namespace mrc {

struct ChakraOptions {
  std::uint32_t ranks = 0;  ///< over how many ranks a single file with collectives is repeated; 0: as many as files
  bool strict = false;      ///< refuse control dependencies that are absent, on the node itself or in a loop
};

/// `files[r]` is rank r's trace. Data dependencies bind: a missing one or a loop throws TraceError. Bad control
/// dependencies are dropped and told in one line of `warnings`. All-reduce nodes become rings of sends and receives;
/// collectives without comm_type are work of the host. Throws TraceError with file and node for damaged input.
Workload read_chakra(const std::vector<std::string>& files, const ChakraOptions& options,
                     std::vector<std::string>& warnings);

/// The file begins like a Chakra trace: a length and a GlobalMetadata message of that length.
bool looks_like_chakra(const std::string& file);

}  // namespace mrc
