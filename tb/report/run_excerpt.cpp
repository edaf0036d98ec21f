#include "report/run_excerpt.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace mrc {
namespace {

using ExcerptJson = nlohmann::ordered_json;

constexpr std::size_t kMostPoints = 500;
constexpr std::size_t kMostNodes = 6;
constexpr std::size_t kMostQueues = 40;

bool is_curve(const ExcerptJson& value) {
  return value.is_array() && !value.empty() && value.front().is_number();
}

std::size_t longest_curve(const ExcerptJson& value) {
  if (is_curve(value)) return value.size();
  std::size_t longest = 0;
  if (value.is_structured()) {
    for (const ExcerptJson& part : value) longest = std::max(longest, longest_curve(part));
  }
  return longest;
}

/// A curve on a screen needs no more digits.
double rounded(double value) {
  return std::stod(fmt::format("{:.4g}", value));
}

ExcerptJson averaged(const ExcerptJson& curve, std::size_t step) {
  ExcerptJson out = ExcerptJson::array();
  for (std::size_t begin = 0; begin < curve.size(); begin += step) {
    const std::size_t end = std::min(curve.size(), begin + step);
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += curve[i].get<double>();
    out.push_back(rounded(sum / static_cast<double>(end - begin)));
  }
  return out;
}

void average_all(ExcerptJson& value, std::size_t step) {
  if (is_curve(value)) {
    value = averaged(value, step);
  } else if (value.is_structured()) {
    for (ExcerptJson& part : value) average_all(part, step);
  }
}

double peak(const ExcerptJson& curve) {
  double most = 0;
  for (const ExcerptJson& value : curve) most = std::max(most, value.get<double>());
  return most;
}

/// The highest curves, at most `most` of them, in their order; without those that are always 0.
void keep_highest(ExcerptJson& curves, std::size_t most) {
  std::vector<std::pair<double, std::string>> peaks;
  for (const auto& [name, curve] : curves.items()) {
    if (const double highest = peak(curve); highest > 0) peaks.emplace_back(highest, name);
  }
  std::stable_sort(peaks.begin(), peaks.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  peaks.resize(std::min(most, peaks.size()));
  std::set<std::string> kept;
  for (const auto& [highest, name] : peaks) kept.insert(name);
  ExcerptJson out = ExcerptJson::object();
  for (auto& [name, curve] : curves.items()) {
    if (kept.contains(name)) out[name] = std::move(curve);
  }
  curves = std::move(out);
}

/// The node under test, its peer and the first others.
std::set<std::string> nodes_shown(const ExcerptJson& result) {
  std::set<std::string> shown{result.at("node_under_test").get<std::string>()};
  if (result.contains("peer")) shown.insert(result.at("peer").get<std::string>());
  for (const ExcerptJson& row : result.at("ledger")) {
    if (shown.size() < kMostNodes) shown.insert(row.at("node").get<std::string>());
  }
  return shown;
}

void keep_rows_of(const std::set<std::string>& nodes, ExcerptJson& rows) {
  ExcerptJson out = ExcerptJson::array();
  for (ExcerptJson& row : rows) {
    if (nodes.contains(row.at("node").get<std::string>())) out.push_back(std::move(row));
  }
  rows = std::move(out);
}

/// Names of curves begin with the node.
void keep_curves_of(const std::set<std::string>& nodes, ExcerptJson& curves) {
  ExcerptJson out = ExcerptJson::object();
  for (auto& [name, curve] : curves.items()) {
    if (nodes.contains(name.substr(0, name.find('.')))) out[name] = std::move(curve);
  }
  curves = std::move(out);
}

}  // namespace

void shorten_for_page(ExcerptJson& result, ExcerptJson& series) {
  const std::set<std::string> nodes = nodes_shown(result);
  for (const char* rows : {"buffers", "ledger"}) keep_rows_of(nodes, result.at(rows));
  for (const char* unused : {"nodes", "accounts", "pcie", "latency_terms"}) result.erase(unused);
  if (series.is_null()) return;
  keep_curves_of(nodes, series.at("buffer_occupancy"));
  keep_curves_of(nodes, series.at("ev_states"));
  keep_highest(series.at("buffer_occupancy"), series.at("buffer_occupancy").size());
  keep_highest(series.at("queue_bytes"), kMostQueues);
  const std::size_t step = (longest_curve(series) + kMostPoints - 1) / kMostPoints;
  if (step <= 1) return;
  average_all(series, step);
  series.at("step_us") = series.at("step_us").get<double>() * static_cast<double>(step);
}

}  // namespace mrc
