#include "node/packet_capture.h"

#include <fmt/format.h>

#include "mrc/wire/packet_codec.h"

namespace mrc {

PacketCapture::PacketCapture(const std::string& path, const ScenarioConfig& scenario)
    : scenario_(scenario), writer_(path), ports_(scenario.node_default.nic.ports) {
  for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
    for (std::uint32_t port = 0; port < ports_; ++port) writer_.add_interface(fmt::format("nic{}.port{}", node, port));
  }
}

void PacketCapture::record(NodeId node, std::uint32_t port, TimePs time, const Packet& packet) {
  const std::size_t sent_bytes = wire::encode_packet(packet, scenario_.protocol, scenario_.fabric.trim_bytes, frame_);
  writer_.write(node * ports_ + port, time, frame_, sent_bytes);
}

}  // namespace mrc
