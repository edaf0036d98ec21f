// Applies SACKs, NACKs and transport ACKs to their QP: frees records, feeds path table and congestion control,
// completes messages, and wakes whoever may go on. One whose QP's context is not on the NIC waits beside the queue
// until it has been read; others pass it.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/control/completion.h"
#include "nic/nic_context.h"
#include "nic/tx/context_wait.h"

namespace mrc::timing {

class ProbeEngine;
class QpScheduler;
class RetransmitBuffer;
class RetransmitTimer;
class SprayScheduler;

class SackProcessor : public Box {
 public:
  static constexpr QueueMemory kQueue{"sack_processor.queue"};
  static constexpr QueueMemory kContextWait{"sack_processor.context_wait"};
  static constexpr PortedMemory kCongestionState{.name = "congestion.state", .parameters = "nic.memory.congestion"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);

  SackProcessor(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Fifo<Packet*>& in);
  void connect(QpScheduler& scheduler, RetransmitBuffer& retransmit_buffer, SprayScheduler& spray_scheduler,
               RetransmitTimer& timer, Fifo<Cqe>& completions, ProbeEngine& probe_engine);

  void step(TimePs now) override;
  /// Those that wait for their contexts.
  void for_each_packet_held(const PacketVisitor& visit) const override { context_wait_.for_each_packet(visit); }
  /// Follows up what a QP's requestor has learned, from a packet or from a timer.
  /// `because`: the start from which it has learned it.
  void follow_up(TimePs now, Qp& qp, const AckResult& result, StartId because);
  /// The QP's responder has gone to ERROR, and the QP with it.
  void responder_failed(TimePs now, Qp& qp);
  /// State of the QP's sending half is lost in this memory: its work ends in an error.
  void memory_failed(TimePs now, Qp& qp, const MemoryStructure& memory);

  IssueSlot slot;

 private:
  /// Hands the QP's completions on, as far as there is room; the rest follows when there is.
  void complete(TimePs now, Qp& qp, StartId because);
  AckResult apply(TimePs now, Qp& qp, const Packet& packet);
  /// What the SACK says about paths besides the path table: an answered probe, an EV that control packets can use.
  void learn_paths(Qp& qp, const SackFields& sack);
  void dispatch(TimePs now, const Packet& packet);
  /// False if the first packet of the queue cannot be taken now.
  bool first_has_context(TimePs now);
  /// A packet whose context has come is taken before those in the queue.
  bool take_waiting(TimePs now);
  void begin_service(TimePs now);
  void serve(TimePs now, Packet* packet);
  /// Context, `records` of the retransmit buffer, window and path table. Returns what it waited for them.
  TimePs access_memories(TimePs now, Qp& qp, const Packet& packet, std::uint32_t records);
  void rebuild_ev(TimePs now, Qp& qp, const Packet& packet);

  NicContext& nic_;
  MemoryStructure& context_memory_;
  MemoryStructure& record_memory_;
  MemoryStructure& congestion_memory_;
  MemoryStructure& path_memory_;
  MemoryStructure& completion_memory_;
  Fifo<Packet*>& in_;
  bool needs_contexts_;  ///< some may not be on the NIC
  ContextWait context_wait_;
  QpScheduler* scheduler_ = nullptr;
  RetransmitBuffer* retransmit_buffer_ = nullptr;
  SprayScheduler* spray_scheduler_ = nullptr;
  RetransmitTimer* timer_ = nullptr;
  Fifo<Cqe>* completions_ = nullptr;
  Cause completion_full_;
  ProbeEngine* probe_engine_ = nullptr;
  std::vector<Qp*> uncompleted_;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
