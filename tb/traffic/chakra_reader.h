// Chakra execution traces: a file a rank, or one file that stands for every rank.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/workload.h"

namespace mrc {

struct ChakraOptions {
  std::uint32_t ranks = 0;  ///< over how many ranks a single file with collectives is repeated; 0: as many as files
  bool strict = false;      ///< refuse control dependencies that are absent, on the node itself or in a loop
};

/// `files[r]` is rank r's trace, or one file is that of `ranks` ranks. Data dependencies bind: a missing one or a loop
/// throws TraceError. Bad control dependencies are dropped and told in one line of `warnings`. All-reduce nodes become
/// rings of sends and receives, broadcasts chains from rank 0; collectives without comm_type are work of the host.
/// Throws TraceError with file and node for damaged input and other collectives.
Workload read_chakra(const std::vector<std::string>& files, const ChakraOptions& options,
                     std::vector<std::string>& warnings);

struct CollectiveTotal {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< as their nodes' comm_size says
};

/// What files hold, whether or not it can be played.
struct ChakraContents {
  std::uint64_t nodes = 0;
  std::map<std::string, CollectiveTotal> collectives;  ///< by kind; those without comm_type do not count
};

/// Throws TraceError for files that are empty, damaged or cut off.
ChakraContents chakra_contents(const std::vector<std::string>& files);

/// The file begins like a Chakra trace: a length and a GlobalMetadata message of that length.
bool looks_like_chakra(const std::string& file);

}  // namespace mrc
