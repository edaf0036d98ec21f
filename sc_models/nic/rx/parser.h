// Checks each packet that arrived (ICRC) and sends it the right way: data and probes to the tracker, SACKs, NACKs and
// transport ACKs to the SACK processor.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"

namespace mrc::timing {

class Parser : public Box {
 public:
  /// Payload stays here until rx_staging takes it, or the packet is refused.
  static constexpr PortedMemory kPacketBuffer{
      .name = "parser.packet_buffer", .parameters = "nic.memory.packet_buffer", .streamed = true};
  static constexpr QueueMemory kQueue{"parser.queue"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  Parser(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic);

  Fifo<Packet*>& in() { return in_; }
  Fifo<Packet*>& to_psn_tracker() { return to_psn_tracker_; }
  Fifo<Packet*>& to_sack_processor() { return to_sack_processor_; }
  void step(TimePs now) override;

  IssueSlot slot;

 private:
  NicContext& nic_;
  MemoryStructure& packet_memory_;
  Fifo<Packet*> in_;
  Fifo<Packet*> to_psn_tracker_;
  Fifo<Packet*> to_sack_processor_;
  Cause psn_tracker_full_;
  Cause sack_processor_full_;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
