// Functional coverage of a bench: points with named bins, counted; and what Verilator counted in the source.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mrc::cosim {

class FunctionalCoverage {
 public:
  struct Bin {
    std::string name;
    std::uint64_t hits = 0;
    std::string waiver;  ///< why it cannot be hit; empty: it must be
  };
  struct Point {
    std::string name;
    std::vector<Bin> bins;
  };

  /// A point with these bins. Returns its number.
  std::size_t point(std::string name, const std::vector<std::string>& bins);
  /// A point with a bin for each pair.
  std::size_t cross(std::string name, const std::vector<std::string>& left, const std::vector<std::string>& right);
  /// This bin cannot be hit, for this reason.
  void waive(std::size_t point, std::size_t bin, std::string reason) {
    points_[point].bins[bin].waiver = std::move(reason);
  }
  void hit(std::size_t point, std::size_t bin) { ++points_[point].bins[bin].hits; }
  void hit(std::size_t point, std::size_t left, std::size_t right, std::size_t rights) {
    hit(point, left * rights + right);
  }

  /// Adds the hits of a coverage that begins with the same points.
  void add_hits(const FunctionalCoverage& other);

  const std::vector<Point>& points() const { return points_; }
  /// Bins that are not waived, and those of them that were hit.
  std::uint64_t bins() const;
  std::uint64_t bins_hit() const;

 private:
  std::vector<Point> points_;
};

/// Verilator's points of one kind.
struct SourceCoverage {
  std::uint64_t points = 0;
  std::uint64_t hit = 0;
  std::vector<std::string> missed;  ///< file:line: what
};

/// Of a file that was written short.
inline constexpr const char* kNotWhole =
    "cannot be written whole: the disk is full, or a limit on file sizes is reached";

/// Adds a last line, which fails where the file was written short: VerilatedCov does not say so. Throws
/// std::invalid_argument then.
void seal_verilator_coverage(const std::string& path);

/// Sums what VerilatedCov wrote into these files, into one in the same format; false, and no file: there are no points.
bool merge_verilator_coverage(const std::vector<std::string>& paths, const std::string& merged);

/// Reads what VerilatedCov wrote; by kind ("line", "toggle"). Points that lie in the flat wrappers are left out. Throws
/// std::runtime_error for a file that it cannot read.
std::map<std::string, SourceCoverage> read_verilator_coverage(const std::string& path);

}  // namespace mrc::cosim
