// Interface of congestion control to the requestor: a window in bytes, the bytes in flight, and the effect of feedback.
// An algorithm is one class in one file; `make_congestion_control` finds it by name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "mrc/packet.h"
#include "mrc/protocol_config.h"
#include "mrc/types.h"

namespace mrc {

/// The last reason for a smaller window; time spent waiting for the window is attributed to it.
enum class CutCause : std::uint8_t {
  none,
  ecn,
  trim,
  loss,
  penalty,
  quick_adapt,
  no_pkt_buffer,
  no_bitmap,
  no_resource,
  out_of_window
};
inline constexpr std::size_t kCutCauses = 10;
constexpr std::string_view to_string(CutCause cause) {
  constexpr std::string_view names[] = {"initial",     "ecn",           "trim",      "loss",        "penalty",
                                        "quick_adapt", "no_pkt_buffer", "no_bitmap", "no_resource", "out_of_window"};
  return names[static_cast<std::size_t>(cause)];
}

/// The part of a SACK that congestion control uses.
struct AckSample {
  TimePs now = 0;
  TimePs rtt_ps = 0;                       ///< 0 if the SACK gave no sample
  std::uint64_t newly_received_bytes = 0;  ///< growth of the responder's rcvd_bytes
  bool ecn = false;                        ///< the packet that triggered the SACK was CE-marked
  std::uint8_t receiver_penalty = 0;       ///< rcv_cwnd_pen, 0 … 127
  bool restore_cwnd = false;
};

/// The part of a NACK with a trim reason that congestion control uses.
struct TrimSample {
  TimePs now = 0;
  TimePs rtt_ps = 0;        ///< of the trimmed packet, which was not queued after the switch that trimmed it; 0: none
  std::uint32_t bytes = 0;  ///< nominal, of the whole packet
  bool last_hop = false;
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  virtual void on_ack(const AckSample& sample) = 0;
  virtual void on_trim(const TrimSample& sample) = 0;
  /// A NACK because of a missing resource or window at the responder, not because of the network.
  virtual void on_refusal(std::uint32_t bytes, TimePs now) = 0;
  /// A packet of `bytes` was declared lost by gap inference or timeout.
  virtual void on_loss(std::uint32_t bytes, TimePs now) = 0;
  /// Replaces the constants, as a controller may; derived values of `config` are filled in. Algorithms without
  /// constants ignore it.
  virtual void change(const CongestionConfig&) {}

  /// True if `bytes` more may be in flight; one packet always may, so that the smallest window cannot stop a flow.
  bool may_send(std::uint32_t bytes) const { return inflight_bytes_ == 0 || inflight_bytes_ + bytes <= cwnd_bytes_; }
  void charge(std::uint32_t bytes) { inflight_bytes_ += bytes; }
  /// A packet is no longer in flight: SACKed, NACKed or declared lost, whichever is first. Called once per packet.
  void discharge(std::uint32_t bytes) { inflight_bytes_ -= bytes; }

  std::uint64_t cwnd_bytes() const { return cwnd_bytes_; }
  std::uint64_t inflight_bytes() const { return inflight_bytes_; }
  CutCause last_cut() const { return last_cut_; }
  /// The reason for the reduction that feedback just made, if the requestor knows more than the algorithm.
  void name_cut(CutCause cause) { last_cut_ = trigger_ = cause; }

 protected:
  std::uint64_t cwnd_bytes_ = ~0ULL >> 1;
  std::uint64_t inflight_bytes_ = 0;
  CutCause last_cut_ = CutCause::none;
  CutCause trigger_ = CutCause::quick_adapt;  ///< of the next quick adaptation
};

/// "none": no limit.
class NoCongestionControl final : public CongestionControl {
 public:
  void on_ack(const AckSample&) override {}
  void on_trim(const TrimSample&) override {}
  void on_refusal(std::uint32_t, TimePs) override {}
  void on_loss(std::uint32_t, TimePs) override {}
};

}  // namespace mrc
