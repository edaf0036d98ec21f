#include "mrcsim/pcie_plot.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "mrcsim/experiment_plot.h"

namespace mrc {
namespace {

struct Axis {
  const char* name;
  const char* short_name;
  double PciePlotPoint::*value;
};
constexpr std::array kAxes{Axis{"bytes of a transfer", "B", &PciePlotPoint::bytes},
                           Axis{"bytes of the window", "window", &PciePlotPoint::window_bytes},
                           Axis{"offset in bytes", "offset", &PciePlotPoint::offset_bytes}};

bool varies(const std::vector<PciePlotPoint>& points, const Axis& axis) {
  std::set<double> values;
  for (const PciePlotPoint& point : points) values.insert(point.*axis.value);
  return values.size() > 1;
}

/// What tells the lines of a plot over `x` apart.
std::string name_of(const PciePlotPoint& point, const std::vector<PciePlotPoint>& points, const Axis& x) {
  std::string name = point.test;
  std::replace(name.begin(), name.end(), '_', ' ');
  if (!point.where.empty()) name += ", " + point.where;
  for (const Axis& axis : kAxes) {
    if (axis.value == x.value || !varies(points, axis)) continue;
    name += fmt::format(", {} {:.0f}", axis.short_name, point.*axis.value);
  }
  return name;
}

PlotPicture::Line& line_of(PlotPicture& plot, const std::string& name, bool dashed) {
  const auto same = [&](const PlotPicture::Line& line) { return line.name == name && line.dashed == dashed; };
  const auto found = std::find_if(plot.lines.begin(), plot.lines.end(), same);
  if (found != plot.lines.end()) return *found;
  plot.lines.push_back({.name = name, .points = {}, .dashed = dashed, .marks = !dashed});
  return plot.lines.back();
}

std::string test_of(const PlotPicture::Line& line) {
  return line.name.substr(0, line.name.find(','));
}

/// Lines that lie on one another are drawn once.
void add_closed_forms(PlotPicture& plot, const std::vector<PciePlotPoint>& points, const Axis& x) {
  PlotPicture forms;
  for (const PciePlotPoint& point : points) {
    line_of(forms, name_of(point, points, x), true).points.emplace_back(point.*x.value, point.closed_form);
  }
  std::set<std::vector<std::pair<double, double>>> drawn;
  std::map<std::string, std::size_t> forms_of_test;
  std::vector<PlotPicture::Line> different;
  for (PlotPicture::Line& form : forms.lines) {
    if (!drawn.insert(form.points).second) continue;
    ++forms_of_test[test_of(form)];
    different.push_back(std::move(form));
  }
  for (PlotPicture::Line& form : different) {
    const bool only_one = forms_of_test[test_of(form)] == 1;
    form.name = "closed form: " + (only_one ? test_of(form) : form.name);
    plot.lines.push_back(std::move(form));
  }
}

std::string plot_of(const std::vector<PciePlotPoint>& points, bool latency) {
  const auto moves = std::find_if(kAxes.begin(), kAxes.end(), [&](const Axis& axis) { return varies(points, axis); });
  const Axis& x = moves == kAxes.end() ? kAxes.front() : *moves;
  PlotPicture plot{.title = latency ? "Latency, median" : "Bandwidth of payload",
                   .x = x.name,
                   .y = latency ? "ns" : "Gb/s",
                   .sizes = x.value != &PciePlotPoint::offset_bytes,
                   .lines = {}};
  for (const PciePlotPoint& point : points) {
    line_of(plot, name_of(point, points, x), false).points.emplace_back(point.*x.value, point.measured);
  }
  add_closed_forms(plot, points, x);
  return plot_svg(plot);
}

}  // namespace

std::vector<std::string> pcie_plots(const std::vector<PciePlotPoint>& points) {
  std::vector<std::string> plots;
  for (const bool latency : {false, true}) {
    std::vector<PciePlotPoint> some;
    std::copy_if(points.begin(), points.end(), std::back_inserter(some),
                 [&](const PciePlotPoint& point) { return point.latency == latency; });
    if (!some.empty()) plots.push_back(plot_of(some, latency));
  }
  return plots;
}

}  // namespace mrc
