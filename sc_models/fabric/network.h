// All switches, cables and light endpoints of the fabric on one event queue of their own: plain objects, no SystemC. A
// hop costs one event where nobody waits, and two where somebody does. Where nodes and switches take turns (see
// run_in_turns()), packets that wait in a port cost one event per turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/byte_stream.h"
#include "engine/causal_trace.h"
#include "engine/recorder.h"
#include "engine/same_time.h"
#include "engine/zeroed_array.h"
#include "fabric/crossing.h"
#include "fabric/event_queue.h"
#include "fabric/impairment.h"
#include "fabric/link.h"
#include "fabric/link_errors.h"
#include "fabric/link_faults.h"
#include "fabric/partition.h"
#include "fabric/round_queue.h"
#include "fabric/switch_port.h"
#include "fabric/switch_reduction.h"
#include "fabric/topology.h"
#include "fabric/transit.h"
#include "parameters/config.h"
#include "parameters/link_bytes.h"
#include "parameters/transport.h"

namespace mrc {

/// Of one link, from the beginning of the run.
struct LinkUse {
  double sent_bytes = 0;     ///< preamble and gap included; of the packet on the line what has left
  double waiting_bytes = 0;  ///< the rest of that packet, and the queue
  double slow_ps = 0;        ///< by which sending took longer than at the full rate
  double retry_ps = 0;       ///< in which the link repeated damaged frames
};

/// How long a link was held by retransmissions of its own.
struct LinkRetries {
  TimePs all_ps = 0;
  TimePs last_frame_ps = 0;

  void add_frame(TimePs delay_ps) {
    all_ps += delay_ps;
    last_frame_ps = delay_ps;
  }
};

/// A node that lives on the fabric's own events.
class NetworkNode {
 public:
  virtual ~NetworkNode() = default;
  /// The last bit of a packet has come in through `plane`; the packet is gone after the call.
  virtual void receive(TimePs now, std::uint32_t plane, const Packet& packet) = 0;
  /// Likewise, of a packet of a reduction, where the node has a part in one.
  virtual void receive_result(TimePs /*now*/, const Packet& /*packet*/) {}
  /// The line of its port in `plane` is free, and nothing waits before it.
  virtual void port_free(TimePs now, std::uint32_t plane) = 0;
  /// What its port in `plane` has to send takes another time from now on.
  virtual void port_busy_changed(TimePs /*now*/, std::uint32_t /*plane*/) {}
  /// The time of its last set_timer() has come; earlier requests may call too.
  virtual void timer(TimePs now) = 0;

  // Calls that change nothing: what an event a little later is going to touch may be asked for now (engine/prefetch.h).
  // Depth 0 finds the node's first lines and the packet in the cache, depth 1 what depth 0 has asked for.
  static constexpr std::size_t kExpectedBytes = 128;
  virtual void expect_packet(const Packet&, unsigned /*depth*/) const {}
  virtual void expect_port_free(unsigned /*depth*/) const {}
};

class Network : private ReductionPorts {
 public:
  /// `scenario` outlives it.
  explicit Network(const ScenarioConfig& scenario);

  const Topology& topology() const { return topology_; }

  /// `node` is a light endpoint whose ports add `mac_ps` to both directions of their cables. Its packets find one of
  /// `qps` QPs.
  void attach(NodeId id, NetworkNode& node, TimePs mac_ps = 0, std::size_t qps = 0);
  /// Packets to `node` through `plane` leave the network on `link`.
  void attach(NodeId id, std::uint32_t plane, Link& link) {
    exits_[topology_.downlink_to(id, plane)] = &link;
    turns_allowed_ = false;
  }
  /// A packet whose first and last bit reach the T0 of `plane` from `node` at these times.
  void enter(NodeId node, std::uint32_t plane, TimePs first_bit, TimePs last_bit, const Packet& packet);

  /// Light endpoints: an empty transit for a packet to send, filled in by the caller.
  std::uint32_t new_transit() { return transits_.acquire(); }
  Packet& packet_of(std::uint32_t transit) { return transits_[transit].packet; }
  /// Sends from a light endpoint, or queues by class behind what is on the line. Returns when the line will be free.
  TimePs send(TimePs now, NodeId node, std::uint32_t plane, std::uint32_t transit);
  /// Calls port_free() as soon as the line is free and the queues are empty.
  void notify_when_free(TimePs now, NodeId node, std::uint32_t plane);
  void set_timer(TimePs at, NodeId node) { push(at, FabricEventKind::timer, node); }

  /// Switches add for these groups of light endpoints. Before the run.
  void reduce_for(const std::vector<std::vector<NodeId>>& groups) {
    ReductionPorts& ports = *this;
    reduction_ = std::make_unique<SwitchReduction>(scenario_, topology_, groups, ports);
    turns_allowed_ = false;
  }
  /// Null where no switch adds.
  const SwitchReduction* reduction() const { return reduction_.get(); }
  bool pauses_senders() const { return pause_law_.on; }

  /// Everything that is due before `horizon`: in order of time, or in an order that no node can tell from it.
  void run_before(TimePs horizon);
  /// Somebody outside looks at what several nodes do, in order of time.
  void keep_order_of_time() { turns_allowed_ = false; }
  /// No turns are taken where they would be shorter. At least 2 ps; affects only the run time.
  void set_shortest_turn(TimePs turn_ps) { shortest_turn_ps_ = turn_ps; }
  /// See RoundQueue.
  void set_most_events_of_round(std::size_t events) { rounds_.set_most_events(events); }
  TimePs next_time() const { return takes_turns_ ? rounds_.next_time() : events_.next_time(); }
  /// Time of the event that is being served.
  TimePs now() const { return now_; }

  // What faults act on. A link is named by the port that sends on it (Topology::port_name).
  /// What is on a link that goes down, or is sent into it, is lost.
  void set_link_down(std::uint32_t link, bool down) {
    ends_[link].down = down;
    ends_[link].faulty = down || link_faults_.contains(link);
    turns_allowed_ = false;
  }
  /// PFC: the T0 of `plane` takes no data from this light endpoint; port_free() follows when it does again.
  bool data_paused(NodeId node, std::uint32_t plane) const { return ports_[topology_.uplink_of(node, plane)].paused; }
  bool link_down(std::uint32_t link) const { return ends_[link].down; }
  /// Rate of the sending port from its next packet on; not for the port of a detailed NIC, which keeps its own line.
  void set_link_gbps(std::uint32_t link, double gbps);
  /// When all has left that the sending port of the link has now.
  TimePs free_at(std::uint32_t link) const {
    const SwitchPort& port = ports_[link];
    return port.empty() ? port.line.free_at() : port.line.free_at() + port.line.duration(port.queued_bytes);
  }
  /// What the sending port of the link has put on it until `now`.
  LinkUse use_of(std::uint32_t link, TimePs now) const;
  /// Damage at the end of the link; null: none.
  void set_impairment(std::uint32_t link, std::unique_ptr<Impairment> impairment) {
    ends_[link].impaired = impairment != nullptr;
    impairments_.insert_or_assign(link, std::move(impairment));
  }

  /// Levels of the queues and lost packets are told; `object_of_link`: RecorderTap::kNoObject where nobody watches.
  /// Before the run.
  void record_to(Recorder& recorder, std::vector<std::uint32_t> object_of_link) {
    recorder_ = &recorder;
    object_of_link_ = std::move(object_of_link);
    turns_allowed_ = false;
  }
  /// Starts of packets on links are recorded. Before the run.
  void trace_to(CausalTrace& trace) {
    trace_ = &trace;
    turns_allowed_ = false;
  }
  /// What a timeline has in store for the link; told before the run. Null: nothing.
  void set_faults(std::uint32_t link, std::unique_ptr<LinkFaults> faults) {
    ends_[link].faulty = ends_[link].down || faults != nullptr;
    turns_allowed_ = false;
    link_faults_.erase(link);
    if (faults != nullptr) link_faults_.emplace(link, std::move(faults));
  }
  /// As set_link_gbps(), at a time to come. Before the run.
  void change_link_gbps_at(TimePs at, std::uint32_t link, double gbps) {
    turns_allowed_ = false;
    events_.push(at, FabricEventKind::rate_change, 0, static_cast<std::uint32_t>(rate_changes_.size()));
    rate_changes_.push_back({link, gbps});
  }
  /// Is told of every retransmission that enters the network; null: nobody is.
  void set_fault_records(std::vector<FaultRecord>* records) { fault_records_ = records; }
  /// Takes down what would change the records, which several ranks share; null: they are changed here.
  void set_fault_journal(FaultJournal* journal) { fault_journal_ = journal; }

  // A run on several ranks: each carries the switches and nodes that it owns, on links that all of them know.
  /// Everything is attached. `partition` and `out`, by rank, outlive the network.
  void split(const Partition& partition, std::uint32_t rank, std::vector<Crossings>& out);
  /// Shortest time from an event here until what it sends over a cut link acts at another rank; kNever without one.
  TimePs lookahead_ps() const;
  void enter(const PacketCrossing& crossing);
  void enter(const PauseCrossing& crossing) {
    push(crossing.at, FabricEventKind::service, crossing.link, crossing.service);
  }
  /// What this rank counted, for add_counts() at another.
  void put_counts(ByteWriter& to) const;
  void add_counts(ByteReader& from);

  /// By link; those that no packet visited have counted nothing, and their other members say nothing.
  const ZeroedArray<SwitchPort>& ports() const { return ports_; }
  PortCounters counters(std::uint32_t link) const;
  /// Links whose port a packet, a pause or a new rate has visited, in their order. Who reads the ports of others makes
  /// their memory resident, on some kernels.
  std::vector<std::uint32_t> visited_links() const;
  /// Ports of switches where a packet has waited, each once.
  const std::vector<std::uint32_t>& links_with_queues() const { return links_with_queues_; }
  ImpairmentCounts impairments() const;
  /// Frames that bit errors damaged: lost, or repeated by their link.
  std::uint64_t damaged_frames() const { return damaged_frames_; }
  std::uint64_t without_route() const { return without_route_; }
  std::uint64_t lost_on_down_links() const { return lost_on_down_links_; }
  /// Packets lost or damaged on a link, by link; not those that found no room in its port.
  const ZeroedArray<std::uint64_t>& lost_on_links() const { return lost_on_; }
  std::uint64_t events() const { return events_done_; }
  std::uint64_t packets_inside() const { return transits_.in_use() + inside_elsewhere_; }

 private:
  /// The timer of the switches that add, behind those of nodes.
  static constexpr std::uint32_t kSwitchesTimer = FabricEventQueue::kMostTargets - 1;
  static_assert(kMostLinks <= FabricEventQueue::kMostTargets);
  enum Law : std::uint8_t { not_visited, at_nic, t0_up, t0_down, above, laws };

  /// What links and switches do for packets of a transport.
  struct TransportRules {
    TransportRules(const ScenarioConfig& scenario, const Transport& transport, FabricRouting routing);
    LinkBytes link_bytes;
    bool usid;
    bool keeps_order;  ///< see Transport
    std::array<QueueLaw, laws> law{};
  };
  const TransportRules& rules_of(const Packet& packet) const {
    return rules_of_node_.empty() ? rules_ : *rules_of_node_[packet.source_node];
  }

  /// A port that a packet, a pause or a new rate comes to.
  SwitchPort& visit(std::uint32_t link) {
    SwitchPort& port = ports_[link];
    if (port.law == not_visited) [[unlikely]]
      set_up(link);
    return port;
  }
  void set_up(std::uint32_t link);
  CongestedPort& congested(SwitchPort& port) {
    if (port.congested == 0) {
      port.congested = static_cast<std::uint32_t>(congested_ports_.size());
      congested_ports_.emplace_back();
    }
    return congested_ports_[port.congested];
  }
  void mix_transports();
  std::uint8_t law_of(const LinkInfo& info) const;
  /// A bit leaves the link's port until the far end can act on it.
  TimePs hop_ps_of(std::uint32_t link) const;

  /// Asks for the memory of the events that come next, in three steps of which each needs what the one before asked
  /// for.
  template <typename Peek>
  void look_ahead(const Peek& peek) const;
  /// The same for a switch that has its turn, and so its ports at hand.
  template <typename Peek>
  void look_ahead_of_switch(const Peek& peek) const;
  /// Throws EndlessError where events follow each other at one time for ever.
  void require_advance(const FabricEvent& event);
  void expect_arrival(const FabricEvent& event, unsigned depth) const;
  void expect_service(const FabricEvent& event, unsigned depth) const;
  /// Of a port that is at hand.
  void expect_departure(const SwitchPort& port) const;
  void arrive(TimePs now, std::uint32_t link, std::uint32_t transit);
  /// A packet on a link with faults, whose last bit left its port at `last_out`: true if it is lost.
  bool lost(TimePs now, std::uint32_t link, TimePs last_out, Transit& transit);
  /// A switch sees that its own link carries nothing.
  bool is_cut(TimePs now, std::uint32_t link) const;
  void look_for_retransmission(TimePs now, const Packet& packet);
  void pass(TimePs now, std::uint32_t link, std::uint32_t transit);
  [[gnu::noinline]] void pass_impaired(TimePs now, std::uint32_t link, std::uint32_t transit);
  [[gnu::noinline]] void pass_reduction(TimePs now, std::uint32_t link, std::uint32_t transit);
  void send_from_switch(TimePs now, std::uint32_t link, const Packet& packet, TimePs last_bit) override;
  void wake_switches_at(TimePs at) override { push(at, FabricEventKind::timer, kSwitchesTimer); }
  /// Where the packet will leave the switch at the far end of `link`. Tables never change, so it is looked up when the
  /// packet is sent and at hand; when it arrives, its port can be asked for ahead of it.
  void route(std::uint32_t link, Transit& transit) const {
    if (!ends_[link].to_nic && rules_of(transit.packet).usid)
      transit.out = topology_.forward_usid(ends_[link].to, transit.carrier);
  }
  void forward(TimePs now, std::uint32_t at, std::uint32_t transit);
  /// The uplink of a switch that is free first; of those that are alike the first from one that the packet chooses.
  [[gnu::noinline]] std::uint32_t least_loaded(TimePs now, std::uint32_t at, const Packet& packet) const;
  void classify(Transit& transit) const;
  void enqueue(TimePs now, std::uint32_t link, std::uint32_t transit);
  bool fits(TimePs now, const SwitchPort& port, const Transit& transit);
  /// The switch's common buffer has room for a packet that makes the level of its port `level`.
  bool shares_room(const SwitchPort& port, std::uint64_t level, std::uint32_t bytes) const;
  bool trim(TimePs now, const QueueLaw& law, Transit& transit) const;
  void mark(std::uint32_t link, SwitchPort& port, Transit& transit);
  std::size_t choose(SwitchPort& port);
  PacketQueue& queue_of(SwitchPort& port, const Transit& transit);
  /// With classes: the queue of data whose turn it is; null where no data waits. What it sends is taken from the credit
  /// of its class.
  PacketQueue* data_to_serve(SwitchPort& port);
  /// `bytes` more (or less) of data of the packet's class wait in the port.
  void account_class(SwitchPort& port, const Transit& transit, std::int64_t bytes);
  /// Bytes before which data of this class waits at the port.
  std::uint64_t data_level(const SwitchPort& port, const Transit& transit) const {
    if (class_turns_.on()) return congested_ports_[port.congested].classes.bytes[transit.traffic_class];
    if (scenario_.fabric.threshold_scope == ThresholdScope::port) return port.data_bytes;
    return transit.queue == FabricClass::retransmission ? port.retransmission_bytes
                                                        : port.data_bytes - port.retransmission_bytes;
  }
  [[gnu::cold]] void tell_level(TimePs now, std::uint32_t link, std::uint64_t change);
  [[gnu::cold]] void tell_lost(TimePs now, const Packet& packet);
  void serve(TimePs now, std::uint32_t link);
  /// The first packet whose turn it is leaves the port, which is free and has one that is not paused.
  void depart(TimePs now, std::uint32_t link);
  /// In a turn: what leaves a port whose packets wait before `until` leaves.
  void catch_up(SwitchPort& port, std::uint32_t link, TimePs until) {
    while (!port.empty() && port.line.free_at() < until) {
      ++events_done_;
      depart(port.line.free_at(), link);
    }
  }
  void catch_up_all(TimePs until);
  /// The port sends the next packet that waits.
  void arm_switch_port(SwitchPort& port, std::uint32_t link) {
    if (turn_end_ == 0)
      arm(port.line.free_at(), link);
    else
      serve_in_turn(port, link);
  }
  void serve_in_turn(SwitchPort& port, std::uint32_t link) {
    port.late = true;
    late_links_.push_back(link);
  }
  /// PFC: `bytes` more (or less) of data that came over `ingress` wait in the switch at its end.
  void account_ingress(TimePs now, std::uint32_t ingress, std::int64_t bytes);
  void set_paused(TimePs now, std::uint32_t link, bool paused);
  void transmit(TimePs now, std::uint32_t link, std::uint32_t transit);
  /// `waited`: behind what the link carried before.
  [[gnu::cold]] void transmit_recorded(TimePs now, std::uint32_t link, std::uint32_t transit, bool waited);
  /// The NIC that sends on the link, if one does, learns that the link is busy until another time.
  [[gnu::cold]] void tell_busy_changed(TimePs now, std::uint32_t link);
  /// With bit errors: false where the frame is lost. `delay_ps`: by which it comes later where the link sends it again.
  [[gnu::cold]] bool crosses(TimePs now, std::uint32_t link, std::uint32_t transit, TimePs& delay_ps);
  bool recording() const { return trace_ != nullptr && trace_->recording(); }
  /// Out of the network over its exit, or to the rank at the link's far end.
  void leave(TimePs now, std::uint32_t link, std::uint32_t transit, TimePs last_bit);
  /// Of a packet that a port begins to send now: when the far end acts on it. A cable keeps the order, also where one
  /// packet waits for bits that come in slowly and the next does not; so a link has one arrival at a time.
  TimePs arrival_time(TimePs now, SwitchPort& port, TimePs last_bit) const {
    const bool first = cut_through_ && port.law != t0_down;
    port.last_arrival = std::max((first ? now : last_bit) + port.hop_ps, port.last_arrival + 1);
    return port.last_arrival;
  }
  bool owns_port(std::uint32_t link) const {
    return partition_ == nullptr || partition_->from(topology_.links()[link]) == rank_;
  }
  void arm(TimePs at, std::uint32_t link) {
    ports_[link].armed = true;
    push(at, FabricEventKind::service, link);
  }
  void push(TimePs at, FabricEventKind kind, std::uint32_t target, std::uint32_t payload = 0) {
    const FabricEvent event{at, kind, target, payload};
    if (at < turn_end_) [[unlikely]]
      push_into_turn(event);
    else if (takes_turns_)
      rounds_.push(event, owner_of(event));
    else
      events_.push(at, kind, target, payload);
  }
  void push_into_turn(const FabricEvent& event);
  void handle(const FabricEvent& event);
  void run_in_order(TimePs horizon);
  // What a node or a switch does acts on another after the delay of a link. So each may have what happens to it in as
  // long a time at once, one after the other, instead of all in order of time: it finds its state in the cache. The
  // results are the same.
  void run_in_turns(TimePs horizon);
  /// Shortest time until what a node or switch does acts on another.
  TimePs turn_ps();
  void set_takes_turns(bool on);
  /// What happens to a node or switch in a round.
  void take_turn(std::span<const RoundQueue::Event> turn);
  /// Number of the node or switch that the event happens to.
  std::uint32_t owner_of(const FabricEvent& event) const {
    if (event.kind == FabricEventKind::timer) return event.target;
    const LinkEnds& ends = ends_[event.target];
    const bool arrives = event.kind == FabricEventKind::arrival;
    const bool nic = arrives ? ends.to_nic : ends.from_nic;
    return (arrives ? ends.to : ends.from) + (nic ? 0 : topology_.nics());
  }

  const ScenarioConfig& scenario_;
  Topology topology_;
  bool cut_through_;
  bool looks_ahead_ = false;  ///< ports or QPs are more than the caches of a core hold
  bool turns_allowed_ = false;
  std::size_t qps_ = 0;  ///< of light endpoints
  bool adaptive_;
  bool retransmissions_apart_;  ///< from other data where the transport allows it, in a queue of their own
  TransportRules rules_;        ///< of all nodes, or of those that no scenario key names
  std::vector<std::unique_ptr<TransportRules>> others_;
  std::vector<const TransportRules*> rules_of_node_;  ///< empty: all nodes have rules_
  PauseLaw pause_law_;
  FabricEventQueue events_;
  TransitPool transits_;
  ZeroedArray<SwitchPort> ports_;                                             ///< by link
  std::deque<CongestedPort> congested_ports_ = std::deque<CongestedPort>(1);  ///< the first is that of all others
  std::vector<LinkEnds> ends_;                                                ///< by link
  std::vector<std::uint64_t> visited_;  ///< a bit by link, so that ports are not read
  std::vector<std::uint32_t> links_with_queues_;
  std::vector<std::uint64_t> buffered_bytes_;  ///< by switch; of late ports what they held last
  TimePs shortest_turn_ps_ = 0;
  std::optional<TimePs> turn_ps_;
  bool takes_turns_ = false;
  RoundQueue rounds_;                      ///< in the place of events_ where turns are taken
  TimePs turn_end_ = 0;                    ///< 0: nobody has a turn
  std::vector<FabricEvent> turn_events_;   ///< that came up in this turn, the earliest last
  std::vector<std::uint32_t> late_links_;  ///< ports of the switch that has its turn, where packets wait
  std::vector<NetworkNode*> nodes_;
  std::unique_ptr<SwitchReduction> reduction_;  ///< null: no switch adds
  std::vector<TimePs> mac_ps_;                  ///< by node, of light endpoints
  ZeroedArray<Link*> exits_;                    ///< by link, null where it does not leave the network
  std::unordered_map<std::uint32_t, std::unique_ptr<Impairment>> impairments_;  ///< by link that has one
  std::unordered_map<std::uint32_t, std::unique_ptr<LinkFaults>> link_faults_;  ///< likewise
  struct RateChange {
    std::uint32_t link;
    double gbps;
  };
  std::vector<RateChange> rate_changes_;
  struct RateStep {
    std::uint32_t link;
    std::uint64_t bytes_before;
    double gbps;
  };
  std::vector<RateStep> rate_steps_;  ///< in order of time
  std::vector<FaultRecord>* fault_records_ = nullptr;
  FaultJournal* fault_journal_ = nullptr;
  ImpairmentCounts fault_counts_;
  std::array<std::int32_t, kFabricClasses> weights_{};
  ClassTurns class_turns_;
  Recorder* recorder_ = nullptr;  ///< null: nobody records
  std::vector<std::uint32_t> object_of_link_;
  CausalTrace* trace_ = nullptr;        ///< null: nobody records
  ZeroedArray<StartId> last_start_on_;  ///< by link
  TimePs now_ = 0;
  std::uint64_t without_route_ = 0;
  std::uint64_t lost_on_down_links_ = 0;
  ZeroedArray<std::uint64_t> lost_on_;  ///< by link
  std::uint64_t events_done_ = 0;
  std::uint64_t events_seen_ = 0;  ///< those too that only have a switch look at a port
  SameTimeBound same_time_;
  std::unique_ptr<LinkErrors> errors_;  ///< null: links have none
  std::uint64_t damaged_frames_ = 0;
  std::vector<LinkRetries> retries_;      ///< by link, with errors_
  const Partition* partition_ = nullptr;  ///< null: this is the whole network
  std::uint32_t rank_ = 0;
  std::vector<Crossings>* crossings_ = nullptr;  ///< by rank
  std::uint64_t inside_elsewhere_ = 0;           ///< packets at other ranks, after the run
};

}  // namespace mrc
