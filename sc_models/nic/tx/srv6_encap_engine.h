// Interface that replaces srv6_encap: a block that real bytes pass through, clock by clock. The Verilated RTL
// implements it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/pins_engine.h"
#include "mrc/tx/srv6_encap.h"

namespace mrc {

struct EncapReply {
  OuterHeaderBytes header{};         ///< the 40 bytes that came out first
  SrhBytes srh{};                    ///< what followed, if one was asked for
  bool inner_intact = false;         ///< the rest is the inner packet, byte for byte, and its ICRC if one was asked for
  std::uint32_t icrc = 0;            ///< that ICRC; the first byte on the wire is bits 7:0
  std::uint64_t accepted_cycle = 0;  ///< first beat taken in
  std::uint64_t first_out_cycle = 0;  ///< first beat came out
  std::uint64_t last_out_cycle = 0;
  std::uint64_t next_cycle = 0;  ///< first cycle at which another packet's first beat can be taken in
};

/// By pins: a packet, beat by beat.
struct EncapItem {
  Srv6EncapInput input;
  std::vector<std::byte> inner;
  bool takes_path = false;  ///< a data packet: joined with spray_scheduler, its plane and uplink come from there
};

/// By pins, the reply has no cycles, and the headers come with the first beat.
class Srv6EncapEngine : public PinsEngine<EncapItem, EncapReply> {
 public:
  /// Offers the packet from core cycle `offer_cycle` on; calls come with rising cycles. An idle block is not clocked.
  virtual EncapReply encapsulate(const Srv6EncapInput& input, std::span<const std::byte> inner_packet,
                                 std::uint64_t offer_cycle) = 0;
  /// Clock edges evaluated so far.
  virtual std::uint64_t cycles() const = 0;
};

}  // namespace mrc
