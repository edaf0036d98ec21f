// In the place of Chakra's reader and writer where Protobuf is not installed.
#include "traffic/chakra_reader.h"
#include "traffic/chakra_writer.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

constexpr const char* kNotBuilt =
    "Chakra traces are Protobuf, without which this mrcsim was built (Debian: libprotobuf-dev protobuf-compiler)";

}  // namespace

Workload read_chakra(const std::vector<std::string>& files, const ReadOptions& /*options*/, Warnings& /*warnings*/) {
  throw TraceError(files.empty() ? "trace" : files.front(), kNotBuilt);
}

/// By its name: the content cannot be read.
bool looks_like_chakra(const std::string& file) {
  return file.ends_with(".et");
}

void write_chakra(const Workload& /*workload*/, const std::string& pattern) {
  throw TraceError(pattern, kNotBuilt);
}

}  // namespace mrc
