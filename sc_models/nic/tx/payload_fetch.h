// Reads each packet's payload from host memory, in order, as far ahead as its queue and the completion buffer allow.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "nic/tx/segmenter.h"
#include "pcie/pcie_dma.h"

namespace mrc {
class HostMemory;
}

namespace mrc::timing {

class PayloadFetch : public Box, private ReadClient {
 public:
  static constexpr QueueMemory kQueue{"payload_fetch.queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  PayloadFetch(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
               const HostMemory& memory, Fifo<TxPacket>& in);

  /// Packets whose payload has arrived.
  Fifo<TxPacket>& out() { return out_; }
  void step(TimePs now) override;
  /// Those whose payload is under way.
  void for_each_packet_held(const PacketVisitor& visit) const override {
    for (std::uint64_t i = delivered_; i != issued_; ++i) visit(*under_way_[i & (under_way_.size() - 1)].packet);
  }

  IssueSlot slot;

 private:
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override;
  /// The NIC holds the payload: in the WQE, or of a retransmission when it stores payloads.
  /// A packet is taken: why not earlier.
  void trace_start(TimePs now, Packet& packet, TimePs ready_at);
  bool on_nic(const Packet& packet) const;
  /// False if it cannot be read.
  bool read_sram(TimePs now, const Packet& packet, TimePs& delay);

  NicContext& nic_;
  MemoryStructure* stored_payload_;  ///< null: the retransmit buffer holds records alone
  MemoryStructure& completion_memory_;
  PcieDma& pcie_;
  const HostMemory& memory_;
  Fifo<TxPacket>& in_;
  Fifo<TxPacket> out_;
  Cause out_full_;                   ///< packets that the spray scheduler has not taken
  Cause all_under_way_;              ///< too few places for the latency of the reads
  std::vector<TxPacket> under_way_;  ///< ring, by cookie
  std::uint64_t issued_ = 0;
  std::uint64_t delivered_ = 0;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
