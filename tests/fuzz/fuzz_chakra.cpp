// Any bytes are a Chakra trace whose workload keeps the rules, or a TraceError.
#include "memory_file.h"
#include "traffic/chakra_reader.h"
#include "traffic/expand_collectives.h"
#include "traffic/trace_error.h"
#include "traffic/trace_totals.h"
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
  try_read([&] {
    std::vector<std::string> warnings;
    mrc::TraceTotals totals;
    mrc::read_chakra({file.path()}, {.totals = &totals}, warnings);
  });
  for (const bool strict : {false, true}) {
    for (const std::uint32_t ranks : {0U, 3U}) {
      try_read([&] {
        std::vector<std::string> warnings;
        const mrc::ReadOptions options{.ranks = ranks, .rows = ranks, .strict = strict};
        const mrc::Workload workload = mrc::read_chakra({file.path()}, options, warnings);
        mrc::fuzz::check_workload(workload);
        mrc::fuzz::check_workload(mrc::expand_collectives(workload, {}));
      });
    }
  }
  return 0;
}
