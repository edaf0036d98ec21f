// Captured frames as one pcapng file: an interface block per port, timestamps in nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/output_file.h"

namespace mrc {

/// Packets may come out of time order within a window: they are held back until flush_before() says that nothing
/// earlier can come. Packets of one time are written by interface, then in the order in which they came, so that a file
/// does not depend on which wheel ran first. The file appears under its name when close() has written it whole.
class PcapngWriter {
 public:
  /// Throws OutputError if the file cannot be written beside `path`. Without close() nothing is left behind.
  explicit PcapngWriter(const std::string& path);

  /// The number of a new Ethernet interface, from 0. `name` is what tools show, as "nic0.port3".
  std::uint32_t add_interface(std::string_view name);
  /// `frame`: an Ethernet frame without FCS, copied. `time_ps` is at least the last flush_before(); the file keeps
  /// whole nanoseconds. Throws std::invalid_argument for an unknown interface or an earlier time.
  void write(std::uint32_t interface, std::uint64_t time_ps, std::span<const std::byte> frame) {
    write(interface, time_ps, frame, frame.size());
  }
  /// As above, for a frame of `sent_bytes` that a switch has trimmed: tools that are told so take it for what it is,
  /// cut off, and not for malformed.
  void write(std::uint32_t interface, std::uint64_t time_ps, std::span<const std::byte> frame, std::size_t sent_bytes);
  /// Writes what is held back and earlier than `time_ps`. Throws OutputError.
  void flush_before(std::uint64_t time_ps);
  /// Writes the rest and renames the file. Throws OutputError, once: then the file is gone.
  void close();

 private:
  using HeldKey = std::pair<std::uint64_t, std::uint32_t>;  ///< time in ps, interface
  struct HeldFrame {
    std::vector<std::byte> bytes;
    std::size_t sent_bytes = 0;
  };

  void put_block(std::uint32_t type, std::span<const std::byte> body);
  void put_packet(const HeldKey& key, const HeldFrame& frame);

  OutputFile output_;
  std::uint32_t interfaces_ = 0;
  std::uint64_t flushed_before_ps_ = 0;
  std::multimap<HeldKey, HeldFrame> held_;
};

}  // namespace mrc
