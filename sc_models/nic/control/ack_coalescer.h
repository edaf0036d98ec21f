// Builds the answers of the responder (SACK, NACK, transport ACK) and hands them to the control queue.
#pragma once

#include <memory>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/control/ack_coalescer_rtl_path.h"
#include "nic/control/control_packet.h"
#include "nic/nic_context.h"
#include "nic/rx/psn_tracker_rtl_path.h"

namespace mrc::timing {

/// An answer that the responder owes.
struct AckJob {
  enum class Kind : std::uint8_t { sack, nack, transport_ack };
  std::uint32_t qp = 0;
  Kind kind = Kind::sack;
  SackTrigger trigger;               ///< with sack
  NackFields nack;                   ///< with nack
  TransportAckFields transport_ack;  ///< with transport_ack
  StartId because = 0;               ///< start of the packet that brought it about
};

/// The RTL of the SACK triggers by its pins: events come through a queue, and its SACKs are owed.
class AckTriggers {
 public:
  AckTriggers(Box& box, NicContext& nic, AckCoalescerRtlPath& rtl, Fifo<AckJob>& owed);

  Fifo<SackAsk>& events() { return events_; }
  Cause events_full() const { return events_full_; }
  void step(TimePs now);

 private:
  void begin(TimePs now);

  Box& box_;
  NicContext& nic_;
  AckCoalescerRtlPath& rtl_;
  Fifo<AckJob>& owed_;
  Fifo<SackAsk> events_;
  IssueSlot slot_;
  Cause events_full_;
  Cause owed_full_;
  StartTrace starts_;
  TimePs next_cycle_ = 0;
};

class AckCoalescer : public Box {
 public:
  static constexpr QueueMemory kQueue{"ack_coalescer.queue"};
  static constexpr QueueMemory kTransportAcks{"ack_coalescer.transport_acks"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);

  /// `psn_tracker_rtl` may be null: the contents of SACKs come from ring 1. So may `rtl`, of the SACK triggers.
  AckCoalescer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Fifo<ControlPacket>& out,
               PsnTrackerRtlPath* psn_tracker_rtl, AckCoalescerRtlPath* rtl);

  /// Null but where the RTL of the triggers is clocked by its pins.
  AckTriggers* triggers() { return triggers_.get(); }

  /// SACKs and NACKs, from the tracker.
  Fifo<AckJob>& in() { return in_; }
  /// Transport ACKs, behind the write they follow.
  Fifo<AckJob>& transport_acks() { return transport_acks_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  Packet* new_packet(const Qp& qp);
  Packet* build(TimePs now, const AckJob& job);
  Packet* build_sack(Qp& qp, const SackFields& sack);
  /// By pins: SACKs whose contents have come.
  void send_read(TimePs now);
  std::uint64_t latency_cycles(const AckJob& job) const;
  void wait_for_job(TimePs not_before);

  NicContext& nic_;
  Fifo<ControlPacket>& out_;
  PsnTrackerRtlPath* psn_tracker_rtl_;
  Fifo<AckJob> in_;
  Fifo<AckJob> transport_acks_;
  Cause out_full_;
  Cause reads_full_;
  StartTrace starts_;
  std::unique_ptr<AckTriggers> triggers_;
  bool reads_by_pins_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
