#include "fabric/switch_port.h"

#include <algorithm>

namespace mrc {

SwitchPort::SwitchPort(const sc_core::sc_module_name& name, WheelModule& owner, const ScenarioConfig& scenario,
                       double gbps, Link& out, PacketPool& packets, std::string label)
    : Box(name, owner),
      out_(out),
      packets_(packets),
      encapsulation_(scenario.protocol.encapsulation),
      trim_bytes_(scenario.fabric.trim_bytes),
      line_(gbps),
      occupancy_(std::move(label), "bytes", scenario.fabric.queue_bytes) {}

void SwitchPort::Queue::push(const Entry& entry) {
  if (tail - head == ring.size()) {
    std::vector<Entry> larger(ring.size() * 2);
    for (std::uint64_t i = head; i != tail; ++i) larger[i & (larger.size() - 1)] = ring[i & (ring.size() - 1)];
    ring.swap(larger);
  }
  ring[tail++ & (ring.size() - 1)] = entry;
}

void SwitchPort::enqueue(TimePs now, const Packet& packet, TimePs eligible, TimePs last_bit) {
  const std::uint32_t bytes = link_bytes(packet, encapsulation_, trim_bytes_);
  if (!occupancy_.fits(bytes)) {
    occupancy_.refuse(now);
    ++dropped_;
    return;
  }
  occupancy_.add(now, bytes);
  Packet* copy = packets_.acquire();
  *copy = packet;
  const bool first = packet.role == TrafficRole::control || packet.damage == Damage::trimmed;
  (first ? control_ : data_).push({copy, eligible, last_bit, bytes});
  wake_at(std::max(eligible, line_.free_at()));
}

void SwitchPort::send(TimePs now, Queue& queue) {
  const Entry entry = queue.front();
  ++queue.head;
  occupancy_.remove(now, entry.bytes);
  const TimePs last_bit = std::max(line_.occupy(now, entry.bytes), entry.last_bit);
  out_.send(now, last_bit, *entry.packet);
  packets_.release(entry.packet);
}

void SwitchPort::step(TimePs now) {
  if (line_.free_at() <= now) {
    if (!control_.empty() && control_.front().eligible <= now) {
      send(now, control_);
    } else if (!data_.empty() && data_.front().eligible <= now) {
      send(now, data_);
    }
  }
  TimePs next = kNever;
  if (!control_.empty()) next = control_.front().eligible;
  if (!data_.empty()) next = std::min(next, data_.front().eligible);
  if (next != kNever) wake_at(std::max({next, line_.free_at(), now}));
}

}  // namespace mrc
