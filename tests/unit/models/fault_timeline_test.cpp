// A timeline laid out over a topology, and one link's share of it, packet by packet.
#include "fabric/fault_timeline.h"

#include <gtest/gtest.h>

#include "fabric/network.h"
#include "parameters/registry.h"

namespace mrc {
namespace {

constexpr TimePs kUs = kPsPerUs;

ScenarioConfig clos(std::vector<FaultConfig> faults) {
  ScenarioConfig scenario;
  scenario.fabric.nics = 8;
  scenario.fabric.nics_per_t0 = 4;
  scenario.fabric.t1s_per_plane = 4;
  scenario.faults = std::move(faults);
  return scenario;
}

Packet data(Psn psn, Ev ev = 0) {
  Packet packet;
  packet.opcode = Opcode::write_middle;
  packet.psn = psn;
  packet.ev = ev;
  return packet;
}

FaultRecord spanning(TimePs begin, TimePs end) {
  FaultRecord record;
  record.begins_at = begin;
  record.ends_at = end;
  return record;
}

using Verdict = LinkFaults::Verdict;

TEST(LinkFaults, APacketIsCutIfAnyPartOfItIsOnTheCableInAnOutage) {
  FaultRecord record = spanning(100, 200);
  LinkFaults faults;
  faults.add_outage(100, 200, record);
  Packet packet = data(1);
  EXPECT_EQ(faults.apply(0, 100, packet), Verdict::pass) << "its last bit is through when the outage begins";
  EXPECT_EQ(faults.apply(1, 101, packet), Verdict::cut);
  packet = data(2);
  EXPECT_EQ(faults.apply(199, 299, packet), Verdict::cut);
  EXPECT_FALSE(faults.over());
  EXPECT_EQ(faults.apply(200, 300, packet), Verdict::pass);
  EXPECT_TRUE(faults.over());
  EXPECT_EQ(record.lost_data, 2U);
  EXPECT_EQ(record.first_loss.packet.psn, 1U);
  EXPECT_EQ(record.last_lost_data_sent_at, 199U);
  EXPECT_EQ(record.longest_bypass_ps, 99U);
  EXPECT_EQ(record.back_in_use_at, 200U);
}

TEST(LinkFaults, OutagesThatOverlapAreCountedByTheFirst) {
  FaultRecord long_one = spanning(0, 1000);
  FaultRecord short_one = spanning(100, 200);
  LinkFaults faults;
  faults.add_outage(0, 1000, long_one);
  faults.add_outage(100, 200, short_one);
  Packet packet = data(1);
  EXPECT_EQ(faults.apply(150, 160, packet), Verdict::cut);
  EXPECT_EQ(faults.apply(900, 910, packet), Verdict::cut) << "the long one lasts on";
  EXPECT_EQ(long_one.lost_data, 2U);
  EXPECT_EQ(short_one.lost_data, 0U);
}

TEST(LinkFaults, DamageMeetsItsClassItsEvAndItsTimeOnly) {
  FaultRecord record = spanning(100, 200);
  LinkFaults faults;
  faults.add_damage({.from = 100,
                     .until = 200,
                     .probability = 1,
                     .corrupts = false,
                     .packets = FaultPackets::retransmission,
                     .any_ev = false,
                     .ev = 7,
                     .random = KeyedRandom(1, "test"),
                     .record = &record});
  Packet again = data(1, 7);
  again.retransmission = true;
  EXPECT_EQ(faults.apply(99, 110, again), Verdict::pass);
  Packet first = data(1, 7);
  EXPECT_EQ(faults.apply(120, 130, first), Verdict::pass);
  Packet other = again;
  other.ev = 8;
  EXPECT_EQ(faults.apply(130, 140, other), Verdict::pass);
  EXPECT_EQ(faults.apply(140, 150, again), Verdict::lost);
  EXPECT_EQ(faults.apply(200, 210, again), Verdict::pass);
  EXPECT_EQ(record.lost_data, 1U);
}

TEST(LinkFaults, CorruptionMarksAndLetsPass) {
  FaultRecord record = spanning(0, kNever);
  LinkFaults faults;
  faults.add_damage({.probability = 1, .corrupts = true, .random = KeyedRandom(1, "test"), .record = &record});
  Packet packet = data(1);
  EXPECT_EQ(faults.apply(1, 2, packet), Verdict::corrupted);
  EXPECT_EQ(packet.damage, Damage::corrupted);
  EXPECT_EQ(record.corrupted, 1U);
  EXPECT_EQ(record.lost_data, 0U);
}

TEST(FaultTimeline, ACableIsBothItsDirectionsAndASwitchAllItsLinks) {
  const ScenarioConfig scenario =
      clos({{.place = "case.toml:1", .kind = FaultKind::link_down, .where = "plane1.t0.0.up2", .at_us = 1},
            {.place = "case.toml:1", .kind = FaultKind::switch_reboot, .where = "plane0.t1.3", .at_us = 1},
            {.place = "case.toml:1", .kind = FaultKind::plane_loss, .where = "plane5", .at_us = 1},
            {.place = "case.toml:1", .kind = FaultKind::loss, .where = "nic2", .at_us = 1}});
  const Topology topology(scenario);
  const FaultTimeline timeline(scenario, topology);
  const auto touched = [&](std::size_t fault) {
    std::vector<std::string> names;
    for (std::uint32_t link = 0; link < topology.links().size(); ++link) {
      if (timeline.touches(fault, link)) names.push_back(topology.port_name(link));
    }
    return names;
  };
  EXPECT_EQ(touched(0), (std::vector<std::string>{"plane1.t0.0.up2", "plane1.t1.2.down0"}));
  EXPECT_EQ(touched(1),
            (std::vector<std::string>{"plane0.t0.0.up3", "plane0.t1.3.down0", "plane0.t0.1.up3", "plane0.t1.3.down1"}));
  EXPECT_EQ(touched(2).size(), topology.links().size() / topology.planes());
  EXPECT_EQ(touched(3).size(), topology.planes());
  EXPECT_TRUE(timeline.darkens(2, 6, 5));
  EXPECT_FALSE(timeline.darkens(2, 6, 4));
  EXPECT_FALSE(timeline.darkens(1, 6, 0)) << "a T1 is nobody's neighbour";
  EXPECT_EQ(timeline.darkness_of(3).size(), 1U);
}

TEST(FaultTimeline, FlapsHaveTheirPeriodAndStayInsideIt) {
  const ScenarioConfig scenario = clos({{.place = "case.toml:1",
                                         .kind = FaultKind::link_flap,
                                         .where = "nic1.port2",
                                         .at_us = 10,
                                         .for_us = 4,
                                         .period_us = 20,
                                         .jitter = 1,
                                         .count = 50}});
  const Topology topology(scenario);
  const std::vector<PortDarkness> dark = FaultTimeline(scenario, topology).darkness_of(1);
  ASSERT_EQ(dark.size(), 50U);
  bool moved = false;
  for (std::size_t i = 0; i < dark.size(); ++i) {
    const TimePs period = 10 * kUs + i * 20 * kUs;
    EXPECT_GE(dark[i].span.from, period);
    EXPECT_LE(dark[i].span.until, period + 20 * kUs);
    EXPECT_EQ(dark[i].span.until - dark[i].span.from, 4 * kUs);
    moved |= dark[i].span.from > period + 5 * kUs;
  }
  EXPECT_TRUE(moved);
}

TEST(FaultTimeline, LinkUpEndsTheOutageOfTheSameCable) {
  const ScenarioConfig scenario =
      clos({{.place = "case.toml:1", .kind = FaultKind::link_down, .where = "nic0.port0", .at_us = 5},
            {.place = "case.toml:1", .kind = FaultKind::link_up, .where = "plane0.t0.0.down0", .at_us = 9}});
  const Topology topology(scenario);
  const FaultTimeline timeline(scenario, topology);
  EXPECT_EQ(timeline.record(0).ends_at, 9 * kUs);
}

TEST(FaultTimeline, TwoRatesOfOneLineAtATimeAreRefused) {
  const FaultConfig rate{.place = "case.toml:1",
                         .kind = FaultKind::link_rate,
                         .where = "nic0.port0",
                         .at_us = 5,
                         .for_us = 10,
                         .share = 0.5};
  FaultConfig later = rate;
  later.at_us = 14;
  const Topology topology(clos({}));
  const ScenarioConfig overlapping = clos({rate, later});
  EXPECT_THROW(FaultTimeline(overlapping, topology), ParameterError);
  later.at_us = 15;
  const ScenarioConfig apart = clos({rate, later});
  EXPECT_EQ(FaultTimeline(apart, topology).rates_of(0).size(), 4U);
}

}  // namespace
}  // namespace mrc
