// Writes accepted payload to host memory as posted writes, in the order in which packets were accepted; owns the
// staging buffer from which it writes. What a write completes (transport ACK, receive completion) follows its last TLP.
#pragma once

#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/occupancy.h"
#include "mrc/ring.h"
#include "nic/control/ack_coalescer.h"
#include "nic/control/completion.h"
#include "nic/nic_context.h"
#include "pcie/pcie_dma.h"

namespace mrc {
class HostMemory;
}

namespace mrc::timing {

class SackProcessor;
struct WriteJob {
  Packet* packet = nullptr;
  std::uint32_t qp = 0;
  std::uint32_t closes_messages = 0;
};

class DmaWrite : public Box, private WriteClient {
 public:
  static constexpr PortedMemory kStaging{
      .name = "rx_staging", .parameters = "nic.memory.rx_staging", .streamed = true, .checks_writes = true};
  static constexpr QueueMemory kQueue{"dma_write.queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  DmaWrite(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie, HostMemory& memory,
           Fifo<AckJob>& transport_acks, Fifo<Cqe>& completions);

  /// Who ends a QP whose data is lost.
  void connect(SackProcessor& sack_processor) { sack_processor_ = &sack_processor; }
  Fifo<WriteJob>& in() { return in_; }
  /// Room for `bytes` in the staging buffer at `now`.
  bool has_staging(TimePs now, std::uint32_t bytes);
  void reserve_staging(TimePs now, std::uint32_t bytes);
  /// An accepted packet will be written there.
  void translate_ahead(TimePs now, const Packet& packet) {
    pcie_.translate_ahead(now, packet.va, packet.payload_bytes);
  }
  /// The transport ACK of the QP's messages whose writes have left; `taken` also counts those that pcie_dma still
  /// holds.
  TransportAckFields ack_of_left(std::uint32_t qp, TransportAckFields taken) const;
  void refuse_staging(TimePs now) { staging_.refuse(now); }
  void refuse_descriptor(TimePs now) { in_.refuse(now); }
  void step(TimePs now) override;
  void settle(TimePs end) override { free_staging(end); }
  const Occupancy& staging() const { return staging_; }

  IssueSlot& slot() { return pcie_.write_slot(); }

 private:
  struct Release {
    TimePs at = 0;
    std::uint32_t bytes = 0;
  };
  void free_staging(TimePs now);
  /// A packet whose write pcie_dma has taken.
  struct UnderWay {
    Packet* packet = nullptr;
    TimePs left_at = 0;
    bool left = false;
  };
  struct AckBehindWrite {
    std::uint64_t write = 0;
    AckJob answer;
    std::uint32_t messages = 0;  ///< that the write completes
  };
  void write(TimePs now, const WriteJob& job);
  /// The packet was accepted and cannot be read from the staging buffer: nothing of its QP completes any more.
  void lose(TimePs now, const WriteJob& job);
  void write_left(std::uint64_t cookie, TimePs now, TimePs last_end) override;
  /// The oldest write has left: its bytes are on their way, its staging is free, its transport ACK follows.
  void retire(TimePs now);
  /// Of a write that closes messages: its transport ACK when it has left, its receive completions behind the data.
  void close_messages(TimePs now, const WriteJob& job, std::uint64_t write);
  bool has_room_for_answers(TimePs now);

  NicContext& nic_;
  MemoryStructure& staging_memory_;
  MemoryStructure& completion_memory_;
  PcieDma& pcie_;
  HostMemory& memory_;
  Fifo<AckJob>& transport_acks_;
  Fifo<Cqe>& completions_;
  WriteOrder order_;
  std::uint32_t most_under_way_;
  TimePs pipeline_ps_;
  Ring<UnderWay> under_way_;
  Ring<AckBehindWrite> acks_;
  std::uint64_t issued_ = 0;
  std::uint64_t retired_ = 0;
  TimePs last_left_ = 0;
  bool issuing_ = false;
  SackProcessor* sack_processor_ = nullptr;
  Fifo<WriteJob> in_;
  Occupancy staging_;
  Cause answers_full_;
  Cause completion_full_;
  Ring<Release> leaving_;  ///< packets whose last TLP has been issued and not left yet
  TimePs next_start_ = 0;
  Cause own_server_;
  Cause busy_with_;  ///< what the latest write waits for, or keeps busy
  StartTrace starts_;
};

}  // namespace mrc::timing
