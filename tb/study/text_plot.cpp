#include "study/text_plot.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace mrc {
namespace {

constexpr int kColumns = 64;
constexpr int kRows = 12;

int position(double value, double low, double high, int cells) {
  if (high <= low) return 0;
  return std::clamp(static_cast<int>(std::lround((value - low) / (high - low) * (cells - 1))), 0, cells - 1);
}

}  // namespace

std::string text_plot(const std::vector<TextPlotPoint>& points, double threshold, double knee,
                      const std::string& x_name, const std::string& y_name) {
  double x_low = 1e300;
  double x_high = -1e300;
  double y_high = threshold;
  for (const TextPlotPoint& point : points) {
    x_low = std::min(x_low, std::log2(point.x));
    x_high = std::max(x_high, std::log2(point.x));
    if (std::isfinite(point.y)) y_high = std::max(y_high, point.y);
  }
  std::vector<std::string> grid(kRows, std::string(kColumns, ' '));
  const int line = position(threshold, 0, y_high, kRows);
  for (int column = 0; column < kColumns; column += 2)
    grid[static_cast<std::size_t>(line)][static_cast<std::size_t>(column)] = '.';
  for (const TextPlotPoint& point : points) {
    const int row = std::isfinite(point.y) ? position(point.y, 0, y_high, kRows) : kRows - 1;
    const int column = position(std::log2(point.x), x_low, x_high, kColumns);
    grid[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = point.good ? 'o' : 'x';
  }
  std::string text = fmt::format("  {}\n", y_name);
  for (int row = kRows - 1; row >= 0; --row) {
    const bool labelled = row == kRows - 1 || row == 0 || row == line;
    const double value = row == line ? threshold : y_high * row / (kRows - 1);
    text +=
        fmt::format("  {:>8} |{}\n", labelled ? fmt::format("{:.4g}", value) : "", grid[static_cast<std::size_t>(row)]);
  }
  text += fmt::format("  {:>8} +{}\n", "", std::string(kColumns, '-'));
  const std::string low = fmt::format("{:.0f}", std::exp2(x_low));
  const std::string high = fmt::format("{:.0f}", std::exp2(x_high));
  std::string axis(kColumns, ' ');
  axis.replace(0, low.size(), low);
  axis.replace(kColumns - high.size(), high.size(), high);
  if (knee > 0) {
    const std::string mark = fmt::format("^{:.0f}", knee);
    const auto at = static_cast<std::size_t>(position(std::log2(knee), x_low, x_high, kColumns));
    axis.replace(std::min(at, kColumns - mark.size()), mark.size(), mark);
  }
  return text + fmt::format("  {:>8}  {}\n  {:>8}  {}, logarithmic; o holds, x does not, ^ smallest that holds\n", "",
                            axis, "", x_name);
}

}  // namespace mrc
