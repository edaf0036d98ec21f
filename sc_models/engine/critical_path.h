// What limits a model whose starts are recorded: the chain of predecessors that came last, followed back from a packet
// that left. In steady state the throughput is that of the slowest cycle of this chain. A cycle is a server that never
// rests (its interval for each packet), or a loop of tokens (the time that a token is away).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/causal_trace.h"

namespace mrc {

/// Walks over traces of the same nodes and links. Nothing is allocated after construction.
class CriticalPath {
 public:
  /// Nodes and links of the trace are numbered from 0.
  CriticalPath(std::uint32_t nodes, std::uint32_t links);

  /// Walks back from the last start at a port of `node` that is before `until`, and whose predecessor is known, to the
  /// beginning of the window. Where a place comes again, the cycle is taken out and its time is attributed to its
  /// pools: a delay to what caused it, the rest in equal parts to the tokens that were waited for. Where nothing was
  /// waited for, one loop leads through the place twice, and the time stays in it. Time in which the ports of `node`
  /// send is attributed to nobody: they need `packet_ps` for a packet, all together, and each start of a server that
  /// follows its own last one has an equal part of that, so that a server as fast as the ports costs nothing. Time that
  /// closes no cycle is dropped. Nothing is attributed where the chain is lost in less than half of the window:
  /// something on its way records no starts.
  void walk(const CausalTrace& trace, std::uint32_t node, TimePs until = kNever, double packet_ps = 0);

  /// Instead of a walk, what messages of `node` waited for. Forgets what has been attributed before.
  void begin_messages(const CausalTrace& trace, std::uint32_t node, double packet_ps);
  /// Walks back from the start `end`, which completed a message, to the time at which it was posted, and attributes all
  /// of the time until `completed`: cycles as in a walk; what closes no cycle to what was waited for; to the line the
  /// time in which the ports of the node sent what was ahead, and of a server's interval what the ports need; the rest
  /// to the way itself. False, and nothing, where the trace does not have it.
  bool add_message(const CausalTrace& trace, StartId end, TimePs posted, TimePs completed);
  double line_ps() const { return line_; }
  double way_ps() const { return way_; }

  /// Of the last walk: time by pool, its sum, and the share of the window that is in cycles, the ports' included.
  double charged_ps(StartPoint pool) const { return charged_[number_of_pool(pool)]; }
  double total_ps() const { return total_; }
  double explained_share() const { return explained_; }
  /// The part of the walked time that is attributed to pools.
  double charged_share() const { return walked_ > 0 ? total_ / walked_ : 0; }

  /// Pools as numbers: causes of nodes, then links.
  std::size_t pools() const { return charged_.size(); }
  const std::vector<double>& charged() const { return charged_; }
  bool is_link(std::size_t pool) const { return pool >= first_link_pool_; }
  std::uint32_t link_of(std::size_t pool) const { return static_cast<std::uint32_t>(pool - first_link_pool_); }
  static std::uint32_t node_of(std::size_t pool) { return static_cast<std::uint32_t>(pool / CauseTable::kMost); }
  static Cause cause_of(std::size_t pool) { return Cause::at(pool % CauseTable::kMost); }

 private:
  /// From a start to its predecessor.
  struct Edge {
    StartPoint point;  ///< of the later start
    double ps = 0;     ///< to be attributed
    double span = 0;
  };

  std::size_t number_of_pool(StartPoint point) const;
  std::size_t number_of_place(StartPoint point) const;
  void step(std::uint32_t node, const StartRecord& start, const StartRecord& from);
  /// The edges from `height` on lead back to the place where they began.
  void close(std::size_t height);
  void charge(std::size_t pool, double ps);
  void leave(const Edge& edge);
  void share_sending(const CausalTrace& trace, std::uint32_t node, TimePs until, double packet_ps);

  std::size_t first_link_pool_;
  std::size_t first_link_place_;
  std::vector<Edge> path_;
  std::vector<std::uint32_t> height_of_;  ///< of the places on the path, from 1; 0: not on it
  std::vector<double> sent_ps_;           ///< by place: the ports' time for each of its starts
  std::vector<double> charged_;
  std::vector<std::uint32_t> cycle_of_;  ///< in which a pool was seen last
  std::vector<std::size_t> cycle_pools_;
  std::uint32_t cycle_ = 0;
  double total_ = 0;
  double in_cycles_ = 0;
  double explained_ = 0;
  double walked_ = 0;
  std::uint32_t node_ = 0;  ///< of the messages
  double line_ = 0;
  double way_ = 0;
};

}  // namespace mrc
