// Any text is a contract of a block, or an error that says why; what is read keeps the bounds of its messages.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cosim/contract.h"
#include "parameters/registry.h"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

void check(const mrc::RtlContract& contract, std::uint64_t lines) {
  must(contract.reset_cycles >= 1 && contract.reset_cycles <= mrc::kMostResetCycles);
  must(contract.initialization.at_least <= contract.initialization.at_most);
  for (const mrc::RtlContract::Ready& ready : contract.ready) must(ready.line >= 1 && ready.line <= lines);
  for (const mrc::RtlContract::Way& way : contract.ways) {
    must(way.line >= 1 && way.line <= lines);
    must(way.latency.at_least <= way.latency.at_most && way.interval.at_least <= way.interval.at_most);
    must((way.places == 0) == (way.places_line == 0));
    must(contract.way(way.from, way.to) != nullptr);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    check(mrc::parse_contract(text, "contract.toml"),
          1 + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')));
  } catch (const mrc::ParameterError&) {
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
