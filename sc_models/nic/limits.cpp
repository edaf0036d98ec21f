#include "nic/limits.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "nic/window_causes.h"

namespace mrc {

/// Retransmissions that a refusal of the receiver made necessary count as what the receiver lacked.
std::string cause_of_retransmission(CutCause cause) {
  switch (cause) {
    case CutCause::trim:
      return "retransmission.trim";
    case CutCause::no_pkt_buffer:
    case CutCause::no_bitmap:
    case CutCause::no_resource:
    case CutCause::out_of_window:
      return std::string(window_cause(cause));
    default:
      return "retransmission";
  }
}

namespace {

/// A buffer in front of the receiver's writes is full because they wait: that part is attributed to what they wait for.
void look_behind(std::map<std::string, double>& causes, CutCause refusal,
                 const std::map<std::string, double>& write_blocked) {
  const auto buffer = causes.find(std::string(window_cause(refusal)));
  if (buffer == causes.end()) return;
  const double total = buffer->second;
  for (const auto& [cause, share] : write_blocked) {
    causes["receiver." + cause] += total * share;
    buffer->second -= total * share;
  }
}

/// What a loss, a trim or a mark costs is attributed to where it happened, in proportion; the rest keeps its name.
void look_where(std::map<std::string, double>& causes, const std::string& what,
                const std::map<std::string, double>& happened_at, double of_it = 1) {
  const auto row = causes.find(what);
  if (row == causes.end()) return;
  const double total = row->second;
  for (const auto& [place, share] : happened_at) {
    causes[place] += total * share * of_it;
    row->second -= total * share * of_it;
  }
}

/// What packets that are declared lost cost: lost ones where they were, and late ones where they are.
void look_behind_losses(std::map<std::string, double>& causes, const std::string& what, const PortTime& time) {
  const double before = causes[what];
  look_where(causes, what, time.lost_at, 1 - time.late_share);
  if (before <= 0 || causes[what] <= 0) return;
  look_where(causes, what, time.late_at, std::min(1.0, time.late_share * before / causes[what]));
}

}  // namespace

std::vector<LimitResult> waterfall(const std::map<std::string, double>& causes, double line_rate_gbps,
                                   double goodput_gbps) {
  double sum = goodput_gbps;
  std::vector<LimitResult> limits;
  for (const auto& [cause, rate] : causes) {
    sum += rate;
    if (rate != 0 || cause == "framing") limits.push_back({cause, rate});
  }
  limits.push_back({"unattributed", line_rate_gbps - sum});
  std::stable_sort(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.gbps > b.gbps; });
  return limits;
}

std::vector<LimitResult> goodput_limits(const NodeCounters& counters, const BoxCounters& of_boxes,
                                        const PortTime& time) {
  const auto active = static_cast<double>(time.active_ps);
  const auto gbps = [&](double bytes) { return 8000.0 * bytes / active; };
  const auto first_payload = static_cast<double>(counters.first_payload_bytes);
  const auto first_wire = static_cast<double>(of_boxes.data_wire_bytes - of_boxes.retransmitted_wire_bytes);
  std::map<std::string, double> causes;
  causes["framing"] = gbps(first_wire - first_payload);
  causes["control"] = gbps(static_cast<double>(of_boxes.control_wire_bytes));
  const double unacknowledged = gbps(first_payload) - time.goodput_gbps;
  causes["unacknowledged"] = std::max(unacknowledged, 0.0);
  // What is acknowledged beyond what has left was carried by a retransmission; the first packet is still on the line.
  double carried = std::max(-unacknowledged, 0.0);
  for (std::size_t i = 0; i < kCutCauses; ++i) {
    const double rate = gbps(static_cast<double>(of_boxes.retransmitted_wire_bytes_by_cause[i]));
    const double instead = std::min(carried, rate);
    causes[cause_of_retransmission(static_cast<CutCause>(i))] += rate - instead;
    carried -= instead;
  }
  const double port_gbps = time.line_rate_gbps / time.ports;
  for (std::size_t port = 0; port < time.slow_ps.size(); ++port) {
    causes[fmt::format("port{}.slow", port)] = port_gbps * static_cast<double>(time.slow_ps[port]) / active;
  }
  for (std::size_t i = 0; i < kCutCauses; ++i) {
    causes[cause_of_retransmission(static_cast<CutCause>(i))] +=
        port_gbps * static_cast<double>(time.retransmission_ps[i]) / active;
  }
  for (const auto& [cause, idle_ps] : time.idle_ps) {
    causes[cause] += port_gbps * idle_ps / active;
  }
  look_behind(causes, CutCause::no_pkt_buffer, time.receiver_write_blocked);
  look_behind(causes, CutCause::no_resource, time.receiver_write_blocked);
  look_behind_losses(causes, "retransmission", time);
  look_behind_losses(causes, "retransmission_timeout", time);
  look_behind_losses(causes, std::string(window_cause(CutCause::loss)), time);
  // Packets come out of order because some are late.
  look_where(causes, std::string(window_cause(CutCause::no_bitmap)), time.late_at);
  look_where(causes, "retransmission.trim", time.trimmed_at);
  look_where(causes, std::string(window_cause(CutCause::trim)), time.trimmed_at);
  look_where(causes, std::string(window_cause(CutCause::ecn)), time.marked_at);
  return waterfall(causes, time.line_rate_gbps, time.goodput_gbps);
}

}  // namespace mrc
