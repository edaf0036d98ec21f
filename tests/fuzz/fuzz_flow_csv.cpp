// Any text is a workload that keeps the rules, or a TraceError.
#include <sstream>

#include "traffic/flow_csv.h"
#include "traffic/trace_error.h"
#include "workload_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  try {
    mrc::fuzz::check_workload(mrc::read_flow_csv(in, "flows"));
  } catch (const mrc::TraceError&) {
  }
  return 0;
}
