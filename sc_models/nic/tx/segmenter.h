// Cuts the granted QP's next message into packets, one an initiation interval, under the window rules of ring 1.
#pragma once

#include "engine/box.h"
#include "engine/class_queues.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "nic/tx/qp_scheduler.h"

namespace mrc::timing {

class RetransmitBuffer;
class SackProcessor;

/// A packet between segmenter and spray scheduler: header fields, and where its payload lies in host memory.
struct TxPacket {
  Packet* packet = nullptr;
  std::uint64_t local_address = 0;
  std::uint32_t qp = 0;
  bool from_sram = false;  ///< its payload did not come over PCIe
};

class Segmenter : public Box {
 public:
  static constexpr QueueMemory kQueue{"segmenter.queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  Segmenter(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, QpScheduler& scheduler,
            RetransmitBuffer& retransmit_buffer);

  /// Who ends a QP whose record is lost.
  void connect(SackProcessor& sack_processor) { sack_processor_ = &sack_processor; }
  Fifo<TxPacket>& out() { return out_.of(0); }
  /// By traffic class, where they have queues of their own.
  ClassQueues<TxPacket>& out_of_classes() { return out_; }
  Cause out_full() const { return out_full_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  /// Whether, and in next_ what, the granted QP may send.
  bool may_send(TimePs now, const Qp& qp);
  void emit(TimePs now, Qp& qp);
  /// Reads the record of a retransmission, or writes that of a new packet, and the window's state.
  bool access_memories(TimePs now, Qp& qp, TimePs& delay);
  void give_back(TimePs now);

  NicContext& nic_;
  MemoryStructure& record_memory_;
  MemoryStructure& congestion_memory_;
  QpScheduler& scheduler_;
  RetransmitBuffer& retransmit_buffer_;
  SackProcessor* sack_processor_ = nullptr;
  ClassQueues<TxPacket> out_;
  Cause out_full_;
  Grant grant_;
  bool has_grant_ = false;
  NextPacket next_;
  StartTrace starts_;
  TimePs grant_ready_at_ = 0;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
