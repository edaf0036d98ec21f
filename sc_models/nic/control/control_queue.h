// Control packets of all QPs on their way to a port: each takes a reverse EV whose plane's control FIFO has room.
#pragma once

#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "nic/port.h"

namespace mrc {

class ControlQueue : public Box {
 public:
  ControlQueue(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, std::vector<Port*> ports);

  Fifo<Packet*>& in() { return in_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  std::uint32_t ports_with_room() const;

  NicContext& nic_;
  std::vector<Port*> ports_;
  Fifo<Packet*> in_;
  TimePs next_start_ = 0;
};

}  // namespace mrc
