// Collects nodes and dependencies one by one and lays them out as a Workload.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/workload.h"

namespace mrc {

/// Throws TraceError at `place` for more than kMostWorkNodes.
void check_node_count(const std::string& place, std::uint64_t nodes);

class WorkloadBuilder {
 public:
  /// Returns the node's position.
  std::uint32_t add(const WorkNode& node);
  WorkNode& at(std::uint32_t node) { return workload_.nodes[node]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(workload_.nodes.size()); }
  /// `node` waits for `dependency`, a node of the same rank.
  void depend(std::uint32_t node, std::uint32_t dependency) { edges_.push_back({dependency, node, false}); }
  /// As depend(), where the dependency's own end counts even if end_later() says that others wait longer.
  void depend_on_start(std::uint32_t node, std::uint32_t dependency) { edges_.push_back({dependency, node, true}); }
  /// What depends on `node` waits for `last`: an operation that stands in the node's place ends there.
  void end_later(std::uint32_t node, std::uint32_t last) { ends_.emplace(node, last); }
  void match(std::uint32_t send, std::uint32_t receive);

  /// The workload; the builder is empty afterwards.
  Workload finish(std::uint32_t ranks);

 private:
  Workload workload_;
  struct Edge {
    std::uint32_t dependency;
    std::uint32_t dependent;
    bool on_start;
    friend auto operator<=>(const Edge&, const Edge&) = default;
  };
  void move_ends();

  std::vector<Edge> edges_;
  std::unordered_multimap<std::uint32_t, std::uint32_t> ends_;
};

}  // namespace mrc
