// Plots of `mrcsim pcie`: bandwidths and latencies over what varies, beside the closed form.
#pragma once

#include <string>
#include <vector>

namespace mrc {

/// A point of a table as the plots take it.
struct PciePlotPoint {
  std::string test;
  std::string where;  ///< pattern, cache, node and memory, as far as they vary
  double window_bytes = 0;
  double offset_bytes = 0;
  double bytes = 0;
  bool latency = false;
  double measured = 0;     ///< Gb/s, or the median in ns
  double closed_form = 0;  ///< Gb/s, or the mean in ns
};

/// The plot of the bandwidths and that of the latencies, as far as there are any. Each is over the first of transfer
/// size, window and offset that varies; what else varies makes lines of their own.
std::vector<std::string> pcie_plots(const std::vector<PciePlotPoint>& points);

}  // namespace mrc
