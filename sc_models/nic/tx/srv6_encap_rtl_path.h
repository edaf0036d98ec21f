// srv6_encap by RTL: encodes the packet, sends its bytes through the engine, and compares the header that comes out
// with ring 1's. In `rtl` mode the engine's header and cycles are the only ones that count; in `shadow` mode they are
// compared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/pin_bridge.h"
#include "engine/rtl_path.h"
#include "mrc/tx/srv6_encap.h"
#include "nic/nic_context.h"
#include "nic/tx/srv6_encap_engine.h"

namespace mrc {

class Srv6EncapRtlPath : public RtlPath {
 public:
  /// What a mismatch says of a packet.
  struct PacketName {
    explicit PacketName(const Packet& packet) : psn(packet.psn), ev(packet.ev), plane(packet.plane) {}
    Psn psn;
    Ev ev;
    std::uint8_t plane;
  };
  /// By pins. Its packet may have left the NIC before its last beat comes out.
  struct PinItem : EncapItem {
    Packet* packet;
    PacketName name;
    std::uint32_t icrc;  ///< that the block appends, if it does
    RtlCycles systemc;
    TimePs delay = 0;  ///< that the memories add
    std::uint64_t latency = 0;
  };
  using Pins = PinBridge<Srv6EncapEngine, PinItem>;

  Srv6EncapRtlPath(RtlMode mode, RtlTiming timing, std::unique_ptr<Srv6EncapEngine> engine)
      : RtlPath("srv6_encap", mode, timing), engine_(std::move(engine)), pins_("srv6_encap", *engine_) {}

  /// Runs one packet through the engine from `cycle` on; `systemc` is what the SystemC box takes for it.
  EncapReply run(const NicContext& nic, const Packet& packet, const Srv6EncapInput& input, std::uint64_t cycle,
                 RtlCycles systemc);

  /// By pins: the packet is offered from the next cycle on.
  void offer(const NicContext& nic, Packet& packet, const Srv6EncapInput& input, RtlCycles systemc);
  PinCycle clock(std::uint64_t cycle, bool held);
  /// Of the oldest packet, from its first beat on.
  const OuterHeaderBytes& header() const { return engine_->answer().header; }
  /// The last beat of the oldest packet came out.
  void finish(const NicContext& nic, std::uint64_t cycle);
  Pins& pins() { return pins_; }
  const Pins& pins() const { return pins_; }

  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  /// The bytes that the block takes in. Returns the ICRC if it is not among them, or 0.
  std::uint32_t encode(const NicContext& nic, const Packet& packet, bool without_icrc, std::vector<std::byte>& inner);
  void compare(const NicContext& nic, const PacketName& packet, const Srv6EncapInput& input, std::uint32_t icrc,
               const EncapReply& reply, std::uint64_t cycle);

  std::unique_ptr<Srv6EncapEngine> engine_;
  Pins pins_;
  std::vector<std::byte> inner_;
  std::vector<std::byte> payload_;  ///< zeros, where the model carries payload by reference only
};

}  // namespace mrc
