// Any text is a flow CSV whose workload keeps the rules, or a TraceError.
#include "text_reader.h"
#include "traffic/flow_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mrc::fuzz::check_text_reader(data, size, [](std::istream& in, const mrc::ReadOptions& options, mrc::Warnings&) {
    return mrc::read_flow_csv(in, "flows", options);
  });
  return 0;
}
