#include "mrcsim/experiment_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "report/svg_text.h"

namespace mrc {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 320;
constexpr double kLeft = 60;
constexpr double kRight = 200;
constexpr double kTop = 30;
constexpr double kBottom = 45;
constexpr std::array kColours{"#1b6ca8", "#d1495b", "#3a7d44", "#8e6bbf", "#c98b1b", "#4a4a4a"};

/// From values to places in the picture.
class PlotAxes {
 public:
  explicit PlotAxes(const PlotPicture& plot) : sizes_(plot.sizes) {
    double most_y = 0;
    least_x_ = std::numeric_limits<double>::max();
    for (const PlotPicture::Line& line : plot.lines) {
      for (const auto& [x, y] : line.points) {
        least_x_ = std::min(least_x_, scaled(x));
        most_x_ = std::max(most_x_, scaled(x));
        most_y = std::max(most_y, y);
      }
    }
    if (most_x_ <= least_x_) most_x_ = least_x_ + 1;
    step_y_ = nice_step(most_y);
    most_y_ = step_y_ * std::ceil(std::max(most_y, step_y_) / step_y_ - 1e-9);
  }

  double x(double value) const {
    return kLeft + (scaled(value) - least_x_) / (most_x_ - least_x_) * (kWidth - kLeft - kRight);
  }
  double y(double value) const { return kHeight - kBottom - value / most_y_ * (kHeight - kTop - kBottom); }

  std::string drawn() const {
    std::string svg;
    for (double value = 0; value <= most_y_ * 1.0001; value += step_y_) {
      svg +=
          fmt::format("<path d='M{} {:.1f}H{}' stroke='#ddd'/><text x='{}' y='{:.1f}' text-anchor='end'>{:g}</text>\n",
                      kLeft, y(value), kWidth - kRight, kLeft - 6, y(value) + 4, value);
    }
    const double step = sizes_ ? 2 : nice_step(most_x_ - least_x_);
    for (double at = std::ceil(least_x_ / step) * step; at <= most_x_ * 1.0001; at += step) {
      const double value = sizes_ ? std::exp2(at) : at;
      svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>\n", x(value), kHeight - kBottom + 16,
                         sizes_ ? size_name(value) : fmt::format("{:g}", value));
    }
    return svg;
  }

 private:
  static double nice_step(double range) {
    const double power = std::pow(10, std::floor(std::log10(std::max(range, 1e-9) / 4)));
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (range / (factor * power) <= 6) return factor * power;
    }
    return 10 * power;
  }
  static std::string size_name(double bytes) {
    if (bytes >= 1 << 30) return fmt::format("{:g} GiB", bytes / (1 << 30));
    if (bytes >= 1 << 20) return fmt::format("{:g} MiB", bytes / (1 << 20));
    if (bytes >= 1 << 10) return fmt::format("{:g} KiB", bytes / 1024);
    return fmt::format("{:g} B", bytes);
  }
  double scaled(double value) const { return sizes_ ? std::log2(value) : value; }

  bool sizes_;
  double least_x_ = 0;
  double most_x_ = -std::numeric_limits<double>::max();
  double most_y_ = 1;
  double step_y_ = 1;
};

std::string drawn_line(const PlotAxes& axes, const PlotPicture::Line& line, const char* colour) {
  std::string path;
  std::string dots;
  for (const auto& [x, y] : line.points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", axes.x(x), axes.y(y));
    if (line.marks)
      dots += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/>", axes.x(x), axes.y(y), colour);
  }
  return fmt::format("<path d='{}' fill='none' stroke='{}' stroke-width='1.5'{}/>{}\n", path, colour,
                     line.dashed ? " stroke-dasharray='5 4'" : "", dots);
}

}  // namespace

std::string plot_svg(const PlotPicture& plot) {
  const PlotAxes axes(plot);
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' font-family='sans-serif' "
      "font-size='11'>\n<rect width='{0}' height='{1}' fill='white'/>\n<text x='{2}' y='18' "
      "font-size='13'>{3}</text>\n",
      kWidth, kHeight, kLeft, svg_text(plot.title));
  svg += axes.drawn();
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const PlotPicture::Line& line = plot.lines[i];
    const char* colour = kColours[i % kColours.size()];
    svg += drawn_line(axes, line, colour);
    const double at = kTop + 10 + 16 * static_cast<double>(i);
    svg +=
        fmt::format("<text x='{}' y='{}' fill='{}'>{}</text>\n", kWidth - kRight + 10, at, colour, svg_text(line.name));
  }
  svg += fmt::format(
      "<text x='{}' y='{}' text-anchor='middle'>{}</text>\n<text x='14' y='{}' transform='rotate(-90 14 {})'"
      " text-anchor='middle'>{}</text>\n</svg>\n",
      kLeft + (kWidth - kLeft - kRight) / 2, kHeight - 8, svg_text(plot.x), kHeight / 2, kHeight / 2, svg_text(plot.y));
  return svg;
}

}  // namespace mrc
