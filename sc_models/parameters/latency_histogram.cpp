#include "parameters/latency_histogram.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "parameters/input_file.h"
#include "parameters/parameter_value.h"

namespace mrc {
namespace {

constexpr double kShortestNs = 1;
constexpr double kLongestNs = 1e6;
constexpr double kMostCount = 1e15;

bool read_number(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

LatencyHistogram::LatencyHistogram(const std::string& path) {
  if (const std::string why = why_unreadable(path); !why.empty()) throw ParameterError(path, why);
  std::ifstream file(path);
  std::map<double, double> counts;
  double total = 0;
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::string place = fmt::format("{}:{}", path, ++number);
    if (number == 1) {
      if (line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
      if (line != "ns,count") throw ParameterError(place, "the first line of a histogram is ns,count");
      continue;
    }
    if (line.empty()) continue;
    const std::size_t comma = line.find(',');
    double ns = 0;
    double count = 0;
    const bool good = comma != std::string::npos && read_number(std::string_view(line).substr(0, comma), ns) &&
                      read_number(std::string_view(line).substr(comma + 1), count);
    if (!good || !(ns >= kShortestNs && ns <= kLongestNs) || !(count >= 0 && count <= kMostCount)) {
      throw ParameterError(place, fmt::format("{}: expected a time of {} to {} ns and a count", printable(line),
                                              kShortestNs, kLongestNs));
    }
    if (count == 0) continue;
    counts[ns] += count;
    total += count;
    mean_ns_ += ns * count;
  }
  if (counts.empty()) throw ParameterError(path, "a histogram without a measurement");
  mean_ns_ /= total;
  double up_to = 0;
  for (const auto& [ns, count] : counts) bins_.emplace_back(ns, (up_to += count) / total);
}

double LatencyHistogram::quantile_ns(double share) const {
  const auto bin = std::lower_bound(bins_.begin(), bins_.end(), share,
                                    [](const auto& entry, double wanted) { return entry.second < wanted; });
  return bin == bins_.end() ? bins_.back().first : bin->first;
}

}  // namespace mrc
