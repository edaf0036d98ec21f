// Collects nodes and dependencies and arranges them as a Workload.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/workload.h"
#include "traffic/trace_totals.h"

namespace mrc {

/// Throws TraceError at `place` for more than kMostWorkNodes.
void check_node_count(const std::string& place, std::uint64_t nodes);

class WorkloadBuilder {
 public:
  /// With `totals` nodes are only counted there: at() and match() must not be used, and depend() does nothing.
  explicit WorkloadBuilder(TraceTotals* totals = nullptr) : totals_(totals) {}

  bool counts_only() const { return totals_ != nullptr; }
  /// Returns the node's position.
  std::uint32_t add(const WorkNode& node);
  WorkNode& at(std::uint32_t node) { return workload_.nodes[node]; }
  std::uint64_t size() const { return counts_only() ? totals_->nodes : workload_.nodes.size(); }
  /// `node` waits for `dependency`.
  void depend(std::uint32_t node, std::uint32_t dependency) {
    if (!counts_only()) edges_.push_back({dependency, node});
  }
  void match(std::uint32_t send, std::uint32_t receive);
  /// Position of the group of these ranks; an existing one is reused.
  std::uint32_t group(const std::vector<std::uint32_t>& ranks);
  /// Position of the new collective.
  std::uint32_t collective(const Collective& collective);

  /// Drops the collectives that have been counted; counts_only() only.
  void drop_collectives() { workload_.collectives.clear(); }

  /// The workload; the builder is empty afterwards.
  Workload finish(std::uint32_t ranks);

 private:
  struct Edge {
    std::uint32_t dependency;
    std::uint32_t dependent;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };

  TraceTotals* totals_;
  Workload workload_;
  std::vector<Edge> edges_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> groups_;
};

}  // namespace mrc
