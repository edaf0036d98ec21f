// Asks ring 1 what becomes of each data packet (place, duplicate, NACK), after room in the staging buffer is promised
// and before its bit is set, and passes on the write and the acknowledgement that follow. With RTL in its place, the
// RTL decides and says how long it takes.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/control/ack_coalescer.h"
#include "nic/control/ack_coalescer_rtl_path.h"
#include "nic/nic_context.h"
#include "nic/rx/dma_write.h"
#include "nic/rx/psn_tracker_rtl_path.h"

namespace mrc::timing {

class ProbeEngine;
class QpScheduler;
class SackProcessor;

class PsnTracker : public Box {
 public:
  static constexpr QueueMemory kQueue{"psn_tracker.queue"};
  static constexpr PortedMemory kBitmap{.name = "psn_tracker.bitmap", .parameters = "nic.memory.bitmap"};
  static constexpr CountedTable kFreeBanks{"psn_tracker.free_banks"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  /// `rtl`, of the window, and `ack_rtl`, of the SACK triggers, may be null: SystemC only.
  PsnTracker(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Fifo<Packet*>& in,
             DmaWrite& dma_write, Fifo<AckJob>& answers, PsnTrackerRtlPath* rtl, AckCoalescerRtlPath* ack_rtl);

  void connect(ProbeEngine& probe_engine, SackProcessor& sack_processor, QpScheduler& qp_scheduler) {
    qp_scheduler_ = &qp_scheduler;
    probe_engine_ = &probe_engine;
    sack_processor_ = &sack_processor;
  }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  void track(TimePs now, Packet* packet);
  void look_up(TimePs now, Qp& qp, const Packet& packet);
  /// False if it cannot be read again: then nothing may know of the packet.
  bool store_payload(TimePs now, const Packet& packet);
  void wait(TimePs now, const MemoryAccess& access, const MemoryStructure& memory);
  void answer(TimePs now, const Packet& packet, Qp& qp, const RxDecision& decision);
  /// Start of a SACK that `packet` brings about.
  StartId trace_sack(TimePs now, const Packet& packet, Qp& qp);
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
  RtlCycles service_;  ///< of the packet at hand
  TimePs delay_ = 0;   ///< that the packet at hand waits for memories
  Occupancy bitmap_;   ///< banks of nic_.bitmaps that are held
  Cause answers_full_;
  StartTrace starts_;
  Cause sack_threshold_;
  std::uint32_t sack_place_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
