#include "pcie/host_cache.h"

#include <algorithm>

namespace mrc {

HostCache::HostCache(const HostCacheConfig& config)
    : ways_(config.ways),
      ddio_ways_(config.ddio_ways),
      sets_(config.bytes / kLineBytes / config.ways),
      lines_(sets_ * ways_, Line{.modified = config.state == CacheState::cold}) {}

HostCache::Line* HostCache::find(std::uint64_t number) {
  Line* set = set_of(number);
  Line* const end = set + ways_;
  Line* found = std::find_if(set, end, [number](const Line& line) { return line.number == number; });
  return found == end ? nullptr : found;
}

HostCache::Line& HostCache::victim(std::uint64_t number, std::uint32_t ways) {
  Line* set = set_of(number);
  return *std::min_element(set, set + ways, [](const Line& a, const Line& b) { return a.used < b.used; });
}

std::uint32_t HostCache::read(std::uint64_t address, std::uint32_t bytes) {
  std::uint32_t missing = 0;
  for (std::uint64_t line = address / kLineBytes; line <= (address + bytes - 1) / kLineBytes; ++line) {
    if (Line* found = find(line)) {
      touch(*found);
    } else {
      ++missing;
    }
  }
  return missing;
}

std::uint32_t HostCache::write(std::uint64_t address, std::uint32_t bytes) {
  std::uint32_t in_memory = 0;
  const std::uint64_t end = address + bytes;
  for (std::uint64_t line = address / kLineBytes; line <= (end - 1) / kLineBytes; ++line) {
    const bool whole = line * kLineBytes >= address && (line + 1) * kLineBytes <= end;
    in_memory += write_line(line, whole);
  }
  return in_memory;
}

std::uint32_t HostCache::write_line(std::uint64_t number, bool whole) {
  if (Line* found = find(number)) {
    found->modified = true;
    touch(*found);
    return 0;
  }
  const std::uint32_t read_first = whole ? 0 : 1;
  if (ddio_ways_ == 0) return read_first + 1;
  Line& line = victim(number, ddio_ways_);
  const std::uint32_t displaced = line.modified ? 1 : 0;
  line = {number, 0, true};
  touch(line);
  return read_first + displaced;
}

void HostCache::warm(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  for (std::uint64_t number = address / kLineBytes; number <= (address + bytes - 1) / kLineBytes; ++number) {
    Line* line = find(number);
    if (line == nullptr) {
      line = &victim(number, ways_);
      *line = {number, 0, false};
    }
    touch(*line);
  }
}

}  // namespace mrc
