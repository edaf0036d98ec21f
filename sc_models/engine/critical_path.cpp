#include "engine/critical_path.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mrc {
namespace {

/// From a start to its predecessor.
struct Edge {
  StartPoint point;  ///< of the later start
  double ps = 0;
};

class Walk {
 public:
  explicit Walk(std::uint32_t node) : node_(node) {}

  void step(const StartRecord& start, const StartRecord& from) {
    const std::uint32_t place = start.point.place_key();
    const auto seen = height_of_.find(place);
    if (seen != height_of_.end()) close(seen->second);
    height_of_[place] = path_.size();
    const bool sends = start.point.is_port() && start.point.node() == node_ && start.point.has_pool();
    const TimePs span = start.at > from.at ? start.at - from.at : 0;
    path_.push_back({start.point, sends ? 0.0 : static_cast<double>(span)});
  }
  ChargedTime take() { return std::move(charged_); }

 private:
  /// The edges from `height` on lead back to the place where they began.
  void close(std::size_t height) {
    double rest = 0;
    std::set<std::uint32_t> pools;
    for (std::size_t i = height; i < path_.size(); ++i) {
      const Edge& edge = path_[i];
      height_of_.erase(edge.point.place_key());
      if (edge.point.is_delay()) {
        charged_[edge.point.pool_key()] += edge.ps;
        continue;
      }
      rest += edge.ps;
      if (edge.point.has_pool()) pools.insert(edge.point.pool_key());
    }
    path_.resize(height);
    for (const std::uint32_t pool : pools) charged_[pool] += rest / static_cast<double>(pools.size());
  }

  std::uint32_t node_;
  std::vector<Edge> path_;
  std::unordered_map<std::uint32_t, std::size_t> height_of_;  ///< of the places on the path
  ChargedTime charged_;
};

const StartRecord* last_departure(const CausalTrace& trace, std::uint32_t node) {
  for (auto start = trace.records().rbegin(); start != trace.records().rend(); ++start) {
    if (start->point.is_port() && start->point.node() == node) return &*start;
  }
  return nullptr;
}

}  // namespace

ChargedTime charge_critical_path(const CausalTrace& trace, std::uint32_t node) {
  const StartRecord* const last = last_departure(trace, node);
  if (last == nullptr) return {};
  Walk walk(node);
  const StartRecord* start = last;
  for (const StartRecord* from = trace.find(start->from); from != nullptr && from < start;
       from = trace.find(start->from)) {
    walk.step(*start, *from);
    start = from;
  }
  const TimePs window = last->at - std::min(last->at, trace.records().front().at);
  const TimePs walked = last->at - std::min(last->at, start->at);
  return 2 * walked < window ? ChargedTime() : walk.take();
}

}  // namespace mrc
