#include "traffic/goal_graph.h"

#include <algorithm>

#include <fmt/format.h>

#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"

namespace mrc {

std::uint32_t GoalGraph::add(WorkNode node) {
  node.rank = rank_;
  if (node.kind != WorkKind::compute && node.bytes == 0) {
    ++empty_messages_;
    node.bytes = 1;
  }
  if (builder_.size() >= kMostWorkNodes)
    throw TraceError(place_(rank_, node.origin), fmt::format("more than {} operations", kMostWorkNodes));
  const std::uint32_t position = builder_.add(node);
  if (counts_only()) return 0;
  if (node.kind == WorkKind::send) matcher_.add_send(node, position);
  if (node.kind == WorkKind::receive) matcher_.add_receive(position);
  operations_.push_back({position, node.origin});
  return static_cast<std::uint32_t>(operations_.size() - 1);
}

void GoalGraph::wait(std::uint32_t operation, std::uint32_t on, bool on_start) {
  operations_[on].has_followers |= on_start;
  waits_.push_back({operation, on, on_start});
}

void GoalGraph::end_rank() {
  // What waits for an operation's start waits for a node before it, which waits for what the operation waits for.
  std::vector<std::uint32_t> start(operations_.size());
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    start[i] = operations_[i].node;
    if (!operations_[i].has_followers) continue;
    WorkNode marker;
    marker.rank = rank_;
    marker.origin = operations_[i].origin;
    start[i] = builder_.add(marker);
    builder_.depend(operations_[i].node, start[i]);
  }
  refuse_loops();
  for (const Wait& wait : waits_)
    builder_.depend(start[wait.operation], wait.on_start ? start[wait.on] : operations_[wait.on].node);
  operations_.clear();
  waits_.clear();
}

void GoalGraph::refuse_loops() const {
  std::vector<std::uint32_t> count(operations_.size());
  std::vector<std::vector<std::uint32_t>> followers(operations_.size());
  for (const Wait& wait : waits_) {
    ++count[wait.operation];
    followers[wait.on].push_back(wait.operation);
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < count.size(); ++i) {
    if (count[i] == 0) ready.push_back(i);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    for (const std::uint32_t next : followers[ready[i]]) {
      if (--count[next] == 0) ready.push_back(next);
    }
  }
  if (ready.size() == operations_.size()) return;
  const auto stuck = std::find_if(count.begin(), count.end(), [](std::uint32_t n) { return n > 0; }) - count.begin();
  throw TraceError(place_(rank_, operations_[static_cast<std::size_t>(stuck)].origin),
                   fmt::format("the operation is in or behind a loop of requires in the block of rank {}", rank_));
}

Workload GoalGraph::finish(std::uint32_t ranks, const std::string& name, Warnings& warnings) {
  if (!counts_only()) {
    matcher_.match(builder_, [&](const WorkNode& work) { return place_(work.rank, work.origin); });
  }
  if (empty_messages_ > 0) {
    warnings.push_back(
        fmt::format("{}: {} messages of 0 bytes are played as messages of 1 byte", name, empty_messages_));
  }
  return builder_.finish(ranks);
}

}  // namespace mrc
