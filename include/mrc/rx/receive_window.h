// Decisions of the receive window of a QP: the outcome of each packet, the granted window, and the fields of a SACK.
// The part of the responder that rtl/psn_tracker implements in hardware.
#pragma once

#include <algorithm>
#include <cstdint>

#include "mrc/packet.h"
#include "mrc/protocol_config.h"
#include "mrc/rx/ack_coalescer.h"
#include "mrc/rx/psn_tracker.h"
#include "mrc/types.h"

namespace mrc {

/// Conditions besides the PSN for a complete packet.
struct RxConditions {
  bool allowed = true;         ///< by its memory region
  bool packet_buffer = true;   ///< the NIC has room for its payload
  bool other_resource = true;  ///< and all other resources that it needs
  bool receive = true;         ///< it carries no immediate, or one that may be delivered
};

/// Outcome of a packet. `nack` with an outcome of accept refuses a packet that the window would accept.
struct RxVerdict {
  PsnOutcome outcome = PsnOutcome::accept;
  NackReason nack = NackReason::none;
  bool place = false;       ///< accepted: its bit is set and its payload written
  bool duplicate = false;   ///< a SACK is due for it
  bool repeat_ack = false;  ///< and the transport ACK is repeated

  friend bool operator==(const RxVerdict&, const RxVerdict&) = default;
};

class ReceiveWindow {
 public:
  /// Of `config.mpr_units` units of 128 PSNs. `config` and `bitmaps` outlive the window.
  ReceiveWindow(const ProtocolConfig& config, Psn first_psn, BitmapPool& bitmaps)
      : config_(&config),
        tracker_(first_psn, config.mpr_units * kMprUnitPsns, bitmaps),
        granted_units_(config.mpr_units),
        window_end_(psn_add(first_psn, granted_units_ * kMprUnitPsns)) {}

  /// A complete packet. `conditions()` is called only if needed.
  template <typename Conditions>
  RxVerdict decide(Psn psn, const Conditions& conditions) const {
    const PsnOutcome outcome = tracker_.classify(psn);
    switch (outcome) {
      case PsnOutcome::accept:
        return decide_accepted(conditions());
      case PsnOutcome::no_bitmap:
        return {outcome, NackReason::no_bitmap};
      case PsnOutcome::out_of_window:
        return {outcome, config_->out_of_window == OutOfWindow::nack ? NackReason::psn_oor_window : NackReason::none};
      default:
        return decide_duplicate(outcome);
    }
  }
  /// A trimmed packet: NACK while its PSN is missing, otherwise the same as a duplicate.
  RxVerdict decide_trimmed(Psn psn, bool at_last_hop) const {
    const PsnOutcome outcome = tracker_.classify(psn);
    const bool missing = outcome == PsnOutcome::accept || outcome == PsnOutcome::no_bitmap;
    if (missing) return {outcome, at_last_hop ? NackReason::trimmed_lasthop : NackReason::trimmed};
    return decide_duplicate(outcome);
  }

  /// Accepts a packet that decide() placed; one placed against its decision leaves the window invalid. Returns the
  /// number of messages that the edge has closed.
  std::uint32_t place(Psn psn, bool ends_message) {
    const std::uint32_t closed = tracker_.accept(psn, ends_message);
    if (config_->dynamic_mpr) follow_edge();
    return closed;
  }

  /// The fields of a SACK that report arrivals, and with dynamic MPR the grant, which the window then applies.
  void fill(const SackTrigger& trigger, SackFields& sack) {
    if (config_->dynamic_mpr) grant();
    sack.cack_psn = tracker_.cack_psn();
    const Psn base = sack_base(sack.cack_psn, tracker_.highest_psn(), trigger);
    sack.sack_offset = static_cast<std::int16_t>(psn_distance(base, sack.cack_psn));
    sack.sack_bitmap = tracker_.bitmap_from(base);
    sack.ack_psn_offset =
        static_cast<std::int16_t>(trigger.probe ? trigger.probe_id : psn_distance(trigger.psn, sack.cack_psn));
    sack.ooo_count = tracker_.ooo_count();
    sack.mpr = config_->dynamic_mpr ? static_cast<std::uint8_t>(granted_units_) : 0;
  }

  const PsnTracker& tracker() const { return tracker_; }
  /// The QP is released: all banks are returned.
  void release() { tracker_.release(); }

 private:
  static RxVerdict decide_duplicate(PsnOutcome outcome) {
    RxVerdict verdict{outcome};
    verdict.repeat_ack = outcome == PsnOutcome::duplicate_below;
    verdict.duplicate = verdict.repeat_ack || outcome == PsnOutcome::duplicate_above;
    return verdict;
  }
  static RxVerdict decide_accepted(const RxConditions& conditions) {
    RxVerdict verdict;
    if (!conditions.allowed) {
      verdict.nack = NackReason::unexp_event;
    } else if (!conditions.packet_buffer) {
      verdict.nack = NackReason::no_pkt_buffer;
    } else if (!conditions.other_resource) {
      verdict.nack = NackReason::no_resource;
    } else if (!conditions.receive) {
      verdict.nack = NackReason::unexp_event;
    }
    verdict.place = verdict.nack == NackReason::none;
    return verdict;
  }

  /// Dynamic MPR: as much of the configured window as the banks in reach can track, at least one unit. QPs that share
  /// the pool are granted the same banks; a QP that is too late gets NO_BITMAP (assumption).
  void grant() {
    granted_units_ = std::clamp(tracker_.banks_within_reach(), 1U, config_->mpr_units);
    follow_edge();
  }
  /// Grants are kept: the end of the window never moves back, a smaller grant only keeps it until the edge has caught
  /// up.
  void follow_edge() {
    const Psn end = psn_add(tracker_.expected_psn(), granted_units_ * kMprUnitPsns);
    if (psn_distance(end, window_end_) > 0) window_end_ = end;
    tracker_.set_window(static_cast<std::uint32_t>(psn_distance(window_end_, tracker_.expected_psn())));
  }

  const ProtocolConfig* config_;
  PsnTracker tracker_;
  std::uint32_t granted_units_;  ///< of 128 PSNs, in the latest SACK
  Psn window_end_;               ///< first PSN that has not been granted
};

}  // namespace mrc
