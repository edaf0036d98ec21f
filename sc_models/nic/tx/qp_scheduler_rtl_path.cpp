#include "nic/tx/qp_scheduler_rtl_path.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace mrc {
namespace {

// Of the data sheet: from an activation to its turn, and how long a lookup that begins a fetch occupies the block.
constexpr std::uint64_t kListCycles = 2;
constexpr std::uint64_t kFetchOccupies = 3;

std::string_view to_string(ContextLookup lookup) {
  constexpr std::array<std::string_view, 4> names{"here", "loading", "fetched", "no_room"};
  return names[static_cast<std::size_t>(lookup)];
}

/// First field in which the answers differ, empty without one.
std::string difference(const ContextReply& expected, const ContextReply& rtl) {
  if (expected.qp != rtl.qp) return fmt::format("qp: expected {}, RTL gave {}", expected.qp, rtl.qp);
  if (expected.lookup != rtl.lookup) {
    return fmt::format("lookup: expected {}, RTL gave {}", to_string(expected.lookup), to_string(rtl.lookup));
  }
  if (expected.slot != rtl.slot) return fmt::format("slot: expected {}, RTL gave {}", expected.slot, rtl.slot);
  if (expected.evicted != rtl.evicted) {
    const auto text = [](const std::optional<std::uint32_t>& qp) { return qp ? std::to_string(*qp) : "none"; };
    return fmt::format("evicted_qp: expected {}, RTL gave {}", text(expected.evicted), text(rtl.evicted));
  }
  if (expected.quantum_bytes != rtl.quantum_bytes) {
    return fmt::format("quantum_bytes: expected {}, RTL gave {}", expected.quantum_bytes, rtl.quantum_bytes);
  }
  return {};
}

}  // namespace

ContextReply QpSchedulerRtlPath::judge(const char* what, const ContextReply& expected, const ContextReply& reply,
                                       std::uint64_t cycle) {
  const std::string found = difference(expected, reply);
  if (!found.empty()) {
    mismatch(
        node_, cycle, [&] { return fmt::format("transaction {} ({} of QP {})", transactions(), what, expected.qp); },
        found);
  }
  return drives() && reply.qp < sizes_.qps ? reply : expected;
}

void QpSchedulerRtlPath::activate(std::uint32_t qp) {
  if (asks()) engine_->activate(qp);
}

ContextReply QpSchedulerRtlPath::turn(const ContextReply& expected, bool room, std::uint64_t cycle) {
  if (!asks()) return expected;
  const ContextReply reply = engine_->turn(room);
  const std::uint64_t occupied = reply.lookup == ContextLookup::fetched ? kFetchOccupies : 1;
  const bool granted = reply.lookup == ContextLookup::here;
  count({occupied, granted ? kListCycles + reply.latency_cycles : 0},
        {box_.initiation_interval_cycles, granted ? box_.latency_cycles : 0});
  return judge("turn", expected, reply, cycle);
}

void QpSchedulerRtlPath::give_back(std::uint32_t qp, std::uint32_t slot, bool again) {
  if (asks()) engine_->give_back(qp, slot, again);
}

ContextReply QpSchedulerRtlPath::look(const ContextReply& expected, bool room, std::uint64_t cycle) {
  if (!asks()) return expected;
  const ContextReply reply = engine_->look(expected.qp, room);
  // The box has no cycles for them.
  count({reply.lookup == ContextLookup::fetched ? kFetchOccupies : 1, reply.latency_cycles}, {});
  return judge("lookup", expected, reply, cycle);
}

void QpSchedulerRtlPath::fill(std::uint32_t qp, bool list, bool used) {
  if (asks()) engine_->fill(qp, list, used);
}

void QpSchedulerRtlPath::drop(std::uint32_t qp) {
  if (asks()) engine_->drop(qp);
}

}  // namespace mrc
