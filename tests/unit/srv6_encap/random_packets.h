// Random inputs of srv6_encap that cover every field and every way in which a packet can end in a beat.
#pragma once

#include <cstddef>
#include <vector>

#include "mrc/random.h"
#include "mrc/tx/srv6_encap.h"

namespace mrc {

inline Srv6EncapInput random_encap_input(KeyedRandom& random) {
  Srv6EncapInput in;
  in.path.locator = static_cast<std::uint32_t>(random.next());
  in.path.count = static_cast<std::uint8_t>(1 + random.below(kMostUsids));
  for (std::size_t i = 0; i < in.path.count; ++i) in.path.usid[i] = static_cast<Usid>(random.next() & 0x1FFF);
  const bool has_uplink = random.chance(0.5);
  in.path.uplink_position =
      has_uplink ? static_cast<std::uint8_t>(random.below(in.path.count)) : UsidTemplate::kNoUplink;
  in.source = {random.next(), random.next()};
  in.flow_label = static_cast<std::uint32_t>(random.next() & 0xF'FFFF);
  in.uplink = static_cast<std::uint32_t>(random.below(kMostUsidIndex + 1));
  in.payload_length = static_cast<std::uint16_t>(random.next());
  in.plane = static_cast<std::uint8_t>(random.below(kMostUsidPlanes));
  in.hop_limit = static_cast<std::uint8_t>(random.next());
  in.dscp = static_cast<std::uint8_t>(random.below(64));
  in.ecn = static_cast<Ecn>(random.below(4));
  in.srh = random.chance(0.3);
  return in;
}

/// Half of the packets are within three bytes of a multiple of the beat, or of where the header makes one overflow.
inline std::vector<std::byte> random_inner_packet(KeyedRandom& random, std::size_t beat_bytes) {
  std::size_t length = 1 + random.below(4'300);
  if (random.chance(0.5)) {
    const std::size_t edge = random.below(6) * beat_bytes + (random.chance(0.5) ? 0 : beat_bytes - 40);
    const std::size_t at = edge + random.below(7);
    length = at > 3 ? at - 3 : 1;
  }
  std::vector<std::byte> packet(length);
  for (std::byte& byte : packet) byte = static_cast<std::byte>(random.next());
  return packet;
}

}  // namespace mrc
