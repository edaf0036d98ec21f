// Verilated spray_scheduler as an engine of the SystemC box.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "cosim/contract.h"
#include "cosim/trace.h"
#include "nic/tx/spray_scheduler_engine.h"

namespace mrc {

/// The largest that runs can have.
inline constexpr SpraySizes kFullSpraySizes{1'024, 256, 8};

/// Throws std::invalid_argument, naming both, for more than `built`.
inline void check_spray_sizes(const SpraySizes& needed, const SpraySizes& built) {
  if (needed.tables <= built.tables && needed.evs <= built.evs && needed.planes <= built.planes) return;
  throw std::invalid_argument(fmt::format(
      "spray_scheduler: {} path tables of {} EVs on {} planes; the RTL is built for {} path tables of {} EVs on {} "
      "planes",
      needed.tables, needed.evs, needed.planes, built.tables, built.evs, built.planes));
}

/// By which the answer to a selection is later than the next selection may be taken.
inline std::uint32_t cycles_beyond_interval(const RtlContract& contract) {
  const RtlContract::Way* way = contract.way("sel", "rsp");
  const bool known = way != nullptr && way->latency.line != 0 && way->interval.line != 0;
  if (!known) return 2;
  return static_cast<std::uint32_t>(way->latency.at_least - std::min(way->latency.at_least, way->interval.at_least));
}

/// The RTL that has at least these sizes, as small as possible; throws std::invalid_argument, naming what is built, if
/// there is none.
std::unique_ptr<SpraySchedulerEngine> make_spray_scheduler_rtl(const SpraySizes& needed,
                                                               const cosim::TraceRecorder& recorder = {},
                                                               const RtlContract& contract = {});

}  // namespace mrc
