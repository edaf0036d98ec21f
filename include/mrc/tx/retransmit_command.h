// The records of QPs by commands, as hardware takes them: what is asked of the records of a QP, and the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mrc/control/congestion.h"
#include "mrc/types.h"

namespace mrc {

enum class RetransmitOp : std::uint8_t {
  open,     ///< a QP begins with `psn`, without packets
  append,   ///< a new packet is taken for sending
  sent,     ///< it has left
  ack,      ///< cumulative and selective acknowledgement
  nack,     ///< one packet is lost
  gap,      ///< lost is what later packets have overtaken
  timeout,  ///< lost is what was sent too long ago
  take      ///< the oldest lost packet is taken for retransmission
};

struct RetransmitCommand {
  RetransmitOp op = RetransmitOp::open;
  std::uint32_t qp = 0;         ///< index
  Psn psn = 0;                  ///< open: first; sent, nack: of the packet; ack: last that is cumulatively acknowledged
  Psn base = 0;                 ///< ack: PSN of bit 0
  std::uint64_t bitmap = 0;     ///< ack
  TimePs now = 0;               ///< sent, timeout
  TimePs limit = 0;             ///< timeout: age from which a packet is lost
  std::uint32_t threshold = 0;  ///< gap: packets that were sent later and acknowledged
  EvIndex ev = kNoEv;           ///< sent
  CutCause cause = CutCause::none;  ///< nack, gap, timeout
  std::uint16_t message = 0;        ///< append
  std::uint32_t offset = 0;         ///< append
  std::uint16_t bytes = 0;          ///< append: nominal size
};

/// A packet that a command acknowledged or declared lost.
struct RetransmitEvent {
  Psn psn = 0;
  std::uint16_t bytes = 0;
  EvIndex ev = 0;
  bool lost = false;      ///< declared lost; else acknowledged
  bool was_lost = false;  ///< acknowledged although it had been declared lost
};

/// The command's result, and the QP's state after it.
struct RetransmitReply {
  bool hit = false;                 ///< open, append: done; sent, nack, take: the packet was there in the state for it
  bool advanced = false;            ///< ack: the old end has moved
  std::uint32_t count = 0;          ///< ack: acknowledged; gap, timeout: declared lost
  Psn psn = 0;                      ///< append, take
  std::uint16_t message = 0;        ///< take
  std::uint32_t offset = 0;         ///< take
  std::uint16_t bytes = 0;          ///< take
  CutCause cause = CutCause::none;  ///< take
  Psn unacked = 0;
  Psn next = 0;
  bool has_lost = false;
  Psn oldest_lost = 0;       ///< with has_lost
  bool outstanding = false;  ///< a packet is outstanding:
  Psn oldest_psn = 0;        ///< the one that was sent longest ago
  TimePs oldest_sent = 0;
  std::uint32_t free = 0;  ///< records
  std::vector<RetransmitEvent> events;

  /// Calls visit(name, value) for every field but the events, in the order in which a difference is reported.
  template <typename Visit>
  void fields(const Visit& visit) const {
    visit("hit", static_cast<std::uint64_t>(hit));
    visit("count", static_cast<std::uint64_t>(count));
    visit("advanced", static_cast<std::uint64_t>(advanced));
    visit("psn", static_cast<std::uint64_t>(psn));
    visit("message", static_cast<std::uint64_t>(message));
    visit("offset", static_cast<std::uint64_t>(offset));
    visit("bytes", static_cast<std::uint64_t>(bytes));
    visit("cause", static_cast<std::uint64_t>(cause));
    visit("unacked", static_cast<std::uint64_t>(unacked));
    visit("next", static_cast<std::uint64_t>(next));
    visit("has_lost", static_cast<std::uint64_t>(has_lost));
    visit("oldest_lost", static_cast<std::uint64_t>(oldest_lost));
    visit("outstanding", static_cast<std::uint64_t>(outstanding));
    visit("oldest_psn", static_cast<std::uint64_t>(oldest_psn));
    visit("oldest_sent", static_cast<std::uint64_t>(oldest_sent));
    visit("free", static_cast<std::uint64_t>(free));
  }
};

}  // namespace mrc
