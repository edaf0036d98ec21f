// A curve as text, for terminals and logs.
#pragma once

#include <string>
#include <vector>

namespace mrc {

struct TextPlotPoint {
  double x = 0;  ///< above 0; drawn on a logarithmic axis
  double y = 0;
  bool good = false;  ///< drawn as 'o', others as 'x'
};

/// 64 columns by 12 rows, the threshold as a dotted line, `knee` (0: none) marked below the axis.
std::string text_plot(const std::vector<TextPlotPoint>& points, double threshold, double knee,
                      const std::string& x_name, const std::string& y_name);

}  // namespace mrc
