#include "traffic/et_dependencies.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include <fmt/format.h>

#include "traffic/trace_error.h"

namespace mrc {
namespace {

constexpr std::uint32_t kNone = 0xFFFF'FFFF;

std::unordered_map<std::uint64_t, std::uint32_t> positions_of(const EtFile& file) {
  std::unordered_map<std::uint64_t, std::uint32_t> positions;
  for (std::uint32_t i = 0; i < file.nodes.size(); ++i) {
    if (!positions.emplace(file.nodes[i].id, i).second) throw TraceError(file.place(file.nodes[i]), "appears twice");
  }
  return positions;
}

void find_positions(EtFile& file, DroppedDependencies& dropped) {
  const auto positions = positions_of(file);
  for (EtNode& node : file.nodes) {
    for (const std::uint64_t id : node.data_ids) {
      const auto it = positions.find(id);
      if (it == positions.end())
        throw TraceError(file.place(node), fmt::format("data dependency {} is not a node of the file", id));
      node.data.push_back(it->second);
    }
    for (const std::uint64_t id : node.control_ids) {
      const auto it = positions.find(id);
      if (it == positions.end()) {
        ++dropped.absent;
      } else if (id == node.id) {
        ++dropped.on_itself;
      } else {
        node.control.push_back(it->second);
      }
    }
  }
}

/// Each node's place in the order of data dependencies, of the file where they leave a choice; kNone in and behind
/// loops.
std::vector<std::uint32_t> data_order(const std::vector<EtNode>& nodes) {
  std::vector<std::size_t> waits(nodes.size());
  std::vector<std::vector<std::uint32_t>> dependents(nodes.size());
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    waits[i] = nodes[i].data.size();
    for (const std::uint32_t d : nodes[i].data) dependents[d].push_back(i);
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<std::uint32_t> order(nodes.size(), kNone);
  for (std::uint32_t next = 0; !ready.empty(); ++next) {
    const std::uint32_t node = ready.top();
    ready.pop();
    order[node] = next;
    for (const std::uint32_t d : dependents[node]) {
      if (--waits[d] == 0) ready.push(d);
    }
  }
  return order;
}

void refuse_data_loops(const EtFile& file, const std::vector<std::uint32_t>& order) {
  const auto stuck = std::find(order.begin(), order.end(), kNone);
  if (stuck == order.end()) return;
  // Every stuck node waits for a stuck one, so the way back comes to a node twice, and that one is in the loop.
  auto node = static_cast<std::uint32_t>(stuck - order.begin());
  std::vector<bool> seen(order.size());
  while (!seen[node]) {
    seen[node] = true;
    const auto& data = file.nodes[node].data;
    node = *std::find_if(data.begin(), data.end(), [&](std::uint32_t d) { return order[d] == kNone; });
  }
  throw TraceError(file.place(file.nodes[node]), "data dependencies form a loop");
}

/// Nodes that reach one another by dependencies of both kinds share a component (Tarjan's algorithm, without
/// recursion).
class Components {
 public:
  explicit Components(const std::vector<EtNode>& nodes)
      : nodes_(nodes), index_(nodes.size(), kNone), low_(nodes.size()), component_(nodes.size(), kNone) {
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      if (index_[i] == kNone) visit_all_from(i);
    }
  }
  bool share(std::uint32_t a, std::uint32_t b) const { return component_[a] == component_[b]; }

 private:
  struct Visit {
    std::uint32_t node;
    std::size_t next_dependency;
  };

  void visit_all_from(std::uint32_t root) {
    enter(root);
    while (!path_.empty()) {
      const std::uint32_t node = path_.back().node;
      const std::uint32_t dependency = dependency_of(node, path_.back().next_dependency++);
      if (dependency == kNone) {
        leave(node);
      } else if (index_[dependency] == kNone) {
        enter(dependency);
      } else if (component_[dependency] == kNone) {
        low_[node] = std::min(low_[node], index_[dependency]);
      }
    }
  }
  std::uint32_t dependency_of(std::uint32_t node, std::size_t number) const {
    const EtNode& n = nodes_[node];
    if (number < n.data.size()) return n.data[number];
    number -= n.data.size();
    return number < n.control.size() ? n.control[number] : kNone;
  }
  void enter(std::uint32_t node) {
    index_[node] = low_[node] = entered_++;
    open_.push_back(node);
    path_.push_back({node, 0});
  }
  void leave(std::uint32_t node) {
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    if (low_[node] != index_[node]) return;
    while (component_[node] == kNone) {
      component_[open_.back()] = node;
      open_.pop_back();
    }
  }

  const std::vector<EtNode>& nodes_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> component_;
  std::vector<std::uint32_t> open_;
  std::vector<Visit> path_;
  std::uint32_t entered_ = 0;
};

}  // namespace

void resolve_dependencies(EtFile& file, DroppedDependencies& dropped) {
  find_positions(file, dropped);
  const std::vector<std::uint32_t> order = data_order(file.nodes);
  refuse_data_loops(file, order);
  const Components components(file.nodes);
  for (std::uint32_t i = 0; i < file.nodes.size(); ++i) {
    dropped.in_loops += std::erase_if(file.nodes[i].control, [&](std::uint32_t dependency) {
      return components.share(i, dependency) && order[dependency] > order[i];
    });
  }
}

}  // namespace mrc
