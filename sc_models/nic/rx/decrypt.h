// Inline engine that decrypts packets between parser and what is behind it, checks their tags, and looks for replays: a
// packet goes on when all of it has passed and its tag is right. A packet whose key is not on the NIC waits beside the
// engine while the key and the replay window are read over PCIe. Not built where nothing is encrypted.
#pragma once

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/memory_declaration.h"
#include "nic/association_keys.h"
#include "nic/nic_context.h"
#include "nic/rx/parser.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

class Decrypt : public Box {
 public:
  static constexpr PortedMemory kKeys{.name = "decrypt.key_cache", .parameters = "nic.memory.decrypt_keys"};
  static constexpr PortedMemory kReplay{.name = "decrypt.replay_window", .parameters = "nic.memory.replay_window"};
  static constexpr QueueMemory kQueue{"decrypt.queue"};
  static constexpr QueueMemory kKeyWait{"decrypt.key_wait"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  /// Takes what `parser` finds encrypted, and hands it on to the parser's two other queues.
  Decrypt(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie, Parser& parser);

  void step(TimePs now) override;
  void for_each_packet_held(const PacketVisitor& visit) const override;

  IssueSlot slot;

 private:
  Fifo<Packet*>& next_of(const Packet& packet);
  Cause full_of(const Packet& packet) const;
  bool serve_waiting(TimePs now);
  void serve_first(TimePs now);
  bool has_key(TimePs now, std::uint32_t association);
  void decrypt(TimePs now, Packet* packet, std::uint32_t association);
  /// Key and replay window out of their memories. Returns what it waited for them.
  TimePs read_state(TimePs now, std::uint32_t association);
  /// False: the packet is dropped and counted.
  bool is_accepted(const Packet& packet, std::uint32_t association);
  void drop(TimePs now, Packet* packet);
  void arm(TimePs now);

  NicContext& nic_;
  MemoryStructure& key_memory_;
  MemoryStructure* replay_memory_;  ///< null: replays are not looked for
  MemoryStructure& packet_memory_;
  Fifo<Packet*>& to_psn_tracker_;
  Fifo<Packet*>& to_sack_processor_;
  Fifo<Packet*> in_;
  AssociationKeys<Packet*> keys_;
  Cause psn_tracker_full_;
  Cause sack_processor_full_;
  StartTrace starts_;
  TimePs next_start_ = 0;
};

}  // namespace mrc::timing
