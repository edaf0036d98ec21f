#include "fabric/network.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include "engine/prefetch.h"

namespace mrc {
namespace {

constexpr std::int32_t kQuantumBytesPerWeight = 128;
/// That a traffic class of weight 1 sends in a round: a packet, so that shares are kept over a few.
constexpr std::uint32_t kClassQuantumBytes = 4096;
constexpr auto kData = static_cast<std::size_t>(FabricClass::data);

/// What a service event is about, in its payload.
enum Service : std::uint32_t { send_next, pause_data, resume_data };

/// What a core may have of the ports in caches of its own beside everything else; beyond that it pays to look ahead.
constexpr std::size_t kPrivateCacheBytes = 256 << 10;
/// The same of QPs, about 4 KiB each: an all-to-all of few nodes has few ports and thousands of them.
constexpr std::size_t kPrivateCacheQps = 256;
/// Full packets that a NIC's port can send in a turn. Where it sends fewer, nodes and switches have few events in a
/// turn, and dividing these among them takes about as much time as their state in the cache saves, or more in a small
/// fabric: measured with 1 and with 12. Affects only the run time.
constexpr double kFewestPacketsOfTurn = 4;
/// So many events ahead, memory is first asked for.
constexpr std::size_t kFarthestAhead = 5;

/// A pause or resume frame on a link: 64 bytes, preamble and gap.
constexpr double kPauseFrameBits = 84 * 8;

/// Sent until the far end acts on it.
TimePs pause_delay_ps(const LinkInfo& link) {
  return link.delay_ps + static_cast<TimePs>(kPauseFrameBits * 1000.0 / link.gbps);
}

}  // namespace

Network::TransportRules::TransportRules(const ScenarioConfig& scenario, const Transport& transport,
                                        FabricRouting routing)
    : link_bytes(scenario, transport),
      usid(routing == FabricRouting::usid && transport.source_routed),
      keeps_order(transport.keeps_order) {
  const double port_gbps = scenario.node_default.nic.port_gbps;
  const double t1_gbps = scenario.fabric.t1_link_gbps > 0 ? scenario.fabric.t1_link_gbps : port_gbps;
  law[t0_up] = transport.queue_law(scenario, t1_gbps, false);
  law[t0_down] = transport.queue_law(scenario, port_gbps, true);
  law[above] = transport.queue_law(scenario, t1_gbps, false);
  // A light endpoint draws data only when its line is free. Only control packets wait there, and a packet of a
  // reduction behind that of a QP.
  law[at_nic].data_bytes = ~0ULL;
}

Network::Network(const ScenarioConfig& scenario)
    : scenario_(scenario),
      topology_(scenario),
      cut_through_(scenario.fabric.forwarding == SwitchForwarding::cut_through),
      adaptive_(topology_.routing() == FabricRouting::adaptive),
      retransmissions_apart_(scenario.fabric.retransmission_queue == RetransmissionQueue::own),
      rules_(scenario, transport_of(scenario), topology_.routing()),
      pause_law_(transport_of(scenario).pause_law != nullptr ? transport_of(scenario).pause_law(scenario) : PauseLaw{}),
      ports_(topology_.links().size()),
      visited_((topology_.links().size() + 63) / 64, 0),
      buffered_bytes_(topology_.switches().size(), 0),
      nodes_(topology_.nics(), nullptr),
      mac_ps_(topology_.nics(), 0),
      exits_(topology_.links().size()),
      class_turns_(scenario.traffic.classes, kClassQuantumBytes),
      last_start_on_(topology_.links().size()),
      lost_on_(topology_.links().size()) {
  const FabricConfig& fabric = scenario.fabric;
  mix_transports();
  const auto weight = [](std::uint32_t w) { return static_cast<std::int32_t>(w) * kQuantumBytesPerWeight; };
  weights_ = {weight(fabric.control_weight), weight(fabric.retransmission_weight), weight(fabric.data_weight)};
  const bool impaired = fabric.loss_rate > 0 || fabric.trim_rate > 0 || fabric.corrupt_rate > 0 ||
                        fabric.duplicate_rate > 0 || fabric.ecn_rate > 0;
  if (has_bit_errors(fabric)) {
    errors_ = std::make_unique<LinkErrors>(fabric, scenario.seed);
    retries_.resize(topology_.links().size());
    for (const CableValue& cable : bit_error_rates_of(fabric, "fabric")) {
      errors_->set_rate(topology_.cables_named(cable.where, "fabric.bit_error_rates"), cable.value,
                        topology_.links().size());
    }
  }
  ends_.resize(topology_.links().size());
  looks_ahead_ = topology_.links().size() * sizeof(SwitchPort) > kPrivateCacheBytes;
  // Pauses and repeated frames act at a port before a cable's delay is over.
  turns_allowed_ = !pause_law_.on && errors_ == nullptr && !adaptive_;
  const double packet_ps = scenario.protocol.mtu_bytes * 8000.0 / scenario.node_default.nic.port_gbps;
  shortest_turn_ps_ = std::max<TimePs>(2, static_cast<TimePs>(kFewestPacketsOfTurn * packet_ps));
  for (std::uint32_t link = 0; link < topology_.links().size(); ++link) {
    const LinkInfo& info = topology_.links()[link];
    LinkEnds& ends = ends_[link];
    ends.to_nic = info.last_hop();
    ends.to = info.last_hop() ? info.node : info.to;
    ends.from_nic = info.first_hop();
    ends.from = info.first_hop() ? info.node : info.from;
    if (impaired && info.first_hop()) {
      set_impairment(link, std::make_unique<Impairment>(fabric, scenario.protocol, scenario.seed,
                                                        fmt::format("nic{}.port{}-t0", info.node, info.plane)));
    }
  }
}

void Network::mix_transports() {
  const std::vector<const Transport*> used = transports_in(scenario_);
  if (used.size() == 1) return;
  rules_of_node_.assign(topology_.nics(), &rules_);
  for (std::size_t i = 1; i < used.size(); ++i) {
    others_.push_back(std::make_unique<TransportRules>(scenario_, *used[i], topology_.routing()));
    for (const auto& [id, node] : scenario_.node_override) {
      if (node.transport == used[i]->name) rules_of_node_[id] = others_.back().get();
    }
  }
}

std::uint8_t Network::law_of(const LinkInfo& info) const {
  if (info.first_hop()) return at_nic;
  if (info.last_hop()) return t0_down;
  return topology_.switches()[info.from].tier == SwitchTier::t0 ? t0_up : above;
}

TimePs Network::hop_ps_of(std::uint32_t link) const {
  const LinkInfo& info = topology_.links()[link];
  const TimePs mac_ps = info.first_hop() || info.last_hop() ? mac_ps_[info.node] : 0;
  return info.delay_ps + mac_ps + (info.last_hop() ? 0 : topology_.switches()[info.to].latency_ps);
}

void Network::set_up(std::uint32_t link) {
  visited_[link / 64] |= 1ULL << (link % 64);
  const LinkInfo& info = topology_.links()[link];
  SwitchPort& port = *new (&ports_[link]) SwitchPort(info.gbps);
  port.from = ends_[link].from;
  port.plane = info.plane;
  port.hop_ps = hop_ps_of(link);
  port.law = law_of(info);
  // Links to NICs alone: what nobody wrote is not read.
  const bool exits = info.last_hop() && exits_[link] != nullptr;
  port.leaves = exits || (partition_ != nullptr && partition_->from(info) != partition_->to(info));
}

// Into the network

void Network::enter(NodeId node, std::uint32_t plane, TimePs first_bit, TimePs last_bit, const Packet& packet) {
  const std::uint32_t link = topology_.uplink_of(node, plane);
  const std::uint32_t index = transits_.acquire();
  Transit& transit = transits_[index];
  transit.packet = packet;
  classify(transit);
  TimePs latency = topology_.switches()[ends_[link].to].latency_ps;
  if (errors_ != nullptr) [[unlikely]] {
    if (!crosses(first_bit, link, index, latency)) return;
    // The link keeps the order: what comes behind a frame that is repeated waits for it.
    SwitchPort& port = visit(link);
    latency = std::max(latency, port.last_arrival + 1 - std::min(first_bit, port.last_arrival + 1));
    port.last_arrival = first_bit + latency;
  }
  transit.last_bit = last_bit + latency;
  route(link, transit);
  if (packet.retransmission && fault_records_ != nullptr) {
    look_for_retransmission(first_bit - topology_.links()[link].delay_ps, packet);
  }
  push((cut_through_ ? first_bit : last_bit) + latency, FabricEventKind::arrival, link, index);
}

void Network::classify(Transit& transit) const {
  const Packet& packet = transit.packet;
  transit.carrier = packet.outer_dst;
  transit.hop_limit = packet.hop_limit;
  transit.plane = packet.plane;
  const TransportRules& rules = rules_of(packet);
  transit.bytes = rules.link_bytes.on_link(packet);
  transit.queue = FabricClass::data;
  transit.traffic_class = packet.traffic_class;
  // Retransmissions of a higher class wait with its data: those of class 0 must not pass it.
  if (packet.retransmission && retransmissions_apart_ && !rules.keeps_order && packet.traffic_class == 0)
    transit.queue = FabricClass::retransmission;
  if (packet.role == TrafficRole::control || packet.damage == Damage::trimmed) transit.queue = FabricClass::control;
}

void Network::attach(NodeId id, NetworkNode& node, TimePs mac_ps, std::size_t qps) {
  qps_ += qps;
  if (qps_ > kPrivateCacheQps) looks_ahead_ = true;
  nodes_[id] = &node;
  mac_ps_[id] = mac_ps;
}

TimePs Network::send(TimePs now, NodeId node, std::uint32_t plane, std::uint32_t transit) {
  classify(transits_[transit]);
  transits_[transit].last_bit = now;
  if (fault_records_ != nullptr && transits_[transit].packet.retransmission) {
    look_for_retransmission(now, transits_[transit].packet);
  }
  const std::uint32_t link = topology_.uplink_of(node, plane);
  enqueue(now, link, transit);
  return free_at(link);
}

void Network::notify_when_free(TimePs now, NodeId node, std::uint32_t plane) {
  const std::uint32_t link = topology_.uplink_of(node, plane);
  const SwitchPort& port = visit(link);
  if (!port.armed) arm(std::max(now, port.line.free_at()), link);
}

void Network::set_link_gbps(std::uint32_t link, double gbps) {
  SwitchPort& port = visit(link);
  port.line.set_gbps(gbps);
  rate_steps_.push_back({link, port.counters.bytes, gbps});
  tell_busy_changed(now_, link);
}

void Network::tell_busy_changed(TimePs now, std::uint32_t link) {
  const LinkEnds& ends = ends_[link];
  if (ends.from_nic && nodes_[ends.from] != nullptr) nodes_[ends.from]->port_busy_changed(now, ports_[link].plane);
}

PortCounters Network::counters(std::uint32_t link) const {
  const SwitchPort& port = ports_[link];
  const CongestedPort& rest = congested_ports_[port.congested];
  PortCounters all{port.counters, 0, 0, 0, 0, 0};
  all.dropped = rest.dropped;
  all.trimmed = rest.trimmed;
  all.ce_marked = rest.ce_marked;
  all.pauses = rest.pauses;
  all.paused_ps = rest.paused_ps;
  return all;
}

std::vector<std::uint32_t> Network::visited_links() const {
  std::vector<std::uint32_t> links;
  for (std::uint32_t word = 0; word < visited_.size(); ++word) {
    for (std::uint64_t bits = visited_[word]; bits != 0; bits &= bits - 1)
      links.push_back(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
  return links;
}

LinkUse Network::use_of(std::uint32_t link, TimePs now) const {
  const SwitchPort& port = ports_[link];
  const double full_ps_per_byte = 8000.0 / topology_.links()[link].gbps;
  double ps_per_byte = full_ps_per_byte;
  std::uint64_t counted = 0;
  LinkUse use;
  const auto count_until = [&](std::uint64_t bytes) {
    use.slow_ps += static_cast<double>(bytes - counted) * (ps_per_byte - full_ps_per_byte);
    counted = bytes;
  };
  for (const RateStep& step : rate_steps_) {
    if (step.link != link || step.bytes_before == port.counters.bytes) continue;
    count_until(step.bytes_before);
    ps_per_byte = 8000.0 / step.gbps;
  }
  count_until(port.counters.bytes);
  TimePs to_come = port.line.free_at() > now ? port.line.free_at() - now : 0;
  if (errors_ != nullptr) {
    // The line carries the frame first, then what it retransmits of it.
    const LinkRetries& retries = retries_[link];
    const TimePs retries_to_come = std::min(to_come, retries.last_frame_ps);
    use.retry_ps = static_cast<double>(retries.all_ps - retries_to_come);
    to_come -= retries_to_come;
  }
  const auto to_come_ps = static_cast<double>(to_come);
  const double to_come_bytes = to_come_ps / ps_per_byte;
  use.slow_ps -= to_come_bytes * (ps_per_byte - full_ps_per_byte);
  use.sent_bytes = static_cast<double>(port.counters.bytes) - to_come_bytes;
  use.waiting_bytes = to_come_bytes + static_cast<double>(port.queued_bytes);
  return use;
}

// From hop to hop

void Network::run_before(TimePs horizon) {
  const bool takes_turns = turns_allowed_ && fault_records_ == nullptr && turn_ps() >= shortest_turn_ps_;
  if (takes_turns != takes_turns_) set_takes_turns(takes_turns);
  if (takes_turns)
    run_in_turns(horizon);
  else
    run_in_order(horizon);
}

void Network::set_takes_turns(bool on) {
  takes_turns_ = on;
  if (!on) {
    for (const auto& [event, owner] : rounds_.take_all())
      events_.push(event.time, event.kind, event.target, event.payload);
    return;
  }
  rounds_.set_up(topology_.nics() + topology_.switches().size(), turn_ps());
  FabricEvent event;
  while (events_.pop_before(kNever, event)) rounds_.push(event, owner_of(event));
  events_ = {};
}

[[gnu::always_inline]] inline void Network::arrive(TimePs now, std::uint32_t link, std::uint32_t transit) {
  if (ends_[link].faulty && lost(now, link, transits_[transit].last_bit - hop_ps_of(link), transits_[transit])) {
    if (recorder_ != nullptr) tell_lost(now, transits_[transit].packet);
    transits_.release(transit);
    return;
  }
  if (ends_[link].impaired)
    pass_impaired(now, link, transit);
  else
    pass(now, link, transit);
}

void Network::run_in_order(TimePs horizon) {
  FabricEvent event;
  const auto peek = [&](std::size_t ahead, FabricEvent& next) { return events_.peek(ahead, next); };
  while (events_.pop_before(horizon, event)) {
    if (looks_ahead_) look_ahead(peek);
    handle(event);
  }
}

// Taken into both loops, as arrive() and the queue's pop are: it is done for each event.
[[gnu::always_inline]] inline void Network::handle(const FabricEvent& event) {
  now_ = event.time;
  ++events_done_;
  if (SameTimeBound::is_due(++events_seen_)) require_advance(event);
  switch (event.kind) {
    case FabricEventKind::arrival:
      arrive(event.time, event.target, event.payload);
      break;
    case FabricEventKind::service:
      if (event.payload == send_next) {
        serve(event.time, event.target);
      } else {
        set_paused(event.time, event.target, event.payload == pause_data);
      }
      break;
    case FabricEventKind::timer:
      if (event.target == kSwitchesTimer) [[unlikely]]
        reduction_->wake(event.time);
      else
        nodes_[event.target]->timer(event.time);
      break;
    case FabricEventKind::rate_change:
      // Both ends of a cut link need its rate; its owner counts the event.
      if (!owns_port(rate_changes_[event.payload].link)) --events_done_;
      set_link_gbps(rate_changes_[event.payload].link, rate_changes_[event.payload].gbps);
      break;
  }
}

TimePs Network::turn_ps() {
  if (!turn_ps_) {
    turn_ps_ = kNever;
    for (std::uint32_t link = 0; link < ports_.size(); ++link) turn_ps_ = std::min(*turn_ps_, hop_ps_of(link));
  }
  return *turn_ps_;
}

void Network::run_in_turns(TimePs horizon) {
  while (rounds_.take(horizon)) {
    turn_end_ = rounds_.end();
    for (auto turn = rounds_.next_turn(); !turn.empty(); turn = rounds_.next_turn()) take_turn(turn);
    turn_end_ = 0;
    rounds_.fit();
  }
}

void Network::take_turn(std::span<const RoundQueue::Event> turn) {
  const TimePs begin = rounds_.begin();
  const bool of_switch = turn.front().owner() >= topology_.nics();
  const RoundQueue::Event* next = turn.data();
  const RoundQueue::Event* const last = next + turn.size();
  const auto peek = [&](std::size_t ahead, FabricEvent & event) __attribute__((always_inline)) {
    static_assert(kFarthestAhead < RoundQueue::kBehindLast);
    event = next[ahead].at(begin);
    return true;
  };
  for (;;) {
    FabricEvent event;
    if (!turn_events_.empty() && (next == last || turn_events_.back() < next->at(begin))) {
      event = turn_events_.back();
      turn_events_.pop_back();
    } else if (next < last) {
      event = (next++)->at(begin);
      if (looks_ahead_ && of_switch)
        look_ahead_of_switch(peek);
      else if (looks_ahead_)
        look_ahead(peek);
    } else {
      break;
    }
    handle(event);
  }
  catch_up_all(turn_end_);
  for (const std::uint32_t link : late_links_) {
    SwitchPort& port = ports_[link];
    port.late = false;
    if (!port.empty() && !port.armed) arm(port.line.free_at(), link);
  }
  late_links_.clear();
}

void Network::push_into_turn(const FabricEvent& event) {
  const auto later =
      std::find_if(turn_events_.rbegin(), turn_events_.rend(), [&](const FabricEvent& other) { return other > event; });
  turn_events_.insert(later.base(), event);
}

void Network::require_advance(const FabricEvent& event) {
  // Every link may have a few events at once, of which there are millions in a large fabric.
  constexpr std::uint64_t kEventsPerLink = 64;
  if (!same_time_.exceeded(event.time, 1 + ports_.size() * kEventsPerLink / SameTimeBound::kStride)) return;
  const bool of_timer = event.kind == FabricEventKind::timer;
  const std::uint32_t link =
      event.kind == FabricEventKind::rate_change ? rate_changes_[event.payload].link : event.target;
  if (of_timer && event.target == kSwitchesTimer) throw EndlessError("a reduction in switches", event.time);
  throw EndlessError(of_timer ? fmt::format("nic{}", event.target) : topology_.port_name(link), event.time);
}

// These are taken into look_ahead(), where the depth is a constant and of an event only what is used is unpacked.
[[gnu::always_inline]] inline void Network::expect_departure(const SwitchPort& port) const {
  // The one that is served is the head of one of the queues, most often of the only one that is not empty.
  for (const SwitchPort::Queue& queue : port.queues) {
    if (queue.head == TransitPool::kNone) continue;
    prefetch(&transits_[queue.head].packet.psn, 2 * kCacheLineBytes);  // its last two lines
  }
}

[[gnu::always_inline]] inline void Network::expect_arrival(const FabricEvent& event, unsigned depth) const {
  const Transit& transit = transits_[event.payload];
  const LinkEnds& ends = ends_[event.target];
  if (depth == 0) {
    prefetch(&transit.carrier);
    if (ends.to_nic) {
      prefetch(&transit.packet, 2 * kCacheLineBytes);
      prefetch(nodes_[ends.to], NetworkNode::kExpectedBytes);
    }
  } else if (ends.to_nic) {
    if (nodes_[ends.to] != nullptr) nodes_[ends.to]->expect_packet(transit.packet, depth - 1);
  } else if (depth == 1 && rules_.usid && transit.out != Topology::kNoLink) {
    prefetch(&ports_[transit.out], 2 * kCacheLineBytes);
  }
}

[[gnu::always_inline]] inline void Network::expect_service(const FabricEvent& event, unsigned depth) const {
  const SwitchPort& port = ports_[event.target];
  if (depth == 0) {
    prefetch(&port, 2 * kCacheLineBytes);
    if (ends_[event.target].from_nic) prefetch(nodes_[ends_[event.target].from], NetworkNode::kExpectedBytes);
  } else if (port.law == at_nic && port.empty()) {
    nodes_[port.from]->expect_port_free(depth - 1);
  } else if (depth == 1) {
    expect_departure(port);
  }
}

template <typename Peek>
[[gnu::always_inline]] inline void Network::look_ahead(const Peek& peek) const {
  const auto expect = [&](std::size_t ahead, unsigned depth) __attribute__((always_inline)) {
    FabricEvent event;
    if (!peek(ahead, event)) return;
    if (event.kind == FabricEventKind::arrival) {
      expect_arrival(event, depth);
    } else if (event.kind == FabricEventKind::service) {
      expect_service(event, depth);
    }
  };
  // An event takes about as long as a line takes to come from the shared cache; two between the steps leave room.
  expect(kFarthestAhead, 0);
  expect(3, 1);
  expect(1, 2);
}

template <typename Peek>
[[gnu::always_inline]] inline void Network::look_ahead_of_switch(const Peek& peek) const {
  FabricEvent event;
  peek(kFarthestAhead, event);
  if (event.kind == FabricEventKind::arrival) prefetch(&transits_[event.payload].carrier);
}

bool Network::is_cut(TimePs now, std::uint32_t link) const {
  const auto faults = link_faults_.find(link);
  return ends_[link].down || (faults != link_faults_.end() && faults->second->cuts_at(now));
}

bool Network::lost(TimePs now, std::uint32_t link, TimePs last_out, Transit& transit) {
  if (ends_[link].down) {
    ++lost_on_[link];
    ++lost_on_down_links_;
    return true;
  }
  if (fault_journal_ != nullptr) fault_journal_->at(now, link);
  LinkFaults& faults = *link_faults_.at(link);
  const TimePs duration = visit(link).line.duration(transit.bytes);
  const TimePs first_out = last_out > duration ? last_out - duration : 0;
  const LinkFaults::Verdict verdict =
      faults.apply(first_out, last_out + topology_.links()[link].delay_ps, transit.packet);
  if (verdict != LinkFaults::Verdict::pass) ++lost_on_[link];
  if (verdict == LinkFaults::Verdict::cut) ++lost_on_down_links_;
  if (verdict == LinkFaults::Verdict::lost) ++fault_counts_.dropped;
  if (verdict == LinkFaults::Verdict::corrupted) ++fault_counts_.corrupted;
  if (faults.over()) set_faults(link, nullptr);
  return verdict == LinkFaults::Verdict::cut || verdict == LinkFaults::Verdict::lost;
}

void Network::look_for_retransmission(TimePs now, const Packet& packet) {
  const PacketName name = PacketName::of(packet);
  if (fault_journal_ != nullptr) {
    fault_journal_->sent_again(now, name);
    return;
  }
  for (FaultRecord& record : *fault_records_) record.sent_again(now, name);
}

void Network::pass_impaired(TimePs now, std::uint32_t link, std::uint32_t transit) {
  const Impairment::Verdict verdict = impairments_.at(link)->apply(transits_[transit].packet);
  if (verdict == Impairment::Verdict::drop) {
    ++lost_on_[link];
    if (recorder_ != nullptr) tell_lost(now, transits_[transit].packet);
    transits_.release(transit);
    return;
  }
  Transit& damaged = transits_[transit];
  const Ipv6Address carrier = damaged.carrier;
  const std::uint8_t hop_limit = damaged.hop_limit;
  classify(damaged);
  damaged.carrier = carrier;
  damaged.hop_limit = hop_limit;
  if (verdict == Impairment::Verdict::duplicate) {
    const std::uint32_t copy = transits_.acquire();
    transits_[copy] = transits_[transit];
    pass(now, link, transit);
    pass(now, link, copy);
    return;
  }
  pass(now, link, transit);
}

void Network::pass_reduction(TimePs now, std::uint32_t link, std::uint32_t index) {
  const Transit& transit = transits_[index];
  if (ends_[link].to_nic) {
    nodes_[ends_[link].to]->receive_result(now, transit.packet);
  } else {
    reduction_->arrive(now, link, transit);
  }
  transits_.release(index);
}

void Network::send_from_switch(TimePs now, std::uint32_t link, const Packet& packet, TimePs last_bit) {
  const std::uint32_t index = transits_.acquire();
  Transit& transit = transits_[index];
  transit.packet = packet;
  classify(transit);
  transit.last_bit = last_bit;
  if (fault_records_ != nullptr && packet.retransmission) look_for_retransmission(now, packet);
  enqueue(now, link, index);
}

void Network::pass(TimePs now, std::uint32_t link, std::uint32_t transit) {
  if (reduction_ != nullptr && transits_[transit].packet.is_reduction) [[unlikely]]
    return pass_reduction(now, link, transit);
  const LinkEnds& ends = ends_[link];
  if (!ends.to_nic) {
    transits_[transit].ingress = link;
    forward(now, ends.to, transit);
    return;
  }
  Transit& last = transits_[transit];
  last.packet.outer_dst = last.carrier;
  last.packet.hop_limit = last.hop_limit;
  nodes_[ends.to]->receive(now, last.plane, last.packet);
  transits_.release(transit);
}

void Network::forward(TimePs now, std::uint32_t at, std::uint32_t index) {
  Transit& transit = transits_[index];
  const Packet& packet = transit.packet;
  std::uint32_t out = rules_of(packet).usid
                          ? transit.out
                          : topology_.forward_ecmp(at, packet.source_node, packet.destination_node, packet.ev);
  if (adaptive_ && out != Topology::kNoLink && topology_.links()[out].up) out = least_loaded(now, at, packet);
  if (out == Topology::kNoLink || transit.hop_limit <= 1) {
    ++without_route_;
    if (recorder_ != nullptr) tell_lost(now, packet);
    transits_.release(index);
    return;
  }
  --transit.hop_limit;
  enqueue(now, out, index);
}

std::uint32_t Network::least_loaded(TimePs now, std::uint32_t at, const Packet& packet) const {
  const std::vector<std::uint32_t>& up = topology_.switches()[at].up;
  const std::uint64_t name = std::uint64_t{packet.source_node} << 32 | packet.psn;
  std::size_t i = mix64(scenario_.seed ^ at ^ mix64(name ^ mix64(packet.destination_qp))) % up.size();
  std::uint32_t best = up[i];
  TimePs least_ps = kNever;
  for (std::size_t looked_at = 0; looked_at < up.size(); ++looked_at, i = i + 1 == up.size() ? 0 : i + 1) {
    const SwitchPort& port = ports_[up[i]];
    if (ends_[up[i]].faulty && is_cut(now, up[i])) continue;
    // A port that no packet has visited is free.
    const TimePs busy_ps = port.law == not_visited || free_at(up[i]) <= now ? 0 : free_at(up[i]) - now;
    if (busy_ps >= least_ps) continue;
    least_ps = busy_ps;
    best = up[i];
  }
  return best;
}

// Output port

bool Network::shares_room(const SwitchPort& port, std::uint64_t level, std::uint32_t bytes) const {
  const FabricConfig& fabric = scenario_.fabric;
  const std::uint64_t used = buffered_bytes_[port.from];
  // Lossless data is held back by pauses, not by its queue.
  if (pause_law_.on) return used + bytes <= fabric.buffer_bytes;
  const std::uint64_t free = used < fabric.buffer_bytes ? fabric.buffer_bytes - used : 0;
  return static_cast<double>(level) <= fabric.buffer_alpha * static_cast<double>(free) && bytes <= free;
}

bool Network::fits(TimePs now, const SwitchPort& port, const Transit& transit) {
  if (port.law == at_nic) return true;
  const std::uint64_t level = port.queued_bytes + transit.bytes;
  if (!pause_law_.on) {
    const bool data = transit.queue == FabricClass::control ||
                      data_level(port, transit) + transit.bytes <= rules_of(transit.packet).law[port.law].data_bytes;
    if (level > scenario_.fabric.queue_bytes || !data) return false;
  }
  if (shares_room(port, level, transit.bytes)) return true;
  if (late_links_.empty()) return false;
  // Other ports of the switch have sent more than was looked at.
  catch_up_all(now);
  return shares_room(port, level, transit.bytes);
}

bool Network::trim(TimePs now, const QueueLaw& law, Transit& transit) const {
  Packet& packet = transit.packet;
  const bool trimmable = packet.role == TrafficRole::trimmable || packet.role == TrafficRole::trimmable_retx;
  if (!law.trim || !trimmable || packet.damage != Damage::none) return false;
  const std::uint32_t before = transit.bytes;
  packet.damage = Damage::trimmed;
  const std::uint32_t cut = rules_of(packet).link_bytes.on_link(packet);
  if (cut >= before) {
    packet.damage = Damage::none;
    return false;
  }
  packet.trimmed_at_last_hop = law.last_hop;
  packet.role = law.last_hop ? TrafficRole::trimmed_lasthop : TrafficRole::trimmed;
  transit.queue = FabricClass::control;
  transit.bytes = cut;
  transit.last_bit = std::min(transit.last_bit, now);
  return true;
}

void Network::enqueue(TimePs now, std::uint32_t link, std::uint32_t index) {
  SwitchPort& port = visit(link);
  // What leaves at the time of an arrival leaves after it.
  if (port.late) catch_up(port, link, now);
  const bool held = port.paused && transits_[index].queue != FabricClass::control;
  if (port.empty() && port.line.free_at() <= now && !held) {
    if (recording()) [[unlikely]]
      return transmit_recorded(now, link, index, false);
    transmit(now, link, index);
    return;
  }
  Transit& transit = transits_[index];
  if (!fits(now, port, transit)) {
    const bool trimmed = trim(now, rules_of(transit.packet).law[port.law], transit);
    if (trimmed) ++congested(port).trimmed;
    if (!trimmed || !fits(now, port, transit)) {
      ++congested(port).dropped;
      if (recorder_ != nullptr) tell_lost(now, transit.packet);
      transits_.release(index);
      return;
    }
  }
  PacketQueue& queue = queue_of(port, transit);
  transit.next = TransitPool::kNone;
  if (queue.empty()) {
    queue.head = index;
  } else {
    transits_[queue.tail].next = index;
  }
  queue.tail = index;
  port.queued_bytes += transit.bytes;
  if (recorder_ != nullptr) tell_level(now, link, transit.bytes);
  if (transit.queue != FabricClass::control) {
    port.data_bytes += transit.bytes;
    if (transit.queue == FabricClass::retransmission) port.retransmission_bytes += transit.bytes;
    if (class_turns_.on()) account_class(port, transit, transit.bytes);
  }
  if (port.law != at_nic) {
    buffered_bytes_[port.from] += transit.bytes;
    if (pause_law_.on && transit.queue != FabricClass::control) account_ingress(now, transit.ingress, transit.bytes);
  }
  if (port.counters.most_queued_bytes == 0 && port.law != at_nic) links_with_queues_.push_back(link);
  port.counters.most_queued_bytes = std::max(port.counters.most_queued_bytes, port.queued_bytes);
  if (port.armed || port.late || held) return;
  if (port.law == at_nic)
    arm(std::max(now, port.line.free_at()), link);
  else
    arm_switch_port(port, link);
}

PacketQueue& Network::queue_of(SwitchPort& port, const Transit& transit) {
  if (transit.queue != FabricClass::data || transit.traffic_class == 0)
    return port.queues[static_cast<std::size_t>(transit.queue)];
  return congested(port).classes.above[transit.traffic_class - 1U];
}

PacketQueue* Network::data_to_serve(SwitchPort& port) {
  PortClasses& classes = congested(port).classes;
  std::uint32_t waiting = port.queues[kData].empty() ? 0 : 1;
  for (std::uint32_t c = 1; c < kMostTrafficClasses; ++c) waiting |= (classes.above[c - 1].empty() ? 0U : 1U) << c;
  const std::uint32_t next = class_turns_.pick(classes.credit, waiting, waiting);
  if (next == ClassTurns::kNone) return nullptr;
  return next == 0 ? &port.queues[kData] : &classes.above[next - 1];
}

void Network::account_class(SwitchPort& port, const Transit& transit, std::int64_t bytes) {
  congested(port).classes.bytes[transit.traffic_class] += static_cast<std::uint64_t>(bytes);
}

std::size_t Network::choose(SwitchPort& port) {
  const auto front = [&](std::size_t i) {
    if (i != kData || !class_turns_.on()) return port.queues[i].head;
    const PacketQueue* data = data_to_serve(port);
    return data == nullptr ? TransitPool::kNone : data->head;
  };
  const auto waits = [&](std::size_t i) {
    return front(i) != TransitPool::kNone && (!port.paused || i == static_cast<std::size_t>(FabricClass::control));
  };
  if (scenario_.fabric.scheduling == SwitchScheduling::strict || port.law == at_nic) {
    // Retransmissions of class 0 do not pass data of a higher class.
    const bool urgent =
        class_turns_.on() && class_turns_.strict() && waits(kData) && data_to_serve(port) != &port.queues[kData];
    if (urgent && !waits(static_cast<std::size_t>(FabricClass::control))) return kData;
    for (std::size_t i = 0; i < kFabricClasses; ++i) {
      if (waits(i)) return i;
    }
  }
  // Deficit round robin: a queue's turn lasts as long as its credit, an empty queue has none.
  std::array<std::int32_t, kFabricClasses>& deficit = congested(port).deficit;
  for (;;) {
    const std::size_t i = port.turn;
    const auto bytes = waits(i) ? static_cast<std::int32_t>(transits_[front(i)].bytes) : 0;
    if (waits(i) && deficit[i] >= bytes) {
      deficit[i] -= bytes;
      return i;
    }
    if (!waits(i)) deficit[i] = 0;
    port.turn = static_cast<std::uint8_t>((i + 1) % kFabricClasses);
    if (waits(port.turn)) deficit[port.turn] += weights_[port.turn];
  }
}

void Network::mark(std::uint32_t link, SwitchPort& port, Transit& transit) {
  const QueueLaw& law = rules_of(transit.packet).law[port.law];
  const std::uint64_t level = data_level(port, transit);
  if (level <= law.ecn_min_bytes || law.ecn_max_probability <= 0 || transit.queue == FabricClass::control) return;
  Packet& packet = transit.packet;
  if (packet.ecn != Ecn::ect0) return;
  if (level < law.ecn_max_bytes) {
    // Keyed by the packet, so that nobody else's traffic changes what it draws.
    const std::uint64_t name =
        std::uint64_t{packet.source_node} << 32 | packet.psn << 1 | (packet.retransmission ? 1 : 0);
    const std::uint64_t key = mix64(scenario_.seed ^ mix64(0xFAB0'0000'0000ULL + link));
    const std::uint64_t draw = mix64(key ^ mix64(name ^ mix64(packet.destination_qp)));
    const double share = static_cast<double>(level - law.ecn_min_bytes) /
                         static_cast<double>(law.ecn_max_bytes - law.ecn_min_bytes) * law.ecn_max_probability;
    if (static_cast<double>(draw >> 11) * 0x1.0p-53 >= share) return;
  }
  packet.ecn = Ecn::ce;
  ++congested(port).ce_marked;
}

void Network::serve(TimePs now, std::uint32_t link) {
  SwitchPort& port = ports_[link];
  if (turn_end_ != 0 && port.law != at_nic) {
    // What leaves is counted, not what has it leave.
    --events_done_;
    port.armed = false;
    if (!port.late) serve_in_turn(port, link);
    return;
  }
  port.armed = false;
  if (port.line.free_at() > now) {
    arm(port.line.free_at(), link);
    return;
  }
  if (port.empty()) {
    if (port.law == at_nic) nodes_[port.from]->port_free(now, port.plane);
    return;
  }
  // What is left is paused; its resumption serves the port again.
  if (port.paused && port.queued_bytes == port.data_bytes) return;
  depart(now, link);
  if (port.law == at_nic)
    arm(port.line.free_at(), link);
  else if (!port.empty())
    arm_switch_port(port, link);
}

void Network::catch_up_all(TimePs until) {
  for (const std::uint32_t link : late_links_) catch_up(ports_[link], link, until);
}

void Network::depart(TimePs now, std::uint32_t link) {
  SwitchPort& port = ports_[link];
  const std::size_t chosen = choose(port);
  const bool of_classes = chosen == kData && class_turns_.on();
  PacketQueue& queue = of_classes ? *data_to_serve(port) : port.queues[chosen];
  const std::uint32_t index = queue.head;
  Transit& transit = transits_[index];
  queue.head = transit.next;
  if (queue.head != TransitPool::kNone) prefetch(&transits_[queue.head].packet.psn, 2 * kCacheLineBytes);
  if (of_classes) class_turns_.charge(congested(port).classes.credit, transit.traffic_class, transit.bytes);
  mark(link, port, transit);
  port.queued_bytes -= transit.bytes;
  if (recorder_ != nullptr) tell_level(now, link, -std::uint64_t{transit.bytes});
  if (transit.queue != FabricClass::control) {
    port.data_bytes -= transit.bytes;
    if (transit.queue == FabricClass::retransmission) port.retransmission_bytes -= transit.bytes;
    if (class_turns_.on()) account_class(port, transit, -std::int64_t{transit.bytes});
  }
  if (port.law != at_nic) {
    buffered_bytes_[port.from] -= transit.bytes;
    if (pause_law_.on && transit.queue != FabricClass::control) {
      account_ingress(now, transit.ingress, -static_cast<std::int64_t>(transit.bytes));
    }
  }
  if (recording()) [[unlikely]]
    transmit_recorded(now, link, index, true);
  else
    transmit(now, link, index);
}

void Network::account_ingress(TimePs now, std::uint32_t ingress, std::int64_t bytes) {
  SwitchPort& sender = visit(ingress);
  std::uint64_t& there = congested(sender).at_far_end_bytes;
  there += static_cast<std::uint64_t>(bytes);
  const bool pause = !sender.pausing && there > pause_law_.xoff_bytes;
  const bool resume = sender.pausing && there <= pause_law_.xon_bytes;
  if (!pause && !resume) return;
  sender.pausing = pause;
  const LinkInfo& link = topology_.links()[ingress];
  const TimePs at = now + pause_delay_ps(link);
  const std::uint32_t service = pause ? pause_data : resume_data;
  if (!owns_port(ingress)) {
    (*crossings_)[partition_->from(link)].pauses.push_back({at, ingress, service});
    return;
  }
  push(at, FabricEventKind::service, ingress, service);
}

void Network::set_paused(TimePs now, std::uint32_t link, bool paused) {
  SwitchPort& port = visit(link);
  port.paused = paused;
  CongestedPort& pauses = congested(port);
  if (paused) {
    ++pauses.pauses;
    pauses.paused_since = now;
    return;
  }
  pauses.paused_ps += now - pauses.paused_since;
  if (!port.armed) arm(std::max(now, port.line.free_at()), link);
}

void Network::transmit(TimePs now, std::uint32_t link, std::uint32_t index) {
  SwitchPort& port = ports_[link];
  Transit& transit = transits_[index];
  TimePs last_bit = std::max(port.line.occupy(now, transit.bytes), transit.last_bit);
  ++port.counters.packets;
  port.counters.bytes += transit.bytes;
  if (errors_ != nullptr) [[unlikely]] {
    TimePs delay_ps = 0;
    const bool arrives = crosses(now, link, index, delay_ps);
    retries_[link].add_frame(delay_ps);
    if (delay_ps > 0) {
      port.line.hold(delay_ps);
      tell_busy_changed(now, link);
    }
    if (!arrives) return;
    now += delay_ps;
    last_bit += delay_ps;
  }
  if (port.leaves) {
    leave(now, link, index, last_bit);
    return;
  }
  transit.last_bit = last_bit + port.hop_ps;
  route(link, transit);
  push(arrival_time(now, port, last_bit), FabricEventKind::arrival, link, index);
}

bool Network::crosses(TimePs now, std::uint32_t link, std::uint32_t index, TimePs& delay_ps) {
  const std::uint32_t bytes = transits_[index].bytes;
  for (std::uint32_t attempt = 0; errors_->damages(now, link, bytes, attempt); ++attempt) {
    ++damaged_frames_;
    if (!scenario_.fabric.link_retry || attempt == scenario_.fabric.link_retry_limit) {
      ++lost_on_[link];
      ++fault_counts_.dropped;
      if (recorder_ != nullptr) tell_lost(now, transits_[index].packet);
      transits_.release(index);
      return false;
    }
    // The far end asks for it, and what was sent meanwhile is repeated behind it.
    const LinkInfo& info = topology_.links()[link];
    delay_ps += 2 * TimePs{info.delay_ps} + static_cast<TimePs>(scenario_.fabric.link_retry_turnaround_ns * 1000.0) +
                static_cast<TimePs>(bytes * 8000.0 / info.gbps);
  }
  return true;
}

void Network::transmit_recorded(TimePs now, std::uint32_t link, std::uint32_t index, bool waited) {
  Packet& packet = transits_[index].packet;
  StartId& last = last_start_on_[link];
  packet.last_start = last = trace_->add(now, waited ? last : packet.last_start, StartPoint::on_link(link, waited));
  transmit(now, link, index);
}

void Network::leave(TimePs now, std::uint32_t link, std::uint32_t index, TimePs last_bit) {
  SwitchPort& port = ports_[link];
  Transit& transit = transits_[index];
  if (Link* exit = exits_[link]) {
    if (ends_[link].faulty && lost(now, link, last_bit, transit)) {
      if (recorder_ != nullptr) tell_lost(now, transit.packet);
    } else {
      transit.packet.outer_dst = transit.carrier;
      transit.packet.hop_limit = transit.hop_limit;
      exit->send(now, last_bit, transit.packet);
    }
  } else {
    (*crossings_)[partition_->to(topology_.links()[link])].packets.push_back({.at = arrival_time(now, port, last_bit),
                                                                              .link = link,
                                                                              .bytes = transit.bytes,
                                                                              .carrier = transit.carrier,
                                                                              .last_bit = last_bit + port.hop_ps,
                                                                              .queue = transit.queue,
                                                                              .plane = transit.plane,
                                                                              .hop_limit = transit.hop_limit,
                                                                              .packet = transit.packet});
  }
  transits_.release(index);
}

void Network::enter(const PacketCrossing& crossing) {
  const std::uint32_t index = transits_.acquire();
  Transit& transit = transits_[index];
  transit.carrier = crossing.carrier;
  transit.last_bit = crossing.last_bit;
  transit.bytes = crossing.bytes;
  transit.queue = crossing.queue;
  transit.traffic_class = crossing.packet.traffic_class;
  transit.plane = crossing.plane;
  transit.hop_limit = crossing.hop_limit;
  transit.packet = crossing.packet;
  route(crossing.link, transit);
  push(crossing.at, FabricEventKind::arrival, crossing.link, index);
}

void Network::split(const Partition& partition, std::uint32_t rank, std::vector<Crossings>& out) {
  partition_ = &partition;
  rank_ = rank;
  crossings_ = &out;
  for (const std::uint32_t link : visited_links()) {
    const LinkInfo& info = topology_.links()[link];
    if (partition.from(info) != partition.to(info)) ports_[link].leaves = true;
  }
}

TimePs Network::lookahead_ps() const {
  TimePs shortest = kNever;
  for (std::uint32_t link = 0; link < ports_.size(); ++link) {
    const LinkInfo& info = topology_.links()[link];
    if (partition_->from(info) == partition_->to(info)) continue;
    shortest = std::min(shortest, hop_ps_of(link));
    if (pause_law_.on) shortest = std::min(shortest, pause_delay_ps(info));
  }
  return shortest;
}

void Network::put_counts(ByteWriter& to) const {
  to.put(impairments());
  to.put(std::array{without_route_, lost_on_down_links_, events_done_, packets_inside()});
  std::vector<std::uint32_t> links;
  std::vector<PortCounters> all;
  for (const std::uint32_t link : visited_links()) {
    const PortCounters counted = counters(link);
    if (!owns_port(link) || counted.packets + counted.dropped + counted.most_queued_bytes + counted.pauses == 0)
      continue;
    links.push_back(link);
    all.push_back(counted);
  }
  to.put(links);
  to.put(all);
}

void Network::add_counts(ByteReader& from) {
  const auto damage = from.get<ImpairmentCounts>();
  fault_counts_.dropped += damage.dropped;
  fault_counts_.corrupted += damage.corrupted;
  fault_counts_.trimmed += damage.trimmed;
  fault_counts_.duplicated += damage.duplicated;
  fault_counts_.ce_marked += damage.ce_marked;
  const auto sums = from.get<std::array<std::uint64_t, 4>>();
  without_route_ += sums[0];
  lost_on_down_links_ += sums[1];
  events_done_ += sums[2];
  inside_elsewhere_ += sums[3];
  std::vector<std::uint32_t> links;
  std::vector<PortCounters> all;
  from.get(links);
  from.get(all);
  for (std::size_t i = 0; i < links.size(); ++i) {
    SwitchPort& port = visit(links[i]);
    port.counters = all[i];
    CongestedPort& rest = congested(port);
    rest.dropped = all[i].dropped;
    rest.trimmed = all[i].trimmed;
    rest.ce_marked = all[i].ce_marked;
    rest.pauses = all[i].pauses;
    rest.paused_ps = all[i].paused_ps;
  }
}

void Network::tell_level(TimePs now, std::uint32_t link, std::uint64_t change) {
  if (object_of_link_[link] != RecorderTap::kNoObject) recorder_->level(object_of_link_[link], now, change);
}

void Network::tell_lost(TimePs now, const Packet& packet) {
  recorder_->add({.time = now, .kind = Record::Kind::dropped, .has_packet = true, .packet = PacketTag::of(packet)});
}

ImpairmentCounts Network::impairments() const {
  ImpairmentCounts sum = fault_counts_;
  for (const auto& [link, impairment] : impairments_) {
    if (!impairment) continue;
    const ImpairmentCounts& counts = impairment->counts();
    sum.dropped += counts.dropped;
    sum.corrupted += counts.corrupted;
    sum.trimmed += counts.trimmed;
    sum.duplicated += counts.duplicated;
    sum.ce_marked += counts.ce_marked;
  }
  return sum;
}

}  // namespace mrc
