// Gives each packet its EV at the moment of sending: the first GOOD one in scan order whose plane's port is free.
#pragma once

#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "nic/port.h"
#include "nic/tx/payload_fetch.h"

namespace mrc::timing {

class RetransmitTimer;

class SprayScheduler : public Box {
 public:
  SprayScheduler(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PayloadFetch& payload_fetch,
                 std::vector<Port*> ports, RetransmitTimer& timer);

  Fifo<TxPacket>& out() { return out_; }
  void step(TimePs now) override;
  /// A port has room again, or an EV has become GOOD.
  void retry(TimePs now);

  IssueSlot slot;

 private:
  std::uint32_t free_ports(TimePs now, std::uint32_t bytes);

  NicContext& nic_;
  Fifo<TxPacket>& in_;
  std::vector<Port*> ports_;
  RetransmitTimer& timer_;
  Fifo<TxPacket> out_;
  TimePs next_start_ = 0;
  bool waits_for_path_ = false;
};

}  // namespace mrc::timing
