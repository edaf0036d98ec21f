// When a SACK is due (the five triggers of section 7.5.2 of the specification) and which 64 PSNs it reports.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mrc/packet.h"
#include "mrc/protocol_config.h"
#include "mrc/types.h"

namespace mrc {

/// The fields of the triggering packet that a SACK reflects.
struct SackTrigger {
  Psn psn = 0;
  Ev ev = 0;
  std::uint16_t tx_timestamp = 0;
  std::uint16_t probe_id = 0;
  bool ce = false;
  bool ack_request = false;
  bool probe = false;
  PathMark mark = PathMark::none;
};

/// Events that may trigger a SACK: a data packet that was accepted, a duplicate, a reliability probe.
enum class SackEvent : std::uint8_t { data = 1, duplicate = 2, probe = 3 };

/// Why a SACK is due, as bits: all triggers that apply.
inline constexpr std::uint8_t kSackByBytes = 1;
inline constexpr std::uint8_t kSackByAckRequest = 2;
inline constexpr std::uint8_t kSackByCe = 4;
inline constexpr std::uint8_t kSackByRetransmission = 8;
inline constexpr std::uint8_t kSackAskedFor = 16;  ///< by a probe or a duplicate

class SackTriggers {
 public:
  /// `counter_bytes`: of a QP that goes on.
  explicit SackTriggers(const ProtocolConfig& config, std::uint32_t counter_bytes = 0)
      : config_(&config), counter_(counter_bytes) {}

  /// Counts the event and returns the triggers of a SACK, 0 for none: byte counter strictly above the threshold,
  /// AckReq, CE, rtx; probes and duplicates always. sent() follows if a SACK is sent.
  std::uint8_t causes(SackEvent event, const Packet& packet) {
    if (event != SackEvent::data) return kSackAskedFor;
    counter_ += std::max(packet.payload_bytes, config_->sack_min_add_bytes);
    std::uint8_t causes = counter_ > config_->sack_threshold_bytes ? kSackByBytes : 0;
    if (packet.ack_request) causes |= kSackByAckRequest;
    if (packet.ecn == Ecn::ce) causes |= kSackByCe;
    if (packet.retransmission) causes |= kSackByRetransmission;
    return causes;
  }
  /// The SACK is not sent after all: restores the counter.
  void not_sent(std::uint32_t counter_bytes) { counter_ = counter_bytes; }
  /// Any SACK, including one for a duplicate or a probe, clears the counter.
  void sent() { counter_ = 0; }
  std::uint32_t counter_bytes() const { return counter_; }

 private:
  const ProtocolConfig* config_;
  std::uint32_t counter_;
};

/// First PSN of the bitmap of a SACK: directly above the edge while everything fits into 64 bits, otherwise such that
/// the newest PSN fits; for a CE-marked or AckReq packet above the edge, that packet itself (UEC 1.0 rule; the other is
/// the common reading of the MRC specification's base rule).
constexpr Psn sack_base(Psn cack, Psn highest, const SackTrigger& trigger) {
  const Psn first = psn_add(cack, 1);
  const bool fits = psn_distance(highest, first) < 64;
  if (fits) return first;
  // A probe has no PSN of its own.
  const bool own_base = !trigger.probe && (trigger.ce || trigger.ack_request) && psn_distance(trigger.psn, first) >= 0;
  return own_base ? trigger.psn : psn_add(highest, -63);
}

}  // namespace mrc
