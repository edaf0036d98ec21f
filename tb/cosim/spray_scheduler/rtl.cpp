#include "cosim/spray_scheduler/rtl.h"

#include "Vspray_scheduler_full.h"
#include "Vspray_scheduler_small.h"
#include "cosim/spray_scheduler/adapter.h"

namespace mrc {
namespace {

using Small = SpraySchedulerAdapter<Vspray_scheduler_small, 4, 16, 4>;
using Full =
    SpraySchedulerAdapter<Vspray_scheduler_full, kFullSpraySizes.tables, kFullSpraySizes.evs, kFullSpraySizes.planes>;

}  // namespace

std::unique_ptr<SpraySchedulerEngine> make_spray_scheduler_rtl(const SpraySizes& needed,
                                                               const cosim::TraceRecorder& recorder,
                                                               const RtlContract& contract) {
  const std::uint32_t cycles = cycles_beyond_interval(contract);
  if (needed.tables <= 4 && needed.evs <= 16 && needed.planes <= 4) return std::make_unique<Small>(recorder, cycles);
  check_spray_sizes(needed, kFullSpraySizes);
  return std::make_unique<Full>(recorder, cycles);
}

}  // namespace mrc
