// Curves that a user has measured: the table of `mrcsim pcie --format csv`, files of pcie-bench, a latency histogram,
// and the output of perftest's latency tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pcie/pcie_point.h"

namespace mrc {

enum class CurveKind : std::uint8_t {
  rate,          ///< Gb/s of a PCIe test
  latency,       ///< ns: a quantile below the tail, or the mean
  tail,          ///< ns: the 95th percentile or one above
  write_latency  ///< ns of a small RDMA write from post to poll, one way (perftest)
};

struct MeasuredValue {
  CurveKind kind = CurveKind::rate;
  PciePoint point;  ///< of perftest only `bytes`
  PciePlace place;
  double share = 0.5;  ///< of a latency: which quantile; 0: the mean
  double value = 0;
  std::string text;  ///< for people: "read_bandwidth 64 B of 8192 B, warm"
};

struct MeasuredCurves {
  std::vector<MeasuredValue> values;
  std::vector<std::string> left_out;  ///< a sentence for what was not used
};

/// `histogram_bytes`: size of the reads in a histogram. Throws ParameterError with file and line.
void read_measured(const std::string& path, std::uint32_t histogram_bytes, MeasuredCurves& curves);

}  // namespace mrc
