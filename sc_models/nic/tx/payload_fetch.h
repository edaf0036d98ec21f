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
  /// `visit` sees each packet whose payload is under way.
  template <typename Visit>
  void for_each_under_way(Visit visit) const {
    for (std::uint64_t i = delivered_; i != issued_; ++i) visit(under_way_[i & (under_way_.size() - 1)]);
  }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override;
  /// The NIC holds the payload: in the WQE, or of a retransmission when it stores payloads.
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
  std::vector<TxPacket> under_way_;  ///< ring, by cookie
  std::uint64_t issued_ = 0;
  std::uint64_t delivered_ = 0;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
