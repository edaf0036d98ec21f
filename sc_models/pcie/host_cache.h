// The host's last-level cache as a device finds it: reads that miss go to memory and leave it as it is, writes that
// miss find room in a few ways of each set (DDIO), from which they displace older data, which go to memory if they are
// modified.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pcie/host_path_parameters.h"

namespace mrc {

class HostCache {
 public:
  static constexpr std::uint32_t kLineBytes = 64;

  explicit HostCache(const HostCacheConfig& config);

  bool enabled() const { return !lines_.empty(); }
  /// Lines of the range (of at least 1 byte) that are not here.
  std::uint32_t read(std::uint64_t address, std::uint32_t bytes);
  /// Lines that memory reads or writes for a write of the range: modified ones that are displaced, those that are
  /// written in part and not here, and those that find no room.
  std::uint32_t write(std::uint64_t address, std::uint32_t bytes);
  /// Software reads the range, in order: its lines are here, unless they displace each other.
  void warm(std::uint64_t address, std::uint64_t bytes);

 private:
  struct Line {
    std::uint64_t number = kForeign;
    std::uint32_t used = 0;  ///< the larger, the later
    bool modified = false;
  };
  static constexpr std::uint64_t kForeign = ~std::uint64_t{0};

  Line* set_of(std::uint64_t number) { return &lines_[number % sets_ * ways_]; }
  Line* find(std::uint64_t number);
  /// The least recently used of the first `ways` of its set.
  Line& victim(std::uint64_t number, std::uint32_t ways);
  void touch(Line& line) { line.used = ++uses_; }
  std::uint32_t write_line(std::uint64_t number, bool whole);

  std::uint32_t ways_;
  std::uint32_t ddio_ways_;
  std::size_t sets_;
  std::vector<Line> lines_;  ///< set by set
  std::uint32_t uses_ = 0;
};

}  // namespace mrc
