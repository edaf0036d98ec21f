// Any bytes are a Chakra trace whose workload keeps the rules, or a TraceError.
#include "memory_file.h"
#include "traffic/chakra_reader.h"
#include "traffic/trace_error.h"
#include "workload_rules.h"

namespace {

template <typename Read>
void try_read(Read read) {
  try {
    read();
  } catch (const mrc::TraceError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const mrc::fuzz::MemoryFile file(data, size);
  mrc::looks_like_chakra(file.path());
  try_read([&] { mrc::chakra_contents({file.path()}); });
  for (const bool strict : {false, true}) {
    for (const std::uint32_t ranks : {0U, 3U}) {
      try_read([&] {
        std::vector<std::string> warnings;
        mrc::fuzz::check_workload(mrc::read_chakra({file.path()}, {.ranks = ranks, .strict = strict}, warnings));
      });
    }
  }
  return 0;
}
