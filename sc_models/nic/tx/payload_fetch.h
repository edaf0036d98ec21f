// Reads each packet's payload from host memory, in order, as far ahead as its queue and the completion buffer allow. A
// packet that takes its record when its payload has arrived waits here while there is none; retransmissions pass it.
#pragma once

#include <deque>

#include "engine/box.h"
#include "engine/class_queues.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "nic/tx/retransmit_buffer.h"
#include "nic/tx/segmenter.h"
#include "pcie/pcie_dma.h"

namespace mrc {
class HostMemory;
}

namespace mrc::timing {

class Encrypt;

class PayloadFetch : public Box, private ReadClient, private ArrivalClient {
 public:
  static constexpr QueueMemory kQueue{"payload_fetch.queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  PayloadFetch(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
               const HostMemory& memory, RetransmitBuffer& retransmit_buffer, ClassQueues<TxPacket> in);

  /// Who is asked for a packet's key before its payload is read.
  void connect(Encrypt& encrypt) { encrypt_ = &encrypt; }
  /// Packets whose payload has arrived.
  Fifo<TxPacket>& out() { return out_.of(0); }
  /// By traffic class, where they have queues of their own.
  ClassQueues<TxPacket>& out_of_classes() { return out_; }
  void step(TimePs now) override;
  /// Packets whose payload is under way, and packets that wait for a record.
  void for_each_packet_held(const PacketVisitor& visit) const override {
    for (const Lane& lane : lanes_) {
      for (std::uint64_t i = lane.delivered; i != lane.issued; ++i) visit(*lane.under_way[i & lane.mask()].tx.packet);
      for (const Arrived& arrived : lane.without_entry) visit(*arrived.tx.packet);
    }
  }

  IssueSlot slot;

 private:
  /// A packet whose payload is here.
  struct Arrived {
    TxPacket tx;
    TimePs ready_at;
    Cause waits_for;
  };

  /// A packet whose payload is read.
  struct UnderWay {
    TxPacket tx;
    TimePs ready_at = kNever;  ///< when its payload has come, of one that came before those in front of it
  };
  /// Packets of one traffic class; of all without classes.
  struct Lane {
    explicit Lane(std::uint32_t places);
    std::uint64_t mask() const { return under_way.size() - 1; }
    std::uint64_t held() const { return issued - delivered + without_entry.size(); }

    std::vector<UnderWay> under_way;    ///< ring, by number
    std::deque<Arrived> without_entry;  ///< payload has arrived; a record is not free yet
    std::uint64_t issued = 0;
    std::uint64_t delivered = 0;
  };

  std::uint32_t lane_of(const TxPacket& tx) const { return lanes_.size() == 1 ? 0 : tx.packet->traffic_class; }
  /// Reads of packets that are not of the highest class leave room in front of the PCIe engine for those that are.
  bool can_read(std::uint32_t lane) const;
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override;
  void entries_free(TimePs now, StartId because) override;
  /// The payload is here: on to the spray scheduler, or wait for a record.
  void arrived(TimePs now, const TxPacket& tx, TimePs ready_at);
  /// A packet is taken: why not earlier.
  void trace_start(TimePs now, Packet& packet, TimePs ready_at);
  /// The NIC holds the payload: in the WQE, or of a retransmission when it stores payloads.
  bool on_nic(const Packet& packet) const;
  /// False if it cannot be read.
  bool read_sram(TimePs now, const Packet& packet, TimePs& delay);

  NicContext& nic_;
  MemoryStructure* stored_payload_;  ///< null: the retransmit buffer holds records alone
  MemoryStructure& completion_memory_;
  PcieDma& pcie_;
  const HostMemory& memory_;
  RetransmitBuffer& retransmit_buffer_;
  /// Packets that hold completion buffer may wait for a context behind here, and its read needs room in it.
  bool leaves_read_room_;
  Encrypt* encrypt_ = nullptr;    ///< null: nothing is encrypted
  std::uint32_t keys_asked_ = 0;  ///< bit per lane: for its packet that is next
  ClassQueues<TxPacket> in_;
  ClassQueues<TxPacket> out_;
  Cause out_full_;       ///< packets that the spray scheduler has not taken
  Cause all_under_way_;  ///< too few places for the latency of the reads
  Cause no_place_;       ///< why there was none at last
  std::vector<Lane> lanes_;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
