// A scenario and a workload made into nodes and a fabric, run to its end, and summed up. One a process: the SystemC
// kernel cannot be built twice.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "endpoint/rocev2_endpoint.h"
#include "engine/occupancy.h"
#include "host/work_player.h"
#include "host/workload.h"
#include "nic/nic_rtl.h"
#include "parameters/config.h"
#include "results/perfetto_timeline.h"
#include "results/progress.h"
#include "results/run_result.h"
#include "results/wave_recorder.h"
#include "split/crossing.h"
#include "split/ranks.h"

namespace mrc {

/// A block of a node that RTL stands for or beside.
struct RtlSelection {
  std::string block;
  NodeId node = 0;
  RtlMode mode = RtlMode::rtl;
};

class PacketCapture;
class Recording;

struct SimulationOptions {
  std::vector<RtlSelection> rtl;
  /// Puts a selected block's RTL into its node's; throws std::invalid_argument for sizes that are not built.
  std::function<void(const RtlSelection&, const ScenarioConfig&, NicRtl&)> add_rtl;
  ProgressListener progress;  ///< shares are of the offered bytes
  std::string pcap;           ///< file to capture all ports' packets in; empty: none
  /// Asked for each buffer of a NIC what is to hear of its changes; may be empty, may answer null.
  std::function<LevelObserver*(const std::string& node, const Occupancy& buffer)> observe_buffer;
  WaveOptions waves;
  PerfettoOptions perfetto;
  std::uint64_t skip_memory_write = 0;  ///< see HostMemory::skip_write; on every node, 0: none
  Ranks* ranks = nullptr;               ///< that carry the run together; null: this process alone
};

/// Throws std::invalid_argument where none of the selected nodes has boxes.
void check_rtl_selections(const ScenarioConfig& scenario, const std::vector<RtlSelection>& selections);

class Simulation {
 public:
  /// Builds the model; `scenario` and `workload` outlive it. `nics_of_ranks` are the nodes of rank
  /// 0, of rank 1 …, traffic.nics_per_rank of each; throws std::invalid_argument where one rank's differ in fidelity.
  Simulation(const ScenarioConfig& scenario, const Workload& workload, const std::vector<NodeId>& nics_of_ranks,
             SimulationOptions options);
  ~Simulation();

  /// Runs until all work is done, nothing moves any more, the time is over, memory differs, RTL differs, or
  /// `interrupted`. On several ranks the result is rank 0's, the others have an empty one.
  RunResult run(const std::atomic<bool>& interrupted);

 private:
  struct Node;
  enum class End : std::uint8_t { over, stalled, out_of_time, interrupted };
  /// How far a run is, at the end of a step of the series: sums over nodes and ranks.
  struct State {
    std::uint64_t nodes_left = 0;
    std::uint64_t progress = 0;      ///< bytes
    std::uint64_t acknowledged = 0;  ///< bytes
    std::uint64_t computing = 0;
    std::uint64_t wrong = 0;
    std::uint64_t failed = 0;
    std::uint64_t interrupted = 0;
    std::uint64_t pending = 0;  ///< ranks on which anything is still to happen

    std::span<std::uint64_t> values() { return {&nodes_left, sizeof *this / sizeof nodes_left}; }
  };
  static constexpr std::size_t kMostQpWaits = 8;
  static constexpr std::size_t kMostWaitsANode = 2;
  static constexpr NodeId kNoNode = ~NodeId{0};

  void build_nodes();
  /// All but light endpoints without work, messages for them, or ports that go dark: those are not built.
  std::vector<bool> nodes_that_speak() const;
  /// Precondition: it speaks.
  Node& at(NodeId id) const { return *node_at_[id]; }
  /// Joins the players at the NICs of each rank.
  void build_siblings();
  /// Of each node the first of those whose NICs ranks share with it, directly or by others.
  std::vector<NodeId> first_siblings() const;
  bool counts_ev_states(const Node& node) const;
  void build_qps();
  void connect_pair(NodeId a, NodeId b, bool a_sends, bool b_sends);
  void build_channel(NodeId from, NodeId to);
  std::uint64_t longest_send(NodeId from, NodeId to) const;
  NicRtl make_rtl(NodeId node) const;

  End play(const std::atomic<bool>& interrupted);
  State state(const std::atomic<bool>& interrupted) const;
  void report_progress(std::uint64_t done, std::uint64_t offered) const;
  void build_recording();
  /// Runs the kernel for one step of the series, or to the end of the time that the run has.
  void advance();
  void set_faults(Node& node) const;
  /// Empties the path tables' short queues of events.
  void watch_evs();
  /// What the NICs did about faults goes into the log.
  void note_reactions();
  void collect_events(RunResult& result) const;
  void build_series();
  void sample_series();
  void build_queue_series();
  void sample_queues(std::vector<double>& row);
  std::vector<std::string> describe_stall() const;
  std::vector<std::string> qp_waits(const Node& node) const;

  // simulation_split.cpp
  /// Which nodes are this rank's; does nothing where it is alone.
  void build_split();
  /// With everything built: cuts the network.
  void join_ranks();
  /// Runs the kernel to `end`, on several ranks window by window.
  void run_until(TimePs end);
  void exchange();
  void answer(const PlacementQuestion& question);
  /// Makes rank 0 know what all ranks know.
  void gather();
  void take_in(ByteReader& from);

  void collect_one_way(RunResult& result) const;
  void collect_fabric(RunResult& result) const;
  void collect_accounts(RunResult& result) const;
  void collect_job(RunResult& result) const;
  Rocev2Counts rocev2_counts() const;
  RunResult collect(RunStatus status, std::vector<std::string> details);
  void collect_node(RunResult& result, const Node& node, TimePs end) const;
  /// Of the write slots of all nodes that `sender` sends to: share of their working time by what held them up.
  std::map<std::string, double> receiver_write_blocked(const Node& sender) const;
  /// Of all lost packets, the share that found no room behind a port of a NIC, by the full queue.
  std::map<std::string, double> lost_to_overruns(const Node& under_test) const;
  /// `end`: of the time that its limits speak of.
  void collect_under_test(RunResult& result, const Node& node, TimePs end) const;

  const ScenarioConfig& scenario_;
  const Workload& workload_;
  WorkPlacement placement_;
  std::map<std::pair<NodeId, NodeId>, std::uint64_t> longest_sends_;  ///< of a message between two nodes, in bytes
  SimulationOptions options_;
  TimePs quantum_ps_ = 0;
  std::unique_ptr<PacketCapture> capture_;
  std::unique_ptr<class Fabric> fabric_;
  std::unique_ptr<class FaultTimeline> faults_;
  std::unique_ptr<class FaultLog> fault_log_;
  std::unique_ptr<struct Split> split_;  ///< null: this process carries the whole run
  std::vector<Rocev2Counts> rocev2_elsewhere_;
  std::vector<std::unique_ptr<Node>> nodes_;  ///< that speak, in their order
  std::vector<Node*> node_at_;                ///< by number, null for a node that does not speak
  std::unique_ptr<Recording> recording_;
  Series series_;
  std::vector<const Occupancy*> sampled_buffers_;
  std::vector<std::uint32_t> queue_row_of_link_;  ///< among the queues' rows of the series; of switch ports
  std::uint32_t queue_rows_ = 0;
  std::vector<double> sample_;                        ///< one row of the series, reused
  std::vector<std::uint64_t> sampled_payload_bytes_;  ///< by plane, of the node under test, at the last sample
};

}  // namespace mrc
