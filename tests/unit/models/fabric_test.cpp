// The fabric without SystemC: its events in order, every path of every topology, and what a port does with its queues.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>

#include "fabric/event_queue.h"
#include "fabric/network.h"
#include "fabric/round_queue.h"
#include "fabric/topology.h"
#include "parameters/parameter_value.h"

namespace mrc {
namespace {

ScenarioConfig clos(std::uint32_t nics, std::uint32_t nics_per_t0, std::uint32_t t1s, std::uint32_t planes = 2) {
  ScenarioConfig scenario;
  scenario.node_default.nic.ports = planes;
  scenario.fabric.nics = nics;
  scenario.fabric.nics_per_t0 = nics_per_t0;
  scenario.fabric.t1s_per_plane = t1s;
  return scenario;
}

TEST(FabricEventQueue, GivesEventsInOrderOfTimeKindTargetAndPayloadWhateverTheOrderOfPushing) {
  std::mt19937_64 random(7);
  using Key = std::tuple<TimePs, int, std::uint32_t, std::uint32_t>;
  std::multiset<Key> expected;
  FabricEventQueue queue;
  TimePs now = 0;
  std::uint64_t popped = 0;
  for (int round = 0; round < 18'000; ++round) {
    // The number of events in a bucket changes, and with it the buckets' length, from the shortest to the longest.
    struct Phase {
      std::uint64_t most_pushed;
      std::uint64_t reaches;
      TimePs most_advance;
    };
    const Phase phase = std::array<Phase, 3>{{{4, 3, 100'000}, {400, 2, 2'000}, {4, 1, 20'000'000}}}[round / 2'000 % 3];
    for (std::uint64_t i = random() % phase.most_pushed; i > 0; --i) {
      // In the same bucket, near, and far beyond the calendar; only the last where events are rare.
      const std::array<TimePs, 3> reaches{500, 2'000'000, 900'000'000};
      const TimePs reach = phase.reaches == 1 ? reaches[2] : reaches[random() % phase.reaches];
      const bool last_target = random() % 16 == 0;
      const Key key{now + random() % reach, static_cast<int>(random() % 4),
                    static_cast<std::uint32_t>(last_target ? FabricEventQueue::kMostTargets - 1 : random() % 1000),
                    static_cast<std::uint32_t>(random() % FabricEventQueue::kMostPayloads)};
      expected.insert(key);
      queue.push(std::get<0>(key), static_cast<FabricEventKind>(std::get<1>(key)), std::get<2>(key), std::get<3>(key));
    }
    const TimePs horizon = now + random() % phase.most_advance;
    FabricEvent event;
    while (queue.pop_before(horizon, event)) {
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(*expected.begin(), Key(event.time, static_cast<int>(event.kind), event.target, event.payload));
      expected.erase(expected.begin());
      ++popped;
    }
    now = horizon;
    ASSERT_EQ(queue.size(), expected.size());
    ASSERT_EQ(queue.next_time(), expected.empty() ? kNever : std::get<0>(*expected.begin()));
  }
  EXPECT_GT(popped, 10'000U);
}

TEST(Topology, EveryPathOfEveryEvBetweenEveryTwoNicsArrives) {
  for (const ScenarioConfig& scenario : {clos(6, 256, 0, 8), clos(24, 4, 3), clos(10, 3, 5, 4), clos(32, 16, 16, 1)}) {
    const Topology topology(scenario);
    const Topology::RouteCheck check = topology.check_routes(10'000'000);
    EXPECT_EQ(check.broken, "");
    EXPECT_TRUE(check.every_pair);
    EXPECT_GT(check.walked, 0U);
  }
}

TEST(Topology, CablesOfAPlaneANicAndAPortHaveTheirDelaysBothWays) {
  ScenarioConfig scenario = clos(6, 2, 2, 3);
  scenario.fabric.cable_delays_ns = "plane1=500, nic4 = 70,nic4.port2=0.09us, plane0.t1.1.down2=2000";
  const Topology topology(scenario);
  for (const LinkInfo& link : topology.links()) {
    const auto index = static_cast<std::uint32_t>(&link - topology.links().data());
    const std::string name = topology.port_name(index);
    const bool nic4 = (link.first_hop() || link.last_hop()) && link.node == 4;
    double ns = link.plane == 1 ? 500 : 150;
    if (nic4) ns = link.plane == 2 ? 90 : 70;
    if (name == "plane0.t1.1.down2" || name == "plane0.t0.2.up1") ns = 2000;
    EXPECT_EQ(link.delay_ps, static_cast<TimePs>(ns * 1000)) << name;
  }
}

TEST(Topology, CablesAreNamedBySwitchAndTierToo) {
  const Topology topology(clos(6, 2, 2, 3));
  const auto names_of = [&](const std::string& where) {
    std::set<std::string> names;
    for (const std::uint32_t link : topology.cables_named(where, "key")) names.insert(topology.port_name(link));
    return names;
  };
  EXPECT_EQ(names_of("plane1.t1.0"),
            (std::set<std::string>{"plane1.t1.0.down0", "plane1.t1.0.down1", "plane1.t1.0.down2", "plane1.t0.0.up0",
                                   "plane1.t0.1.up0", "plane1.t0.2.up0"}));
  for (const std::string& name : names_of("above_t0")) {
    EXPECT_TRUE(name.find(".up") != std::string::npos || name.find(".t1.") != std::string::npos) << name;
  }
  // Three planes of three T0s with two T1s each, both ways.
  EXPECT_EQ(names_of("above_t0").size(), 36U);
}

TEST(Topology, ACableThatIsNotThereIsNamed) {
  ScenarioConfig scenario = clos(2, 2, 0, 2);
  scenario.fabric.cable_delays_ns = "plane2=500";
  try {
    const Topology topology(scenario);
    FAIL();
  } catch (const ParameterError& error) {
    EXPECT_NE(std::string(error.what()).find("\"plane2\" is not a cable; allowed: plane0 … plane1"), std::string::npos)
        << error.what();
  }
}

TEST(Topology, APathHasOneT1WhichTheEvChooses) {
  const Topology topology(clos(24, 4, 3));
  std::set<std::uint32_t> t1s;
  for (Ev ev = 0; ev < 64; ++ev) {
    const auto path = topology.walk(0, 23, 1, ev * 7919);
    ASSERT_EQ(path.size(), 4U) << "NIC to T0, T0 to T1, T1 to T0, T0 to NIC";
    EXPECT_EQ(topology.links()[path.front()].plane, 1);
    EXPECT_EQ(topology.links()[path[1]].number, uplink_of(ev * 7919, 3));
    t1s.insert(topology.links()[path[1]].to);
  }
  EXPECT_EQ(t1s.size(), 3U);
  EXPECT_EQ(topology.walk(0, 3, 0, 1).size(), 2U) << "below the same T0";
  EXPECT_EQ(topology.port_name(topology.walk(0, 23, 1, 0)[3]), "plane1.t0.5.down3");
}

TEST(Topology, FieldsOfAnEvNameItsWayAndPlanesThatDifferLeadNowhere) {
  ScenarioConfig scenario = clos(24, 4, 3, 4);
  scenario.protocol.ev_layout.kind = EvLayoutKind::fields;
  const Topology topology(scenario);
  const EvLayout& layout = scenario.protocol.ev_layout;
  const EvProfile profile = ev_profile_of(scenario, 0);
  std::set<std::uint32_t> t1s;
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    const Ev ev = profile.value[i];
    const auto path = topology.walk(0, 23, profile.plane[i], ev);
    ASSERT_EQ(path.size(), 4U);
    EXPECT_EQ(topology.links()[path[1]].plane, profile.plane[i]);
    EXPECT_EQ(topology.links()[path[1]].number, layout.uplink().of(ev));
    EXPECT_EQ(topology.walk(0, 3, profile.plane[i], ev).size(), 2U) << "below the same T0";
    t1s.insert(topology.links()[path[1]].to);
  }
  EXPECT_EQ(t1s.size(), 4U * 3U);
  const Ev ev = layout.ev_for(0xABCD'1234, 2, 1, 3);
  EXPECT_EQ(topology.walk(0, 23, 2, ev).size(), 4U);
  EXPECT_TRUE(topology.walk(0, 23, 1, ev).empty()) << "through another port than the plane of the T0";
  for (const EvBits& bits : {layout.source_plane(), layout.t1_plane(), layout.destination_plane()}) {
    EXPECT_TRUE(topology.walk(0, 23, 2, bits.put(ev, 1)).empty()) << "planes that differ, bit " << bits.first;
  }
  EXPECT_TRUE(topology.walk(0, 23, 2, layout.uplink().put(ev, 3)).empty()) << "there are uplinks 0 to 2";
  EXPECT_EQ(topology.walk(0, 23, 2, topology.ev_through(2, 0xFFFF'FFFF)).size(), 4U);
}

TEST(Topology, ASwitchForwardsOnlyWhatIsAddressedToIt) {
  const Topology topology(clos(24, 4, 3));
  Ipv6Address carrier = usid_carrier(topology.route(0, 23), 0, 0);
  EXPECT_NE(topology.forward_usid(0, carrier), Topology::kNoLink);
  carrier = usid_carrier(topology.route(0, 23), 0, 0);
  EXPECT_EQ(topology.forward_usid(1, carrier), Topology::kNoLink) << "another T0";
  carrier = usid_carrier(topology.route(0, 23), 1, 0);
  EXPECT_EQ(topology.forward_usid(0, carrier), Topology::kNoLink) << "another plane";
  carrier = usid_carrier(topology.route(0, 23), 0, 0);
  carrier.high ^= 1ULL << 40;
  EXPECT_EQ(topology.forward_usid(0, carrier), Topology::kNoLink) << "another locator block";
}

TEST(Topology, ThreeTiersReachEveryNicByEcmp) {
  ScenarioConfig scenario = clos(64, 4, 16, 1);
  scenario.fabric.pods = 4;
  scenario.fabric.routing = FabricRouting::ecmp;
  const Topology topology(scenario);
  EXPECT_EQ(topology.t2s(), 16U);
  std::set<std::vector<std::uint32_t>> paths;
  for (NodeId to = 1; to < 64; ++to) {
    for (Ev ev = 0; ev < 200; ++ev) {
      const auto path = topology.walk(0, to, 0, ev);
      ASSERT_FALSE(path.empty()) << "to nic" << to;
      if (to == 63) paths.insert(path);
    }
  }
  EXPECT_EQ(paths.size(), 16U) << "T1s times uplinks of a T1";
}

/// Writes down what it is given; its ports are free when it has nothing.
class Sink : public NetworkNode {
 public:
  void receive(TimePs now, std::uint32_t, const Packet& packet) override {
    packets.push_back(packet);
    times.push_back(now);
  }
  void port_free(TimePs, std::uint32_t) override {}
  void timer(TimePs) override {}
  std::vector<Packet> packets;
  std::vector<TimePs> times;
};

/// Through plane 0, with an EV.
struct SentPacket {
  NodeId from = 0;
  NodeId to = 0;
  Psn psn = 0;
  TrafficRole role = TrafficRole::trimmable;
  std::uint32_t bytes = 4096;
  std::uint32_t ev = 0;
};
void send_packet(Network& network, TimePs now, const SentPacket& sent) {
  const std::uint32_t index = network.new_transit();
  Packet& packet = network.packet_of(index);
  packet = Packet{};
  packet.source_node = sent.from;
  packet.destination_node = sent.to;
  packet.psn = sent.psn;
  packet.payload_bytes = sent.bytes;
  packet.opcode = sent.role == TrafficRole::control ? Opcode::sack : Opcode::write_middle;
  packet.role = sent.role;
  packet.retransmission = sent.role == TrafficRole::trimmable_retx;
  packet.ev = sent.ev;
  packet.outer_dst = usid_carrier_of_ev(network.topology().route(sent.from, sent.to), 0, packet.ev, {});
  network.send(now, sent.from, 0, index);
}

/// Senders 0 … n-2 below other T0s than the last NIC, which all send to it through plane 0 at once.
struct Incast {
  explicit Incast(ScenarioConfig config) : scenario(std::move(config)), network(scenario), sinks(scenario.fabric.nics) {
    for (NodeId node = 0; node < scenario.fabric.nics; ++node) network.attach(node, sinks[node]);
  }
  void send(TimePs now, NodeId from, Psn psn, TrafficRole role, std::uint32_t bytes = 4096) {
    send_packet(network, now, {from, scenario.fabric.nics - 1, psn, role, bytes, from * 77 + psn});
  }
  /// `packets` of each of the first `senders`, at once.
  void send_from_all(NodeId senders, Psn packets) {
    for (Psn psn = 0; psn < packets; ++psn) {
      for (NodeId from = 0; from < senders; ++from) send(0, from, psn, TrafficRole::trimmable);
    }
  }
  Sink& last() { return sinks.back(); }

  ScenarioConfig scenario;
  Network network;
  std::vector<Sink> sinks;
};

TEST(Network, AnEmptyFabricDelaysByItsCablesSwitchesAndOneSerialization) {
  for (const SwitchForwarding forwarding : {SwitchForwarding::cut_through, SwitchForwarding::store_and_forward}) {
    ScenarioConfig scenario = clos(8, 4, 4, 1);
    scenario.fabric.forwarding = forwarding;
    Incast incast(scenario);
    incast.send(0, 0, 1, TrafficRole::trimmable);
    incast.network.run_before(kNever);
    ASSERT_EQ(incast.last().times.size(), 1U);
    const TimePs hops = 4 * 150'000 + 3 * 575'000;
    const TimePs serialization = 340'960;  // 4,262 B at 100 Gb/s
    EXPECT_EQ(incast.last().times[0], hops + serialization * (forwarding == SwitchForwarding::cut_through ? 1 : 4));
    EXPECT_EQ(incast.network.packets_inside(), 0U);
  }
}

TEST(Network, IncastTrimsAtTheLastHopAndLosesNothingElse) {
  Incast incast(clos(8, 4, 4, 1));
  incast.send_from_all(4, 60);
  incast.network.run_before(kNever);
  std::size_t trimmed = 0;
  for (const Packet& packet : incast.last().packets) {
    if (packet.damage != Damage::trimmed) continue;
    ++trimmed;
    EXPECT_TRUE(packet.trimmed_at_last_hop);
    EXPECT_EQ(packet.role, TrafficRole::trimmed_lasthop);
  }
  EXPECT_EQ(incast.last().packets.size(), 240U) << "all arrive, whole or trimmed";
  const PortCounters port = incast.network.counters(incast.network.topology().downlink_to(7, 0));
  EXPECT_EQ(port.trimmed, trimmed);
  EXPECT_EQ(port.dropped, 0U);
  EXPECT_EQ(port.ce_marked, 0U) << "no marks on the last hop";
  // 1.5 BDP of 100 Gb/s and 8 us: what waits never exceeds it by more than the trimmed packets' 152 bytes.
  EXPECT_GT(trimmed, 50U);
  EXPECT_LE(port.most_queued_bytes, 150'000U + trimmed * 152);
}

TEST(Network, WithoutTrimmingTheTailIsDropped) {
  ScenarioConfig scenario = clos(8, 4, 4, 1);
  scenario.fabric.trim = false;
  scenario.fabric.queue_bytes = 100'000;
  Incast incast(scenario);
  incast.send_from_all(4, 60);
  incast.network.run_before(kNever);
  const PortCounters port = incast.network.counters(incast.network.topology().downlink_to(7, 0));
  EXPECT_GT(port.dropped, 50U);
  EXPECT_EQ(port.dropped + incast.last().packets.size(), 240U);
  EXPECT_LE(port.most_queued_bytes, 100'000U);
}

TEST(Network, QueuesAboveT0AreMarkedBetweenMinimumAndMaximum) {
  ScenarioConfig scenario = clos(8, 4, 1, 1);  // one T1: 4 to 1 into the uplink
  scenario.fabric.trim = false;
  scenario.fabric.ecn_min_bytes = 50'000;
  scenario.fabric.ecn_max_bytes = 200'000;
  Incast incast(scenario);
  incast.send_from_all(4, 80);
  incast.network.run_before(kNever);
  std::uint64_t marked = 0;
  for (const Packet& packet : incast.last().packets) marked += packet.ecn == Ecn::ce ? 1 : 0;
  std::uint64_t counted = 0;
  for (std::uint32_t link = 0; link < incast.network.ports().size(); ++link)
    counted += incast.network.counters(link).ce_marked;
  EXPECT_EQ(marked, counted);
  EXPECT_GT(marked, 100U);
  EXPECT_LT(marked, 320U - 2 * 50'000 / 4262) << "while the queue is short nothing is marked";
}

TEST(Network, VisitedLinksAreAllThatHaveCountedAnything) {
  Incast incast(clos(8, 4, 4, 2));
  incast.send_from_all(4, 60);
  incast.network.run_before(kNever);
  std::vector<std::uint32_t> counted;
  for (std::uint32_t link = 0; link < incast.network.ports().size(); ++link) {
    if (incast.network.counters(link).packets > 0) counted.push_back(link);
  }
  EXPECT_EQ(incast.network.visited_links(), counted);
  EXPECT_GT(counted.size(), 5U);
  EXPECT_LT(counted.size(), incast.network.ports().size());
}

TEST(Network, OneSendersMarksDoNotDependOnAnothersPackets) {
  // The same queue, once of packets of one node and once of packets that carry another's name: each packet draws alone.
  const auto marks_of_node_0 = [](NodeId other) {
    ScenarioConfig scenario = clos(8, 4, 1, 1);
    scenario.fabric.ecn_min_bytes = 1;
    scenario.fabric.ecn_max_bytes = 10'000'000;
    scenario.fabric.ecn_max_probability = 1;
    scenario.fabric.trim = false;
    Incast incast(scenario);
    for (Psn psn = 0; psn < 200; ++psn) {
      incast.send(0, 0, psn, TrafficRole::trimmable);
      incast.send(0, other, psn, TrafficRole::trimmable);
    }
    incast.network.run_before(kNever);
    std::set<Psn> marked;
    for (const Packet& packet : incast.last().packets) {
      if (packet.source_node == 0 && packet.ecn == Ecn::ce) marked.insert(packet.psn);
    }
    return marked;
  };
  EXPECT_EQ(marks_of_node_0(1), marks_of_node_0(2));
  EXPECT_FALSE(marks_of_node_0(1).empty());
}

TEST(Network, StrictServiceSendsControlThenRetransmissionsThenData) {
  Incast incast(clos(4, 4, 0, 1));
  // All wait behind the first packet of node 0 at the port to node 3.
  for (Psn psn = 0; psn < 4; ++psn) incast.send(0, 0, psn, TrafficRole::trimmable);
  incast.send(10'000, 1, 100, TrafficRole::trimmable);
  incast.send(20'000, 1, 101, TrafficRole::trimmable_retx);
  incast.send(30'000, 2, 102, TrafficRole::control, 0);
  incast.network.run_before(kNever);
  std::vector<Psn> order;
  for (const Packet& packet : incast.last().packets) order.push_back(packet.psn);
  const auto place = [&](Psn psn) { return std::find(order.begin(), order.end(), psn) - order.begin(); };
  EXPECT_LT(place(102), place(1));
  EXPECT_LT(place(101), place(2));
  EXPECT_EQ(order.size(), 7U);
}

TEST(Network, RetransmissionsAreTrimmedByTheLengthOfTheirOwnQueue) {
  const auto trimmed = [](ThresholdScope scope) {
    ScenarioConfig scenario = clos(4, 4, 0, 1);
    scenario.fabric.threshold_scope = scope;
    scenario.fabric.trim_threshold_bytes = 50'000;
    Incast incast(scenario);
    incast.send_from_all(2, 50);
    // One at a time, so that they do not queue behind each other.
    for (Psn i = 0; i < 10; ++i) incast.send(5'000'000 + i * 700'000, 2, 100 + i, TrafficRole::trimmable_retx);
    incast.network.run_before(kNever);
    std::size_t count = 0;
    for (const Packet& packet : incast.last().packets)
      count += packet.psn >= 100 && packet.damage == Damage::trimmed ? 1 : 0;
    return count;
  };
  EXPECT_GT(trimmed(ThresholdScope::port), 0U);
  EXPECT_EQ(trimmed(ThresholdScope::queue), 0U) << "data waits, but no retransmission";
}

TEST(Network, WeightedServiceSharesTheLineByBytes) {
  ScenarioConfig scenario = clos(4, 4, 0, 1);
  scenario.fabric.scheduling = SwitchScheduling::weighted;
  scenario.fabric.retransmission_weight = 10;
  scenario.fabric.data_weight = 30;
  scenario.fabric.trim = false;
  Incast incast(scenario);
  for (Psn psn = 0; psn < 200; ++psn) {
    incast.send(0, 0, psn, TrafficRole::trimmable);
    incast.send(0, 1, psn, TrafficRole::trimmable_retx);
    incast.send(0, 2, psn, TrafficRole::trimmable);
  }
  incast.network.run_before(kNever);
  std::size_t retransmissions = 0;
  for (std::size_t i = 20; i < 220; ++i) retransmissions += incast.last().packets[i].retransmission ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(retransmissions) / 200, 0.25, 0.05);
}

TEST(Network, ThePortsOfASwitchShareItsBuffer) {
  ScenarioConfig scenario = clos(8, 4, 4, 1);
  scenario.fabric.trim = false;
  scenario.fabric.buffer_bytes = 200'000;
  scenario.fabric.buffer_alpha = 0.5;
  Incast incast(scenario);
  incast.send_from_all(4, 100);
  incast.network.run_before(kNever);
  const PortCounters port = incast.network.counters(incast.network.topology().downlink_to(7, 0));
  // One port alone may hold alpha / (1 + alpha) of the buffer.
  EXPECT_LE(port.most_queued_bytes, 200'000 / 3 + 4262);
  EXPECT_GT(port.most_queued_bytes, 200'000 / 3 - 2 * 4262);
  EXPECT_GT(port.dropped, 0U);
}

/// What a network does, whichever way it is driven.
struct Happenings {
  using Arrival = std::tuple<TimePs, NodeId, Psn, Ecn, Damage>;
  std::vector<std::vector<Arrival>> arrivals;  ///< by node
  std::vector<std::array<std::uint64_t, 5>> ports;
  std::vector<std::uint64_t> queued_bytes;  ///< of all ports, after each step
  std::uint64_t events = 0;

  bool operator==(const Happenings&) const = default;
};

ScenarioConfig congested_clos(std::mt19937_64& random) {
  ScenarioConfig scenario = clos(12, 4, 1 + random() % 3, 1);
  FabricConfig& fabric = scenario.fabric;
  fabric.forwarding = random() % 2 == 0 ? SwitchForwarding::cut_through : SwitchForwarding::store_and_forward;
  fabric.scheduling = random() % 2 == 0 ? SwitchScheduling::strict : SwitchScheduling::weighted;
  fabric.trim = random() % 2 == 0;
  fabric.ecn_min_bytes = 20'000;
  fabric.ecn_max_bytes = 100'000;
  fabric.queue_bytes = 100'000 + random() % 200'000;
  fabric.buffer_bytes = 200'000 + random() % 400'000;
  fabric.cable_delay_ns = static_cast<double>(1 + random() % 500);
  fabric.t1_cable_delay_ns = random() % 2 == 0 ? 0 : 1'000;
  return scenario;
}

/// Answers some of what comes, at once or later, most often to the last node, which most others send to.
class Talker : public NetworkNode {
 public:
  Talker(Network& network, NodeId node, std::uint64_t seed) : network_(network), node_(node), random_(seed + node) {
    network.attach(node, *this);
  }
  void receive(TimePs now, std::uint32_t, const Packet& packet) override {
    arrivals.emplace_back(now, packet.source_node, packet.psn, packet.ecn, packet.damage);
    const std::uint64_t choice = random_() % 16;
    if (choice < 6) send(now);
    if (choice >= 5 && choice < 8) network_.set_timer(now + random_() % 3'000'000, node_);
  }
  void port_free(TimePs now, std::uint32_t) override {
    if (random_() % 4 == 0) send(now);
  }
  void timer(TimePs now) override {
    send(now);
    network_.notify_when_free(now, node_, 0);
  }
  void send(TimePs now) {
    if (left_ == 0) return;
    --left_;
    const auto last = static_cast<NodeId>(network_.topology().nics() - 1);
    NodeId to = random_() % 4 == 0 ? static_cast<NodeId>(random_() % last) : last;
    if (to == node_) to = node_ == 0 ? last : 0;
    const bool control = random_() % 4 == 0;
    const std::uint32_t bytes = control ? 0 : static_cast<std::uint32_t>(64 + random_() % 4033);
    const TrafficRole role = control              ? TrafficRole::control
                             : random_() % 4 == 0 ? TrafficRole::trimmable_retx
                                                  : TrafficRole::trimmable;
    send_packet(network_, now, {node_, to, left_, role, bytes, static_cast<std::uint32_t>(random_())});
  }

  std::vector<Happenings::Arrival> arrivals;

 private:
  Network& network_;
  NodeId node_;
  std::mt19937_64 random_;
  Psn left_ = 400;
};

/// `most_events`: of a round; 0: in order of time.
Happenings conversation(std::uint64_t seed, std::size_t most_events, TimePs step) {
  std::mt19937_64 random(seed);
  const ScenarioConfig scenario = congested_clos(random);
  Network network(scenario);
  network.set_shortest_turn(2);
  if (most_events == 0)
    network.keep_order_of_time();
  else
    network.set_most_events_of_round(most_events);
  std::deque<Talker> talkers;
  for (NodeId node = 0; node < scenario.fabric.nics; ++node) talkers.emplace_back(network, node, seed);
  for (int i = 0; i < 600; ++i) talkers[random() % 11].send(0);
  Happenings all;
  constexpr TimePs end = 200'000'000;
  for (TimePs now = step; now <= end; now += step) {
    network.run_before(now);
    std::uint64_t queued = 0;
    for (std::uint32_t link = 0; link < network.ports().size(); ++link) queued += network.ports()[link].queued_bytes;
    all.queued_bytes.push_back(queued);
    // In the middle of a run, what is in the one queue goes to the other.
    if (now / step == 40 && seed % 3 == 0) network.keep_order_of_time();
  }
  network.run_before(kNever);
  for (const Talker& talker : talkers) all.arrivals.push_back(talker.arrivals);
  for (std::uint32_t link = 0; link < network.ports().size(); ++link) {
    const PortCounters port = network.counters(link);
    all.ports.push_back({port.packets, port.most_queued_bytes, port.dropped, port.trimmed, port.ce_marked});
  }
  all.events = network.events();
  return all;
}

TEST(Network, NodesAndSwitchesThatTakeTurnsDoWhatTheyDoInOrderOfTime) {
  std::uint64_t lost = 0, trimmed = 0, marked = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const TimePs step : {TimePs{200'000'000}, TimePs{777'777}}) {
      const Happenings in_order = conversation(seed, 0, step);
      ASSERT_EQ(conversation(seed, 1 << 17, step), in_order) << "seed " << seed << ", steps of " << step << " ps";
      ASSERT_EQ(conversation(seed, 100, step), in_order) << "seed " << seed << ", short rounds";
      for (const auto& port : in_order.ports) {
        lost += port[2];
        trimmed += port[3];
        marked += port[4];
      }
    }
  }
  EXPECT_GT(lost, 0U);
  EXPECT_GT(trimmed, 0U);
  EXPECT_GT(marked, 0U);
}

TEST(RoundQueue, GivesEachEventInARoundThatIsNoLongerThanAskedForAndThoseOfAnOwnerInOrder) {
  constexpr std::uint32_t owners = 7;
  std::mt19937_64 random(3);
  for (const TimePs longest : {TimePs{2}, TimePs{1'000}, TimePs{25'123}, TimePs{1'000'000}, TimePs{3'000'000'000}}) {
    RoundQueue queue;
    queue.set_up(owners, longest);
    queue.set_most_events(50);
    std::set<FabricEvent> expected;
    std::uint32_t number = 0;
    TimePs now = 0;
    std::uint64_t taken = 0;
    for (int i = 0; i < 3'000; ++i) {
      for (std::uint64_t n = random() % 40; n > 0; --n) {
        const std::array<TimePs, 3> reaches{longest, 100 * longest, 100'000 * longest};
        const FabricEvent event{now + random() % reaches[random() % 3], static_cast<FabricEventKind>(random() % 4),
                                static_cast<std::uint32_t>(random() % FabricEventQueue::kMostTargets),
                                number++ % FabricEventQueue::kMostPayloads};
        expected.insert(event);
        queue.push(event, event.target % owners);
      }
      ASSERT_EQ(queue.next_time(), expected.empty() ? kNever : expected.begin()->time);
      const TimePs horizon = now + 1 + random() % (3 * longest);
      while (queue.take(horizon)) {
        ASSERT_LE(queue.end(), horizon);
        ASSERT_LE(queue.end() - queue.begin(), longest);
        std::set<std::uint32_t> had_a_turn;
        for (auto turn = queue.next_turn(); !turn.empty(); turn = queue.next_turn()) {
          ASSERT_TRUE(had_a_turn.insert(turn.front().owner()).second);
          ASSERT_TRUE(std::is_sorted(turn.begin(), turn.end()));
          for (const RoundQueue::Event& event : turn) {
            ASSERT_EQ(event.owner(), turn.front().owner());
            const FabricEvent whole = event.at(queue.begin());
            ASSERT_EQ(whole.target % owners, event.owner());
            ASSERT_GE(whole.time, now);
            ASSERT_LT(whole.time, queue.end());
            ASSERT_EQ(expected.erase(whole), 1U);
            ++taken;
          }
        }
        ASSERT_TRUE(expected.empty() || expected.begin()->time >= queue.end());
        now = queue.end();
        queue.fit();
      }
      now = horizon;
    }
    EXPECT_GT(taken, 1'000U);
    EXPECT_EQ(queue.take_all().size(), expected.size());
  }
}

TEST(Network, ALinkThatIsDownLosesWhatIsSentIntoIt) {
  Incast incast(clos(8, 4, 4, 1));
  const auto path = incast.network.topology().walk(0, 7, 0, 1);
  incast.network.set_link_down(path[2], true);
  incast.send(0, 0, 1, TrafficRole::trimmable);
  incast.network.run_before(1'000'000'000);
  EXPECT_EQ(incast.last().packets.size(), 0U);
  EXPECT_EQ(incast.network.lost_on_down_links(), 1U);
  incast.network.set_link_down(path[2], false);
  incast.send(1'000'000'000, 0, 1, TrafficRole::trimmable);
  incast.network.run_before(kNever);
  EXPECT_EQ(incast.last().packets.size(), 1U);
}

}  // namespace
}  // namespace mrc
