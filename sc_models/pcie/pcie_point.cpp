#include "pcie/pcie_point.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace mrc {
namespace {

constexpr const char* kPeerMemory = "accel.";
constexpr std::string_view kShareRemote = "% remote";

}  // namespace

const std::vector<std::string>& pcie_test_words() {
  static const std::vector<std::string> words{"read_latency",   "write_latency",   "write_read_latency",
                                              "read_bandwidth", "write_bandwidth", "mixed_bandwidth"};
  return words;
}

const std::vector<std::string>& access_pattern_words() {
  static const std::vector<std::string> words{"sequential", "random"};
  return words;
}

void put_at(const PciePlace& place, HostConfig& host) {
  if (place.cache && host.cache.bytes > 0) host.cache.state = *place.cache;
  if (place.remote_share) host.numa.remote_share = *place.remote_share;
}

std::string cache_word(const HostConfig& host) {
  if (host.cache.bytes == 0) return "-";
  return host.cache.state == CacheState::warm ? "warm" : "cold";
}

std::string memory_word(const PciePoint& point, const HostConfig& host) {
  if (point.peer_memory) return kPeerMemory;
  const double share = host.numa.remote_share;
  return share <= 0 ? "local" : share >= 1 ? "remote" : fmt::format("{:.0f}{}", 100 * share, kShareRemote);
}

bool read_cache_word(const std::string& word, PciePlace& place) {
  if (word == "warm") place.cache = CacheState::warm;
  if (word == "cold") place.cache = CacheState::cold;
  return word == "warm" || word == "cold" || word.empty() || word == "-";
}

bool read_memory_word(const std::string& word, PciePoint& point, PciePlace& place) {
  point.peer_memory = word == kPeerMemory;
  if (point.peer_memory || word.empty()) return true;
  if (word == "local" || word == "remote") {
    place.remote_share = word == "remote" ? 1 : 0;
    return true;
  }
  if (!word.ends_with(kShareRemote)) return false;
  int percent = 0;
  const char* end = word.data() + word.size() - kShareRemote.size();
  const auto [rest, error] = std::from_chars(word.data(), end, percent);
  if (error != std::errc() || rest != end || percent < 0 || percent > 100) return false;
  place.remote_share = percent / 100.0;
  return true;
}

}  // namespace mrc
