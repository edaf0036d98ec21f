// Bytes of link time that packets of a transport take. Header sizes are asked from the transport once; then
// a packet costs one look-up. Fabric and NICs use it, so that both count the same bytes for every transport.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>

#include "mrc/packet.h"
#include "parameters/transport.h"

namespace mrc {

/// All sizes in bytes, with preamble, gap and FCS. The scenario must outlive it.
class LinkBytes {
 public:
  LinkBytes(const ScenarioConfig& scenario, const Transport& transport);

  /// On a link, as the packet is now: with MACsec; short if a switch has trimmed it.
  std::uint32_t on_link(const Packet& packet) const {
    if (packet.damage == Damage::trimmed) return transport_.link_bytes(packet, scenario_);
    const std::uint32_t bytes = with_payload(packet);
    assert(bytes == transport_.link_bytes(packet, scenario_));
    return bytes;
  }
  /// In the NIC that sends it or has received it: as on_link(), without MACsec.
  std::uint32_t in_nic(const Packet& packet) const { return on_link(packet) - macsec_bytes_; }
  /// As in_nic() before a switch has trimmed the packet.
  std::uint32_t untrimmed(const Packet& packet) const { return with_payload(packet) - macsec_bytes_; }

 private:
  static std::size_t kind_of(const Packet& packet) {
    return (packet.has_timestamp ? 1U : 0U) | (packet.without_srh ? 2U : 0U);
  }
  std::uint32_t with_payload(const Packet& packet) const {
    return header_bytes_[kind_of(packet)][static_cast<std::size_t>(packet.opcode)] + packet.payload_bytes +
           pad_bytes(packet.payload_bytes);
  }

  const Transport& transport_;
  const ScenarioConfig& scenario_;
  std::uint32_t macsec_bytes_;
  std::array<std::array<std::uint16_t, 256>, 4> header_bytes_{};  ///< by kind_of() and opcode
};

}  // namespace mrc
