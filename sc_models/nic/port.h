// A port with its MAC: serializes what the transmit side hands it, control before data, and passes what arrives to the
// parser. Room for data is promised (reserved) when the spray scheduler chooses the port and free when the last bit
// left.
#pragma once

#include <memory>
#include <vector>

#include "engine/box.h"
#include "engine/fifo.h"
#include "engine/ledger.h"
#include "engine/occupancy.h"
#include "engine/serial_line.h"
#include "fabric/link.h"
#include "nic/nic_context.h"

namespace mrc::timing {

class SprayScheduler;
class IdleCauses;
class OverrunCauses;

class Port : public Box {
 public:
  static constexpr PortedMemory kTxFifo{.name = "port.tx_fifo", .parameters = "nic.memory.port_fifo", .streamed = true};
  static constexpr QueueMemory kControlFifo{"port.control_fifo"};
  static void declare_memories(const MemoryScope& nic, MemoryDeclarations& out);
  /// Out of the boxes that transmit and onto the line; from the line to the parser.
  static void declare_transmit_latency(LatencyAccount& account);
  static void declare_receive_latency(LatencyAccount& account);

  Port(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, std::uint32_t index, Link& transmit,
       Link& receive);
  void connect(SprayScheduler& spray_scheduler, Fifo<Packet*>& parser_queue, IdleCauses& idle_causes,
               OverrunCauses& overrun_causes);

  bool has_data_room(TimePs now, std::uint32_t wire_bytes, std::uint32_t traffic_class = 0);
  /// Bytes that has_data_room() would grant.
  std::uint64_t data_room(TimePs now);
  void reserve_data(TimePs now, std::uint32_t wire_bytes, std::uint32_t traffic_class = 0);
  /// The packet for which room was reserved; its first beat is there at `ready_at`.
  void send_data(TimePs now, Packet* packet, TimePs ready_at);
  Fifo<Packet*>& control() { return control_; }

  /// The line's rate from `at` on, in order of time; told before the run.
  void change_rate_at(TimePs at, double gbps) { rate_changes_.push_back({at, gbps}); }

  void step(TimePs now) override;
  void settle(TimePs end) override { free_sent_bytes(end); }
  /// Time that packets took longer than at the line's full rate.
  TimePs slow_ps() const { return slow_ps_; }
  /// Of the packet on the line at `now`: what it is and what is still to come.
  struct OnLine {
    bool data = false;
    bool retransmission = false;
    std::uint8_t loss_cause = 0;
    double bytes = 0;
    double slow_ps = 0;
  };
  OnLine on_line(TimePs now) const;
  /// Payload of first transmissions that has left through this port.
  std::uint64_t first_payload_bytes() const { return first_payload_bytes_; }

  IssueSlot slot;

 private:
  /// Frames of a traffic class above the lowest, and their bytes.
  struct ClassFifo {
    ClassFifo(Port& port, std::uint32_t traffic_class);
    Occupancy bytes;
    Fifo<Packet*> packets;
  };
  Occupancy& bytes_of(std::uint32_t traffic_class) {
    return traffic_class == 0 || above_.empty() ? tx_fifo_ : above_[traffic_class - 1]->bytes;
  }
  Fifo<Packet*>& packets_of(std::uint32_t traffic_class) {
    return traffic_class == 0 || above_.empty() ? data_ : above_[traffic_class - 1]->packets;
  }
  /// Of the highest class with a frame that can be sent.
  Fifo<Packet*>& next_data(TimePs now);

  struct RateChange {
    TimePs at;
    double gbps;
  };

  void transmit(TimePs now);
  void change_rate(TimePs now);
  void free_sent_bytes(TimePs now);
  void send(TimePs now, Packet* packet, TimePs ready_at);
  /// Takes a frame out of the FIFO's memory as the line takes it. Returns what it waited for the memory.
  TimePs read_frame(TimePs now, Packet& packet, std::uint32_t bytes);
  TimePs line_time(std::uint32_t bytes) const { return bytes * ps_per_byte_; }
  void receive(TimePs now);
  void arm(TimePs now);

  NicContext& nic_;
  MemoryStructure& frame_memory_;   ///< of frames to be sent
  MemoryStructure& packet_memory_;  ///< of received packets
  std::uint32_t index_;
  Link& transmit_link_;
  Link& receive_link_;
  SprayScheduler* spray_scheduler_ = nullptr;
  IdleCauses* idle_causes_ = nullptr;
  OverrunCauses* overrun_causes_ = nullptr;
  Fifo<Packet*>* parser_queue_ = nullptr;
  SerialLine line_;
  TimePs ps_per_byte_;  ///< of the line, rounded down: good enough to spread accesses
  TimePs mac_fec_ps_;   ///< with that of MACsec
  std::vector<RateChange> rate_changes_;
  std::size_t next_rate_change_ = 0;
  double full_share_ = 1;  ///< of the rate that is left
  TimePs slow_ps_ = 0;
  Occupancy tx_fifo_;
  Fifo<Packet*> control_;
  Fifo<Packet*> data_;                             ///< packets behind the bytes of tx_fifo_
  std::vector<std::unique_ptr<ClassFifo>> above_;  ///< of traffic class 1, 2 …, where they have FIFOs of their own
  std::uint64_t first_payload_bytes_ = 0;
  Cause no_control_room_;
  StartTrace starts_;
  std::uint32_t bytes_on_line_ = 0;  ///< data bytes whose last bit leaves at line_.free_at()
  std::uint32_t class_on_line_ = 0;  ///< their traffic class
  OnLine last_sent_;                 ///< without what is still to come
};

}  // namespace mrc::timing
