#include "traffic/expand_collectives.h"

#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "traffic/trace_error.h"
#include "traffic/trace_limits.h"
#include "traffic/workload_builder.h"

namespace mrc {
namespace {

/// Rank `rank`'s group of the kind of rank 0's `group`.
struct Members {
  std::uint32_t first;
  std::uint32_t stride;
  std::uint32_t size;

  std::uint32_t last() const { return first + (size - 1) * stride; }
  std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t i = 0; i < size; ++i) ranks.push_back(first + i * stride);
    return ranks;
  }
};

Members group_of(const RankGroup& group, std::uint32_t rank) {
  const auto size = static_cast<std::uint32_t>(group.ranks.size());
  const std::uint32_t stride = size > 1 ? group.ranks[1] - group.ranks[0] : 1;
  return {rank - rank / stride % size * stride, stride, size};
}

bool waits_across_ranks(const Workload& workload) {
  for (const WorkNode& node : workload.nodes) {
    for (std::uint32_t d = 0; d < node.dependents; ++d) {
      if (workload.nodes[workload.dependents[node.first_dependent + d]].rank != node.rank) return true;
    }
  }
  return false;
}

/// All collectives, none before one that it waits for at any rank; as in the trace where that allows it.
class CollectiveOrder {
 public:
  explicit CollectiveOrder(const Workload& in) : in_(in), waits_for_(in.nodes.size()), members_(in.collectives.size()) {
    for (std::uint32_t i = 0; i < in.nodes.size(); ++i) {
      const WorkNode& node = in.nodes[i];
      waits_for_[i] = node.dependencies + (node.kind == WorkKind::receive && node.match != kNoWork ? 1 : 0);
      if (node.kind == WorkKind::collective) members_[node.match].push_back(i);
    }
    for (const auto& members : members_) members_left_.push_back(members.size());
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t i = 0; i < in_.nodes.size(); ++i) {
      if (waits_for_[i] == 0) reach(i);
    }
    std::vector<std::uint32_t> order;
    for (;;) {
      while (!done_.empty()) release_next();
      if (ready_.empty()) break;
      order.push_back(ready_.top());
      ready_.pop();
      done_ = members_[order.back()];
    }
    // The rest wait for each other; the run will say so.
    for (std::uint32_t c = 0; c < members_left_.size(); ++c) {
      if (members_left_[c] > 0) order.push_back(c);
    }
    return order;
  }

 private:
  /// The node waits for nothing more.
  void reach(std::uint32_t i) {
    const WorkNode& node = in_.nodes[i];
    if (node.kind != WorkKind::collective) {
      done_.push_back(i);
    } else if (--members_left_[node.match] == 0) {
      ready_.push(node.match);
    }
  }
  void release_next() {
    const WorkNode& node = in_.nodes[done_.back()];
    done_.pop_back();
    if (node.kind == WorkKind::send && node.match != kNoWork) release(node.match);
    for (std::uint32_t d = 0; d < node.dependents; ++d) release(in_.dependents[node.first_dependent + d]);
  }
  void release(std::uint32_t i) {
    if (--waits_for_[i] == 0) reach(i);
  }

  const Workload& in_;
  std::vector<std::uint32_t> waits_for_;             ///< by node
  std::vector<std::vector<std::uint32_t>> members_;  ///< by collective: its nodes
  std::vector<std::size_t> members_left_;            ///< by collective: those that still wait
  std::vector<std::uint32_t> done_;                  ///< nodes whose dependents have not been told
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready_;  ///< collectives
};

class Expander {
 public:
  Expander(const Workload& in, const CollectiveOptions& options, TimePs launch_ps)
      : in_(in), options_(options), launch_ps_(launch_ps) {}

  Workload run() {
    for (const WorkNode& node : in_.nodes) add_node(node);
    for (const std::uint32_t c : order()) expand(c);
    for (std::uint32_t i = 0; i < in_.nodes.size(); ++i) add_edges(i);
    Workload out = builder_.finish(in_.ranks);
    out.source = in_.source;
    out.format = in_.format;
    out.groups = in_.groups;
    out.collectives = in_.collectives;
    out.spans = std::move(spans_);
    out.reductions = std::move(reductions_);
    return out;
  }

 private:
  /// In which collectives are expanded. Reductions of a group follow each other in it, so it must be one in which they
  /// can.
  std::vector<std::uint32_t> order() const {
    if (options_.all_reduce == AllReduceAlgorithm::in_network) return CollectiveOrder(in_).run();
    std::vector<std::uint32_t> as_in_trace(in_.collectives.size());
    std::iota(as_in_trace.begin(), as_in_trace.end(), 0U);
    return as_in_trace;
  }
  void add_node(WorkNode node) {
    node.first_dependent = node.dependents = node.dependencies = 0;
    if (node.kind == WorkKind::collective) {
      members_[node.match].push_back(static_cast<std::uint32_t>(builder_.size()));
      node.kind = WorkKind::compute;
      node.duration = launch_ps_;
      node.match = kNoWork;
      node.bytes = 0;
    }
    ends_.push_back(builder_.add(node));
  }
  const CollectiveSchedule& schedule(const Collective& collective) {
    const auto size = static_cast<std::uint32_t>(in_.groups[collective.group].ranks.size());
    const auto key = std::make_tuple(collective.kind, collective.bytes, size, collective.root);
    const auto it = schedules_.find(key);
    if (it != schedules_.end()) return it->second;
    try {
      return schedules_.emplace(key, make_schedule(collective.kind, collective.bytes, size, collective.root, options_))
          .first->second;
    } catch (const std::invalid_argument& error) {
      throw TraceError(in_.source, error.what());
    }
  }
  void expand(std::uint32_t number) {
    const Collective& collective = in_.collectives[number];
    const std::vector<std::uint32_t>& ranks = in_.groups[collective.group].ranks;
    std::map<std::uint32_t, std::uint32_t> node_of_rank;
    for (const std::uint32_t node : members_[number]) node_of_rank[builder_.at(node).rank] = node;
    const bool in_switches = collective.kind == CollectiveKind::all_reduce && ranks.size() > 1 &&
                             options_.all_reduce == AllReduceAlgorithm::in_network;
    const CollectiveSchedule* plan = in_switches ? nullptr : &schedule(collective);
    const std::uint64_t parts =
        in_switches ? std::uint64_t{options_.channels} * ranks.size() : 2 * plan->transfers.size();
    check_node_count(in_.source, builder_.size() + parts + ranks.size());
    std::vector<std::uint32_t> start(ranks.size());
    std::vector<std::uint32_t> end(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      start[i] = node_of_rank.at(ranks[i]);
      WorkNode last = builder_.at(start[i]);
      last.duration = 0;
      last.earliest = 0;
      end[i] = builder_.add(last);
      builder_.depend(end[i], start[i]);
      ends_[start[i]] = end[i];
      spans_.push_back({number, start[i], end[i]});
    }
    if (in_switches) {
      add_reductions(collective, start, end);
    } else {
      add_transfers(*plan, number, ranks, start, end);
    }
  }
  /// One for each channel, of which each rank has a part.
  void add_reductions(const Collective& collective, const std::vector<std::uint32_t>& start,
                      const std::vector<std::uint32_t>& end) {
    for (std::uint32_t channel = 0; channel < options_.channels; ++channel) {
      const std::uint64_t bytes = piece_bytes(collective.bytes, channel, options_.channels);
      if (bytes == 0) continue;
      const auto lane = static_cast<std::uint16_t>(channel);
      const auto position = static_cast<std::uint32_t>(reductions_.size());
      reductions_.push_back({bytes, collective.group, lane});
      for (std::size_t i = 0; i < start.size(); ++i) {
        WorkNode work = builder_.at(start[i]);
        work.kind = WorkKind::reduction;
        work.earliest = work.duration = 0;
        work.bytes = bytes;
        work.match = position;
        work.lane = lane;
        const std::uint32_t node = builder_.add(work);
        builder_.depend(node, start[i]);
        builder_.depend(end[i], node);
      }
    }
  }
  void add_transfers(const CollectiveSchedule& plan, std::uint32_t number, const std::vector<std::uint32_t>& ranks,
                     const std::vector<std::uint32_t>& start, const std::vector<std::uint32_t>& end) {
    const auto first = static_cast<std::uint32_t>(builder_.size());
    for (const Transfer& transfer : plan.transfers) {
      WorkNode work;
      work.origin = builder_.at(start[transfer.source]).origin;
      work.traffic_class = builder_.at(start[transfer.source]).traffic_class;
      work.job = builder_.at(start[transfer.source]).job;
      work.kind = WorkKind::send;
      work.rank = ranks[transfer.source];
      work.peer = ranks[transfer.destination];
      work.bytes = message_bytes(transfer);
      work.tag = number;
      work.lane = static_cast<std::uint16_t>(transfer.channel);
      const std::uint32_t send = builder_.add(work);
      work.origin = builder_.at(start[transfer.destination]).origin;
      work.kind = WorkKind::receive;
      std::swap(work.rank, work.peer);
      const std::uint32_t receive = builder_.add(work);
      builder_.match(send, receive);
      builder_.depend(send, start[transfer.source]);
      builder_.depend(receive, start[transfer.destination]);
      builder_.depend(end[transfer.source], send);
      builder_.depend(end[transfer.destination], receive);
    }
    for (std::uint32_t i = 0; i < plan.transfers.size(); ++i) {
      const Transfer& transfer = plan.transfers[i];
      for (std::uint32_t d = 0; d < transfer.dependents; ++d) {
        const std::uint32_t next = plan.dependents[transfer.first_dependent + d];
        builder_.depend(first + 2 * next, first + 2 * i + (plan.transfers[next].paced ? 0 : 1));
      }
    }
  }
  void add_edges(std::uint32_t index) {
    const WorkNode& node = in_.nodes[index];
    for (std::uint32_t d = 0; d < node.dependents; ++d) {
      const std::uint32_t dependent = in_.dependents[node.first_dependent + d];
      std::uint32_t before = ends_[index];
      if (in_.nodes[dependent].rank != node.rank) before = tell(before, node.rank, in_.nodes[dependent].rank);
      builder_.depend(dependent, before);
    }
  }
  /// A message by which `to` learns that `node` of `from` is done; returns its receive.
  std::uint32_t tell(std::uint32_t node, std::uint32_t from, std::uint32_t to) {
    check_node_count(in_.source, builder_.size() + 2);
    WorkNode work;
    work.origin = builder_.at(node).origin;
    work.traffic_class = builder_.at(node).traffic_class;
    work.job = builder_.at(node).job;
    work.kind = WorkKind::send;
    work.rank = from;
    work.peer = to;
    work.bytes = 1;
    const std::uint32_t send = builder_.add(work);
    work.kind = WorkKind::receive;
    std::swap(work.rank, work.peer);
    const std::uint32_t receive = builder_.add(work);
    builder_.match(send, receive);
    builder_.depend(send, node);
    return receive;
  }

  const Workload& in_;
  const CollectiveOptions& options_;
  TimePs launch_ps_;
  WorkloadBuilder builder_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> members_;  ///< nodes of a collective
  std::vector<std::uint32_t> ends_;                              ///< of each node of the trace
  std::vector<CollectiveSpan> spans_;
  std::vector<Reduction> reductions_;
  std::map<std::tuple<CollectiveKind, std::uint64_t, std::uint32_t, std::uint32_t>, CollectiveSchedule> schedules_;
};

}  // namespace

Workload replicate(Workload in) {
  if (!in.same_on_all_ranks) return in;
  check_node_count(in.source, std::uint64_t{in.ranks} * in.nodes.size());
  WorkloadBuilder builder;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> collective_of;  // of rank 0, first member → there
  for (std::uint32_t rank = 0; rank < in.ranks; ++rank) {
    for (WorkNode node : in.nodes) {
      node.rank = rank;
      node.first_dependent = node.dependents = node.dependencies = 0;
      if (node.kind == WorkKind::collective) {
        Collective collective = in.collectives[node.match];
        const Members members = group_of(in.groups[collective.group], rank);
        if (members.last() >= in.ranks) {
          throw TraceError(in.source, fmt::format("{} ranks do not fill groups of {}", in.ranks, members.size));
        }
        const auto [it, added] = collective_of.emplace(std::make_pair(node.match, members.first), 0U);
        if (added) {
          collective.group = builder.group(members.all());
          it->second = builder.collective(collective);
        }
        node.match = it->second;
      }
      builder.add(node);
    }
  }
  const auto each = static_cast<std::uint32_t>(in.nodes.size());
  for (std::uint32_t rank = 0; rank < in.ranks; ++rank) {
    for (std::uint32_t i = 0; i < each; ++i) {
      for (std::uint32_t d = 0; d < in.nodes[i].dependents; ++d)
        builder.depend(rank * each + in.dependents[in.nodes[i].first_dependent + d], rank * each + i);
    }
  }
  Workload out = builder.finish(in.ranks);
  out.source = std::move(in.source);
  out.format = std::move(in.format);
  return out;
}

Workload expand_collectives(Workload workload, const CollectiveOptions& options, TimePs launch_ps) {
  if (workload.ranks < 2 && !workload.collectives.empty()) {
    throw TraceError(workload.source, "holds collectives of one rank; traffic.ranks says over how many ranks they run");
  }
  workload = replicate(std::move(workload));
  if (workload.collectives.empty() && !waits_across_ranks(workload)) return workload;
  return Expander(workload, options, launch_ps).run();
}

Workload without_waits_across_ranks(Workload workload) {
  workload = replicate(std::move(workload));
  if (!waits_across_ranks(workload)) return workload;
  // Formats with such waits have no collectives, so none is lost here.
  const CollectiveOptions none;
  return Expander(workload, none, 0).run();
}

}  // namespace mrc
