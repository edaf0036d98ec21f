// Every packet at the ports of the detailed NICs, as bytes in a pcapng file: on its way out when its first bit leaves,
// on its way in when its last bit arrives. Costs a comparison a packet where nobody captures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mrc/packet.h"
#include "parameters/config.h"
#include "results/pcapng_writer.h"

namespace mrc {

class PacketCapture {
 public:
  /// One interface a port, named nic0.port0 and so on. Throws OutputError where `path` cannot be written.
  PacketCapture(const std::string& path, const ScenarioConfig& scenario);

  void record(NodeId node, std::uint32_t port, TimePs time, const Packet& packet);
  /// Nothing earlier than `time` will be recorded any more.
  void flush_before(TimePs time) { writer_.flush_before(time); }
  void close() { writer_.close(); }

 private:
  const ScenarioConfig& scenario_;
  PcapngWriter writer_;
  std::uint32_t ports_;
  std::vector<std::byte> frame_;
};

}  // namespace mrc
