// Reads each packet's payload from host memory, in order, as far ahead as its queue and the completion buffer allow. A
// packet that takes its record when its payload has arrived waits here while there is none; retransmissions pass it.
#pragma once

#include <deque>

#include "engine/box.h"
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
               const HostMemory& memory, RetransmitBuffer& retransmit_buffer, Fifo<TxPacket>& in);

  /// Who is asked for a packet's key before its payload is read.
  void connect(Encrypt& encrypt) { encrypt_ = &encrypt; }
  /// Packets whose payload has arrived.
  Fifo<TxPacket>& out() { return out_; }
  void step(TimePs now) override;
  /// Packets whose payload is under way, and packets that wait for a record.
  void for_each_packet_held(const PacketVisitor& visit) const override {
    for (std::uint64_t i = delivered_; i != issued_; ++i) visit(*under_way_[i & (under_way_.size() - 1)].packet);
    for (const Arrived& arrived : without_entry_) visit(*arrived.tx.packet);
  }

  IssueSlot slot;

 private:
  /// A packet whose payload is here.
  struct Arrived {
    TxPacket tx;
    TimePs ready_at;
    Cause waits_for;
  };

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
  Encrypt* encrypt_ = nullptr;  ///< null: nothing is encrypted
  bool key_asked_ = false;      ///< for the packet that is next
  Fifo<TxPacket>& in_;
  Fifo<TxPacket> out_;
  Cause out_full_;                     ///< packets that the spray scheduler has not taken
  Cause all_under_way_;                ///< too few places for the latency of the reads
  Cause no_place_;                     ///< why there was none at last
  std::vector<TxPacket> under_way_;    ///< ring, by cookie
  std::deque<Arrived> without_entry_;  ///< their payload has arrived, and there is no record for them yet
  std::uint64_t issued_ = 0;
  std::uint64_t delivered_ = 0;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
