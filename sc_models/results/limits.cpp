#include "results/limits.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

namespace mrc {
namespace {

/// Transmit slots from the ports' side towards the host; a slot that is empty-handed was so because of the next one.
constexpr std::array<std::string_view, 7> kUpstream{"srv6_encap",    "retransmit_buffer",   "spray_scheduler",
                                                    "payload_fetch", "pcie_dma.read_issue", "segmenter",
                                                    "qp_scheduler"};

/// Held up by a neighbour that is downstream: not a cause, the neighbour's own row tells it.
bool is_downstream(BlockedBy cause) {
  switch (cause) {
    case BlockedBy::segmenter_queue:
    case BlockedBy::payload_fetch_queue:
    case BlockedBy::spray_queue:
    case BlockedBy::retransmit_queue:
    case BlockedBy::encap_queue:
    case BlockedBy::port_credit:
      return true;
    default:
      return false;
  }
}

const IssueSlot* find(const std::vector<const IssueSlot*>& slots, std::string_view box) {
  const auto it = std::find_if(slots.begin(), slots.end(), [&](const IssueSlot* slot) { return slot->box() == box; });
  return it == slots.end() ? nullptr : *it;
}

}  // namespace

std::vector<LimitResult> goodput_limits(const NicCounters& counters, const std::vector<const IssueSlot*>& slots,
                                        double line_rate_gbps, double goodput_gbps, TimePs active) {
  const auto gbps = [&](std::uint64_t bytes) {
    return 8000.0 * static_cast<double>(bytes) / static_cast<double>(active);
  };
  std::map<std::string, double> causes;
  causes["framing"] =
      gbps(counters.data_wire_bytes - counters.retransmitted_wire_bytes) - gbps(counters.first_payload_bytes);
  causes["control"] = gbps(counters.control_wire_bytes);
  causes["retransmission"] = gbps(counters.retransmitted_wire_bytes);
  // Payload that was sent but not acknowledged when the run ended.
  causes["unacknowledged"] = gbps(counters.first_payload_bytes) - goodput_gbps;

  double idle = line_rate_gbps - goodput_gbps;
  for (const auto& [cause, rate] : causes) idle -= rate;
  for (const std::string_view box : kUpstream) {
    const IssueSlot* slot = find(slots, box);
    double held = 0;
    for (std::size_t i = 0; i < kBlockedByCount; ++i) {
      if (!is_downstream(static_cast<BlockedBy>(i)))
        held += static_cast<double>(slot->blocked_ps(static_cast<BlockedBy>(i)));
    }
    const double starved = static_cast<double>(slot->starved_ps() + slot->idle_ps());
    if (held + starved <= 0) break;
    for (std::size_t i = 0; i < kBlockedByCount; ++i) {
      const auto cause = static_cast<BlockedBy>(i);
      if (is_downstream(cause) || slot->blocked_ps(cause) == 0) continue;
      causes[std::string(to_string(cause))] += idle * static_cast<double>(slot->blocked_ps(cause)) / (held + starved);
    }
    idle *= starved / (held + starved);
  }
  causes["host"] += idle;

  std::vector<LimitResult> limits;
  for (const auto& [cause, rate] : causes) limits.push_back({cause, rate});
  std::stable_sort(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.gbps > b.gbps; });
  return limits;
}

}  // namespace mrc
