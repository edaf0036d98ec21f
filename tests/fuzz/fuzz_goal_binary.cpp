// Any bytes are a binary GOAL schedule whose workload keeps the rules, or a TraceError.
#include "text_reader.h"
#include "traffic/goal_binary_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mrc::fuzz::check_text_reader(data, size,
                               [](std::istream& in, const mrc::ReadOptions& options, mrc::Warnings& warnings) {
                                 return mrc::read_goal_binary(in, "goal", options, warnings);
                               });
  return 0;
}
