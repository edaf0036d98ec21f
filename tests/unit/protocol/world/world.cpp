#include "world.h"

#include <algorithm>
#include <string_view>

#include "mrc/control/ev_profile.h"
#include "violation.h"

namespace mrc::world {

namespace {

constexpr std::uint32_t kWrongKey = 0xBAD0'0000;
/// Events in a row without a packet acknowledged, a message complete or a QP in error, after which a run is stuck.
constexpr std::uint64_t kMostEventsWithoutProgress = 1'000'000;

std::uint32_t all_planes(std::uint32_t planes) {
  return (1U << planes) - 1;
}

}  // namespace

World::World(const WorldConfig& config)
    : config_(config), random_(config.seed, "world.run"), nodes_{Node(config.bitmap_banks), Node(config.bitmap_banks)} {
  build_endpoints();
}

void World::build_endpoints() {
  const std::uint32_t count = 2 * config_.connections;
  const bool own_table = config_.protocol.path_table_scope == PathTableScope::qp;
  const bool own_window = config_.protocol.congestion_scope == CongestionScope::qp;
  for (std::uint32_t i = 0; i < (own_table ? count : 2); ++i) {
    const EvProfile profile = make_auto_profile(config_.protocol, config_.planes, KeyedRandom(config_.seed, 100 + i));
    tables_.push_back(
        {std::make_unique<PathTable>(profile, config_.protocol, config_.planes, KeyedRandom(config_.seed, 200 + i)),
         i,
         all_planes(config_.planes),
         false,
         {},
         {}});
  }
  for (std::uint32_t i = 0; i < (own_window ? count : 2); ++i) {
    congestions_.push_back(std::make_unique<WatchedCongestion>(config_.congestion, config_.protocol));
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    Node& node = nodes_[i % 2];
    PathTable& paths = *tables_[own_table ? i : i % 2].paths;
    WatchedCongestion& congestion = *congestions_[own_window ? i : i % 2];
    endpoints_.push_back(std::make_unique<Endpoint>(config_, i, paths, congestion, node.bitmaps, node.protection,
                                                    psn_add(config_.first_psn, i), psn_add(config_.first_psn, i ^ 1)));
    node.protection.add({.va = std::uint64_t{i + 1} << 40, .bytes = 1ULL << 40, .rkey = i + 1, .domain = i});
    const bool forbids = config_.forbidden_write && i % 2 == 0;
    if (forbids) endpoints_.back()->forbidden_message = random_.below(40);
  }
}

World::Table& World::table_of(const Endpoint& endpoint) {
  return *std::find_if(tables_.begin(), tables_.end(),
                       [&](const Table& table) { return table.paths.get() == endpoint.paths; });
}

Flight* World::acquire() {
  if (free_.empty()) {
    flights_.push_back(std::make_unique<Flight>());
    return flights_.back().get();
  }
  Flight* flight = free_.back();
  free_.pop_back();
  *flight = Flight{};
  return flight;
}

void World::schedule(TimePs at, Kind kind, std::uint32_t subject, Flight* flight) {
  if (kind != Kind::probe && kind != Kind::probe_timeout && kind != Kind::heal) ++live_events_;
  events_.push({at, sequence_++, subject, kind, flight});
}

WorldResult World::run() {
  try {
    for (auto& endpoint : endpoints_) {
      if (config_.both_directions || endpoint->id % 2 == 0) post_work(*endpoint);
    }
    while (!events_.empty()) step();
    check_end();
  } catch (const Violation& violation) {
    throw Violation(fmt::format("seed {}, event {}, {} ns: {}\n{}", config_.seed, events_done_, now_ / kPsPerNs,
                                violation.what(), history()));
  }
  result_.events = events_done_;
  for (const auto& endpoint : endpoints_) {
    const RequestorCounters& counters = endpoint->requestor.counters();
    result_.packets += counters.packets;
    result_.retransmissions += counters.retransmissions;
    result_.spurious_losses += counters.spurious_losses;
    result_.messages += endpoint->sender.completed();
    result_.qp_errors += endpoint->sender.failed() ? 1 : 0;
    result_.most_received_units = std::max(result_.most_received_units, endpoint->receiver.received_units());
  }
  return result_;
}

void World::step() {
  const Event event = events_.top();
  events_.pop();
  now_ = event.at;
  Past& past = past_[events_done_++ % past_.size()];
  past = {now_, event.kind, event.subject, Opcode::write_only, Damage::none, 0, event.flight != nullptr};
  if (event.flight != nullptr) {
    past.opcode = event.flight->packet.opcode;
    past.damage = event.flight->packet.damage;
    past.number = event.flight->number;
  }
  const bool background = event.kind == Kind::probe || event.kind == Kind::probe_timeout || event.kind == Kind::heal;
  if (!background) --live_events_;
  switch (event.kind) {
    case Kind::send:
      send(*endpoints_[event.subject]);
      break;
    case Kind::transmit:
      transmit(*endpoints_[event.subject]);
      break;
    case Kind::arrive:
      arrive(event.flight);
      break;
    case Kind::write:
      write(event.flight);
      break;
    case Kind::answer:
      send_sack(event.flight);
      break;
    case Kind::timer:
      timer(*endpoints_[event.subject]);
      break;
    case Kind::probe:
      probe(event.subject);
      break;
    case Kind::probe_timeout:
      probe_timeout(event.subject);
      break;
    case Kind::heal:
      heal(event.subject);
      break;
  }
  require(live_events_ > 0 || !work_pending(), "nothing will happen any more, and work is left");
  require(events_done_ - last_progress_ < kMostEventsWithoutProgress, "no progress for {} events",
          kMostEventsWithoutProgress);
}

bool World::work_pending() const {
  return std::any_of(endpoints_.begin(), endpoints_.end(),
                     [](const auto& endpoint) { return endpoint->sender.completed() < endpoint->sender.posted(); });
}

// Work and sending

WorkRequest World::draw_request(Endpoint& endpoint) {
  Endpoint& peer = *endpoints_[endpoint.id ^ 1];
  const std::uint32_t mtu = config_.protocol.mtu_bytes;
  const double u = random_.uniform();
  const auto packets = 1 + static_cast<std::uint32_t>(u * u * u * (config_.most_packets - 1) + 0.5);
  const std::uint64_t number = endpoint.sender.posted();
  WorkRequest request;
  request.id = number;
  request.bytes = (packets - 1) * mtu + 1 + static_cast<std::uint32_t>(random_.below(mtu));
  request.local_address = endpoint.next_local_address;
  endpoint.next_local_address += request.bytes + random_.below(64);
  request.rkey = number == endpoint.forbidden_message ? kWrongKey : peer.id + 1;
  request.write_imm = random_.chance(config_.write_imm_share);
  if (request.write_imm) request.immediate = static_cast<std::uint32_t>(random_.next());
  const std::uint64_t first = peer.memory.add(request, static_cast<std::uint32_t>(random_.below(mtu)));
  peer.incoming.push_back({first, packets, request.immediate, request.write_imm});
  return request;
}

void World::post_work(Endpoint& endpoint) {
  if (endpoint.sender.failed() && !endpoint.posted_after_failure) {
    endpoint.posted_after_failure = true;
    const WorkRequest request{.id = endpoint.sender.posted(), .bytes = 1};
    endpoint.requestor.post(request, now_);
    endpoint.sender.post(request, now_);
  }
  if (endpoint.sender.failed() || events_done_ >= config_.events) return;
  while (endpoint.sender.posted() - endpoint.sender.completed() < config_.queue_depth) {
    const bool idle = endpoint.sender.posted() == endpoint.sender.completed();
    if (!idle && random_.chance(0.2)) break;
    const WorkRequest request = draw_request(endpoint);
    require(endpoint.requestor.post(request, now_) == PostStatus::posted, "work {} is refused", request.id);
    endpoint.sender.post(request, now_);
  }
  schedule_send(endpoint);
}

void World::schedule_send(Endpoint& endpoint) {
  if (endpoint.send_scheduled || endpoint.requestor.gate(now_) != SendGate::ready) return;
  endpoint.send_scheduled = true;
  schedule(now_ + random_.below(config_.send_gap_ps), Kind::send, endpoint.id);
}

void World::send(Endpoint& endpoint) {
  endpoint.send_scheduled = false;
  if (endpoint.requestor.gate(now_) != SendGate::ready) return;
  const SendPlan plan = endpoint.requestor.take(now_);
  Flight* flight = acquire();
  flight->number = endpoint.sender.take(plan, *endpoint.congestion, now_);
  flight->to = endpoint.id ^ 1;
  flight->local_address = plan.local_address;
  Packet& packet = flight->packet;
  packet.psn = plan.psn;
  packet.va = plan.va;
  packet.rkey = plan.rkey;
  packet.dma_length = plan.dma_length;
  packet.payload_bytes = plan.payload_bytes;
  packet.immediate = plan.immediate;
  packet.msn = plan.msn;
  packet.rqmsn = plan.rqmsn;
  packet.opcode = plan.opcode;
  packet.ack_request = plan.ack_request;
  packet.retransmission = plan.retransmission;
  endpoint.pipeline.push_back(flight);
  if (endpoint.pipeline.size() == 1) schedule(now_ + random_.below(config_.pipeline_ps), Kind::transmit, endpoint.id);
  break_something(endpoint);
  follow_up(endpoint);
}

void World::transmit(Endpoint& endpoint) {
  Table& table = table_of(endpoint);
  const std::uint32_t all = all_planes(config_.planes);
  std::uint32_t ports = all;
  if (!endpoint.waits_for_path && random_.chance(0.3)) ports = static_cast<std::uint32_t>(random_.next()) & all;
  const EvIndex ev = endpoint.paths->select(ports, now_);
  endpoint.waits_for_path = ev == kNoEv;
  if (ev == kNoEv) {
    if (ports == all) check_no_path(table);
    schedule(now_ + 500 * kPsPerNs, Kind::transmit, endpoint.id);
    return;
  }
  const std::uint8_t plane = endpoint.paths->plane(ev);
  require(endpoint.paths->state(ev) == EvState::good && endpoint.paths->active(ev), "EV {} is chosen in state {}", ev,
          static_cast<int>(endpoint.paths->state(ev)));
  const auto skipped = table.skipped_until.find(ev);
  require(skipped == table.skipped_until.end() || skipped->second <= now_, "EV {} is chosen before its skip is over",
          ev);
  require((ports & table.reachable & (1U << plane)) != 0, "EV {} is chosen on plane {}, which cannot be used", ev,
          plane);
  Flight* flight = endpoint.pipeline.front();
  endpoint.pipeline.pop_front();
  if (!endpoint.pipeline.empty()) schedule(now_ + random_.below(config_.send_gap_ps), Kind::transmit, endpoint.id);
  flight->packet.ev = endpoint.paths->value(ev);
  flight->packet.plane = plane;
  endpoint.requestor.transmitted(flight->packet.psn, ev, now_);
  if (flight->number >= endpoint.sender.unacked()) endpoint.sender.transmitted(flight->number, ev, now_);
  launch_data(flight);
  follow_up(endpoint);
}

void World::note_skip(Table& table, EvIndex ev, EvState before) {
  if (config_.protocol.skip_duration != SkipDuration::fixed_time) return;
  const bool skips = before == EvState::good && table.paths->state(ev) == EvState::skip;
  if (skips) table.skipped_until[ev] = now_ + config_.protocol.skip_time_ps;
}

/// An ASSUMED_BAD EV is in use again after enough good probes in a row, and not before. `lost_too`: the same SACK told
/// of losses, which may have removed it anew.
void World::check_probed(Table& table, EvIndex ev, EvState before, bool lost_too) {
  table.skipped_until.erase(ev);
  if (before != EvState::assumed_bad) return;
  const bool revives = ++table.probe_successes[ev] >= config_.protocol.probe_successes;
  const EvState after = table.paths->state(ev);
  require((after != EvState::assumed_bad) == revives || (revives && lost_too),
          "EV {} in state {} after {} good probes in a row", ev, static_cast<int>(after), table.probe_successes[ev]);
  if (revives) table.probe_successes.erase(ev);
}

/// With all ports free there must be a path while an EV of a reachable plane is active.
void World::check_no_path(const Table& table) const {
  const bool by_time = config_.protocol.skip_duration == SkipDuration::fixed_time;
  for (EvIndex ev = 0; ev < table.paths->size(); ++ev) {
    const bool usable = table.paths->active(ev) && (table.reachable >> table.paths->plane(ev) & 1) != 0;
    const EvState state = table.paths->state(ev);
    require(!usable || (state != EvState::good && (by_time || state != EvState::skip)),
            "no EV is chosen although EV {} is active in state {}", ev, static_cast<int>(state));
  }
}

void World::break_something(Endpoint& endpoint) {
  const auto position = static_cast<std::uint32_t>(&table_of(endpoint) - tables_.data());
  Table& table = tables_[position];
  const auto ev = static_cast<EvIndex>(random_.below(table.paths->size()));
  const TimePs end = now_ + (5 + random_.below(200)) * kPsPerUs;
  Healing healing{.table = position, .ev = ev};
  if (random_.chance(config_.blackhole)) {
    blackholes_[table.paths->value(ev)] = end;
  }
  if (random_.chance(config_.denial) && table.paths->state(ev) != EvState::denied) {
    healing.what = Healing::What::denial;
    table.paths->deny(ev);
    healings_.push_back(healing);
    schedule(end, Kind::heal, static_cast<std::uint32_t>(healings_.size() - 1));
    check_table(table);
  }
  if (random_.chance(config_.port_change)) {
    const std::uint32_t all = all_planes(config_.planes);
    table.reachable = (static_cast<std::uint32_t>(random_.next()) & all) | 1U << random_.below(config_.planes);
    table.paths->set_port_status(table.reachable);
    endpoint.reverse_reachable = table.reachable;
    endpoint.reverse.set_port_status(table.reachable);
    healing.what = Healing::What::ports;
    healing.endpoint = endpoint.id;
    healings_.push_back(healing);
    schedule(end, Kind::heal, static_cast<std::uint32_t>(healings_.size() - 1));
  }
}

void World::heal(std::uint32_t index) {
  const Healing healing = healings_[index];
  Table& table = tables_[healing.table];
  if (healing.what == Healing::What::denial) {
    table.paths->allow(healing.ev);
    table.skipped_until.erase(healing.ev);
    table.probe_successes.erase(healing.ev);
    require(table.paths->state(healing.ev) == EvState::good, "EV {} is allowed and not GOOD", healing.ev);
    check_table(table);
    return;
  }
  table.reachable = all_planes(config_.planes);
  table.paths->set_port_status(table.reachable);
  endpoints_[healing.endpoint]->reverse_reachable = table.reachable;
  endpoints_[healing.endpoint]->reverse.set_port_status(table.reachable);
}

// The network

void World::launch_data(Flight* flight) {
  const auto hole = blackholes_.find(flight->packet.ev);
  if (hole != blackholes_.end() && hole->second > now_) return release(flight);
  if (random_.chance(config_.data.ce)) flight->packet.ecn = Ecn::ce;
  if (flight->packet.opcode != Opcode::probe_request && random_.chance(config_.data.trim)) {
    flight->packet.damage = Damage::trimmed;
    flight->packet.trimmed_at_last_hop = random_.chance(0.3);
    flight->packet.payload_bytes = 0;
  }
  launch(flight, config_.data);
}

void World::launch_control(Endpoint& endpoint, Flight* flight) {
  flight->to = endpoint.id ^ 1;
  const std::uint32_t all = all_planes(config_.planes);
  const std::uint32_t ports = random_.chance(0.3) ? static_cast<std::uint32_t>(random_.next()) & all : all;
  const ReversePaths::Choice choice = endpoint.reverse.pick(ports);
  const std::uint32_t usable = ports & endpoint.reverse_reachable;
  require(choice.found == (usable != 0), "a reverse EV is found: {}, with usable planes {:#x}", choice.found, usable);
  if (choice.found) check_reverse(endpoint, choice, usable);
  flight->packet.ev = choice.ev;
  flight->packet.plane = choice.plane;
  launch(flight, config_.control);
}

void World::check_reverse(Endpoint& endpoint, const ReversePaths::Choice& choice, std::uint32_t usable) {
  require((usable >> choice.plane & 1) != 0, "a control packet takes plane {}, which cannot be used", choice.plane);
  require(usable == 1U << choice.plane || choice.plane != endpoint.last_reverse_plane,
          "two control packets in a row take plane {}", choice.plane);
  require((endpoint.confirmed_planes >> choice.plane & 1) == 0 || choice.ev == endpoint.confirmed[choice.plane],
          "a control packet takes EV {:#x} of plane {} instead of {:#x}", choice.ev, choice.plane,
          endpoint.confirmed[choice.plane]);
  endpoint.last_reverse_plane = choice.plane;
}

void World::launch(Flight* flight, const Faults& faults) {
  const auto latency = [&] { return faults.latency_ps + (faults.spread_ps > 0 ? random_.below(faults.spread_ps) : 0); };
  if (random_.chance(faults.duplication)) {
    Flight* copy = acquire();
    *copy = *flight;
    schedule(now_ + latency(), Kind::arrive, copy->to, copy);
  }
  if (random_.chance(faults.loss) || random_.chance(faults.corruption)) return release(flight);
  schedule(now_ + latency(), Kind::arrive, flight->to, flight);
}

// Receiving

void World::arrive(Flight* flight) {
  Endpoint& endpoint = *endpoints_[flight->to];
  switch (flight->packet.opcode) {
    case Opcode::sack:
      receive_sack(endpoint, *flight);
      break;
    case Opcode::nack:
      receive_nack(endpoint, *flight);
      break;
    case Opcode::transport_ack:
      endpoint.requestor.on_transport_ack(flight->packet.transport_ack, now_);
      endpoint.sender.on_transport_ack(flight->number, now_);
      follow_up(endpoint);
      break;
    case Opcode::probe_request:
      receive_probe(endpoint, *flight);
      break;
    default:
      if (random_.chance(config_.stray)) receive_stray(endpoint, *flight);
      return receive_data(endpoint, flight);
  }
  release(flight);
}

void World::receive_data(Endpoint& endpoint, Flight* flight) {
  const Packet& packet = flight->packet;
  Node& node = nodes_[endpoint.id % 2];
  change_receiver(endpoint);
  endpoint.reverse.confirm(packet.plane, packet.ev);
  endpoint.confirmed[packet.plane] = packet.ev;
  endpoint.confirmed_planes |= 1U << packet.plane;
  if (packet.damage == Damage::trimmed) {
    const RxDecision decision = endpoint.responder.on_trimmed(packet, now_);
    endpoint.receiver.on_trimmed(flight->number, packet, decision);
    answer(endpoint, *flight, decision);
    return release(flight);
  }
  const RxResources resources{.packet_buffer_available = node.staged < config_.staging_packets,
                              .other_resource_available = !random_.chance(config_.no_resource)};
  const bool pool_full = node.bitmaps.in_use() == node.bitmaps.capacity();
  const RxDecision decision = endpoint.responder.accept(packet, resources, now_);
  endpoint.receiver.on_data(flight->number, packet, resources, decision, packet.rkey == kWrongKey, pool_full);
  if (events_done_ % 16 == 0) check_banks(endpoint.id % 2);
  answer(endpoint, *flight, decision);
  if (!decision.place) return release(flight);
  place(endpoint, flight, decision.closes_messages);
}

/// A packet beyond the window, as a sender in error would send it: the first ones and any.
void World::receive_stray(Endpoint& endpoint, const Flight& like) {
  Flight* stray = acquire();
  *stray = like;
  const std::uint64_t ahead = endpoint.receiver.window() + random_.below(random_.chance(0.5) ? 2 : 4'000'000);
  stray->number = endpoint.receiver.expected() + ahead;
  stray->packet.psn = psn_add(endpoint.responder.cack_psn(), static_cast<std::int64_t>(ahead) + 1);
  receive_data(endpoint, stray);
}

void World::receive_probe(Endpoint& endpoint, const Flight& flight) {
  const RxDecision decision = endpoint.responder.on_probe(flight.packet, now_);
  const bool receives = !endpoint.receiver.failed();
  require(decision.sack == receives && !decision.place && decision.nack == NackReason::none,
          "a probe is not just answered");
  if (receives) endpoint.receiver.on_probe();
  answer(endpoint, flight, decision);
}

/// The banks in use are those that hold a packet, and at most one more per QP: the bank of its edge.
void World::check_banks(std::uint32_t node) const {
  std::uint32_t least = 0;
  std::uint32_t spare = 0;
  for (const auto& endpoint : endpoints_) {
    if (endpoint->id % 2 != node) continue;
    least += endpoint->receiver.banks();
    spare += endpoint->receiver.out_of_order() > 0 ? 1 : 0;
  }
  const std::uint32_t in_use = nodes_[node].bitmaps.in_use();
  require(in_use >= least && in_use <= least + spare, "{} bitmap banks are in use, {} to {} are needed", in_use, least,
          least + spare);
}

void World::change_receiver(Endpoint& endpoint) {
  if (!random_.chance(config_.penalty_change)) return;
  const auto penalty = static_cast<std::uint8_t>(random_.chance(0.5) ? 0 : random_.below(128));
  endpoint.responder.set_penalty(penalty);
  endpoint.restore_due = penalty == 0 && (endpoint.restore_due || endpoint.penalty > 0);
  endpoint.penalty = penalty;
}

void World::place(Endpoint& endpoint, Flight* flight, std::uint32_t closes_messages) {
  Node& node = nodes_[endpoint.id % 2];
  ++node.staged;
  flight->closes_messages = closes_messages;
  node.written_at = std::max(node.written_at, now_ + random_.below(config_.dma_ps));
  schedule(node.written_at, Kind::write, endpoint.id, flight);
}

void World::write(Flight* flight) {
  Endpoint& endpoint = *endpoints_[flight->to];
  --nodes_[endpoint.id % 2].staged;
  endpoint.memory.write(flight->packet.va, flight->packet.payload_bytes, flight->local_address);
  const std::uint32_t closed = flight->closes_messages;
  release(flight);
  const auto ack = endpoint.responder.writes_issued(closed);
  require(ack.has_value() == (closed > 0), "a transport ACK is due: {}, {} messages were closed", ack.has_value(),
          closed);
  for (std::uint32_t i = 0; i < closed; ++i, ++endpoint.acknowledged) {
    const Endpoint::Incoming& message = endpoint.incoming[endpoint.acknowledged];
    require(endpoint.memory.written(message.first_slot, message.slots),
            "message {} is acknowledged before it is written", endpoint.acknowledged);
  }
  if (ack) send_transport_ack(endpoint, *ack);
  complete_receives(endpoint);
}

void World::complete_receives(Endpoint& endpoint) {
  ReceiveCompletion completion;
  for (std::uint64_t& next = endpoint.immediates_seen; next < endpoint.acknowledged; ++next) {
    const Endpoint::Incoming& message = endpoint.incoming[next];
    if (!message.write_imm) continue;
    require(endpoint.responder.pop_receive(completion), "WRITE_IMM {} is not received", next);
    require(endpoint.responder.post_receive(1), "no receive can be posted after WRITE_IMM {}", next);
    require(completion.msn == (next & 0xFFFF) && completion.immediate == message.immediate,
            "WRITE_IMM {} is received as MSN {} with immediate {:#x}", next, completion.msn, completion.immediate);
  }
  require(!endpoint.responder.pop_receive(completion), "a WRITE_IMM with MSN {} is received too early", completion.msn);
}

// Answers

void World::answer(Endpoint& endpoint, const Flight& flight, const RxDecision& decision) {
  if (decision.nack != NackReason::none) {
    Flight* nack = acquire();
    nack->packet.opcode = Opcode::nack;
    nack->packet.nack = endpoint.responder.build_nack(flight.packet, decision.nack);
    nack->number = flight.number;
    const NackFields& fields = nack->packet.nack;
    require(
        fields.nack_psn == flight.packet.psn && fields.entropy == flight.packet.ev && fields.reason == decision.nack,
        "NACK of PSN {} for PSN {}", fields.nack_psn, flight.packet.psn);
    launch_control(endpoint, nack);
  }
  if (decision.repeat_transport_ack) send_transport_ack(endpoint, endpoint.responder.repeat_transport_ack());
  if (!decision.sack) return;
  Flight* sack = acquire();
  sack->packet.opcode = Opcode::sack;
  sack->sack_trigger = decision.trigger;
  sack->trigger = flight.number;
  sack->to = endpoint.id;
  if (config_.answer_ps == 0) return send_sack(sack);
  schedule(now_ + random_.below(config_.answer_ps), Kind::answer, endpoint.id, sack);
}

void World::send_sack(Flight* flight) {
  Endpoint& endpoint = *endpoints_[flight->to];
  SackFields& sack = flight->packet.sack;
  sack = endpoint.responder.build_sack(flight->sack_trigger, now_);
  flight->base = endpoint.receiver.check_sack(sack, flight->sack_trigger, flight->trigger);
  require(sack.rcv_cwnd_pen == endpoint.penalty, "SACK with penalty {} instead of {}", sack.rcv_cwnd_pen,
          endpoint.penalty);
  require(sack.restore_cwnd == endpoint.restore_due, "SACK restores the window: {}", sack.restore_cwnd);
  endpoint.restore_due = false;
  const BitmapPool& bitmaps = nodes_[endpoint.id % 2].bitmaps;
  endpoint.receiver.check_grant(sack.mpr, bitmaps.capacity() - bitmaps.in_use());
  flight->number = endpoint.receiver.expected();
  flight->units = endpoint.receiver.received_units();
  launch_control(endpoint, flight);
}

void World::send_transport_ack(Endpoint& endpoint, const TransportAckFields& ack) {
  require(ack.msn == (endpoint.acknowledged & 0xFF'FFFF), "transport ACK of {} messages instead of {}", ack.msn,
          endpoint.acknowledged);
  Flight* flight = acquire();
  flight->packet.opcode = Opcode::transport_ack;
  flight->packet.transport_ack = ack;
  flight->number = endpoint.acknowledged;
  launch_control(endpoint, flight);
}

void World::receive_sack(Endpoint& endpoint, const Flight& flight) {
  const SackFields& sack = flight.packet.sack;
  const EvIndex ev = endpoint.paths->find(sack.entropy);
  const EvState before = ev == kNoEv ? EvState::denied : endpoint.paths->state(ev);
  const bool was_good = before == EvState::good;
  const std::uint64_t held_before = endpoint.paths->held_at_floor();
  const TimePs rtt = sack.probe ? 0 : endpoint.sender.rtt_of(flight.trigger, now_);
  const std::uint64_t newly_received = endpoint.sender.newly_received(flight.units);
  endpoint.requestor.on_sack(sack, now_);
  const AckSample& sample = endpoint.congestion->last_sample();
  require(sample.rtt_ps == rtt, "a SACK gives an RTT of {} ps instead of {}", sample.rtt_ps, rtt);
  require(sample.newly_received_bytes == newly_received, "a SACK tells of {} new B instead of {}",
          sample.newly_received_bytes, newly_received);
  require(sample.ecn == (sack.mark == PathMark::skip_once), "congestion control hears of a mark: {}", sample.ecn);
  require(sample.receiver_penalty == sack.rcv_cwnd_pen && sample.restore_cwnd == sack.restore_cwnd,
          "congestion control hears of penalty {}", sample.receiver_penalty);
  endpoint.sender.on_sack(flight.number, flight.base, sack, endpoint.congestion->cwnd_after_ack(), now_);
  const bool marked = sack.mark == PathMark::skip_once && !sack.probe;
  require(!was_good || !marked || endpoint.paths->state(ev) != EvState::good, "EV {} was CE-marked and is not skipped",
          ev);
  if (ev != kNoEv) note_skip(table_of(endpoint), ev, before);
  if (sack.probe) {
    probes_.erase(static_cast<std::uint16_t>(sack.ack_psn_offset));
    check_probed(table_of(endpoint), ev, before, !endpoint.sender.declared_lost().empty());
  }
  check_losses(endpoint, held_before);
  if (sack.probe) check_table(table_of(endpoint));
  follow_up(endpoint);
}

void World::receive_nack(Endpoint& endpoint, const Flight& flight) {
  const NackFields& nack = flight.packet.nack;
  const EvIndex ev = endpoint.paths->find(nack.entropy);
  const EvState before = endpoint.paths->state(ev);
  const bool live = !endpoint.sender.failed() && flight.number >= endpoint.sender.unacked() &&
                    flight.number < endpoint.sender.next() &&
                    endpoint.sender.sent(flight.number).state == SenderOracle::State::outstanding;
  endpoint.requestor.on_nack(nack, now_);
  endpoint.sender.on_nack(flight.number, nack.reason);
  const bool skips = live && nack.reason == NackReason::trimmed && before == EvState::good;
  const EvState after = skips ? EvState::skip : before;
  require(endpoint.paths->state(ev) == after, "NACK {}: EV {} goes from state {} to {}", static_cast<int>(nack.reason),
          ev, static_cast<int>(before), static_cast<int>(endpoint.paths->state(ev)));
  note_skip(table_of(endpoint), ev, before);
  follow_up(endpoint);
}

void World::timer(Endpoint& endpoint) {
  if (endpoint.timer_at != now_) return;
  endpoint.timer_at = kNever;
  require(endpoint.requestor.next_deadline() == endpoint.sender.deadline(), "deadline at {} ps instead of {}",
          endpoint.requestor.next_deadline(), endpoint.sender.deadline());
  if (endpoint.requestor.next_deadline() <= now_) {
    const std::uint64_t held_before = endpoint.paths->held_at_floor();
    endpoint.requestor.on_deadline(now_);
    endpoint.sender.on_deadline(now_);
    require(endpoint.requestor.next_deadline() > now_, "a deadline is in the past right after it was served");
    check_losses(endpoint, held_before);
  }
  follow_up(endpoint);
}

void World::follow_up(Endpoint& endpoint) {
  Completion completion;
  while (endpoint.requestor.pop_completion(completion)) {
    endpoint.sender.complete(completion);
    if (completion.status != CompletionStatus::success) continue;
    const Endpoint& peer = *endpoints_[endpoint.id ^ 1];
    require(completion.id < peer.acknowledged, "message {} is completed before it was written", completion.id);
  }
  require(endpoint.sender.completions_due() == 0, "{} completions are missing", endpoint.sender.completions_due());
  endpoint.sender.compare(endpoint.requestor);
  if (events_done_ % 64 == 0) endpoint.sender.compare_records(endpoint.requestor);
  check_inflight(endpoint);
  check_failure(endpoint);
  const std::uint64_t progress = endpoint.sender.unacked() + endpoint.sender.completed() + endpoint.sender.next();
  if (progress != endpoint.progress) last_progress_ = events_done_;
  endpoint.progress = progress;
  post_work(endpoint);
  for (const auto& other : endpoints_) {
    if (other->congestion == endpoint.congestion) schedule_send(*other);
  }
  const TimePs deadline = endpoint.requestor.next_deadline();
  if (events_done_ % 8 == 0) {
    require(deadline == endpoint.sender.deadline(), "deadline at {} ps instead of {}", deadline,
            endpoint.sender.deadline());
  }
  if (deadline < endpoint.timer_at) {
    endpoint.timer_at = std::max(deadline, now_);
    schedule(endpoint.timer_at, Kind::timer, endpoint.id);
  }
  schedule_probe(table_of(endpoint));
}

// EVs

void World::schedule_probe(Table& table) {
  if (table.probe_scheduled || !work_pending() || table.paths->next_probe_time() == kNever) return;
  table.probe_scheduled = true;
  schedule(std::max(now_, table.paths->next_probe_time()), Kind::probe,
           static_cast<std::uint32_t>(&table - tables_.data()));
}

void World::probe(std::uint32_t position) {
  Table& table = tables_[position];
  table.probe_scheduled = false;
  const EvIndex ev = table.paths->take_due_probe(now_);
  if (ev != kNoEv) {
    require(table.paths->state(ev) == EvState::assumed_bad, "EV {} is probed in state {}", ev,
            static_cast<int>(table.paths->state(ev)));
    require(table.paths->next_probe_time() > now_, "the next probe is due at once");
    const std::uint16_t id = next_probe_++;
    probes_[id] = {position, ev};
    schedule(now_ + 50 * kPsPerUs, Kind::probe_timeout, id);
    Flight* flight = acquire();
    flight->packet.opcode = Opcode::probe_request;
    flight->packet.ev = table.paths->value(ev);
    flight->packet.plane = table.paths->plane(ev);
    flight->packet.probe.probe_id = id;
    flight->to = table.user ^ 1;
    launch_data(flight);
  }
  schedule_probe(table);
}

void World::probe_timeout(std::uint32_t id) {
  const auto it = probes_.find(static_cast<std::uint16_t>(id));
  if (it == probes_.end()) return;
  Table& table = tables_[it->second.table];
  table.paths->report(it->second.ev, PathEvent::probe_lost, now_);
  table.probe_successes.erase(it->second.ev);
  probes_.erase(it);
  schedule_probe(table);
}

// Checks

/// With one loss enough, an EV that lost a packet is out of use unless its plane was at its minimum. Of several losses
/// one may have brought in a backup that another was late for.
void World::check_losses(Endpoint& endpoint, std::uint64_t held_before) {
  const auto& lost = endpoint.sender.declared_lost();
  if (lost.empty()) return;
  const bool held = endpoint.paths->held_at_floor() != held_before;
  if (config_.protocol.assumed_bad_losses == 1 && lost.size() == 1 && !held) {
    const EvIndex ev = endpoint.sender.sent(lost.front()).ev;
    require(!endpoint.paths->active(ev), "EV {} lost a packet and is still in use", ev);
  }
  check_table(table_of(endpoint));
}

/// Planes stay level: each has its share of active EVs, or all that it has left, and never less than the floor.
void World::check_table(Table& table) {
  const PathTable& paths = *table.paths;
  const ProtocolConfig& protocol = config_.protocol;
  std::array<std::uint32_t, PathTable::kMostPlanes> active{};
  std::array<std::uint32_t, PathTable::kMostPlanes> good{};
  std::array<bool, PathTable::kMostPlanes> spare{};
  std::array<std::uint32_t, kEvStates> states{};
  for (EvIndex ev = 0; ev < paths.size(); ++ev) {
    const EvState state = paths.state(ev);
    const std::uint8_t plane = paths.plane(ev);
    ++states[static_cast<std::size_t>(state)];
    if (paths.active(ev)) {
      require(state == EvState::good || state == EvState::skip, "EV {} is active in state {}", ev,
              static_cast<int>(state));
      ++active[plane];
      good[plane] += state == EvState::good ? 1 : 0;
    } else if (state == EvState::good) {
      spare[plane] = true;
    }
  }
  const std::uint32_t share = std::min(protocol.ev_active, protocol.ev_count) / config_.planes;
  const std::uint32_t floor = protocol.ev_min_active == 0 ? protocol.ev_active / 4 : protocol.ev_min_active;
  for (std::uint32_t plane = 0; plane < config_.planes; ++plane) {
    require(active[plane] <= share, "plane {} has {} active EVs, its share is {}", plane, active[plane], share);
    require(active[plane] == share || !spare[plane], "plane {} has {} active EVs of {}, and a backup", plane,
            active[plane], share);
    const std::uint32_t least = std::max<std::uint32_t>(1, floor / config_.planes);
    require(config_.denial > 0 || active[plane] >= std::min(least, share),
            "plane {} has {} active EVs, the floor is {}", plane, active[plane], least);
    require(paths.good_active(plane) == good[plane], "plane {}: {} GOOD EVs are counted, {} are", plane,
            paths.good_active(plane), good[plane]);
  }
  for (std::size_t state = 0; state < kEvStates; ++state) {
    require(paths.count(static_cast<EvState>(state)) == states[state], "{} EVs are counted in state {}, {} are",
            paths.count(static_cast<EvState>(state)), state, states[state]);
  }
}

void World::check_inflight(const Endpoint& endpoint) const {
  std::uint64_t bytes = 0;
  for (const auto& other : endpoints_) {
    if (other->congestion == endpoint.congestion) bytes += other->sender.inflight_bytes();
  }
  require(endpoint.congestion->inflight_bytes() == bytes, "{} B in flight are charged, {} are",
          endpoint.congestion->inflight_bytes(), bytes);
}

void World::check_failure(const Endpoint& endpoint) const {
  const bool may_fail =
      config_.protocol.exponential_retries != 25 || endpoint.forbidden_message < endpoint.sender.posted();
  require(!endpoint.sender.failed() || may_fail, "the QP is in error without a cause");
}

void World::check_end() {
  bool failed = false;
  for (const auto& endpoint : endpoints_) {
    failed = failed || endpoint->sender.failed();
    endpoint->sender.compare(endpoint->requestor);
    endpoint->sender.compare_records(endpoint->requestor);
    require(endpoint->sender.completed() == endpoint->sender.posted(), "{} messages of {} are complete",
            endpoint->sender.completed(), endpoint->sender.posted());
    require(endpoint->congestion->inflight_bytes() == 0, "{} B are in flight at the end",
            endpoint->congestion->inflight_bytes());
    if (endpoint->sender.failed()) continue;
    const Endpoint& peer = *endpoints_[endpoint->id ^ 1];
    require(peer.acknowledged == endpoint->sender.posted(), "{} messages of {} were received", peer.acknowledged,
            endpoint->sender.posted());
  }
  for (const Node& node : nodes_) {
    require(failed || node.bitmaps.in_use() == 0, "{} bitmap banks are in use at the end", node.bitmaps.in_use());
  }
  for (Table& table : tables_) check_table(table);
}

std::string World::history() const {
  constexpr std::array<std::string_view, 9> names{"send",  "transmit", "arrive",        "write", "answer",
                                                  "timer", "probe",    "probe timeout", "heal"};
  const std::uint64_t kept = std::min<std::uint64_t>(events_done_, past_.size());
  std::string text;
  for (std::uint64_t i = events_done_ - kept; i < events_done_; ++i) {
    const Past& past = past_[i % past_.size()];
    text += fmt::format("{:>14} ps  {} {}", past.at, names[static_cast<std::size_t>(past.kind)], past.subject);
    if (past.has_flight) text += fmt::format("  opcode {:#x} number {}", static_cast<int>(past.opcode), past.number);
    if (past.damage == Damage::trimmed) text += " trimmed";
    text += "\n";
  }
  return text;
}

}  // namespace mrc::world
