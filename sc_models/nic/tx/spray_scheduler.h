// Gives each packet its EV at the moment of sending: the first GOOD one in scan order whose plane's port is free.
#pragma once

#include <array>
#include <vector>

#include "engine/box.h"
#include "engine/class_queues.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "nic/port.h"
#include "nic/tx/passing_packets.h"
#include "nic/tx/scan_order_fill.h"
#include "nic/tx/segmenter.h"
#include "nic/tx/spray_scheduler_rtl_path.h"

namespace mrc::timing {

class RetransmitTimer;

class SprayScheduler : public Box {
 public:
  static constexpr PortedMemory kPathTable{.name = "path_table", .parameters = "nic.memory.path_table"};
  static constexpr QueueMemory kQueue{"spray_scheduler.queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  /// `rtl` may be null: SystemC only.
  SprayScheduler(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, ClassQueues<TxPacket> in,
                 std::vector<Port*> ports, RetransmitTimer& timer, SpraySchedulerRtlPath* rtl);

  Fifo<TxPacket>& out() { return out_; }
  /// retransmit_buffer, clocked by its pins, marks packets as sent.
  void leave_marking() { marks_sent_ = false; }
  void step(TimePs now) override;
  void for_each_packet_held(const PacketVisitor& visit) const override;
  /// A port has room again, or an EV has become GOOD, because of this start.
  void retry(TimePs now, StartId because);

  IssueSlot slot;

 private:
  struct Choice {
    EvIndex ev = kNoEv;
    bool no_good_ev = false;   ///< without an EV
    TimePs skip_end = kNever;  ///< without an EV
    std::uint64_t latency_cycles = 0;
    std::uint64_t occupied_cycles = 0;
  };
  Choice choose(TimePs now, Qp& qp, const Packet& packet, std::uint32_t bytes);
  std::uint32_t free_ports(TimePs now, std::uint32_t bytes, std::uint32_t traffic_class);
  bool by_pins() const { return rtl_ != nullptr && rtl_->by_pins(); }
  void take_packet(TimePs now);
  void step_by_pins(TimePs now);
  /// The RTL has taken the packet whose path was selected last.
  void begin_by_pins(TimePs now);
  /// The RTL has answered about the oldest packet.
  void pass_by_pins(TimePs now);

  NicContext& nic_;
  MemoryStructure& path_memory_;
  MemoryStructure& record_memory_;
  ClassQueues<TxPacket> in_;
  std::vector<Port*> ports_;
  RetransmitTimer& timer_;
  Fifo<TxPacket> out_;
  Cause out_full_;
  Cause no_good_ev_;
  Cause no_port_room_;
  SpraySchedulerRtlPath* rtl_;
  ScanOrderFill fill_;
  std::array<std::uint64_t, PathTable::kMostPlanes> room_{};  ///< of the ports, for the RTL
  StartTrace starts_;
  TimePs next_start_ = 0;
  bool waits_for_path_ = false;
  bool marks_sent_ = true;

  PassingPackets passing_;    ///< by pins: they have their path, the RTL has not answered
  TimePs retry_at_ = kNever;  ///< by pins: what waits for a path tries again
};

}  // namespace mrc::timing
