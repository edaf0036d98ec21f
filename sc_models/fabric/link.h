// One direction of a cable. The only thing that two wheels share: the sender appends values that are due no earlier
// than its own present plus the cable's delay, the receiver takes them when they are due.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/box.h"
#include "mrc/packet.h"

namespace mrc {

/// A packet on its way, with the times at which its first and last bit reach the far end.
struct Flight {
  TimePs first_bit = 0;
  TimePs last_bit = 0;
  Packet packet;
};

class Link {
 public:
  /// When the receiver may look: a switch that cuts through at the first bit, a NIC at the last.
  enum class DueAt : std::uint8_t { first_bit, last_bit };

  Link(TimePs delay_ps, DueAt due_at) : delay_ps_(delay_ps), due_at_(due_at), ring_(kFirstFlights) {}

  /// `latency_ps`: what the receiver's MAC and FEC, or a switch, take before it acts; a packet in them is still on its
  /// way.
  void set_receiver(Box* receiver, TimePs latency_ps = 0) {
    receiver_ = receiver;
    receiver_latency_ps_ = latency_ps;
  }
  /// From a bit's start until the receiver can look at it.
  TimePs latency_ps() const { return delay_ps_ + receiver_latency_ps_; }

  /// First and last bit leave the sender at these times; packets are sent in order.
  void send(TimePs first_bit_out, TimePs last_bit_out, const Packet& packet) {
    if (tail_ - head_ == ring_.size()) grow();
    Flight& flight = ring_[tail_ & (ring_.size() - 1)];
    flight = Flight{first_bit_out + delay_ps_, last_bit_out + delay_ps_, packet};
    const bool was_empty = head_ == tail_;
    ++tail_;
    if (was_empty) receiver_->wake_at(due(flight));
  }
  bool empty() const { return head_ == tail_; }
  /// Packets on their way.
  std::uint64_t size() const { return tail_ - head_; }
  /// Time at which the oldest flight may be looked at, kNever without one.
  TimePs next_due() const { return empty() ? kNever : due(ring_[head_ & (ring_.size() - 1)]); }
  /// Precondition: not empty.
  const Flight& front() const { return ring_[head_ & (ring_.size() - 1)]; }
  void pop() { ++head_; }

 private:
  TimePs due(const Flight& flight) const {
    return (due_at_ == DueAt::first_bit ? flight.first_bit : flight.last_bit) + receiver_latency_ps_;
  }
  void grow() {
    std::vector<Flight> larger(ring_.size() * 2);
    for (std::uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
    ring_.swap(larger);
  }

  /// A short cable holds a packet or two: the ring grows where it is longer.
  static constexpr std::size_t kFirstFlights = 2;

  TimePs delay_ps_;
  TimePs receiver_latency_ps_ = 0;
  DueAt due_at_;
  std::vector<Flight> ring_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  Box* receiver_ = nullptr;
};

/// The cables of one port, as the NIC sees them.
struct PortLinks {
  Link* transmit = nullptr;
  Link* receive = nullptr;
};

}  // namespace mrc
