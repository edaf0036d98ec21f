// A plot of an experiment as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mrcsim/experiment.h"

namespace mrc {

/// `lines[i]`: the points of plot.lines[i].
std::string plot_svg(const ExperimentPlot& plot, const std::vector<std::vector<std::pair<double, double>>>& lines);

}  // namespace mrc
