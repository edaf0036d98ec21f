// Any text is GOAL text whose workload keeps the rules, or a TraceError.
#include "text_reader.h"
#include "traffic/goal_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mrc::fuzz::check_text_reader(data, size,
                               [](std::istream& in, const mrc::ReadOptions& options, mrc::Warnings& warnings) {
                                 return mrc::read_goal(in, "goal", options, warnings);
                               });
  return 0;
}
