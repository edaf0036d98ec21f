// Addresses of a simulated deployment: each port of a NIC is its own PCIe function with its own IPv6 and MAC address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

using MacAddress = std::array<std::byte, 6>;

/// fd6d:7263:0:<port>::<node + 1>, unique local addresses (assumption: each deployment has its own numbering).
constexpr Ipv6Address port_address(NodeId node, std::uint32_t port) {
  return {0xFD6D'7263'0000'0000ULL | port, std::uint64_t{node} + 1};
}
/// 02:6d:<port>:<node, 24 bits>, locally administered.
constexpr MacAddress port_mac(NodeId node, std::uint32_t port) {
  return {std::byte{0x02},
          std::byte{0x6D},
          static_cast<std::byte>(port),
          static_cast<std::byte>(node >> 16),
          static_cast<std::byte>(node >> 8),
          static_cast<std::byte>(node)};
}

}  // namespace mrc
