// Any text and any --set assignments are a scenario or a ParameterError. Input: the file, and each assignment after a
// zero byte.
#include <algorithm>

#include "memory_file.h"
#include "parameters/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::uint8_t* const end = data + size;
  const std::uint8_t* at = std::find(data, end, std::uint8_t{0});
  const mrc::fuzz::MemoryFile file(data, static_cast<std::size_t>(at - data));
  mrc::ScenarioOverrides overrides;
  while (at != end) {
    const std::uint8_t* const next = std::find(at + 1, end, std::uint8_t{0});
    overrides.assignments.emplace_back(at + 1, next);
    at = next;
  }
  try {
    mrc::load_scenario(file.path(), overrides);
  } catch (const mrc::ParameterError&) {
  }
  return 0;
}
