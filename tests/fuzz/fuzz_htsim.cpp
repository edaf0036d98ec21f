// Any text is a connection matrix whose workload keeps the rules, or a TraceError.
#include "text_reader.h"
#include "traffic/htsim_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mrc::fuzz::check_text_reader(data, size, [](std::istream& in, const mrc::ReadOptions& options, mrc::Warnings&) {
    return mrc::read_htsim(in, "htsim", options);
  });
  return 0;
}
