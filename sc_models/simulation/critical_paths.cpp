#include "simulation/critical_paths.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace mrc {
namespace {

constexpr double kWindows = 8;
/// A window that has less goes on when the next one is due: its walk would be too short.
constexpr std::size_t kFewRecords = 32'768;
constexpr std::string_view kReceiver = "receiver.";
constexpr std::string_view kFabric = "fabric.";

/// Idle time whose cause is known when it passes, whatever packets wait for.
bool is_phase(const std::string& cause) {
  constexpr std::array<std::string_view, 3> phases{"port.link_down", "no_work", "acknowledgement"};
  return std::find(phases.begin(), phases.end(), cause) != phases.end();
}

std::string name_of(const Model& model, const SimulationNode& under_test, StartPoint pool) {
  if (pool.is_link()) return std::string(kFabric) + model.fabric->topology().port_name(pool.link());
  const SimulationNode& node = model.at(pool.node());
  const std::string& cause = node.boxes->causes.name(pool.pool());
  return &node == &under_test ? cause : std::string(kReceiver) + cause;
}

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

std::vector<std::string> relief_of_link(std::string_view cause) {
  const auto has = [&](std::string_view part) { return cause.find(part) != std::string_view::npos; };
  if (has(".port")) return {};
  return {has(".t0.") && has(".down") ? "nic.port_gbps" : "fabric.t1_link_gbps"};
}

}  // namespace

CriticalPaths::CriticalPaths(Model& model) : model_(model) {
  for (const auto& node : model.nodes) {
    if (node->nic && model.is_under_test(*node)) node_ = node.get();
  }
  // Starts at other ranks are not known here.
  records_ = node_ != nullptr && !model.split;
  if (!records_) return;
  for (const auto& node : model.nodes) {
    if (node->nic) node->boxes->trace.record_to(&trace_);
  }
  model.fabric->network().trace_to(trace_);
}

void CriticalPaths::look(double progress) {
  if (!records_) return;
  const bool open = trace_.recording() || !trace_.records().empty();
  const bool due = progress >= next_window_;
  if (open && (trace_.full() || (due && trace_.records().size() >= kFewRecords))) close_window();
  if (!due || trace_.recording() || !trace_.records().empty()) return;
  trace_.begin();
  while (next_window_ <= progress) next_window_ += 1.0 / kWindows;
}

void CriticalPaths::close_window() {
  const ChargedTime charged = charge_critical_path(trace_, node_->id);
  trace_.end();
  std::map<std::string, TimePs> idle = node_->nic->idle_causes().idle_ps();
  double to_share = 0;
  for (const auto& [cause, time] : idle) {
    if (!is_phase(cause)) to_share += static_cast<double>(time - idle_so_far_[cause]);
  }
  double total = 0;
  for (const auto& [pool, time] : charged) total += time;
  for (const auto& [pool, time] : charged) {
    if (total > 0) idle_ps_[name_of(model_, *node_, StartPoint::of_pool_key(pool))] += to_share * time / total;
  }
  for (const auto& [cause, time] : idle) {
    // Where the path has no cycle but that of the ports, what was noted as the time passed is all there is.
    if (is_phase(cause) || total == 0) idle_ps_[cause] += static_cast<double>(time - idle_so_far_[cause]);
  }
  idle_so_far_ = std::move(idle);
}

std::map<std::string, double> CriticalPaths::finish() {
  if (node_ != nullptr) close_window();
  return idle_ps_;
}

std::vector<std::string> relief_of(const Model& model, const SimulationNode& node, const std::string& cause) {
  if (cause == "framing") return {"protocol.mtu_bytes"};
  if (cause.starts_with(kFabric)) return relief_of_link(cause);
  const bool one_peer = node.qps_of_peer.size() == 1;
  if (!cause.starts_with(kReceiver)) return relief_in(node, cause, node.name);
  for (const auto& [id, qps] : node.qps_of_peer) {
    const SimulationNode& peer = model.at(id);
    if (peer.boxes == nullptr) continue;
    std::vector<std::string> keys = relief_in(peer, cause.substr(kReceiver.size()), one_peer ? peer.name : "");
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
