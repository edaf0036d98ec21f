// srv6_encap by RTL: encodes the packet, sends its bytes through the engine, and compares the header that comes out
// with ring 1's. In `rtl` mode the engine's header and cycles are the only ones that count; in `shadow` mode they are
// compared.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/rtl_path.h"
#include "mrc/tx/srv6_encap.h"
#include "nic/nic_context.h"
#include "nic/tx/srv6_encap_engine.h"

namespace mrc {

class Srv6EncapRtlPath : public RtlPath {
 public:
  Srv6EncapRtlPath(RtlMode mode, std::unique_ptr<Srv6EncapEngine> engine)
      : RtlPath("srv6_encap", mode), engine_(std::move(engine)) {}

  /// Runs one packet through the engine from `cycle` on; `systemc` is what the SystemC box takes for it.
  EncapReply run(const NicContext& nic, const Packet& packet, const Srv6EncapInput& input, std::uint64_t cycle,
                 RtlCycles systemc);

  std::uint64_t cycles() const override { return engine_->cycles(); }

 private:
  void compare(const NicContext& nic, const Packet& packet, const Srv6EncapInput& input, const EncapReply& reply);

  std::unique_ptr<Srv6EncapEngine> engine_;
  std::vector<std::byte> inner_;
  std::vector<std::byte> payload_;  ///< zeros, where the model carries payload by reference only
};

}  // namespace mrc
