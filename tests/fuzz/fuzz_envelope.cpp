// Any text is an envelope, or a ParameterError, and each point of an envelope is a case; any text is a file of sizes,
// or a ParameterError. Input: the envelope, and the file of sizes after a zero byte.
#include <algorithm>

#include "memory_file.h"
#include "parameters/scenario.h"
#include "study/envelope.h"
#include "study/settings_file.h"
#include "study/study_error.h"

// The network's header brings SystemC, which is not run here.
extern "C" int sc_main(int, char*[]) {
  return 0;
}

namespace {

constexpr std::string_view kScenario = "seed = 1\ntraffic.trace = \"flows.csv\"\nfabric.nics = 2\nnic.ports = 2\n";

const std::uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

void try_points(const mrc::Envelope& envelope) {
  for (const double position : {mrc::kUsual, 0.0, 0.37, 1.0}) {
    const mrc::AttackPoint point = envelope.tidy(mrc::AttackPoint(envelope.factors().size(), position));
    envelope.draw(point);
    envelope.differences(point);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const mrc::fuzz::MemoryFile scenario(bytes_of(kScenario), kScenario.size());
  static const mrc::RunPlanner planner({scenario.path(), {}});
  const std::uint8_t* const end = data + size;
  const std::uint8_t* const second = std::find(data, end, std::uint8_t{0});
  try {
    const mrc::fuzz::MemoryFile file(data, static_cast<std::size_t>(second - data));
    try_points(mrc::Envelope(file.path(), planner));
  } catch (const mrc::ParameterError&) {
  } catch (const mrc::StudyError&) {
  }
  if (second == end) return 0;
  try {
    const mrc::fuzz::MemoryFile file(second + 1, static_cast<std::size_t>(end - second - 1));
    mrc::read_sizes(file.path());
  } catch (const mrc::ParameterError&) {
  }
  return 0;
}
