#include "simulation/critical_paths.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

namespace mrc {
namespace {

/// Windows of a run: one for each of these bytes, so that recording stays a small part of a run's cost.
constexpr double kBytesOfAWindow = 8 << 20;
constexpr double kMostWindows = 8;
/// A run so short has its window from its begin on; others after a quarter of its part of the run.
constexpr double kShortBytes = 16 << 20;
/// Of a window: about a thousand packets of a pair of NICs. One that explains too little of its own time, because what
/// packets wait for takes longer to come back, is followed by one of twice the length.
constexpr std::size_t kRecords = std::size_t{1} << 15;
constexpr double kExplained = 0.75;
/// All starts of a run, for the way of each message: 128 MiB, of about 1 GiB of traffic. What comes later is not known.
constexpr std::size_t kRecordsOfMessages = std::size_t{1} << 23;
/// Messages of the slowest percent that are followed, at most; evenly chosen.
constexpr std::size_t kMostMessages = 64;
/// Quarters of a full window in which no node's starts are missing.
constexpr std::size_t kComplete = 3;
/// A window that has less goes on when the next one is due: its walk would be too short.
constexpr std::size_t kFewRecords = kRecords / 4;
/// A path that charges less than this share of the idle time leaves the rest to the time-based account.
constexpr double kEnoughCharged = 0.5;
constexpr std::string_view kReceiver = "receiver.";
constexpr std::string_view kFabric = "fabric.";

/// Parameters of a node, which the scenario may set for one alone.
bool is_of_node(std::string_view key) {
  constexpr std::array<std::string_view, 3> parts{"nic.", "pcie.", "host."};
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return key.starts_with(part); });
}

std::vector<std::string> relief_in(const SimulationNode& node, const std::string& cause, const std::string& owner) {
  const CauseTable& causes = node.boxes->causes;
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (causes.name(Cause::at(i)) != cause) continue;
    for (const std::string& key : causes.relieved_by(Cause::at(i))) {
      keys.push_back(is_of_node(key) && !owner.empty() ? fmt::format("node.{}.{}", owner, key) : key);
    }
  }
  return keys;
}

std::vector<std::string> relief_of_link(std::string_view cause, const FabricConfig& fabric) {
  std::vector<std::string> keys;
  if (has_bit_errors(fabric)) keys = {"fabric.fec", "fabric.link_retry"};
  // With a rate of errors that all links have, nothing else is said of one of them.
  const auto has = [&](std::string_view part) { return cause.find(part) != std::string_view::npos; };
  if (fabric.bit_error_rate > 0 || has(".port")) return keys;
  keys.emplace_back(has(".t0.") && has(".down") ? "nic.port_gbps" : "fabric.t1_link_gbps");
  return keys;
}

}  // namespace

CriticalPaths::CriticalPaths(Model& model) : model_(model), window_records_(kRecords) {
  const auto bytes = static_cast<double>(model.workload.bytes());
  between_windows_ = 1 / std::clamp(std::floor(bytes / kBytesOfAWindow), 1.0, kMostWindows);
  if (bytes > kShortBytes) next_window_ = between_windows_ / 4;
  for (const auto& node : model.nodes) {
    if (!node->nic) continue;
    if (model.is_under_test(*node)) {
      node_ = node.get();
      number_ = static_cast<std::uint32_t>(nodes_.size());
    }
    nodes_.push_back(node.get());
  }
  if (node_ == nullptr) return;
  constexpr std::array<std::string_view, 3> phases{"port.link_down", "no_work", "acknowledgement"};
  const CauseTable& causes = node_->boxes->causes;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    phases_.push_back(std::find(phases.begin(), phases.end(), causes.name(Cause::at(i))) != phases.end());
  }
  // Starts at other ranks are not known here.
  if (!model.split && nodes_.size() < StartPoint::kMostNodes) record();
}

void CriticalPaths::record() {
  Network& network = model_.fabric->network();
  recording_ = std::make_unique<Recording>(static_cast<std::uint32_t>(nodes_.size()),
                                           static_cast<std::uint32_t>(network.ports().size()),
                                           of_messages() ? kRecordsOfMessages : CausalTrace::kMostRecords);
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) nodes_[i]->boxes->trace.record_to(recording_->trace, i);
  network.trace_to(recording_->trace);
}

bool CriticalPaths::of_messages() const {
  return model_.scenario.run.message_causes;
}

bool CriticalPaths::is_phase(std::size_t cause) const {
  return cause < phases_.size() && phases_[cause];
}

std::string CriticalPaths::name_of(std::size_t pool) const {
  const CriticalPath& path = recording_->path;
  if (path.is_link(pool)) return std::string(kFabric) + model_.fabric->topology().port_name(path.link_of(pool));
  const SimulationNode& node = *nodes_[CriticalPath::node_of(pool)];
  const std::string& cause = node.boxes->causes.name(CriticalPath::cause_of(pool));
  return &node == node_ ? cause : std::string(kReceiver) + cause;
}

void CriticalPaths::look(double progress) {
  if (!recording_) return;
  CausalTrace& trace = recording_->trace;
  if (of_messages()) {
    if (trace.records().empty()) {
      trace.begin(kernel_now(), kRecordsOfMessages);
      model_.fabric->let_follow(false);
    }
    return;
  }
  const bool due = progress >= next_window_;
  if (!trace.records().empty() && (trace.full() || (due && trace.records().size() >= kFewRecords))) close_window();
  if (!due || trace.recording()) return;
  trace.begin(kernel_now(), window_records_);
  // Where the window ends is known to a quantum, which should not be long.
  model_.fabric->let_follow(false);
  while (next_window_ <= progress) next_window_ += between_windows_;
}

// A node may be ahead of the others by a quantum when the window is full, and by how much depends on run.kernel. The
// end that is walked from is one that both have: after whole quanta, with room for what nodes are ahead by.
TimePs CriticalPaths::complete_until() {
  const CausalTrace& trace = recording_->trace;
  if (!trace.full()) return kNever;
  starts_in_quantum_.clear();
  for (const StartRecord& start : trace.records()) {
    const std::size_t quantum = (std::max(start.at, trace.began_at()) - trace.began_at()) / model_.quantum_ps;
    if (quantum >= starts_in_quantum_.size()) starts_in_quantum_.resize(quantum + 1);
    ++starts_in_quantum_[quantum];
  }
  std::size_t starts = 0;
  TimePs until = trace.began_at();
  for (const std::size_t more : starts_in_quantum_) {
    starts += more;
    if (starts > kComplete * trace.records().size() / 4) break;
    until += model_.quantum_ps;
  }
  return until;
}

double CriticalPaths::packet_ps() const {
  const NodeCounters& counters = node_->boxes->counters;
  const BoxCounters& of_boxes = node_->boxes->box_counters;
  const std::uint64_t packets = counters.data_packets + counters.control_packets;
  const NicConfig& nic = node_->boxes->config.nic;
  if (packets == 0) return 0;
  const auto bytes = static_cast<double>(of_boxes.data_wire_bytes + of_boxes.control_wire_bytes);
  return 8000.0 * bytes / static_cast<double>(packets) / (nic.port_gbps * nic.ports);
}

// Where the path has hardly a cycle but that of the ports, what was noted as the time passed is all there is.
double CriticalPaths::share_by_path(double idle_ps) const {
  const double ports_ps =
      static_cast<double>(kernel_now() - closed_at_ + skipped_since_) * node_->boxes->config.nic.ports;
  if (idle_ps <= 0 || ports_ps <= 0) return 0;
  return std::min(1.0, recording_->path.charged_share() * ports_ps / (kEnoughCharged * idle_ps));
}

void CriticalPaths::skip(TimePs time, const PerCause<TimePs>& idle_ps) {
  skipped_since_ += time;
  for (std::size_t i = 0; i < idle_ps.size(); ++i) skipped_idle_[i] += idle_ps[i];
}

PerCause<TimePs> CriticalPaths::idle() const {
  PerCause<TimePs> idle = node_->nic->idle_causes().idle_ps();
  for (std::size_t i = 0; i < idle.size(); ++i) idle[i] += skipped_idle_[i];
  return idle;
}

void CriticalPaths::close_window() {
  const PerCause<TimePs> idle = this->idle();
  double to_share = 0;
  for (std::size_t i = 0; i < idle.size(); ++i) {
    if (!is_phase(i)) to_share += static_cast<double>(idle[i] - idle_so_far_[i]);
  }
  const bool walks = recording_ && !recording_->trace.records().empty();
  if (walks) {
    ++windows_;
    recording_->path.walk(recording_->trace, number_, complete_until(), packet_ps());
    if (recording_->trace.full() && recording_->path.explained_share() < kExplained) window_records_ *= 2;
    recording_->trace.end();
    model_.fabric->let_follow(true);
  }
  // What is left at the end without starts of its own passed as the last window did, unless that was the run's begin.
  const double by_path = walks || windows_ > 1 ? share_by_path(to_share) : 0;
  if (by_path > 0) {
    const CriticalPath& path = recording_->path;
    for (std::size_t i = 0; i < path.charged().size(); ++i)
      recording_->idle_ps[i] += by_path * to_share * path.charged()[i] / path.total_ps();
  }
  for (std::size_t i = 0; i < idle.size(); ++i)
    by_time_alone_[i] += (1 - by_path) * static_cast<double>(idle[i] - idle_so_far_[i]);
  closed_at_ = kernel_now();
  skipped_since_ = 0;
  idle_so_far_ = idle;
}

std::map<std::string, double> CriticalPaths::of_slowest_messages() {
  std::map<std::string, double> by_name;
  if (!recording_ || !of_messages()) return by_name;
  const HostStatistics& host = node_->player().statistics();
  if (host.message_ends.size() != host.message_times.size() || host.message_times.empty()) return by_name;
  std::vector<std::size_t> slowest(host.message_times.size());
  std::iota(slowest.begin(), slowest.end(), 0U);
  std::stable_sort(slowest.begin(), slowest.end(),
                   [&](std::size_t a, std::size_t b) { return host.message_times[a] > host.message_times[b]; });
  slowest.resize((slowest.size() + 99) / 100);
  const std::size_t each = (slowest.size() + kMostMessages - 1) / kMostMessages;
  CriticalPath& path = recording_->path;
  path.begin_messages(recording_->trace, number_, packet_ps());
  double messages = 0;
  for (std::size_t i = 0; i < slowest.size(); i += each) {
    const HostStatistics::MessageEnd& end = host.message_ends[slowest[i]];
    const TimePs posted = end.at - host.message_times[slowest[i]];
    if (path.add_message(recording_->trace, end.because, posted, end.at)) ++messages;
  }
  if (messages == 0) return by_name;
  for (std::size_t i = 0; i < path.charged().size(); ++i) {
    if (path.charged()[i] > 0) by_name[name_of(i)] += path.charged()[i] / messages;
  }
  by_name[kLine] += path.line_ps() / messages;
  by_name[kWay] += path.way_ps() / messages;
  return by_name;
}

std::map<std::string, double> CriticalPaths::finish() {
  std::map<std::string, double> by_name;
  if (node_ == nullptr) return by_name;
  close_window();
  const CauseTable& causes = node_->boxes->causes;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    by_name[causes.name(Cause::at(i))] += is_phase(i) ? static_cast<double>(idle_so_far_[i]) : by_time_alone_[i];
  }
  if (!recording_) return by_name;
  for (std::size_t i = 0; i < recording_->idle_ps.size(); ++i) {
    if (recording_->idle_ps[i] > 0) by_name[name_of(i)] += recording_->idle_ps[i];
  }
  return by_name;
}

std::vector<std::string> relief_of(const Model& model, const SimulationNode& node, const std::string& cause) {
  if (cause == "framing") return {"protocol.mtu_bytes"};
  if (cause == CriticalPaths::kWay) return {"pcie.read_latency_mean_ns", "fabric.cable_delay_ns"};
  if (cause.starts_with(kFabric)) return relief_of_link(cause, model.scenario.fabric);
  const bool one_peer = node.qps_of_peer.size() == 1;
  if (!cause.starts_with(kReceiver)) return relief_in(node, cause, node.name);
  for (const auto& [id, qps] : node.qps_of_peer) {
    const SimulationNode& peer = model.at(id);
    if (!peer.detailed) continue;
    // This rank has no cause table for a NIC on another rank. All NICs declare the same causes, so this node's serves.
    std::vector<std::string> keys =
        relief_in(peer.boxes != nullptr ? peer : node, cause.substr(kReceiver.size()), one_peer ? peer.name : "");
    if (!keys.empty()) return keys;
    break;
  }
  std::vector<std::string> keys = relief_in(node, cause, "");
  for (std::string& key : keys) {
    if (one_peer && is_of_node(key)) key = fmt::format("node.nic{}.{}", node.qps_of_peer.begin()->first, key);
  }
  return keys;
}

}  // namespace mrc
