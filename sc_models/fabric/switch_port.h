// An output port: queues by class behind one line, and what it counted. Ports of light endpoints have the same
// structure; their data is drawn when the line is free instead of being queued.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/class_turns.h"
#include "engine/serial_line.h"
#include "fabric/transit.h"
#include "mrc/types.h"
#include "parameters/queue_law.h"

namespace mrc {

/// Of a port where all goes well.
struct PortTraffic {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< sent, preamble and gap included
  std::uint64_t most_queued_bytes = 0;
};
struct PortCounters : PortTraffic {
  std::uint64_t dropped = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t ce_marked = 0;
  std::uint64_t pauses = 0;  ///< PFC: that this port got
  TimePs paused_ps = 0;
};

/// The ends of a link. An arrival looks at nothing else of the port that it comes from: eight links in a cache line.
struct LinkEnds {
  std::uint32_t to : 28 = 0;  ///< switch, or the NIC where `to_nic` is set
  bool to_nic : 1 = false;
  bool faulty : 1 = false;    ///< down, or something of a timeline lies ahead
  bool impaired : 1 = false;  ///< random damage at its far end
  bool down : 1 = false;
  std::uint32_t from : 28 = 0;  ///< switch, or the NIC where `from_nic` is set
  bool from_nic : 1 = false;
};
static_assert(sizeof(LinkEnds) == 8);

/// Packets in the order of their service.
struct PacketQueue {
  std::uint32_t head = TransitPool::kNone;
  std::uint32_t tail = TransitPool::kNone;

  bool empty() const { return head == TransitPool::kNone; }
};

/// Data of several traffic classes at one port: a queue each, that of class 0 being the port's own.
struct PortClasses {
  std::array<PacketQueue, kMostTrafficClasses - 1> above;  ///< of class 1, 2 …
  std::array<std::uint64_t, kMostTrafficClasses> bytes{};  ///< that wait, retransmissions included
  ClassCredit credit;
};

/// What only ports have that were congested, paused, serve by weights, or have traffic classes.
struct CongestedPort {
  std::uint64_t dropped = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t ce_marked = 0;
  std::uint64_t pauses = 0;
  TimePs paused_ps = 0;
  TimePs paused_since = 0;
  std::uint64_t at_far_end_bytes = 0;                  ///< data that came over it and waits there, with PFC
  std::array<std::int32_t, kFabricClasses> deficit{};  ///< of weighted service
  PortClasses classes;
};

/// A packet touches two cache lines of its output port, beside each other, whether it waits or not. A port that no
/// packet has visited is zero bytes.
struct alignas(128) SwitchPort {
  using Queue = PacketQueue;

  explicit SwitchPort(double gbps) : line(gbps) {}

  bool empty() const { return queued_bytes == 0; }

  TimePs hop_ps = 0;                       ///< a bit leaves here until the far end can act on it
  TimePs last_arrival = 0;                 ///< of what it sent last, at the far end
  std::uint64_t queued_bytes = 0;          ///< that wait; what is on the line does not count
  std::uint32_t data_bytes = 0;            ///< of them without the control queue
  std::uint32_t retransmission_bytes = 0;  ///< of these
  std::array<Queue, kFabricClasses> queues;
  std::uint32_t from = 0;  ///< switch or NIC
  std::uint8_t law = 0;    ///< 0: not visited yet
  bool armed : 1 = false;  ///< a service event is on its way
  bool late : 1 = false;   ///< its switch has its turn: see Network::catch_up()
  bool leaves = false;     ///< what it sends leaves the network: over a Link, or to another rank
  bool paused = false;     ///< its data waits for the far end (PFC)

  alignas(64) SerialLine line;
  std::uint8_t plane = 0;
  std::uint8_t turn = 0;        ///< of weighted service
  bool pausing = false;         ///< the switch at its far end has asked for a pause
  std::uint32_t congested = 0;  ///< number of its CongestedPort, 0 without one
  PortTraffic counters;
};
static_assert(offsetof(SwitchPort, line) == 64 && sizeof(SwitchPort) == 128);

}  // namespace mrc
