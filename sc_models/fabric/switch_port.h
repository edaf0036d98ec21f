// An output port of a switch: two queues by class, control and trimmed packets strictly first, over one byte limit.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/box.h"
#include "engine/occupancy.h"
#include "engine/packet_pool.h"
#include "engine/serial_line.h"
#include "fabric/link.h"
#include "parameters/config.h"

namespace mrc {

class SwitchPort : public Box {
 public:
  SwitchPort(const sc_core::sc_module_name& name, WheelModule& owner, const ScenarioConfig& scenario, double gbps,
             Link& out, PacketPool& packets, std::string label);

  /// Queues a copy that may start at `eligible` and whose last bit is in the switch at `last_bit`; drops it when full.
  void enqueue(TimePs now, const Packet& packet, TimePs eligible, TimePs last_bit);
  void step(TimePs now) override;

  std::uint64_t dropped() const { return dropped_; }
  const Occupancy& queue() const { return occupancy_; }

 private:
  struct Entry {
    Packet* packet;
    TimePs eligible;
    TimePs last_bit;
    std::uint32_t bytes;
  };
  /// Ring of entries that grows to the largest number ever queued.
  struct Queue {
    std::vector<Entry> ring = std::vector<Entry>(16);
    std::uint64_t head = 0;
    std::uint64_t tail = 0;
    bool empty() const { return head == tail; }
    Entry& front() { return ring[head & (ring.size() - 1)]; }
    void push(const Entry& entry);
  };
  void send(TimePs now, Queue& queue);

  Link& out_;
  PacketPool& packets_;
  Encapsulation encapsulation_;
  std::uint32_t trim_bytes_;
  SerialLine line_;
  Queue control_;
  Queue data_;
  Occupancy occupancy_;
  std::uint64_t dropped_ = 0;
};

}  // namespace mrc
