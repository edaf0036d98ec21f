#include "engine/critical_path.h"

#include <algorithm>

namespace mrc {
namespace {

const StartRecord* last_departure(const CausalTrace& trace, std::uint32_t node, TimePs until) {
  const StartRecord* last = nullptr;
  for (const StartRecord& start : trace.records()) {
    if (!start.point.is_port() || start.point.node() != node || start.at >= until) continue;
    if (trace.find(start.from) == nullptr) continue;
    if (last == nullptr || start.at >= last->at) last = &start;
  }
  return last;
}

}  // namespace

CriticalPath::CriticalPath(std::uint32_t nodes, std::uint32_t links)
    : first_link_pool_(std::size_t{nodes} * CauseTable::kMost),
      first_link_place_(std::size_t{nodes} * StartPoint::kMostPlaces),
      height_of_(first_link_place_ + links),
      sent_ps_(height_of_.size()),
      charged_(first_link_pool_ + links),
      cycle_of_(charged_.size()) {
  path_.reserve(height_of_.size() + 1);
  cycle_pools_.reserve(path_.capacity());
}

std::size_t CriticalPath::number_of_pool(StartPoint point) const {
  return point.is_link() ? first_link_pool_ + point.link()
                         : std::size_t{point.node()} * CauseTable::kMost + point.pool().index();
}

std::size_t CriticalPath::number_of_place(StartPoint point) const {
  return point.is_link() ? first_link_place_ + point.link()
                         : std::size_t{point.node()} * StartPoint::kMostPlaces + point.place();
}

void CriticalPath::charge(std::size_t pool, double ps) {
  charged_[pool] += ps;
  total_ += ps;
}

void CriticalPath::step(std::uint32_t node, const StartRecord& start, const StartRecord& from) {
  std::uint32_t& height = height_of_[number_of_place(start.point)];
  if (height != 0) close(height - 1);
  height = static_cast<std::uint32_t>(path_.size() + 1);
  const bool sends = start.point.is_port() && start.point.node() == node && start.point.has_pool();
  const auto span = static_cast<double>(start.at > from.at ? start.at - from.at : 0);
  path_.push_back({start.point, sends ? 0.0 : span, span});
  if (sends) line_ += span;
}

void CriticalPath::share_sending(const CausalTrace& trace, std::uint32_t node, TimePs until, double packet_ps) {
  std::fill(sent_ps_.begin(), sent_ps_.end(), 0.0);
  double sent = 0;
  for (const StartRecord& start : trace.records()) {
    if (start.at >= until) continue;
    ++sent_ps_[number_of_place(start.point)];
    if (start.point.is_port() && start.point.node() == node) sent += packet_ps;
  }
  for (double& place : sent_ps_) place = place > 0 ? sent / place : 0;
}

void CriticalPath::close(std::size_t height) {
  double rest = 0;
  double span = 0;
  bool waited = false;
  ++cycle_;
  cycle_pools_.clear();
  for (std::size_t i = height; i < path_.size(); ++i) {
    const Edge& edge = path_[i];
    height_of_[number_of_place(edge.point)] = 0;
    span += edge.span;
    if (edge.point.is_delay()) {
      charge(number_of_pool(edge.point), edge.ps);
      waited = true;
      continue;
    }
    rest += edge.ps;
    if (!edge.point.has_pool()) continue;
    waited = true;
    const std::size_t pool = number_of_pool(edge.point);
    if (cycle_of_[pool] == cycle_) continue;
    cycle_of_[pool] = cycle_;
    cycle_pools_.push_back(pool);
  }
  // A server that follows itself.
  if (path_.size() == height + 1) {
    const double sent = std::min(rest, sent_ps_[number_of_place(path_.back().point)]);
    rest -= sent;
    line_ += sent;
  }
  path_.resize(height);
  if (!waited && !path_.empty()) {
    // Nothing was waited for: one way leads through the place twice, such as a WQE's and its payload's read.
    path_.back().ps += rest;
    path_.back().span += span;
    return;
  }
  in_cycles_ += span;
  if (cycle_pools_.empty()) way_ += rest;
  for (const std::size_t pool : cycle_pools_) charge(pool, rest / static_cast<double>(cycle_pools_.size()));
}

void CriticalPath::walk(const CausalTrace& trace, std::uint32_t node, TimePs until, double packet_ps) {
  std::fill(charged_.begin(), charged_.end(), 0.0);
  total_ = in_cycles_ = explained_ = walked_ = 0;
  const StartRecord* const last = last_departure(trace, node, until);
  if (last == nullptr) return;
  share_sending(trace, node, until, packet_ps);
  const StartRecord* start = last;
  for (const StartRecord* from = trace.find(start->from); from != nullptr && from < start;
       from = trace.find(start->from)) {
    step(node, *start, *from);
    start = from;
  }
  for (const Edge& edge : path_) height_of_[number_of_place(edge.point)] = 0;
  path_.clear();
  const TimePs window = last->at - std::min(last->at, trace.began_at());
  const TimePs walked = last->at - std::min(last->at, start->at);
  walked_ = static_cast<double>(walked);
  if (window > 0) explained_ = in_cycles_ / static_cast<double>(window);
  if (2 * walked >= window) return;
  std::fill(charged_.begin(), charged_.end(), 0.0);
  total_ = 0;
}

void CriticalPath::begin_messages(const CausalTrace& trace, std::uint32_t node, double packet_ps) {
  std::fill(charged_.begin(), charged_.end(), 0.0);
  total_ = line_ = way_ = 0;
  node_ = node;
  share_sending(trace, node, kNever, packet_ps);
}

/// It is part of no cycle.
void CriticalPath::leave(const Edge& edge) {
  height_of_[number_of_place(edge.point)] = 0;
  if (edge.point.has_pool()) {
    charge(number_of_pool(edge.point), edge.ps);
  } else {
    way_ += edge.ps;
  }
}

bool CriticalPath::add_message(const CausalTrace& trace, StartId end, TimePs posted, TimePs completed) {
  const StartRecord* start = trace.find(end);
  if (start == nullptr || start->at > completed || start->at < posted) return false;
  way_ += static_cast<double>(completed - start->at);
  while (start->at > posted) {
    const StartRecord* const from = trace.find(start->from);
    if (from == nullptr || from >= start) break;
    StartRecord begin = *from;
    begin.at = std::max(begin.at, posted);
    step(node_, *start, begin);
    start = from;
  }
  for (const Edge& edge : path_) leave(edge);
  path_.clear();
  if (start->at > posted) way_ += static_cast<double>(start->at - posted);
  return true;
}

}  // namespace mrc
