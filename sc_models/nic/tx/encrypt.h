// Inline engine that encrypts packets on their way to srv6_encap, and control packets on their way to a port, which go
// first. Gives each packet the next number of its security association. Where a key is not on the NIC it is read over
// PCIe, for a data packet ahead of its payload; the packet waits beside the engine until it is there. Not built where
// nothing is encrypted.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/memory_declaration.h"
#include "nic/association_keys.h"
#include "nic/nic_context.h"
#include "nic/tx/segmenter.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

class Encrypt : public Box {
 public:
  static constexpr PortedMemory kKeys{.name = "encrypt.key_cache", .parameters = "nic.memory.encrypt_keys"};
  static constexpr QueueMemory kQueue{"encrypt.queue"};
  static constexpr QueueMemory kControlFifo{"port.encrypt_fifo"};
  static constexpr QueueMemory kKeyWait{"encrypt.key_wait"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);

  /// `nic.associations` is there.
  Encrypt(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie, Fifo<TxPacket>& in);

  Fifo<TxPacket>& out() { return out_; }
  /// By port: what control packets are put into. Empty where they stay in the clear.
  std::vector<Fifo<Packet*>*> control() const;
  /// By port: where they go when they are encrypted. Before the first of them.
  void send_control_to(std::vector<Fifo<Packet*>*> behind) { behind_ = std::move(behind); }

  /// Before the payload of a data packet is read: its key is read first where it is not on the NIC. False: PCIe takes
  /// no read, and `caller` is woken when it does. Every data packet that comes has asked once.
  bool ask_for_key(TimePs now, const TxPacket& tx, Box& caller);

  void step(TimePs now) override;
  void for_each_packet_held(const PacketVisitor& visit) const override;

  IssueSlot slot;

 private:
  std::uint32_t association_of(const TxPacket& tx) const;
  bool has_room(const TxPacket& tx) const;
  void wait_room(TimePs now, const TxPacket& tx);
  // Each is true if it has taken something, and says what holds up what it has not taken.
  bool serve_control(TimePs now);
  bool serve_waiting(TimePs now);
  bool serve_data(TimePs now);
  enum class Key : std::uint8_t { here, set_aside, missing };
  /// `may_wait`: the key is on its way.
  bool has_key(TimePs now, const TxPacket& tx, bool& may_wait);
  /// Whether the packet can be encrypted; without its key it waits beside the engine, or where it is.
  Key look_for_key(TimePs now, const TxPacket& tx);
  void hold_up(TimePs now, Cause cause);
  void encrypt(TimePs now, const TxPacket& tx);
  void arm(TimePs now);

  NicContext& nic_;
  MemoryStructure& key_memory_;
  Fifo<TxPacket>& in_;
  std::vector<Fifo<Packet*>*> behind_;  ///< by port: where control packets go
  Fifo<TxPacket> out_;
  std::vector<std::unique_ptr<Fifo<Packet*>>> control_;  ///< by port
  AssociationKeys<TxPacket> keys_;
  Cause out_full_;
  Cause no_port_room_;
  StartTrace starts_;
  TimePs next_start_ = 0;
  bool held_up_ = false;  ///< something that is ready waits
  std::size_t turn_ = 0;  ///< of the ports' control packets
};

}  // namespace mrc::timing
