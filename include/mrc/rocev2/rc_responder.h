// The receiving half of a RoCEv2 RC queue pair: only the expected PSN is accepted, the first packet after a gap is
// answered by a NAK, duplicates by an ACK (IBTA, reliable connection responder). Where switches spray packets, NICs
// also place packets that are not too far ahead; a gap is a loss when one comes that is.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mrc/packet.h"
#include "mrc/ring.h"
#include "mrc/rocev2/rc_config.h"
#include "mrc/rx/protection.h"
#include "mrc/rx/responder.h"
#include "mrc/types.h"

namespace mrc {

/// Actions for a packet: write it, then answer with `answer` in a packet of PSN `answer_psn`.
struct RcRxDecision {
  bool place = false;
  bool respond = false;
  std::uint32_t closes_messages = 0;
  Psn answer_psn = 0;           ///< ACK: the last PSN accepted; NAK: the expected one
  TransportAckFields answer{};  ///< AETH, with respond
};

struct RcResponderCounters {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t out_of_sequence = 0;  ///< dropped after a gap
  std::uint64_t naks = 0;
  std::uint64_t no_buffer = 0;  ///< dropped without room: go-back-N recovers it like a loss
  std::uint64_t protection_faults = 0;
};

class RcResponder {
 public:
  /// `protection` belongs to the NIC and outlives the responder.
  RcResponder(const RcConfig& config, Psn first_psn, const ProtectionTable& protection, ProtectionDomain domain)
      : config_(&config), protection_(&protection), domain_(domain), expected_(first_psn) {
    if (config.reorder_packets > 0) early_.resize(std::bit_ceil(config.reorder_packets + 1));
  }

  RcRxDecision accept(const Packet& packet, const RxResources& resources, TimePs) {
    if (in_error_) return {};
    const std::int32_t ahead = psn_distance(packet.psn, expected_);
    if (ahead < 0) return repeat_ack();
    if (ahead > static_cast<std::int32_t>(config_->reorder_packets)) return out_of_sequence();
    if (ahead > 0 && early_[slot_of(packet.psn)].here) return duplicate_ahead();
    if (!resources.packet_buffer_available || !resources.other_resource_available) {
      ++counters_.no_buffer;
      return {};
    }
    if (protection_->check(packet, domain_) != ProtectionFault::none) return refuse();
    return ahead > 0 ? take_early(packet) : take_in(packet);
  }

  /// Next completed WRITE_IMM in the order of sending; false without one.
  bool pop_receive(ReceiveCompletion& completion) {
    if (immediates_.empty()) return false;
    completion = immediates_.front();
    immediates_.pop();
    return true;
  }

  Psn expected_psn() const { return expected_; }
  bool in_error() const { return in_error_; }
  const RcResponderCounters& counters() const { return counters_; }

 private:
  /// What is left to do with a packet that was placed before its turn.
  struct Early {
    bool here = false;
    Opcode opcode = Opcode::write_middle;
    std::uint32_t immediate = 0;
    std::uint16_t msn = 0;
    bool ack_request = false;
  };

  std::size_t slot_of(Psn psn) const { return psn & (early_.size() - 1); }
  void pass(const Early& packet, RcRxDecision& decision) {
    expected_ = psn_add(expected_, 1);
    if (ends_message(packet.opcode)) {
      ++decision.closes_messages;
      ++completed_;
    }
    if (has_immediate(packet.opcode)) immediates_.push({packet.immediate, packet.msn});
  }
  RcRxDecision take_early(const Packet& packet) {
    ++counters_.accepted;
    early_[slot_of(packet.psn)] = {true, packet.opcode, packet.immediate, packet.msn, packet.ack_request};
    return {.place = true};
  }
  RcRxDecision duplicate_ahead() {
    ++counters_.duplicates;
    return {};
  }
  RcRxDecision take_in(const Packet& packet) {
    ++counters_.accepted;
    nak_sent_ = false;
    RcRxDecision decision{.place = true};
    bool ack_request = packet.ack_request;
    pass({true, packet.opcode, packet.immediate, packet.msn}, decision);
    while (!early_.empty() && early_[slot_of(expected_)].here) {
      Early& next = early_[slot_of(expected_)];
      next.here = false;
      ack_request |= next.ack_request;
      pass(next, decision);
      ++unacknowledged_;
    }
    if (++unacknowledged_ >= config_->ack_every_packets || ack_request) acknowledge(decision);
    return decision;
  }
  RcRxDecision repeat_ack() {
    ++counters_.duplicates;
    RcRxDecision decision;
    acknowledge(decision);
    return decision;
  }
  RcRxDecision out_of_sequence() {
    ++counters_.out_of_sequence;
    if (nak_sent_) return {};
    nak_sent_ = true;
    return nak(kRcNakSequenceError);
  }
  /// A protection fault ends the queue pair (IBTA: remote access error).
  RcRxDecision refuse() {
    ++counters_.protection_faults;
    in_error_ = true;
    return nak(kRcNakRemoteAccess);
  }

  void acknowledge(RcRxDecision& decision) {
    unacknowledged_ = 0;
    decision.respond = true;
    decision.answer_psn = psn_add(expected_, -1);
    decision.answer = {.msn = completed_ & 0xFF'FFFF, .syndrome = kRcAck};
  }
  /// A NAK acknowledges the PSNs before its own.
  RcRxDecision nak(std::uint8_t syndrome) {
    ++counters_.naks;
    unacknowledged_ = 0;
    RcRxDecision decision;
    decision.respond = true;
    decision.answer_psn = expected_;
    decision.answer = {.msn = completed_ & 0xFF'FFFF, .syndrome = syndrome};
    return decision;
  }

  const RcConfig* config_;
  const ProtectionTable* protection_;
  ProtectionDomain domain_;
  Psn expected_;
  std::uint32_t completed_ = 0;
  std::uint32_t unacknowledged_ = 0;
  bool nak_sent_ = false;
  bool in_error_ = false;
  std::vector<Early> early_;  ///< by PSN; empty: none is taken early
  Ring<ReceiveCompletion> immediates_;
  RcResponderCounters counters_;
};

}  // namespace mrc
