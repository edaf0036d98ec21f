// Selection among equal-cost paths: each flow uses one, selected by a hash of its 5-tuple.
#pragma once

#include <cstdint>

#include "mrc/packet.h"
#include "mrc/random.h"
#include "mrc/types.h"

namespace mrc {

struct FlowTuple {
  Ipv6Address source;
  Ipv6Address destination;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 4791;  ///< RoCEv2
  std::uint8_t protocol = 17;             ///< UDP
};

/// 64-bit hash of a flow: the splitmix64 finalizer chained over the tuple's words. Vendors publish no hash
/// (assumption). `salt` is the hash seed of a switch: switches with the same salt make the same choice.
constexpr std::uint64_t ecmp_hash(const FlowTuple& flow, std::uint64_t salt) {
  std::uint64_t hash = mix64(salt);
  const std::uint64_t ports =
      std::uint64_t{flow.source_port} << 24 | std::uint64_t{flow.destination_port} << 8 | flow.protocol;
  for (const std::uint64_t word :
       {flow.source.high, flow.source.low, flow.destination.high, flow.destination.low, ports}) {
    hash = mix64(hash ^ word);
  }
  return hash;
}

/// Path 0 … paths - 1 of a flow; `paths` is at least 1.
constexpr std::uint32_t ecmp_path(const FlowTuple& flow, std::uint64_t salt, std::uint32_t paths) {
  return static_cast<std::uint32_t>((ecmp_hash(flow, salt) >> 32) * paths >> 32);
}

/// UDP source port of a QP, 49,152 … 65,535 (IANA's dynamic ports): the same for all its packets (assumption: derived
/// from both QP numbers).
constexpr std::uint16_t rc_source_port(QpNumber own, QpNumber peer) {
  return static_cast<std::uint16_t>(0xC000 | (mix64(std::uint64_t{own} << 32 | peer) >> 50));
}

}  // namespace mrc
