// The receiving half of a QP in its simplest form: PSNs numbered from 0 without a wrap, one flag per packet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "mrc/rx/responder.h"
#include "violation.h"

namespace mrc::world {

class ReceiverOracle {
 public:
  ReceiverOracle(const ProtocolConfig& config, Psn first_psn)
      : config_(&config),
        first_psn_(first_psn),
        window_(config.mpr_units * kMprUnitPsns),
        granted_(window_),
        window_end_(window_) {}

  /// Checks the outcome and the answers for an undamaged data packet and takes it in.
  void on_data(std::uint64_t number, const Packet& packet, const RxResources& resources, const RxDecision& decision,
               bool forbidden, bool pool_full) {
    if (failed_) return check_refused(packet, decision);
    const PsnOutcome outcome = expected_outcome(number, decision, pool_full);
    require(decision.outcome == outcome, "PSN {}: outcome {} instead of {}", packet.psn,
            static_cast<int>(decision.outcome), static_cast<int>(outcome));
    NackReason nack = NackReason::none;
    bool sack = false;
    bool place = false;
    if (outcome == PsnOutcome::duplicate_below || outcome == PsnOutcome::duplicate_above) {
      sack = true;
    } else if (outcome == PsnOutcome::no_bitmap) {
      nack = NackReason::no_bitmap;
    } else if (outcome == PsnOutcome::out_of_window) {
      nack = config_->out_of_window == OutOfWindow::nack ? NackReason::psn_oor_window : NackReason::none;
    } else if (forbidden) {
      nack = NackReason::unexp_event;
      failed_ = true;
    } else if (!resources.packet_buffer_available) {
      nack = NackReason::no_pkt_buffer;
    } else if (!resources.other_resource_available) {
      nack = NackReason::no_resource;
    } else {
      place = true;
      sack = count_toward_sack(packet);
    }
    require(decision.place == place, "PSN {}: placed: {}, must be {}", packet.psn, decision.place, place);
    require(decision.nack == nack, "PSN {}: NACK {} instead of {}", packet.psn, static_cast<int>(decision.nack),
            static_cast<int>(nack));
    require(decision.sack == sack, "PSN {}: SACK: {}, must be {}", packet.psn, decision.sack, sack);
    require(decision.repeat_transport_ack == (outcome == PsnOutcome::duplicate_below),
            "PSN {}: transport ACK repeated: {}", packet.psn, decision.repeat_transport_ack);
    if (sack) sack_counter_ = 0;
    const std::uint32_t closed = place ? take_in(number, packet) : 0;
    require(decision.closes_messages == closed, "PSN {} closes {} messages instead of {}", packet.psn,
            decision.closes_messages, closed);
  }

  void on_trimmed(std::uint64_t number, const Packet& packet, const RxDecision& decision) {
    if (failed_) return check_refused(packet, decision);
    const bool missing = number >= expected_ && number < expected_ + window_ && !received(number);
    const bool outside = number >= expected_ + window_;
    const NackReason reason = packet.trimmed_at_last_hop ? NackReason::trimmed_lasthop : NackReason::trimmed;
    require(decision.nack == (missing ? reason : NackReason::none), "trimmed PSN {}: NACK {}", packet.psn,
            static_cast<int>(decision.nack));
    require(decision.sack == (!missing && !outside), "trimmed PSN {}: SACK: {}", packet.psn, decision.sack);
    require(decision.repeat_transport_ack == (number < expected_), "trimmed PSN {}: transport ACK repeated: {}",
            packet.psn, decision.repeat_transport_ack);
    require(!decision.place && decision.closes_messages == 0, "trimmed PSN {} is placed", packet.psn);
    if (decision.sack) sack_counter_ = 0;
  }
  void on_probe() { sack_counter_ = 0; }

  /// Checks every field of a SACK that tells what has arrived; returns the number of its bitmap's first PSN.
  std::uint64_t check_sack(const SackFields& sack, const SackTrigger& trigger, std::uint64_t trigger_number) const {
    require(sack.cack_psn == psn_of(expected_ - 1), "SACK says cack {} instead of {}", sack.cack_psn,
            psn_of(expected_ - 1));
    const std::uint64_t base = base_of(trigger, trigger_number);
    require(sack.sack_offset == static_cast<std::int64_t>(base - expected_ + 1),
            "SACK of cack {}: offset {}, must be {}", sack.cack_psn, sack.sack_offset, base - expected_ + 1);
    for (std::uint64_t i = 0; i < 64; ++i) {
      require((sack.sack_bitmap >> i & 1) == (received(base + i) ? 1U : 0U), "SACK of cack {}: bit {} is {}",
              sack.cack_psn, i, sack.sack_bitmap >> i & 1);
    }
    require(sack.ooo_count == out_of_order_, "SACK says {} packets out of order instead of {}", sack.ooo_count,
            out_of_order_);
    require(sack.rcvd_bytes == (received_units() & 0xFF'FFFF), "SACK says {} units received instead of {}",
            sack.rcvd_bytes, received_units() & 0xFF'FFFF);
    require(sack.entropy == trigger.ev, "SACK echoes EV {:#x} instead of {:#x}", sack.entropy, trigger.ev);
    require(sack.mark == (trigger.ce ? PathMark::skip_once : PathMark::none), "SACK marks the path {}",
            static_cast<int>(sack.mark));
    require(sack.probe == trigger.probe, "SACK answers a probe: {}", sack.probe);
    const auto acked = trigger.probe ? static_cast<std::int64_t>(trigger.probe_id)
                                     : static_cast<std::int64_t>(trigger_number - expected_ + 1);
    require(sack.ack_psn_offset == static_cast<std::int16_t>(acked), "SACK of cack {}: acknowledges offset {}, not {}",
            sack.cack_psn, sack.ack_psn_offset, acked);
    return base;
  }

  /// Checks the MPR of a SACK against the banks that the pool has left, and takes it as promised.
  void check_grant(std::uint32_t units, std::uint32_t banks_left) {
    if (!config_->dynamic_mpr) return require(units == 0, "SACK grants {} units of MPR", units);
    // Whether the bank of the edge is allocated is up to the tracker.
    const std::uint32_t least = std::clamp(banks_left + banks(), 1U, config_->mpr_units);
    const std::uint32_t most = std::clamp(banks_left + banks() + 1, 1U, config_->mpr_units);
    require(units >= least && units <= most, "SACK grants {} units of MPR, {} to {} are left", units, least, most);
    granted_ = units * 128;
    follow_grant();
  }
  /// A write that was not allowed has ended the QP.
  bool failed() const { return failed_; }
  std::uint64_t expected() const { return expected_; }
  std::uint64_t window() const { return window_; }
  std::uint64_t received_units() const { return (received_bytes_ + 255) / 256; }
  std::uint32_t out_of_order() const { return out_of_order_; }
  /// Banks of 128 PSNs in which a packet above the edge is held.
  std::uint32_t banks() const {
    std::uint32_t n = 0;
    Psn last = ~0U;
    for (std::uint64_t number = expected_; number < above_.size() && out_of_order_ > 0; ++number) {
      const Psn bank = psn_of(number) / 128;
      if (!received(number) || bank == last) continue;
      last = bank;
      ++n;
    }
    return n;
  }

 private:
  static void check_refused(const Packet& packet, const RxDecision& decision) {
    require(decision.nack == NackReason::unexp_event, "PSN {} to a QP in error: NACK {}", packet.psn,
            static_cast<int>(decision.nack));
    require(!decision.place && !decision.sack && !decision.repeat_transport_ack && decision.closes_messages == 0,
            "PSN {} is taken in by a QP in error", packet.psn);
  }
  struct Held {
    bool here = false;
    bool ends = false;
  };

  Psn psn_of(std::uint64_t number) const { return static_cast<Psn>((first_psn_ + number) % (1U << 24)); }
  bool received(std::uint64_t number) const {
    return number >= expected_ && number < above_.size() && above_[number].here;
  }
  PsnOutcome expected_outcome(std::uint64_t number, const RxDecision& decision, bool pool_full) const {
    if (number < expected_) return PsnOutcome::duplicate_below;
    if (number >= expected_ + window_) return PsnOutcome::out_of_window;
    if (received(number)) return PsnOutcome::duplicate_above;
    // Whether the pool's last bank is already ours is the tracker's business; that it is full is not.
    const bool refused = decision.outcome == PsnOutcome::no_bitmap && pool_full && number != expected_;
    return refused ? PsnOutcome::no_bitmap : PsnOutcome::accept;
  }
  bool count_toward_sack(const Packet& packet) {
    sack_counter_ += std::max(packet.payload_bytes, config_->sack_min_add_bytes);
    return sack_counter_ > config_->sack_threshold_bytes || packet.ack_request || packet.ecn == Ecn::ce ||
           packet.retransmission;
  }
  std::uint32_t take_in(std::uint64_t number, const Packet& packet) {
    const std::uint32_t unpadded = packet.payload_bytes + (has_immediate(packet.opcode) ? 4 : 0);
    received_bytes_ += 40 + 8 + 12 + 4 + 4 + 16 + (unpadded + 3) / 4 * 4 + 4;
    if (above_.size() <= number) above_.resize(number + 1);
    above_[number] = {true, ends_message(packet.opcode)};
    highest_ = std::max(highest_, number);
    ++out_of_order_;
    std::uint32_t closed = 0;
    for (; received(expected_); ++expected_, --out_of_order_) closed += above_[expected_].ends ? 1 : 0;
    if (config_->dynamic_mpr) follow_grant();
    return closed;
  }
  /// The window's end never moves back.
  void follow_grant() {
    window_end_ = std::max(window_end_, expected_ + granted_);
    window_ = window_end_ - expected_;
  }
  std::uint64_t base_of(const SackTrigger& trigger, std::uint64_t trigger_number) const {
    if (highest_ < expected_ + 64) return expected_;
    const bool own = !trigger.probe && (trigger.ce || trigger.ack_request) && trigger_number >= expected_;
    return own ? trigger_number : highest_ - 63;
  }

  const ProtocolConfig* config_;
  Psn first_psn_;
  std::uint64_t window_;
  std::uint64_t granted_;
  std::uint64_t window_end_;
  std::uint64_t expected_ = 0;
  std::uint64_t highest_ = 0;
  std::uint64_t received_bytes_ = 0;
  std::uint32_t out_of_order_ = 0;
  std::uint32_t sack_counter_ = 0;
  bool failed_ = false;
  std::vector<Held> above_;
};

}  // namespace mrc::world
