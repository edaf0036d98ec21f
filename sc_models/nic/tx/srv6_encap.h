// Puts the outer IPv6 header before the packet as it streams through the datapath: the uSID carrier that fixes its
// path. Control packets come with their carrier, and go first. With an engine (Verilated RTL) in place of or beside the
// box, real bytes go through it and its cycles are taken. By pins, the queue offers the packet, and it leaves the queue
// when its first beat is taken.
#pragma once

#include <memory>
#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "nic/nic_context.h"
#include "nic/port.h"
#include "nic/tx/segmenter.h"
#include "nic/tx/srv6_encap_rtl_path.h"
#include "pcie/pcie_dma.h"

namespace mrc::timing {

class Srv6Encap : public Box {
 public:
  /// Of it, or of encrypt where that is built.
  static constexpr const char* kBoxInFront = "retransmit_buffer";
  static constexpr CountedTable kTemplates{"srv6_encap.template"};
  static constexpr QueueMemory kControlFifo{"port.encap_fifo"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  static void declare_latency(LatencyAccount& account);
  /// What makes control packets wait on their way to a port: room in front of srv6_encap, or of the port where they do
  /// not pass it.
  static Cause no_control_room(NicContext& nic);

  /// `rtl` may be null: SystemC only.
  Srv6Encap(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie, Fifo<TxPacket>& in,
            std::vector<Port*> ports, Srv6EncapRtlPath* rtl);

  /// By port: what control packets are put into in place of the port's own queue. Empty where they do not pass.
  std::vector<Fifo<Packet*>*> control() const;

  void step(TimePs now) override;
  /// By pins: those inside the RTL that have not begun to leave it.
  void for_each_packet_held(const PacketVisitor& visit) const override;

  IssueSlot slot;

 private:
  struct Service {
    TimePs first_out;
    TimePs next_start;
  };
  /// The queue of the next control packet whose port has room for it; null: none.
  Fifo<Packet*>* next_control(TimePs now);
  void begin_control(TimePs now, Fifo<Packet*>& queue);
  void serve_control(TimePs now, Fifo<Packet*>& queue);
  void serve_data(TimePs now);
  /// Nothing was taken.
  void hold(TimePs now);
  /// Step again for what comes, from `at` on.
  void wait_for_packets(TimePs now, TimePs at);
  /// Payload out of the completion buffer, the frame into the port's FIFO. Returns what it waited for the memories.
  TimePs move_frame(TimePs now, const TxPacket& tx);
  /// `qp`: of a data packet; null: a control packet, whose carrier is chosen.
  Service encapsulate(TimePs now, Packet& packet, const Qp* qp);
  std::uint32_t frame_bytes(const Packet& packet) const {
    return nic_.link_bytes.in_nic(packet) - kEthernetOverheadBytes;
  }
  /// Its ICRC is computed here.
  bool appends_icrc(const Packet& packet) const;
  /// The packet has been started: others that come with their ICRC wait until it has its own.
  void note_icrc(const Packet& packet);
  RtlCycles systemc_cycles(const Packet& packet) const;
  Srv6EncapInput input_of(const Packet& packet, const Qp* qp) const;
  void step_by_pins(TimePs now);
  void offer_by_pins(TimePs now);
  /// The RTL has taken the first beat of the packet.
  void begin_by_pins(TimePs now);
  void send_by_pins(TimePs now);

  NicContext& nic_;
  AccessCounter& templates_;
  MemoryStructure& payload_memory_;
  MemoryStructure& frame_memory_;
  PcieDma& pcie_;
  Fifo<TxPacket>& in_;
  std::vector<Port*> ports_;
  std::vector<std::unique_ptr<Fifo<Packet*>>> control_;  ///< by port
  std::vector<std::uint32_t> control_inside_;            ///< by pins: of each port, on their way through the RTL
  Srv6EncapRtlPath* rtl_;
  Cause no_port_room_;     ///< for a control packet
  Cause no_control_room_;  ///< in front of this box
  std::size_t turn_ = 0;   ///< of the ports' control packets
  bool held_up_ = false;   ///< a control packet that is ready waits for its port
  TimePs next_start_ = 0;
  TimePs icrc_empty_at_ = 0;
  TimePs held_until_ = 0;  ///< by pins: a memory has no beat for the RTL until then
  StartTrace starts_;
};

}  // namespace mrc::timing
