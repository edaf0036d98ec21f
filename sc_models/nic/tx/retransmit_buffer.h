// Holds what a retransmission needs until the packet is acknowledged: a record a packet, and with store = payload its
// bytes. An entry is taken when the segmenter takes the packet, or when its payload has arrived: then packets wait for
// entries at payload_fetch, where retransmissions pass them. So a full buffer never holds up a retransmission. A packet
// passes, and is marked as sent, when the context of its QP is on the NIC.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/occupancy.h"
#include "nic/nic_context.h"
#include "nic/tx/first_context.h"
#include "nic/tx/passing_packets.h"
#include "nic/tx/retransmit_buffer_rtl_path.h"
#include "nic/tx/segmenter.h"

namespace mrc::timing {

class QpScheduler;
class RetransmitTimer;

/// Who holds packets whose payload has arrived until there are entries for them.
class ArrivalClient {
 public:
  virtual ~ArrivalClient() = default;
  virtual void entries_free(TimePs now, StartId because) = 0;
};

class RetransmitBuffer : public Box {
 public:
  static constexpr PortedMemory kRecords{.name = "retransmit_buffer.records",
                                         .parameters = "nic.memory.retransmit_records"};
  /// Only with nic.retransmit_buffer.store = "payload".
  static constexpr PortedMemory kPayload{
      .name = "retransmit_buffer.payload", .parameters = "nic.memory.retransmit_payload", .streamed = true};
  static constexpr QueueMemory kQueue{"retransmit_buffer.queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);
  /// Null without stored payload.
  static MemoryStructure* payload_memory(NicContext& nic);

  RetransmitBuffer(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic);
  /// Who is told that a record is free. `in`: packets with their EVs.
  void connect(Fifo<TxPacket>& in, QpScheduler& scheduler);
  /// The RTL is clocked with the run. A packet is marked as sent here, and leaves when the RTL has answered that.
  void clock_by_pins(RetransmitBufferRtlPath& rtl, RetransmitTimer& timer);

  /// What a packet waits for when there is no entry for it.
  Cause missing() const;
  /// The segmenter may take one more packet of a full MTU, which it then does.
  bool has_entry(TimePs now) const;
  void reserve_entry(TimePs now);
  /// Packets take their record, or their bytes, when their payload has arrived.
  bool takes_at_arrival() const { return takes_at_arrival_; }
  /// False if there is no room for this packet. Each packet that reserve_entry() was called for asks until there is.
  /// Precondition: takes_at_arrival().
  bool take_at_arrival(TimePs now, StartId because);
  void connect(ArrivalClient& arrivals) { arrivals_ = &arrivals; }
  /// `packets` were acknowledged.
  void release(TimePs now, std::uint32_t packets, StartId because);
  /// A SACK that is done at `from` looks at the records for `cycles` more and has them for itself until then: packets
  /// wait. Returns that time. By pins the RTL takes the time for it, and `from` is returned.
  TimePs scan(TimePs from, std::uint64_t cycles);
  /// The QP could send but for an entry; it is activated when one is free.
  void wait_entry(TimePs now, std::uint32_t qp);

  /// By pins, of the RTL: it has room for the command of one more packet of the segmenter.
  bool has_room_for_command() const { return !by_pins() || rtl_->has_room(RetransmitOp::append); }
  /// By pins, of the RTL: it has answered all about the last SACK, NACK or timeout.
  bool has_judged() const { return !by_pins() || rtl_->has_judged(); }
  /// `box` is stepped when one of these may have changed.
  void wait_rtl(Box& box) { waiting_boxes_.push_back(&box); }
  /// Of what waits for them; none where the RTL is not clocked by its pins.
  Cause busy() const { return busy_; }

  Fifo<TxPacket>& out() { return out_; }
  void step(TimePs now) override;
  void for_each_packet_held(const PacketVisitor& visit) const override;

  IssueSlot slot;

 private:
  /// The context of the first packet's QP is on the NIC.
  bool first_has_context(TimePs now);
  /// QPs that could send but for an entry may.
  void wake_waiting(TimePs now, StartId because);
  bool stores_payload() const { return payload_memory_ != nullptr; }
  /// A copy stays as the packet passes. Returns what it waited for the memory.
  TimePs store_payload(TimePs now, const TxPacket& tx);

  bool by_pins() const { return rtl_ != nullptr; }
  void step_by_pins(TimePs now);
  /// The first packet that has come is marked as sent, if it can go on.
  void mark_sent(TimePs now);
  /// The RTL has taken the command of the next packet.
  void begin_by_pins(TimePs now);
  /// The RTL has answered about the oldest packet.
  void pass_by_pins(TimePs now);
  void wake_boxes(TimePs now);

  NicContext& nic_;
  MemoryStructure& record_memory_;
  MemoryStructure* payload_memory_;  ///< null: records alone
  QpScheduler* scheduler_ = nullptr;
  Fifo<TxPacket>* in_ = nullptr;
  bool records_at_arrival_;
  bool takes_at_arrival_;
  std::uint32_t most_asked_;  ///< one place is left for a retransmission
  std::uint32_t asked_ = 0;   ///< packets between segmenter and arrival of their payload
  ArrivalClient* arrivals_ = nullptr;
  Occupancy entries_;
  Occupancy bytes_;
  Fifo<TxPacket> out_;
  Cause out_full_;
  Cause no_entry_;
  Cause no_bytes_;
  Cause all_asked_;
  std::vector<std::uint32_t> waiting_;
  StartTrace starts_;
  TimePs next_start_ = 0;
  TimePs held_until_ = 0;
  FirstContext context_{*this};

  RetransmitBufferRtlPath* rtl_ = nullptr;  ///< null: not by pins
  RetransmitTimer* timer_ = nullptr;
  Cause busy_;
  PassingPackets passing_;  ///< marked as sent, the RTL has not answered
  std::vector<Box*> waiting_boxes_;
};

}  // namespace mrc::timing
