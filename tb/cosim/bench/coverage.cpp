#include "cosim/bench/coverage.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace mrc::cosim {
namespace {

/// A comment.
constexpr const char* kEnd = "# end\n";

/// A key of VerilatedCov is a list "\1name\2value".
std::string value_of(const std::string& key, const std::string& name) {
  const std::string start = '\1' + name + '\2';
  const std::size_t at = key.find(start);
  if (at == std::string::npos) return "";
  const std::size_t from = at + start.size();
  return key.substr(from, key.find('\1', from) - from);
}

/// "v_line/psn_tracker" is of kind line; what Verilator calls branch is a line of an if.
std::string kind_of(const std::string& page) {
  const std::string kind = page.substr(0, page.find('/'));
  return kind == "v_branch" ? "line" : kind.starts_with("v_") ? kind.substr(2) : kind;
}

}  // namespace

std::size_t FunctionalCoverage::point(std::string name, const std::vector<std::string>& bins) {
  Point& added = points_.emplace_back();
  added.name = std::move(name);
  for (const std::string& bin : bins) added.bins.push_back({bin, 0, ""});
  return points_.size() - 1;
}

std::size_t FunctionalCoverage::cross(std::string name, const std::vector<std::string>& left,
                                      const std::vector<std::string>& right) {
  std::vector<std::string> bins;
  for (const std::string& l : left) {
    for (const std::string& r : right) bins.push_back(fmt::format("{} × {}", l, r));
  }
  return point(std::move(name), bins);
}

void FunctionalCoverage::add_hits(const FunctionalCoverage& other) {
  for (std::size_t point = 0; point < points_.size(); ++point) {
    for (std::size_t bin = 0; bin < points_[point].bins.size(); ++bin) {
      points_[point].bins[bin].hits += other.points_[point].bins[bin].hits;
    }
  }
}

std::uint64_t FunctionalCoverage::bins() const {
  std::uint64_t count = 0;
  for (const Point& point : points_) {
    for (const Bin& bin : point.bins) count += bin.waiver.empty() ? 1 : 0;
  }
  return count;
}

std::uint64_t FunctionalCoverage::bins_hit() const {
  std::uint64_t count = 0;
  for (const Point& point : points_) {
    for (const Bin& bin : point.bins) count += bin.waiver.empty() && bin.hits > 0 ? 1 : 0;
  }
  return count;
}

namespace {

/// Calls `point(key, count)` for each point of a file.
template <typename Point>
void read_points(const std::string& path, const Point& point) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", path));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("C '")) continue;
    const std::size_t end = line.rfind("' ");
    if (end == std::string::npos || end < 3)
      throw std::runtime_error(fmt::format("{}: no coverage of Verilator", path));
    point(line.substr(3, end - 3), std::stoull(line.substr(end + 2)));
  }
}

}  // namespace

bool merge_verilator_coverage(const std::vector<std::string>& paths, const std::string& merged) {
  std::map<std::string, std::uint64_t> counts;
  for (const std::string& path : paths) {
    read_points(path, [&](const std::string& key, std::uint64_t count) { counts[key] += count; });
  }
  if (counts.empty()) return false;
  std::ofstream file(merged, std::ios::binary);
  file << "# SystemC::Coverage-3\n";
  for (const auto& [key, count] : counts) file << "C '" << key << "' " << count << "\n";
  file.close();
  seal_verilator_coverage(merged);
  return true;
}

void seal_verilator_coverage(const std::string& path) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << kEnd;
  file.close();
  if (!file) throw std::invalid_argument(fmt::format("{}: {}", path, kNotWhole));
}

std::map<std::string, SourceCoverage> read_verilator_coverage(const std::string& path) {
  std::map<std::string, SourceCoverage> kinds;
  read_points(path, [&](const std::string& key, std::uint64_t count) {
    const std::string source = value_of(key, "f");
    if (source.ends_with("_flat.sv")) return;
    SourceCoverage& kind = kinds[kind_of(value_of(key, "page"))];
    ++kind.points;
    if (count > 0) {
      ++kind.hit;
      return;
    }
    kind.missed.push_back(
        fmt::format("{}:{}: {}", source.substr(source.rfind('/') + 1), value_of(key, "l"), value_of(key, "o")));
  });
  return kinds;
}

}  // namespace mrc::cosim
