// Asks ring 1 what becomes of each data packet (place, duplicate, NACK), after room in the staging buffer is promised
// and before its bit is set, and passes on the write and the acknowledgement that follow. With RTL in its place, the
// RTL decides and says how long it takes. A packet whose QP's context is not on the NIC waits beside the queue until it
// has been read; others pass it.
#pragma once

#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/control/ack_coalescer.h"
#include "nic/control/ack_coalescer_rtl_path.h"
#include "nic/nic_context.h"
#include "nic/rx/dma_write.h"
#include "nic/rx/psn_tracker_rtl_path.h"
#include "nic/tx/context_wait.h"
#include "nic/tx/qp_scheduler.h"

namespace mrc::timing {

class ProbeEngine;
class SackProcessor;

class PsnTracker : public Box {
 public:
  static constexpr QueueMemory kQueue{"psn_tracker.queue"};
  static constexpr PortedMemory kBitmap{.name = "psn_tracker.bitmap", .parameters = "nic.memory.bitmap"};
  static constexpr QueueMemory kContextWait{"psn_tracker.context_wait"};
  static constexpr CountedTable kFreeBanks{"psn_tracker.free_banks"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  /// `rtl`, of the window, and `ack_rtl`, of the SACK triggers, may be null: SystemC only. `triggers`: not null where
  /// that is clocked by its pins.
  PsnTracker(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Fifo<Packet*>& in,
             DmaWrite& dma_write, Fifo<AckJob>& answers, PsnTrackerRtlPath* rtl, AckCoalescerRtlPath* ack_rtl,
             AckTriggers* triggers);

  void connect(ProbeEngine& probe_engine, SackProcessor& sack_processor, QpScheduler& qp_scheduler) {
    qp_scheduler_ = &qp_scheduler;
    context_wait_.connect(qp_scheduler);
    probe_engine_ = &probe_engine;
    sack_processor_ = &sack_processor;
  }
  void step(TimePs now) override;
  /// Those that wait for their contexts, and those about which the RTL has been asked by its pins.
  void for_each_packet_held(const PacketVisitor& visit) const override;

  IssueSlot slot;

 private:
  /// A packet whose context has come is taken before those in the queue.
  bool take_waiting(TimePs now);
  /// False if the first packet of the queue cannot be taken now.
  bool first_has_context(TimePs now, const Qp& qp);
  void begin_service();
  void end_service(TimePs now);
  /// The next packet, if there is one that can be taken now.
  void take_packet(TimePs now);
  /// By pins: a cycle of the RTL's clock at each edge of the core clock, until it is empty.
  void step_by_pins(TimePs now);
  void conclude_by_pins(TimePs now);
  /// By pins: true if the RTL decides about the packet, later; otherwise `decision` is made.
  bool ask_by_pins(Packet* packet, Qp& qp, const RxResources& resources, RxDecision& decision);
  /// `qp` null: the packet is for none of this NIC.
  void track(TimePs now, Packet* packet, Qp* qp);
  void look_up(TimePs now, Qp& qp, const Packet& packet);
  /// False if it cannot be read again: then nothing may know of the packet.
  bool store_payload(TimePs now, const Packet& packet);
  void wait(TimePs now, const MemoryAccess& access, const MemoryStructure& memory);
  void answer(TimePs now, const Packet& packet, Qp& qp, const RxDecision& decision);
  /// By pins: says whether a SACK is owed.
  void ask_triggers(TimePs now, const Packet& packet, Qp& qp, const RxDecision& decision);
  /// Start of a SACK that `packet` brings about.
  StartId trace_sack(TimePs now, const Packet& packet, Qp& qp);
  void conclude(TimePs now, Packet* packet, Qp& qp, RxDecision& decision);
  void discard(TimePs now, Packet* packet);
  RxDecision decide(TimePs now, Qp& qp, const Packet& packet, const RxResources& resources);
  void take_time(const Qp& qp, const Packet& packet, bool placed);

  NicContext& nic_;
  MemoryStructure& context_memory_;
  MemoryStructure& bitmap_memory_;
  MemoryStructure& staging_memory_;
  AccessCounter& free_banks_;
  Fifo<Packet*>& in_;
  DmaWrite& dma_write_;
  Fifo<AckJob>& answers_;
  ProbeEngine* probe_engine_ = nullptr;
  SackProcessor* sack_processor_ = nullptr;
  QpScheduler* qp_scheduler_ = nullptr;
  PsnTrackerRtlPath* rtl_;
  AckCoalescerRtlPath* ack_rtl_;
  AckTriggers* triggers_;
  RtlCycles service_;  ///< of the packet at hand
  TimePs delay_ = 0;   ///< that the packet at hand waits for memories
  ContextWait context_wait_;
  Occupancy bitmap_;  ///< banks of nic_.bitmaps that are held
  Cause answers_full_;
  StartTrace starts_;
  Cause sack_threshold_;
  std::uint32_t sack_place_;
  TimePs next_start_ = 0;
  // By pins:
  bool by_pins_ = false;
  TimePs next_cycle_ = 0;
  std::uint32_t promised_bytes_ = 0;  ///< of the staging buffer, to packets about which the RTL has been asked
  std::uint32_t promised_descriptors_ = 0;
};

}  // namespace mrc::timing
