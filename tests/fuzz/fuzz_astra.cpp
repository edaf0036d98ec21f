// Any text is ASTRA-sim workload text whose workload keeps the rules, counted and as messages too, or a TraceError.
#include <sstream>

#include "traffic/astra_reader.h"
#include "traffic/expand_collectives.h"
#include "traffic/trace_error.h"
#include "traffic/trace_totals.h"
#include "workload_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::uint32_t ranks : {0U, 4U}) {
    mrc::Warnings warnings;
    mrc::TraceTotals totals;
    try {
      std::istringstream in(text);
      const mrc::Workload workload = mrc::read_astra(in, "astra", {.ranks = ranks}, warnings);
      mrc::fuzz::check_workload(workload);
      if (workload.ranks <= 16 && workload.nodes.size() < 1000) {
        mrc::fuzz::check_workload(mrc::expand_collectives(workload, {}));
      }
    } catch (const mrc::TraceError&) {
    }
    try {
      std::istringstream in(text);
      mrc::ReadOptions options;
      options.totals = &totals;
      options.ranks = ranks;
      mrc::read_astra(in, "counted", options, warnings);
    } catch (const mrc::TraceError&) {
    }
  }
  return 0;
}
