// Checks each packet that arrived (ICRC) and sends it the right way: data and probes to the tracker, SACKs, NACKs and
// transport ACKs to the SACK processor. Of an encrypted packet it knows the outer headers alone: it goes to decrypt.
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

  /// Data and probes; the rest goes to the SACK processor.
  static bool goes_to_psn_tracker(const Packet& packet) {
    return is_data(packet.opcode) || packet.opcode == Opcode::probe_request;
  }
  /// Encrypted packets go to `decrypt` instead; `full`: cause of waiting for room there.
  void connect(Fifo<Packet*>& decrypt, Cause full) {
    to_decrypt_ = &decrypt;
    decrypt_full_ = full;
  }

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
  Fifo<Packet*>* to_decrypt_ = nullptr;  ///< null: nothing is encrypted
  Cause decrypt_full_;
  Cause psn_tracker_full_;
  Cause sack_processor_full_;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
