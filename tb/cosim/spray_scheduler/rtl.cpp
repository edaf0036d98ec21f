#include "cosim/spray_scheduler/rtl.h"

#include <algorithm>

#include <fmt/format.h>

#include "Vspray_scheduler_full.h"
#include "Vspray_scheduler_small.h"
#include "cosim/spray_scheduler/adapter.h"

namespace mrc {
namespace {

using Small = SpraySchedulerAdapter<Vspray_scheduler_small, 4, 16, 4>;
using Full = SpraySchedulerAdapter<Vspray_scheduler_full, 1024, 256, 8>;

}  // namespace

std::unique_ptr<SpraySchedulerEngine> make_spray_scheduler_rtl(const SpraySizes& needed,
                                                               const cosim::TraceRecorder& recorder,
                                                               const RtlContract& contract) {
  const RtlContract::Way* way = contract.way("sel", "rsp");
  const bool known = way != nullptr && way->latency.line != 0 && way->interval.line != 0;
  const std::uint64_t beyond =
      known ? way->latency.at_least - std::min(way->latency.at_least, way->interval.at_least) : 2;
  const auto cycles = static_cast<std::uint32_t>(beyond);
  if (needed.tables <= 4 && needed.evs <= 16 && needed.planes <= 4) return std::make_unique<Small>(recorder, cycles);
  if (needed.tables <= 1024 && needed.evs <= 256 && needed.planes <= 8) return std::make_unique<Full>(recorder, cycles);
  throw std::invalid_argument(fmt::format(
      "spray_scheduler: {} path tables of {} EVs on {} planes; the RTL is built for 1024 path tables of 256 "
      "EVs on 8 planes",
      needed.tables, needed.evs, needed.planes));
}

}  // namespace mrc
