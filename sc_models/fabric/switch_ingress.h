// Where a link enters a switch: looks up the active uSID in the static table, shifts the carrier, and queues the packet at
// the output port. Nothing dynamic: an address without an entry is dropped and counted.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/box.h"
#include "fabric/impairment.h"
#include "fabric/link.h"
#include "fabric/switch_port.h"
#include "mrc/srv6_usid.h"
#include "parameters/config.h"

namespace mrc {

/// Next uSID (16 bits) → output port, nullptr where there is none.
using ForwardingTable = std::vector<SwitchPort*>;

class SwitchIngress : public Box {
 public:
  SwitchIngress(const sc_core::sc_module_name& name, WheelModule& owner, const FabricConfig& config, Link& in,
                const ForwardingTable& table, Impairment impairment);

  void step(TimePs now) override;
  const ImpairmentCounts& impairments() const { return impairment_.counts(); }
  std::uint64_t without_route() const { return without_route_; }

 private:
  void forward(TimePs now, const Flight& flight, Packet packet);

  Link& in_;
  const ForwardingTable& table_;
  Impairment impairment_;
  TimePs latency_ps_;
  bool cut_through_;
  std::uint64_t without_route_ = 0;
};

}  // namespace mrc
