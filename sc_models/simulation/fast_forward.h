// Skips time in which the traffic of a run is steady (run.fast_forward_percent). Software then posts fewer pieces of
// each message that it is posting, as many as would have been delivered in that time: the NICs and the fabric go on as
// if nothing had happened. docs/fast_forward.md.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/cause.h"
#include "results/run_result.h"
#include "simulation/model.h"

namespace mrc {

class FastForward {
 public:
  /// The model is built; `model` outlives it. Throws std::invalid_argument for what a run with skipped time has not.
  explicit FastForward(Model& model);

  /// At the end of each step of the series.
  void look(TimePs now);
  /// Zeros where it is not asked for.
  FastForwardResult finish() const;

 private:
  /// While it stays the same, traffic may be steady.
  struct Phase {
    std::uint64_t work_left = 0;
    std::uint64_t messages_started = 0;
    std::uint64_t messages_under_way = 0;
    std::vector<std::uint32_t> posting;  ///< work
    friend bool operator==(const Phase&, const Phase&) = default;
  };
  struct NodeMark {
    Nic::Sent sent;              ///< of a light endpoint the counters only
    PerCause<TimePs> idle_ps{};  ///< of the node under test
    std::array<TimePs, kCutCauses> retransmission_ps{};
    std::vector<Psn> acknowledged;  ///< of the QPs of all messages that are posted, where there are several
  };
  struct Mark {
    TimePs at = 0;
    std::vector<NodeMark> nodes;
  };
  /// What each message has sent since the first mark, in the order of flows().
  struct Point {
    TimePs at = 0;
    std::vector<double> bytes;
  };
  /// A message that a node posts.
  struct Flow {
    std::size_t node = 0;      ///< index in Model::nodes
    std::size_t first_qp = 0;  ///< in NodeMark::acknowledged
    WorkPlayer::Posting posting;
    bool is_under_test = false;
  };

  Phase phase() const;
  std::uint32_t cut_causes() const;
  void begin(TimePs now);
  Mark mark(TimePs now) const;
  NodeMark mark_of(const SimulationNode& node, TimePs now) const;
  std::vector<Flow> flows() const;
  double bytes_since_first(const Mark& now, const Flow& flow) const;
  void add_point(TimePs now);
  void double_windows();
  bool has_retransmissions(const Mark& now) const;
  bool is_steady(std::size_t flow) const;
  /// All that is under way is a message that is being posted.
  bool is_whole() const;
  TimePs most_time(TimePs now) const;
  /// False where it is too little to be worth it.
  bool skip(const Mark& now);
  void count_skipped(TimePs time, const Mark& now);

  Model& model_;
  double within_;  ///< of a rate, as a share; 0: never
  TimePs start_ps_;
  TimePs first_window_ps_;
  TimePs last_fault_ps_ = 0;
  Phase phase_;
  std::uint32_t cut_causes_ = 0;  ///< since the phase began, a bit each
  TimePs next_point_at_ = 0;
  TimePs window_ps_ = 0;
  Mark first_;
  std::vector<Point> points_;  ///< ends of windows; the first is that of the first mark
  FastForwardResult result_;
};

}  // namespace mrc
