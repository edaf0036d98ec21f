#include "nic/packet_capture.h"

#include <algorithm>

#include <fmt/format.h>

#include "mrc/wire/packet_codec.h"

namespace mrc {

PacketCapture::PacketCapture(const std::string& path, const ScenarioConfig& scenario)
    : scenario_(scenario),
      writer_(path),
      ports_(scenario.node_default.nic.ports),
      no_payload_(scenario.protocol.mtu_bytes) {
  for (NodeId node = 0; node < scenario.fabric.nics; ++node) {
    for (std::uint32_t port = 0; port < ports_; ++port) writer_.add_interface(fmt::format("nic{}.port{}", node, port));
  }
}

void PacketCapture::record(NodeId node, std::uint32_t port, TimePs time, const Packet& packet) {
  const std::byte* bytes = packet.payload != nullptr ? packet.payload : no_payload_.data();
  wire::encode_frame(wire::to_frame(packet, scenario_.protocol, {bytes, packet.payload_bytes}), frame_);
  const std::size_t sent_bytes = frame_.size();
  if (packet.damage == Damage::trimmed) {
    frame_.resize(std::min<std::size_t>(sent_bytes, scenario_.fabric.trim_bytes));
  }
  if (packet.damage == Damage::corrupted) {
    const std::size_t bit = packet.corrupt_bit % (8 * frame_.size());
    frame_[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  writer_.write(node * ports_ + port, time, frame_, sent_bytes);
}

}  // namespace mrc
