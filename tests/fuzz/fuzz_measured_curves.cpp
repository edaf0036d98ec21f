// Any file is measured curves, or a ParameterError; what is read are numbers that a fit can take.
#include <cmath>
#include <cstdlib>

#include "fit/measured_curves.h"
#include "memory_file.h"
#include "parameters/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint32_t kHistogramBytes = 64;
  const mrc::fuzz::MemoryFile file(data, size);
  mrc::MeasuredCurves curves;
  try {
    mrc::read_measured(file.path(), kHistogramBytes, curves);
  } catch (const mrc::ParameterError&) {
    return 0;
  }
  for (const mrc::MeasuredValue& value : curves.values) {
    if (!std::isfinite(value.value) || value.value <= 0) std::abort();
    if (!(value.share >= 0 && value.share <= 1)) std::abort();
    if (value.point.bytes == 0 || value.text.empty()) std::abort();
  }
  return 0;
}
