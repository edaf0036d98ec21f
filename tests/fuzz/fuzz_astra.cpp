// Any text is ASTRA-sim workload text whose workload keeps the rules, or a TraceError.
#include "text_reader.h"
#include "traffic/astra_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mrc::fuzz::check_text_reader(data, size,
                               [](std::istream& in, const mrc::ReadOptions& options, mrc::Warnings& warnings) {
                                 return mrc::read_astra(in, "astra", options, warnings);
                               });
  return 0;
}
