// A plot as SVG: lines over numbers or sizes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "results/output_file.h"

namespace mrc {

struct PlotPicture {
  struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points;
    bool dashed = false;  ///< not from a run
    bool marks = false;   ///< each point is a run
  };
  std::string title;
  std::string x;  ///< names of the axes
  std::string y;
  bool sizes = false;  ///< x is bytes, on a logarithmic scale
  std::vector<Line> lines;
};

std::string plot_svg(const PlotPicture& plot);
/// A file that plot_svg() made.
inline constexpr FileKind kPlotFile{"a plot", "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 720"};

}  // namespace mrc
