// Interface that replaces the SACK triggers, one event after the other. The Verilated RTL implements it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/pins_engine.h"
#include "mrc/rx/ack_coalescer.h"

namespace mrc {

/// Something that may make a SACK owed, with what the SACK is to reflect.
struct SackQuestion {
  SackEvent event = SackEvent::data;
  std::uint32_t payload_bytes = 0;
  bool retransmission = false;
  SackTrigger trigger;  ///< `mark` is not looked at
};

struct SackOwed {
  std::uint8_t causes = 0;          ///< kSackByBytes …
  std::uint32_t counter_bytes = 0;  ///< that the SACK sets to zero
  SackTrigger trigger;
};

struct AckReply {
  std::optional<SackOwed> sack;
  std::uint32_t latency_cycles = 0;   ///< from taking the event to the SACK; 0 without one
  std::uint32_t occupied_cycles = 0;  ///< until the next event can be taken
};

/// By pins: an event. It is answered by a SACK, or not at all.
struct SackItem {
  std::uint32_t qp = 0;
  SackQuestion question;
};

class AckCoalescerEngine : public PinsEngine<SackItem, SackOwed> {
 public:
  /// The byte counter of a QP is zero before its first.
  virtual AckReply event(std::uint32_t qp, const SackQuestion& question) = 0;
  /// The byte counter of a QP that was connected anew is zero again.
  virtual void renew(std::uint32_t qp) = 0;
  virtual std::uint64_t cycles() const = 0;
};

}  // namespace mrc
