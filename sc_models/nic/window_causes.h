// Names of the causes for which a QP waits for its window: what last made it small. A refusal by the receiver (NACK) is
// attributed to the resource that the receiver lacked.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mrc/control/congestion.h"

namespace mrc {

inline constexpr std::string_view kCwnd = "cwnd";  ///< as it began or as quick adapt left it
inline constexpr std::string_view kCwndLoss = "cwnd.loss";
inline constexpr std::string_view kReceiverStaging = "receiver.rx_staging";

constexpr std::string_view window_cause(CutCause cut) {
  constexpr std::array<std::string_view, kCutCauses> names{kCwnd,
                                                           "cwnd.ecn",
                                                           "cwnd.trim",
                                                           kCwndLoss,
                                                           "cwnd.penalty",
                                                           kCwnd,
                                                           kReceiverStaging,
                                                           "receiver.bitmap_banks",
                                                           "receiver.resource",
                                                           "receiver.window"};
  return names[static_cast<std::size_t>(cut)];
}

/// Parameters that relieve it: those of a refusal are the receiver's. Loss, marks and trims come from the fabric.
inline std::vector<std::string> window_relief(CutCause cut) {
  switch (cut) {
    case CutCause::none:
    case CutCause::quick_adapt:
      return {"cc.base_rtt_ns", "cc.max_cwnd_bytes", "protocol.sack_threshold_bytes"};
    case CutCause::penalty:
      return {"protocol.penalty_start_share", "nic.rx_staging.bytes"};
    case CutCause::no_pkt_buffer:
      return {"nic.rx_staging.bytes"};
    case CutCause::no_bitmap:
      return {"nic.psn_tracker.bitmap_banks"};
    case CutCause::no_resource:
      return {"nic.dma_write.queue_entries"};
    case CutCause::out_of_window:
      return {"protocol.mpr_units"};
    default:
      return {};
  }
}

}  // namespace mrc
