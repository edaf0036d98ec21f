#include "transports/ideal/ideal_fabric.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "fabric/fabric_parameters.h"
#include "host/accelerator.h"
#include "host/collective_schedule.h"
#include "host/job_result.h"
#include "mrc/packet.h"
#include "parameters/transport.h"
#include "pcie/pcie_latency.h"

namespace mrc {
namespace {

constexpr std::uint32_t kPlain = 0xFFFF'FFFF;  ///< in the place of a collective: a send node's message

constexpr NodeId kNobody = 0xFFFF'FFFF;

/// The least times of a message's way, of detailed NICs and light endpoints.
struct TimesOnWay {
  TimePs lead = 0;         ///< posted until the first bit leaves
  TimePs inline_lead = 0;  ///< likewise, of a message that is in its WQE
  TimePs flight = 0;       ///< one way on the wires, below one T0
  TimePs completion = 0;   ///< at a NIC until software has polled the completion
  TimePs delivery = 0;     ///< last bit at the receiver's NIC until its software acts

  explicit TimesOnWay(const ScenarioConfig& scenario) {
    const NodeConfig& node = scenario.node_default;
    const double read = shortest_read_ns(node.pcie);
    const double posted = node.host.post_ns + node.host.doorbell_ns + (node.nic.doorbell.carries_wqe ? 0 : read);
    inline_lead = ps_from_ns(posted);
    lead = ps_from_ns(posted + read + payload_read_extra_ns(scenario.accelerator));
    flight = ps_from_ns(2 * node.nic.port.mac_fec_latency_ns + 2 * shortest_cable_ns(scenario.fabric) +
                        scenario.fabric.switch_latency_ns + 4 * mac_added_ns(scenario.fabric));
    completion = ps_from_ns(node.pcie.write_latency_ns + node.host.poll_ns);
    const bool direct = scenario.accelerator.payload_memory == PayloadMemory::gpu_direct;
    delivery = completion + ps_from_ns(node.host.residual_ns + (direct ? scenario.accelerator.direct_flush_ns : 0));
  }
};

/// A NIC's line in one direction under messages that become ready in the order of time: it is never idle while one is.
struct Clock {
  TimePs until = 0;
  TimePs lead = kNever;  ///< the shortest of the messages'
};

/// The messages that a node of work waits for, as far as they are of one NIC in each direction.
struct Join {
  Clock sends;
  Clock receives;
  NodeId sender = kNobody;
  NodeId receiver = kNobody;
};

/// A schedule and what a player looks up in it.
struct Plan {
  CollectiveSchedule schedule;
  std::vector<std::uint32_t> first_of_source;  ///< into by_source, one more than sources
  std::vector<std::uint32_t> by_source;        ///< transfers
  std::vector<std::uint32_t> parts;            ///< sends and receives of a position

  explicit Plan(CollectiveSchedule s) : schedule(std::move(s)) {
    const std::uint32_t positions = schedule.folded ? 1 : schedule.ranks;
    parts.assign(positions, 0);
    first_of_source.assign(positions + 1, 0);
    for (const Transfer& t : schedule.transfers) {
      ++parts[t.source];
      ++parts[t.destination];
      ++first_of_source[t.source + 1];
    }
    for (std::uint32_t p = 0; p < positions; ++p) first_of_source[p + 1] += first_of_source[p];
    by_source.resize(schedule.transfers.size());
    std::vector<std::uint32_t> at = first_of_source;
    for (std::uint32_t i = 0; i < by_source.size(); ++i) by_source[at[schedule.transfers[i].source]++] = i;
  }
};

/// A collective under way.
struct Instance {
  const Plan* plan = nullptr;
  std::vector<std::uint32_t> waits;  ///< of transfers
  std::vector<std::uint32_t> left;   ///< parts of positions
  std::vector<std::uint32_t> nodes;  ///< of positions; kNoWork before it has started
  std::uint32_t positions_left = 0;
  std::vector<Clock> sends;  ///< of a position's NICs
  std::vector<Clock> receives;
};

class Player {
 public:
  Player(const ScenarioConfig& scenario, const Workload& workload, const std::vector<NodeId>& nics_of_ranks,
         bool folded)
      : scenario_(scenario),
        workload_(workload),
        nics_of_ranks_(nics_of_ranks),
        folded_(folded),
        options_(scenario.traffic.collective),
        accelerator_(scenario.accelerator),
        times_on_way_(scenario),
        collective_launch_ps_(ps_from_ns(scenario.accelerator.collective_launch_ns)),
        waits_(workload.nodes.size()),
        times_(workload.nodes.size()),
        joins_(workload.nodes.size()),
        arrived_(workload.nodes.size()),
        nics_each_(scenario.traffic.nics_per_rank),
        stripes_(nics_each_ > 1 && scenario.traffic.nic_choice == NicChoice::stripe),
        nics_(folded ? nics_each_ : scenario.fabric.nics) {
    options_.seed = scenario.seed;
    for (std::uint32_t i = 0; i < workload.nodes.size(); ++i) {
      waits_[i] = workload.nodes[i].dependencies;
      if (waits_[i] == 0) push(workload.nodes[i].earliest, Kind::start, i);
    }
    left_ = workload.nodes.size();
  }

  RunResult run(const std::atomic<bool>& interrupted, const ProgressListener& progress) {
    std::uint64_t events = 0;
    RunStatus status = RunStatus::complete;
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      const bool look = (++events & 0xFFFF) == 0;
      if (event.at > time_limit() || (look && interrupted.load())) {
        now_ = std::min(event.at, time_limit());
        status = RunStatus::partial;
        break;
      }
      now_ = event.at;
      if (look && progress) {
        progress({us_from_ps(now_), 1.0 - static_cast<double>(left_) / static_cast<double>(workload_.nodes.size())});
      }
      take(event);
    }
    if (status == RunStatus::complete && left_ > 0) status = RunStatus::stalled;
    return collect(status, interrupted.load());
  }

 private:
  enum class Kind : std::uint8_t { start, computed, launched, copied, delivered, landed, acknowledged };
  struct Event {
    TimePs at = 0;
    std::uint64_t order = 0;
    std::uint32_t number = 0;  ///< node, NIC, or a message's collective
    std::uint32_t part = 0;    ///< a message's transfer or send node
    Kind kind = Kind::start;
    friend bool operator>(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  };
  /// A message, or the part of it that one of the rank's NICs carries.
  struct Piece {
    NodeId from = 0;
    NodeId to = 0;
    std::uint64_t bytes = 0;
  };
  struct IdealNic {
    Clock sends;
    Clock receives;
    std::uint32_t last_sent = kNoWork;      ///< of messages outside collectives: a node of work
    std::uint32_t last_received = kNoWork;  ///< likewise
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
    TimePs first_send = kNever;
  };

  void push(TimePs at, Kind kind, std::uint32_t number, std::uint32_t part = 0) {
    events_.push({at, order_++, number, part, kind});
  }

  void take(const Event& event) {
    switch (event.kind) {
      case Kind::start:
        return start(event.number);
      case Kind::computed:
        return finish(event.number);
      case Kind::launched:
        return enter(event.number);
      case Kind::copied:
        return send(event.number, event.part);
      case Kind::delivered:
        return deliver(event);
      case Kind::landed:
        return land(event.number, event.part);
      case Kind::acknowledged:
        if (!last_piece(event, acknowledged_pieces_)) return;
        return event.number == kPlain ? finish(event.part) : transfer_acknowledged(event.number, event.part);
    }
  }

  void start(std::uint32_t index) {
    const WorkNode& node = workload_.nodes[index];
    times_[index].started = now_;
    switch (node.kind) {
      case WorkKind::compute:
        return push(accelerator_.compute(now_, node), Kind::computed, index);
      case WorkKind::receive:
        if (arrived_[index]) finish(index);
        return;
      case WorkKind::send:
        return post(kPlain, index);
      case WorkKind::reduction:  // made only for transports that are simulated
        return;
      case WorkKind::collective:
        return push(now_ + collective_launch_ps_, Kind::launched, index);
    }
  }
  void finish(std::uint32_t index) {
    const WorkNode& node = workload_.nodes[index];
    times_[index].done = now_;
    end_ = std::max(end_, now_);
    --left_;
    for (std::uint32_t d = 0; d < node.dependents; ++d) {
      const std::uint32_t next = workload_.dependents[node.first_dependent + d];
      if (--waits_[next] > 0) continue;
      const Join& join = joins_[next];
      push(std::max({now_, workload_.nodes[next].earliest, sent_at(join.sends), received_at(join.receives)}),
           Kind::start, next);
    }
  }
  void receive(std::uint32_t send) {
    const std::uint32_t receive = workload_.nodes[send].match;
    if (receive == kNoWork) return;
    arrived_[receive] = true;
    if (times_[receive].started != kNever) finish(receive);
  }

  // Messages
  struct Ends {
    std::uint32_t source = 0;  ///< rank
    std::uint32_t destination = 0;
    std::uint32_t lane = 0;
    std::uint64_t bytes = 0;
  };
  Ends ends_of(std::uint32_t collective, std::uint32_t part) const {
    if (collective == kPlain) {
      const WorkNode& node = workload_.nodes[part];
      return {node.rank, node.peer, node.lane, node.bytes};
    }
    const Transfer& t = instances_.at(collective).plan->schedule.transfers[part];
    const std::vector<std::uint32_t>& ranks = workload_.groups[workload_.collectives[collective].group].ranks;
    return {ranks[t.source], ranks[t.destination], t.channel, message_bytes(t)};
  }
  NodeId nic_of(std::uint32_t rank, std::uint32_t lane) const {
    return folded_ ? lane % nics_each_ : nics_of_ranks_[rank * nics_each_ + lane % nics_each_];
  }
  bool is_local(const Ends& ends) const {
    return !folded_ && nic_of(ends.source, ends.lane) == nic_of(ends.destination, ends.lane);
  }

  void post(std::uint32_t collective, std::uint32_t part) {
    const Ends ends = ends_of(collective, part);
    offered_bytes_ += ends.bytes;
    delivered_bytes_ += ends.bytes;
    if (is_local(ends)) {
      ++messages_;
      const TimePs there = accelerator_.local_message(now_, ends.bytes);
      push(there, Kind::landed, collective, part);
      push(there, Kind::acknowledged, collective, part);
    } else if (accelerator_.staged()) {
      push(accelerator_.copy(now_, folded_ ? 0 : ends.source, ends.bytes, true), Kind::copied, collective, part);
    } else {
      send(collective, part);
    }
  }
  /// On the sender's NIC of the message's lane, or a piece on each.
  void send(std::uint32_t collective, std::uint32_t part) {
    const Ends ends = ends_of(collective, part);
    const auto pieces = static_cast<std::uint32_t>(stripes_ ? std::min<std::uint64_t>(nics_each_, ends.bytes) : 1);
    if (pieces > 1) delivered_pieces_[{collective, part}] = acknowledged_pieces_[{collective, part}] = pieces;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      const std::uint32_t lane = stripes_ ? i : ends.lane;
      carry(collective, part,
            {nic_of(ends.source, lane), nic_of(ends.destination, lane), piece_bytes(ends.bytes, i, pieces)});
    }
  }
  using Pieces = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;
  static bool last_piece(const Event& event, Pieces& left) {
    const auto it = left.find({event.number, event.part});
    if (it == left.end()) return true;
    if (--it->second > 0) return false;
    left.erase(it);
    return true;
  }
  void deliver(const Event& event) {
    if (!last_piece(event, delivered_pieces_)) return;
    if (!accelerator_.staged()) return land(event.number, event.part);
    const Ends ends = ends_of(event.number, event.part);
    push(accelerator_.copy(now_, folded_ ? 0 : ends.destination, ends.bytes, false), Kind::landed, event.number,
         event.part);
  }
  void land(std::uint32_t collective, std::uint32_t part) {
    collective == kPlain ? receive(part) : transfer_arrived(collective, part);
  }
  /// Alone on the wires: what other messages take of them is in the clocks.
  void carry(std::uint32_t collective, std::uint32_t part, const Piece& piece) {
    ++messages_;
    const TimePs tx = ideal_serialization_ps(scenario_, piece.from, piece.bytes);
    const TimePs rx = ideal_serialization_ps(scenario_, piece.to, piece.bytes);
    const TimePs lead = lead_ps(piece);
    const TimePs there = now_ + lead + std::max(tx, rx) + times_on_way_.flight;
    const TimePs acknowledged = there + times_on_way_.flight + times_on_way_.completion;
    charge(nics_[piece.from].sends, lead, tx);
    charge(nics_[piece.to].receives, lead, rx);
    nics_[piece.from].sent_bytes += piece.bytes;
    nics_[piece.from].first_send = std::min(nics_[piece.from].first_send, now_);
    nics_[piece.to].received_bytes += piece.bytes;
    if (collective == kPlain) {
      charge_plain(part, piece, lead, tx, rx);
    } else {
      Instance& i = instances_.at(collective);
      const Transfer& t = i.plan->schedule.transfers[part];
      charge(i.sends[t.source * nics_each_ + piece.from % nics_each_], lead, tx);
      charge(i.receives[t.destination * nics_each_ + piece.to % nics_each_], lead, rx);
    }
    const std::uint32_t tag = collective == kPlain ? workload_.nodes[part].tag : collective;
    messages_carried_.push_back({piece.from, piece.to, tag, piece.bytes, now_, acknowledged});
    push(there + times_on_way_.delivery, Kind::delivered, collective, part);
    push(acknowledged, Kind::acknowledged, collective, part);
  }
  /// What waits for several messages of a NIC waits for the time that they take on it together.
  void charge_plain(std::uint32_t send, const Piece& piece, TimePs lead, TimePs tx, TimePs rx) {
    const WorkNode& node = workload_.nodes[send];
    nics_[piece.from].last_sent = send;
    nics_[piece.to].last_received = node.match != kNoWork ? node.match : send;
    for (std::uint32_t d = 0; d < node.dependents; ++d) {
      Join& join = joins_[workload_.dependents[node.first_dependent + d]];
      if (join.sender == kNobody) join.sender = piece.from;
      if (join.sender == piece.from) charge(join.sends, lead, tx);
    }
    if (node.match == kNoWork) return;
    const WorkNode& receive = workload_.nodes[node.match];
    for (std::uint32_t d = 0; d < receive.dependents; ++d) {
      Join& join = joins_[workload_.dependents[receive.first_dependent + d]];
      if (join.receiver == kNobody) join.receiver = piece.to;
      if (join.receiver == piece.to) charge(join.receives, lead, rx);
    }
  }
  void charge(Clock& clock, TimePs lead, TimePs serialization) const {
    clock.until = std::max(clock.until, now_) + serialization;
    clock.lead = std::min(clock.lead, lead);
  }
  /// When software can know that all messages of a clock are sent, or received.
  TimePs sent_at(const Clock& clock) const {
    return clock.until == 0 ? 0 : clock.until + clock.lead + 2 * times_on_way_.flight + times_on_way_.completion;
  }
  TimePs received_at(const Clock& clock) const {
    return clock.until == 0 ? 0 : clock.until + clock.lead + times_on_way_.flight + times_on_way_.delivery;
  }
  TimePs lead_ps(const Piece& piece) const {
    const bool is_inline = piece.bytes <= scenario_.node(piece.from).nic.wqe_fetch.inline_bytes;
    return is_inline ? times_on_way_.inline_lead : times_on_way_.lead;
  }

  // Collectives
  const Plan& plan(const Collective& collective) {
    const auto size = static_cast<std::uint32_t>(workload_.groups[collective.group].ranks.size());
    const auto key = std::make_tuple(collective.kind, collective.bytes, size, collective.root);
    auto it = plans_.find(key);
    if (it == plans_.end()) {
      Plan made(folded_ ? make_folded_schedule(collective.kind, collective.bytes, size, options_)
                        : make_schedule(collective.kind, collective.bytes, size, collective.root, options_));
      it = plans_.emplace(key, std::move(made)).first;
    }
    return it->second;
  }
  std::uint32_t position_of(std::uint32_t group, std::uint32_t rank) {
    if (folded_) return 0;
    const std::vector<std::uint32_t>& ranks = workload_.groups[group].ranks;
    if (std::is_sorted(ranks.begin(), ranks.end()))
      return static_cast<std::uint32_t>(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
    return static_cast<std::uint32_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
  }
  Instance& instance(std::uint32_t number) {
    const auto [it, added] = instances_.try_emplace(number);
    Instance& i = it->second;
    if (!added) return i;
    const Collective& collective = workload_.collectives[number];
    i.plan = &plan(collective);
    for (const Transfer& t : i.plan->schedule.transfers) i.waits.push_back(t.waits);
    i.left = i.plan->parts;
    i.nodes.assign(i.left.size(), kNoWork);
    i.positions_left = static_cast<std::uint32_t>(i.left.size());
    i.sends.resize(i.left.size() * nics_each_);
    i.receives.resize(i.left.size() * nics_each_);
    return i;
  }
  void enter(std::uint32_t node) {
    times_[node].started = now_;
    const std::uint32_t number = workload_.nodes[node].match;
    Instance& i = instance(number);
    const std::uint32_t position = position_of(workload_.collectives[number].group, workload_.nodes[node].rank);
    i.nodes[position] = node;
    if (i.left[position] == 0) return leave(number, i, position);
    const Plan& p = *i.plan;
    for (std::uint32_t k = p.first_of_source[position]; k < p.first_of_source[position + 1]; ++k) {
      if (i.waits[p.by_source[k]] == 0) post(number, p.by_source[k]);
    }
  }
  void release(std::uint32_t number, Instance& i, std::uint32_t index, bool paced) {
    const CollectiveSchedule& s = i.plan->schedule;
    for (std::uint32_t d = 0; d < s.transfers[index].dependents; ++d) {
      const std::uint32_t next = s.dependents[s.transfers[index].first_dependent + d];
      if (s.transfers[next].paced != paced || --i.waits[next] > 0) continue;
      if (i.nodes[s.transfers[next].source] != kNoWork) post(number, next);
    }
  }
  void transfer_arrived(std::uint32_t number, std::uint32_t index) {
    Instance& i = instances_.at(number);
    release(number, i, index, false);
    part_done(number, i, i.plan->schedule.transfers[index].destination);
  }
  void transfer_acknowledged(std::uint32_t number, std::uint32_t index) {
    Instance& i = instances_.at(number);
    release(number, i, index, true);
    part_done(number, i, i.plan->schedule.transfers[index].source);
  }
  void part_done(std::uint32_t number, Instance& i, std::uint32_t position) {
    if (--i.left[position] == 0 && i.nodes[position] != kNoWork) leave(number, i, position);
  }
  void leave(std::uint32_t number, Instance& i, std::uint32_t position) {
    const std::uint32_t node = i.nodes[position];
    TimePs end = now_;
    for (std::uint32_t nic = position * nics_each_; nic < (position + 1) * nics_each_; ++nic)
      end = std::max({end, sent_at(i.sends[nic]), received_at(i.receives[nic])});
    if (--i.positions_left == 0) instances_.erase(number);
    if (end == now_) return finish(node);
    push(end, Kind::computed, node);
  }

  TimePs time_limit() const { return ps_from_us(scenario_.run.max_time_us); }

  RunResult collect(RunStatus status, bool interrupted) {
    if (status == RunStatus::complete) finish_lines();
    if (status == RunStatus::complete && end_ > time_limit()) {
      status = RunStatus::partial;
      now_ = time_limit();
    }
    RunResult result;
    result.scenario = scenario_.name;
    result.seed = scenario_.seed;
    result.status = status;
    if (status == RunStatus::partial) result.details.push_back(interrupted ? "interrupted" : "run.max_time_us is over");
    if (status == RunStatus::stalled) result.details.push_back(fmt::format("{} nodes of work never started", left_));
    const TimePs end = status == RunStatus::complete ? end_ : now_;
    result.simulated_time_us = us_from_ps(end);
    const std::uint64_t alike = folded_ ? workload_.ranks : 1;
    result.messages.count = messages_ * alike;
    result.messages.completed = (status == RunStatus::complete ? messages_ : messages_carried_.size()) * alike;
    result.bytes.offered = offered_bytes_ * alike;
    result.bytes.delivered = delivered_bytes_ * alike;
    result.node_under_test = scenario_.run.node_under_test;
    add_rates(result, end);
    add_message_times(result);
    result.job = make_job_result(workload_, times_, options_, scenario_.traffic.late_ranks);
    return result;
  }
  /// The last message of a NIC is not over before its line has carried all of them.
  void finish_lines() {
    const auto extend = [&](std::uint32_t node, TimePs until) {
      if (node == kNoWork) return;
      times_[node].done = std::max(times_[node].done, until);
      end_ = std::max(end_, until);
    };
    for (const IdealNic& nic : nics_) {
      extend(nic.last_sent, sent_at(nic.sends));
      const bool is_receive =
          nic.last_received != kNoWork && workload_.nodes[nic.last_received].kind == WorkKind::receive;
      // Software of the receiver does not act on a plain write; that of the sender sees its completion.
      const TimePs acts = received_at(nic.receives);
      const TimePs seen = sent_at(nic.receives);
      extend(nic.last_received, is_receive ? acts : std::min(acts, seen));
    }
  }
  void add_rates(RunResult& result, TimePs end) const {
    const double time_ns = static_cast<double>(std::max<TimePs>(end, 1)) / 1000.0;
    for (NodeId id = 0; id < scenario_.fabric.nics; ++id) {
      const IdealNic& nic = nics_[folded_ ? id % nics_each_ : id];
      const bool used = !folded_ || id < std::uint64_t{workload_.ranks} * nics_each_;
      const double tx = used ? 8.0 * static_cast<double>(nic.sent_bytes) / time_ns : 0;
      const double rx = used ? 8.0 * static_cast<double>(nic.received_bytes) / time_ns : 0;
      const std::string name = fmt::format("nic{}", id);
      result.nodes.push_back({name, tx, rx});
      if (name != scenario_.run.node_under_test) continue;
      const NicConfig& config = scenario_.node(id).nic;
      // As with the other transports, from the first work on.
      if (used && nic.first_send < end)
        result.goodput_gbps = 8000.0 * static_cast<double>(nic.sent_bytes) / static_cast<double>(end - nic.first_send);
      result.line_rate_gbps = config.port_gbps * config.ports;
      const std::uint64_t mtu = scenario_.protocol.mtu_bytes;
      result.framing_limit_gbps =
          8000.0 * static_cast<double>(mtu) / static_cast<double>(ideal_serialization_ps(scenario_, id, mtu));
    }
  }
  void add_message_times(RunResult& result) {
    result.all_messages = std::move(messages_carried_);
    std::vector<MessageRecord> own;
    const auto from_node = [&](const MessageRecord& m) {
      return folded_ || fmt::format("nic{}", m.from) == scenario_.run.node_under_test;
    };
    std::copy_if(result.all_messages.begin(), result.all_messages.end(), std::back_inserter(own), from_node);
    result.message_time_us = spread_of(own);
    result.all_message_time_us = spread_of(result.all_messages);
  }

  const ScenarioConfig& scenario_;
  const Workload& workload_;
  const std::vector<NodeId>& nics_of_ranks_;
  bool folded_;
  CollectiveOptions options_;
  Accelerator accelerator_;
  TimesOnWay times_on_way_;
  TimePs collective_launch_ps_;
  TimePs now_ = 0;
  TimePs end_ = 0;
  std::uint64_t order_ = 0;
  std::uint64_t left_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::uint32_t> waits_;
  std::vector<WorkTimes> times_;
  std::vector<Join> joins_;  ///< of nodes of work
  std::vector<bool> arrived_;
  std::uint32_t nics_each_;  ///< of a rank
  bool stripes_;
  std::vector<IdealNic> nics_;
  Pieces delivered_pieces_;  ///< left, of messages with several
  Pieces acknowledged_pieces_;
  std::map<std::tuple<CollectiveKind, std::uint64_t, std::uint32_t, std::uint32_t>, Plan> plans_;
  std::unordered_map<std::uint32_t, Instance> instances_;
  std::uint64_t messages_ = 0;
  std::uint64_t offered_bytes_ = 0;
  std::uint64_t delivered_bytes_ = 0;
  std::vector<MessageRecord> messages_carried_;
};

}  // namespace

TimePs ideal_latency_ps(const ScenarioConfig& scenario, std::uint64_t bytes) {
  const TimesOnWay way(scenario);
  const bool is_inline = bytes <= scenario.node_default.nic.wqe_fetch.inline_bytes;
  return (is_inline ? way.inline_lead : way.lead) + way.flight + way.delivery;
}

TimePs ideal_serialization_ps(const ScenarioConfig& scenario, NodeId node, std::uint64_t bytes) {
  const NicConfig& nic = scenario.node(node).nic;
  Packet full;
  full.payload_bytes = scenario.protocol.mtu_bytes;
  full.opcode = Opcode::write_middle;
  const std::uint64_t mtu = scenario.protocol.mtu_bytes;
  std::uint64_t on_link = ~0ULL;
  for (const Transport* transport : transports()) {
    if (transport->simulated) on_link = std::min<std::uint64_t>(on_link, transport->link_bytes(full, scenario));
  }
  const std::uint64_t packets = (bytes + mtu - 1) / mtu;
  const double wire = static_cast<double>(bytes + packets * (on_link - mtu));
  return static_cast<TimePs>(wire * 8000.0 / (nic.port_gbps * nic.ports));
}

RunResult run_ideal(const ScenarioConfig& scenario, const Workload& workload, const std::vector<NodeId>& nics_of_ranks,
                    const std::atomic<bool>& interrupted, const ProgressListener& progress) {
  return Player(scenario, workload, nics_of_ranks, workload.same_on_all_ranks).run(interrupted, progress);
}

}  // namespace mrc
