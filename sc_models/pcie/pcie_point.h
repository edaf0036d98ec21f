// What a point of an experiment on PCIe asks and where its data is, for those who name points and those who measure
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parameters/config.h"

namespace mrc {

enum class PcieTest : std::uint8_t {
  read_latency,        ///< from asking for a read until its last byte is there
  write_latency,       ///< from asking for a write until its last byte is visible
  write_read_latency,  ///< a write, and at once a read of the same bytes, until the last byte of the read is there
  read_bandwidth,
  write_bandwidth,
  mixed_bandwidth  ///< reads and writes in turns; the rate of each of the two
};
enum class AccessPattern : std::uint8_t { sequential, random };

/// Words in the order of the values above.
const std::vector<std::string>& pcie_test_words();
const std::vector<std::string>& access_pattern_words();
constexpr bool is_latency(PcieTest test) {
  return test <= PcieTest::write_read_latency;
}

/// One point of an experiment. Transfers begin at multiples of whole cache lines that hold offset and bytes, plus the
/// offset, in a window whose begin is a multiple of 1 GiB.
struct PciePoint {
  PcieTest test = PcieTest::read_latency;
  std::uint32_t bytes = 64;
  std::uint32_t offset_bytes = 0;  ///< below 4,096
  std::uint64_t window_bytes = 8192;
  AccessPattern pattern = AccessPattern::random;
  bool peer_memory = false;  ///< the window is an accelerator's memory

  std::uint64_t unit_bytes() const { return (offset_bytes + bytes + 63ULL) / 64 * 64; }
  /// Places of a transfer in the window; 0: not even one fits.
  std::uint64_t units() const { return window_bytes / unit_bytes(); }
};

/// Where the transfers of a point find their data; what is not named is as the host is set.
struct PciePlace {
  std::optional<CacheState> cache;     ///< of a host with a cache
  std::optional<double> remote_share;  ///< of the transfers, to the memory of the other socket
  friend bool operator==(const PciePlace&, const PciePlace&) = default;
};
void put_at(const PciePlace& place, HostConfig& host);

/// Words of tables for cache and memory of a point on a host.
std::string cache_word(const HostConfig& host);
std::string memory_word(const PciePoint& point, const HostConfig& host);
/// What such a word says of a point, empty: nothing. False for other words.
bool read_cache_word(const std::string& word, PciePlace& place);
bool read_memory_word(const std::string& word, PciePoint& point, PciePlace& place);

}  // namespace mrc
