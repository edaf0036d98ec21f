// Control packets of all QPs on their way to a port: each takes a reverse EV whose plane's control FIFO has room.
#pragma once

#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "nic/port.h"

namespace mrc::timing {

struct ControlPacket {
  Packet* packet = nullptr;
  std::uint32_t qp = 0;
};

class ControlQueue : public Box {
 public:
  ControlQueue(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, std::vector<Port*> ports);

  Fifo<ControlPacket>& in() { return in_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  std::uint32_t ports_with_room() const;
  /// Takes the next reverse EV among the planes of `room`; false if none of them leads to the peer, but others do.
  bool choose_path(TimePs now, Qp& qp, Packet& packet, std::uint32_t room);

  NicContext& nic_;
  std::vector<Port*> ports_;
  Fifo<ControlPacket> in_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
