// Control packets of all QPs on their way to a port: each takes a reverse EV whose plane's control FIFO has room.
#pragma once

#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/control/control_packet.h"
#include "nic/nic_context.h"

namespace mrc::timing {

class ControlQueue : public Box {
 public:
  static constexpr QueueMemory kQueue{"control_queue"};
  static constexpr CountedTable kReversePaths{"control_queue.reverse_paths"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);

  ControlQueue(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
               std::vector<Fifo<Packet*>*> ports);

  Fifo<ControlPacket>& in() { return in_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  std::uint32_t ports_with_room() const;
  /// Takes the next reverse EV among the planes of `room`; false if none of them leads to the peer, but others do.
  bool choose_path(TimePs now, Qp& qp, Packet& packet, std::uint32_t room);

  NicContext& nic_;
  AccessCounter& reverse_paths_;
  AccessCounter& templates_;
  std::vector<Fifo<Packet*>*> ports_;  ///< control FIFOs
  Fifo<ControlPacket> in_;
  Cause no_port_room_;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
