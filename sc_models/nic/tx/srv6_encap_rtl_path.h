// srv6_encap by RTL: encodes the packet, sends its bytes through the engine, and compares the header that comes out
// with ring 1's. In `rtl` mode the engine's header and cycles are the only ones that count; in `shadow` mode they are
// compared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mrc/tx/srv6_encap.h"
#include "nic/nic_context.h"
#include "nic/tx/srv6_encap_engine.h"

namespace mrc {

enum class RtlMode : std::uint8_t { rtl, shadow };

/// What a packet cost in cycles of the core clock: taken in until the next could be, and until its first beat came out.
struct EncapCycles {
  std::uint64_t occupied = 0;
  std::uint64_t latency = 0;
};

class Srv6EncapRtlPath {
 public:
  Srv6EncapRtlPath(RtlMode mode, std::unique_ptr<Srv6EncapEngine> engine) : mode_(mode), engine_(std::move(engine)) {}

  /// Runs one packet through the engine from `cycle` on; `systemc` is what the SystemC box takes for it.
  EncapReply run(const NicContext& nic, const Packet& packet, const Srv6EncapInput& input, std::uint64_t cycle,
                 EncapCycles systemc);

  RtlMode mode() const { return mode_; }
  std::uint64_t transactions() const { return transactions_; }
  std::uint64_t mismatches() const { return mismatches_; }
  /// First difference: packet, field, both values; empty without one.
  const std::string& first_mismatch() const { return first_mismatch_; }
  std::uint64_t cycles() const { return engine_->cycles(); }
  /// Sums over all packets.
  EncapCycles rtl_cycles() const { return rtl_cycles_; }
  EncapCycles systemc_cycles() const { return systemc_cycles_; }

 private:
  void compare(const NicContext& nic, const Packet& packet, const OuterHeaderBytes& expected, const EncapReply& reply);

  RtlMode mode_;
  std::unique_ptr<Srv6EncapEngine> engine_;
  std::vector<std::byte> inner_;
  std::vector<std::byte> payload_;  ///< zeros, where the model carries payload by reference only
  EncapCycles rtl_cycles_;
  EncapCycles systemc_cycles_;
  std::uint64_t transactions_ = 0;
  std::uint64_t mismatches_ = 0;
  std::string first_mismatch_;
};

}  // namespace mrc
