// How a message is cut into packets.
#pragma once

#include <cstdint>

#include "mrc/packet.h"

namespace mrc {

/// Packets that a message of `bytes` (at least 1) takes with `mtu_bytes` of payload each.
constexpr std::uint32_t packets_in(std::uint32_t bytes, std::uint32_t mtu_bytes) {
  return bytes / mtu_bytes + (bytes % mtu_bytes != 0 ? 1 : 0);
}

/// Opcode of packet `index` (0 … packets - 1).
constexpr Opcode write_opcode(std::uint32_t index, std::uint32_t packets, bool immediate) {
  if (packets == 1) return immediate ? Opcode::write_only_imm : Opcode::write_only;
  if (index == 0) return Opcode::write_first;
  if (index + 1 < packets) return Opcode::write_middle;
  return immediate ? Opcode::write_last_imm : Opcode::write_last;
}

}  // namespace mrc
