// Plays the ranks that sit on a node: starts what waits for nothing more, posts work requests to the node's device, and
// compares what arrived with what was sent before a buffer is used again. Has no clock: the device calls it.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <string>
#include <vector>

#include "engine/byte_stream.h"
#include "fabric/crossing.h"
#include "host/accelerator.h"
#include "host/job_result.h"
#include "host/live_work.h"
#include "host/skipped_time.h"
#include "host/workload.h"
#include "mrc/ring.h"
#include "node/cqe.h"
#include "node/node_context.h"
#include "pcie/host_memory.h"

namespace mrc {

/// Registered memory and QPs of a flow to one peer.
struct Channel {
  FlowKey flow;
  std::vector<std::uint32_t> qps;  ///< QP indices, used in turn
  std::uint64_t source_base = 0;   ///< region that messages are taken from, `source_bytes` long
  std::uint64_t source_bytes = 0;
  std::uint64_t destination_base = 0;  ///< region at the peer, `slots` x `slot_bytes`
  std::uint64_t slot_bytes = 0;        ///< longest piece of a message, a multiple of 4 KiB
  std::uint64_t slot_stride = 0;       ///< between slots, room for traffic.offset_bytes included
  std::uint32_t rkey = 0;
  HostMemory* peer_memory = nullptr;  ///< null: at another rank, which is asked
  std::vector<std::uint32_t> free_slots;
  Ring<std::uint32_t> pending;        ///< send nodes not wholly posted
  std::uint32_t without_room = 0;     ///< the first of `pending`, whose turn came while no slot was free
  std::uint64_t posted_of_first = 0;  ///< bytes of pending.front() already posted
  std::uint64_t sequence = 0;         ///< pieces posted
  std::uint32_t turn = 0;             ///< of qps, a message each
};

struct HostStatistics {
  TimePs first_doorbell = kNever;
  TimePs last_completion = 0;
  std::uint64_t acknowledged_bytes = 0;
  std::uint64_t local_bytes = 0;  ///< of messages between ranks of this node
  std::uint64_t received_bytes = 0;
  std::uint64_t messages_started = 0;
  std::uint64_t messages_completed = 0;
  std::uint64_t messages_failed = 0;
  std::uint64_t corrupted_bytes = 0;
  std::string first_corruption;  ///< where, empty without one
  TimePs first_corruption_at = kNever;
  std::string first_failure;
  std::vector<TimePs> message_times;
  /// Of the same messages, only with run.message_causes.
  struct MessageEnd {
    TimePs at = 0;
    StartId because = 0;  ///< start that completed it
  };
  std::vector<MessageEnd> message_ends;
};

/// Which work lies on which node, made once and shared by all players.
struct WorkPlacement {
  /// Rank r has the NICs r * nics_per_rank … of `nics_of_ranks`.
  WorkPlacement(const Workload& workload, const std::vector<NodeId>& nics_of_ranks, std::uint32_t nics_per_rank,
                std::uint32_t nodes);

  /// Where software does this work: a message's at the NIC that carries it, all other at the rank's first.
  NodeId node_of(const WorkNode& work) const { return nics_of_ranks[nic_index(work.rank, work.lane)]; }
  NodeId peer_node_of(const WorkNode& message) const { return nics_of_ranks[nic_index(message.peer, message.lane)]; }
  /// A message to another node, or a part of a reduction in switches.
  bool leaves_node(const WorkNode& work) const {
    return is_sent(work) && (work.kind == WorkKind::reduction || peer_node_of(work) != node_of(work));
  }
  std::uint32_t nic_index(std::uint32_t rank, std::uint32_t lane) const {
    return nics_per_rank == 1 ? rank : rank * nics_per_rank + lane % nics_per_rank;
  }

  /// Of each node the first of those whose NICs ranks share with it, directly or by others.
  std::vector<NodeId> first_siblings() const;

  const Workload* workload;
  std::vector<NodeId> nics_of_ranks;
  std::uint32_t nics_per_rank;
  std::vector<std::uint32_t> local;                 ///< work → its position among its node's
  std::vector<std::vector<std::uint32_t>> of_node;  ///< node → its work, in order
};

/// What a player posts to.
class WorkDevice {
 public:
  virtual ~WorkDevice() = default;
  /// False: no room for another work request; the device calls WorkPlayer::step() when there is.
  virtual bool can_post(TimePs now) = 0;
  /// `doorbell_at`: when software has built it.
  virtual void post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs doorbell_at) = 0;
  /// A reduction in switches, by its node of work; WorkPlayer::reduction_completed() follows. Only devices that can.
  virtual void reduce(TimePs now, std::uint32_t work, TimePs doorbell_at);
  /// A message has begun; its last part is complete.
  virtual void message_begun(TimePs now) = 0;
  virtual void message_completed(TimePs now) = 0;
  /// All work of the node is done.
  virtual void work_done(TimePs now) = 0;
  /// Software has started work here at another NIC of the same rank: WorkPlayer::step() is due.
  virtual void work_arrived(TimePs now) = 0;
};

class WorkPlayer {
 public:
  WorkPlayer(NodeContext& nic, WorkDevice& device, HostMemory& memory, const WorkPlacement& placement);

  void add_channel(Channel channel);
  /// Takes what is to be asked of peers at other ranks.
  void set_questions(std::vector<PlacementQuestion>& questions) { questions_ = &questions; }
  /// Of a completed message of this node: what was placed at its receiver is not what was sent.
  void misplaced(const PlacementQuestion& question, const PlacementTally& placed);
  /// What the player knows at the end of a run, for get_state() of its double at another rank.
  void put_state(ByteWriter& to) const;
  void get_state(ByteReader& from);
  /// Outlives the player; without it no time is skipped.
  void set_skipped_time(const SkippedTime& skipped) { skipped_ = &skipped; }
  /// The player at another NIC of the same accelerator, in the same wheel.
  void add_sibling(NodeId node, WorkPlayer& sibling) { siblings_[node] = &sibling; }

  // Work of LiveWork, one open() and close() a rank. The node has work left until all are closed.
  void open(LiveSoftware& software);
  void close(TimePs now);
  /// The placement has another work of this node, which waits for begin_added().
  void add_state() { states_.push_back({.waits_for = 1}); }
  void begin_added(TimePs now, std::uint32_t node);
  void call_at(TimePs at, std::uint32_t token) { alarms_.push({at, token, AlarmKind::call}); }

  /// Lists everything that waits for nothing; afterwards next_alarm() says when step() is due.
  void start();
  /// Does what is due at `now`, and posts what there is room for.
  void step(TimePs now);
  /// Software posts no message to this QP from now on until it may; one that has begun is posted to its end.
  void hold(std::uint32_t qp);
  /// step() follows.
  void end_hold(std::uint32_t qp);
  /// Some pieces of a message to this QP are posted, and others are not.
  bool is_posting_to(std::uint32_t qp) const;

  /// When step() is due next, kNever while it waits for completions only.
  TimePs next_alarm() const { return alarms_.empty() ? kNever : alarms_.top().at; }

  /// Software has seen the completion of a send, or a receive that carries `immediate`. step() follows.
  void send_completed(TimePs now, const Cqe& cqe);
  void receive_completed(TimePs now, const Cqe& cqe);

  /// Of a reduction of this host: a part is there, with what was wrong with it, if anything was; all of it is there.
  void part_reduced(TimePs now, std::uint32_t work, std::uint32_t bytes, const std::string& wrong);
  void reduction_completed(TimePs now, std::uint32_t work);

  /// A message of which software has posted some pieces and not the others.
  struct Posting {
    std::uint32_t channel = 0;
    std::uint32_t work = 0;
    std::uint64_t bytes_left = 0;  ///< to be posted, at least 1
    std::uint64_t piece_bytes = 0;
    const std::vector<std::uint32_t>* qps = nullptr;  ///< of the channel
  };
  std::vector<Posting> postings() const;
  /// Messages of which a piece was posted and that are not complete; at least postings().
  std::uint32_t messages_under_way() const { return messages_under_way_; }
  /// So many pieces of the message that `channel` is posting count as delivered. Preconditions: what is left is longer;
  /// messages are not split over QPs.
  void skip_pieces(std::uint32_t channel, std::uint64_t pieces);
  /// What software waits for by time comes so much earlier by the kernel's clock. Preconditions: next_alarm() is not
  /// earlier than that; step() follows.
  void skip_time(TimePs now, TimePs time);

  bool has_pending() const { return pending_channels_ > 0; }
  std::uint64_t nodes_left() const { return nodes_left_; }
  const HostStatistics& statistics() const { return statistics_; }
  /// For software that is not the player's.
  HostStatistics& statistics() { return statistics_; }
  /// When a send of this host was posted; precondition: it was.
  TimePs posted_at(std::uint32_t node) const { return run_time(states_[placement_.local[node]].posted_at); }
  /// Of a node of work of this host.
  WorkTimes times(std::uint32_t node) const {
    const NodeState& node_state = states_[placement_.local[node]];
    return {run_time(node_state.started_at), run_time(node_state.done_at)};
  }
  /// A send of this host has ended, in an error of its QP.
  bool failed(std::uint32_t node) const { return states_[placement_.local[node]].failed; }
  /// When software of this host could act on a receive, kNever while it cannot.
  TimePs known_at(std::uint32_t node) const {
    const NodeState& node_state = states_[placement_.local[node]];
    return node_state.arrived ? run_time(node_state.known_at) : kNever;
  }
  /// Bytes of the messages that were completed or received; grows while the node makes progress.
  std::uint64_t progress() const { return progress_; }
  /// A computation is under way, or work has a start that has not come: waiting for these is not a stall.
  bool computing() const { return !alarms_.empty(); }
  /// The nodes that have started and wait, at most `most` lines.
  std::vector<std::string> describe_waits(std::size_t most) const;

 private:
  enum class AlarmKind : std::uint8_t {
    start,   ///< its earliest time has come
    staged,  ///< of a send or reduction: its bytes have been copied to host memory
    done,    ///< its computation or local message is done, or what was received may be used
    call,    ///< of live software, with its token instead of a node
  };
  struct Alarm {
    TimePs at;
    std::uint32_t node;
    AlarmKind kind;
    friend bool operator>(const Alarm& a, const Alarm& b) { return a.at != b.at ? a.at > b.at : a.node > b.node; }
  };
  struct NodeState {
    std::uint32_t waits_for = 0;
    std::uint32_t chunks_left = 0;
    TimePs posted_at = 0;
    TimePs started_at = kNever;
    TimePs done_at = kNever;
    TimePs known_at = 0;   ///< receive: software acts on the message from here on
    bool arrived = false;  ///< a receive whose message is there before it was asked for
    bool started = false;
    bool done = false;
    bool failed = false;  ///< one of its pieces ended in a QP error
  };
  /// One posted work request.
  struct Chunk {
    std::uint64_t source = 0;
    std::uint64_t destination = 0;
    std::uint32_t bytes = 0;
    std::uint32_t node = 0;
    std::uint32_t slot = 0;
    std::uint32_t channel = 0;
  };

  const Workload& workload() const { return *placement_.workload; }
  TimePs run_time(TimePs at) const { return skipped_ == nullptr ? at : skipped_->run_time(at); }
  NodeState& state(std::uint32_t node) { return states_[placement_.local[node]]; }
  void begin(TimePs now, std::uint32_t node);
  void begin_send(TimePs now, std::uint32_t node);
  void begin_reduction(TimePs now, std::uint32_t node);
  /// When software may use `bytes` of a rank that have arrived now.
  TimePs usable_at(TimePs now, const WorkNode& work);
  /// One thing less to wait for.
  void release(TimePs now, std::uint32_t node);
  void finish_receive(TimePs now, std::uint32_t node);
  void note_completion(TimePs now, const NodeState& message, StartId because);
  void finish(TimePs now, std::uint32_t node);
  void release_dependents(TimePs now, std::uint32_t node);
  void finish_local_send(TimePs now, std::uint32_t node);
  void fire_alarms(TimePs now);
  void post_all(TimePs now);
  /// Posts the channel's first message, as far as slots are free and the device has room.
  enum class PostOutcome : std::uint8_t { posted, no_slot, device_full, qp_held };
  PostOutcome post_message(TimePs now, std::uint32_t channel_index);
  /// Of the channel's first message.
  static std::uint32_t qp_of(const Channel& channel) { return channel.qps[channel.turn % channel.qps.size()]; }
  bool is_held(const Channel& channel) const;
  /// Of a message that all QPs of a pair carry together.
  std::uint64_t piece_of_qp(std::uint64_t message_bytes) const;
  void post_piece(TimePs now, Channel& channel, std::uint32_t channel_index);
  std::uint64_t source_offset(const Channel& channel, std::uint64_t bytes) const;
  void compare(TimePs now, const Chunk& chunk, const Channel& channel);
  std::uint64_t differing_bytes(const Chunk& chunk, const Channel& channel, std::uint64_t& first) const;

  NodeContext& nic_;
  WorkDevice& device_;
  HostMemory& memory_;
  const WorkPlacement& placement_;
  Accelerator accelerator_;
  std::vector<NodeState> states_;
  std::vector<Channel> channels_;
  FlowKey flow_of(const WorkNode& message) const {
    return {placement_.peer_node_of(message), nic_.scenario.traffic.tenants.separate ? message.job : std::uint8_t{0},
            message.traffic_class};
  }
  Ring<std::uint32_t>& turns_of(const Channel& channel) { return turns_[channel.flow.traffic_class]; }

  /// By traffic class, the channel of each message that has begun and may have room, in the order in which they began:
  /// that of the trace where they begin at one time.
  std::vector<Ring<std::uint32_t>> turns_;
  std::uint32_t pending_channels_ = 0;
  std::map<FlowKey, std::uint32_t> channel_of_flow_;
  std::map<NodeId, WorkPlayer*> siblings_;
  std::vector<bool> held_;                    ///< by QP; empty: none ever was
  std::vector<std::uint32_t> held_channels_;  ///< for each message whose turn came while its QP was held
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> free_chunks_;
  std::priority_queue<Alarm, std::vector<Alarm>, std::greater<>> alarms_;
  std::uint64_t nodes_left_ = 0;
  std::uint32_t messages_under_way_ = 0;
  std::uint64_t progress_ = 0;
  HostStatistics statistics_;
  std::vector<PlacementQuestion>* questions_ = nullptr;
  const SkippedTime* skipped_ = nullptr;
  LiveSoftware* software_ = nullptr;  ///< null: all work was known before the run
};

/// What one write a packet of a message leaves in its receiver's tally.
PlacementTally wanted_placement(std::uint64_t destination, std::uint64_t bytes, std::uint32_t mtu_bytes);

}  // namespace mrc
