#include "mrc/control/path_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "mrc/rx/reverse_paths.h"

namespace mrc {
namespace {

constexpr std::uint32_t kAll = ~0U;

class PathTableTest : public testing::Test {
 protected:
  PathTable make(std::uint32_t planes, std::uint64_t seed = 1) {
    return PathTable(make_auto_profile(config, planes, KeyedRandom(1, "profile")), config, planes,
                     KeyedRandom(seed, "scan"));
  }
  static std::vector<EvIndex> select(PathTable& table, std::size_t count, TimePs now = 0) {
    std::vector<EvIndex> evs;
    for (std::size_t i = 0; i < count; ++i) evs.push_back(table.select(kAll, now));
    return evs;
  }
  static bool contains(const std::vector<EvIndex>& evs, EvIndex ev) {
    return std::find(evs.begin(), evs.end(), ev) != evs.end();
  }
  static std::vector<EvEvent> events(PathTable& table) {
    std::vector<EvEvent> all;
    for (EvEvent event; table.pop_event(event);) all.push_back(event);
    return all;
  }
  /// Good active EVs of each plane.
  static std::vector<std::uint32_t> load(const PathTable& table, std::uint32_t planes) {
    std::vector<std::uint32_t> counts;
    for (std::uint32_t plane = 0; plane < planes; ++plane) counts.push_back(table.good_active(plane));
    return counts;
  }

  ProtocolConfig config = [] {
    ProtocolConfig c;
    c.ev_count = 16;
    c.reshuffle_rotations = 64;  // the order stays while a test looks at it
    c.ev_active = 8;
    c.ev_min_active = 4;
    return c;
  }();
};

TEST_F(PathTableTest, TheOrderIsDrawnAnewAfterSoManyRotations) {
  config.reshuffle_rotations = 2;
  PathTable table = make(4);
  PathTable twin = make(4);
  table.report(3, PathEvent::always_skip, 0);
  twin.report(3, PathEvent::always_skip, 0);
  std::vector<std::vector<EvIndex>> rotations;
  for (int i = 0; i < 6; ++i) {
    rotations.push_back(select(table, 8));
    EXPECT_EQ(rotations.back(), select(twin, 8)) << "the same draws give the same order";
    EXPECT_EQ(std::set<EvIndex>(rotations.back().begin(), rotations.back().end()).size(), 8U);
    EXPECT_FALSE(contains(rotations.back(), 3));
  }
  EXPECT_EQ(load(table, 4), (std::vector<std::uint32_t>{2, 2, 2, 2}));
  EXPECT_EQ(rotations[0], rotations[1]);
  EXPECT_NE(rotations[1], rotations[2]);
  EXPECT_EQ(rotations[2], rotations[3]);
  EXPECT_NE(rotations[3], rotations[4]);
}

TEST_F(PathTableTest, WithoutReshufflingTheOrderStays) {
  config.reshuffle_rotations = 0;
  PathTable table = make(4);
  const auto first = select(table, 8);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(select(table, 8), first);
}

TEST_F(PathTableTest, ARotationUsesEachActiveEvOnce) {
  PathTable table = make(4);
  EXPECT_EQ(table.size(), 16U);
  for (int rotation = 0; rotation < 3; ++rotation) {
    const auto evs = select(table, 8);
    EXPECT_EQ(std::set<EvIndex>(evs.begin(), evs.end()).size(), 8U);
    std::map<std::uint8_t, int> planes;
    for (const EvIndex ev : evs) ++planes[table.plane(ev)];
    for (std::uint8_t plane = 0; plane < 4; ++plane) EXPECT_EQ(planes[plane], 2);
  }
}

TEST_F(PathTableTest, TheScanOrderIsTheTablesOwn) {
  PathTable a = make(4, 1), b = make(4, 2), again = make(4, 1);
  const auto order = select(a, 8);
  EXPECT_EQ(order, select(again, 8));
  EXPECT_NE(order, select(b, 8));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(PathTableTest, OnlyPlanesWhosePortIsFree) {
  PathTable table = make(4);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(table.plane(table.select(0b0100, 0)), 2);
  EXPECT_EQ(table.select(0, 0), kNoEv);
  EXPECT_EQ(table.select(0b1'0000, 0), kNoEv);
}

TEST_F(PathTableTest, BusyPortsDoNotEndTheRotation) {
  PathTable table = make(4);
  const auto first = select(table, 4);
  table.report(first[0], PathEvent::ecn, 0);
  EXPECT_EQ(table.select(0, 0), kNoEv);
  EXPECT_EQ(table.state(first[0]), EvState::skip);
}

TEST_F(PathTableTest, AMarkSkipsTheRestOfTheRotation) {
  PathTable table = make(2);
  const auto order = select(table, 8);
  select(table, 2);
  table.report(order[5], PathEvent::ecn, 0);
  table.report(order[1], PathEvent::trimmed, 0);
  EXPECT_EQ(table.state(order[5]), EvState::skip);
  EXPECT_EQ(table.count(EvState::skip), 2U);
  EXPECT_FALSE(contains(select(table, 5), order[5]));
  const auto next = select(table, 8);
  EXPECT_EQ(next, order);
  EXPECT_EQ(table.count(EvState::skip), 0U);
  EXPECT_TRUE(events(table).empty()) << "only ASSUMED_BAD and GOOD are reported";
}

TEST_F(PathTableTest, SkipForOneWholeRotation) {
  config.skip_duration = SkipDuration::one_rotation;
  PathTable table = make(2);
  const auto order = select(table, 8);
  select(table, 2);
  table.report(order[5], PathEvent::ecn, 0);
  EXPECT_FALSE(contains(select(table, 5), order[5]));
  EXPECT_FALSE(contains(select(table, 7), order[5]));
  EXPECT_TRUE(contains(select(table, 8), order[5]));
}

TEST_F(PathTableTest, SkipForATime) {
  config.skip_duration = SkipDuration::fixed_time;
  config.skip_time_ps = 1'000;
  PathTable table = make(2);
  const auto order = select(table, 8);
  EXPECT_EQ(table.next_skip_end(), kNever);
  table.report(order[5], PathEvent::ecn, 500);
  table.report(order[6], PathEvent::ecn, 700);
  EXPECT_EQ(table.next_skip_end(), 1'500U);
  EXPECT_FALSE(contains(select(table, 24, 1'499), order[5]));
  EXPECT_TRUE(contains(select(table, 7, 1'500), order[5]));
  EXPECT_EQ(table.next_skip_end(), 1'700U);
}

TEST_F(PathTableTest, WithAllSkippedForATimeNothingIsFound) {
  config.skip_duration = SkipDuration::fixed_time;
  config.skip_time_ps = 1'000;
  PathTable table = make(2);
  for (const EvIndex ev : select(table, 8)) table.report(ev, PathEvent::ecn, 0);
  EXPECT_FALSE(table.has_good(kAll));
  EXPECT_EQ(table.select(kAll, 999), kNoEv);
  EXPECT_NE(table.select(kAll, 1'000), kNoEv);
}

TEST_F(PathTableTest, WithAllSkippedTheRotationIsOver) {
  PathTable table = make(2);
  for (const EvIndex ev : select(table, 8)) table.report(ev, PathEvent::ecn, 0);
  EXPECT_NE(table.select(kAll, 0), kNoEv);
  EXPECT_EQ(table.count(EvState::skip), 0U);
}

TEST_F(PathTableTest, SkipEndIsUnknownWhereTheRotationEndsIt) {
  PathTable table = make(2);
  table.report(0, PathEvent::ecn, 0);
  EXPECT_EQ(table.next_skip_end(), kNever);
}

TEST_F(PathTableTest, TrimAtTheLastHopLeavesTheEvAlone) {
  PathTable table = make(2);
  table.report(0, PathEvent::trimmed_lasthop, 0);
  EXPECT_EQ(table.state(0), EvState::good);
}

TEST_F(PathTableTest, LossBringsABackupOfTheSamePlane) {
  PathTable table = make(4);
  for (const EvIndex ev : {EvIndex{1}, EvIndex{5}}) {
    EXPECT_EQ(table.plane(ev), 1);
    table.report(ev, PathEvent::lost, 70);
    EXPECT_EQ(table.state(ev), EvState::assumed_bad);
    EXPECT_FALSE(table.active(ev));
    EXPECT_EQ(load(table, 4), (std::vector<std::uint32_t>{2, 2, 2, 2}));
  }
  EXPECT_TRUE(table.active(9));
  EXPECT_TRUE(table.active(13));
  EXPECT_FALSE(contains(select(table, 16), 1));
  const auto all = events(table);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].ev, 1);
  EXPECT_EQ(all[0].state, EvState::assumed_bad);
  EXPECT_EQ(all[0].time, 70U);
}

TEST_F(PathTableTest, AlwaysSkipRemovesAtOnce) {
  config.assumed_bad_losses = 3;
  PathTable table = make(4);
  table.report(2, PathEvent::always_skip, 0);
  EXPECT_EQ(table.state(2), EvState::assumed_bad);
}

TEST_F(PathTableTest, OnlyLossesInARowCount) {
  config.assumed_bad_losses = 3;
  PathTable table = make(4);
  table.report(2, PathEvent::lost, 0);
  table.report(2, PathEvent::lost, 0);
  table.report(2, PathEvent::delivered, 0);
  table.report(2, PathEvent::lost, 0);
  table.report(2, PathEvent::lost, 0);
  EXPECT_EQ(table.state(2), EvState::good);
  table.report(2, PathEvent::lost, 0);
  EXPECT_EQ(table.state(2), EvState::assumed_bad);
}

TEST_F(PathTableTest, AtTheFloorALosingEvStaysAndIsCounted) {
  config.ev_count = 8;
  PathTable table = make(2);
  // Four a plane, no backups, floor 4 / 2 planes.
  for (const EvIndex ev : {EvIndex{0}, EvIndex{2}, EvIndex{4}, EvIndex{6}}) table.report(ev, PathEvent::lost, 0);
  EXPECT_EQ(table.good_active(0), 2U);
  EXPECT_EQ(table.good_active(1), 4U);
  EXPECT_EQ(table.held_at_floor(), 2U);
  EXPECT_EQ(table.state(4), EvState::good);
  EXPECT_EQ(table.state(6), EvState::good);
}

TEST_F(PathTableTest, FloorIsAQuarterByDefaultAndOneAtLeast) {
  config.ev_count = 8;
  config.ev_min_active = 0;
  PathTable table = make(4);
  table.report(0, PathEvent::lost, 0);
  table.report(4, PathEvent::lost, 0);
  EXPECT_EQ(table.good_active(0), 1U);
  EXPECT_EQ(table.held_at_floor(), 1U);
}

TEST_F(PathTableTest, ARemovedEvHearsNothingMore) {
  PathTable table = make(4);
  table.report(1, PathEvent::lost, 0);
  table.report(1, PathEvent::lost, 0);
  table.report(1, PathEvent::ecn, 0);
  table.report(13, PathEvent::lost, 0);
  EXPECT_EQ(table.state(1), EvState::assumed_bad);
  EXPECT_EQ(table.state(13), EvState::good) << "a backup that has not been in use";
  EXPECT_EQ(events(table).size(), 1U);
}

TEST_F(PathTableTest, DeniedIsReplacedAndComesBackAsBackup) {
  PathTable table = make(4);
  table.deny(1);
  EXPECT_EQ(table.state(1), EvState::denied);
  EXPECT_FALSE(table.active(1));
  EXPECT_EQ(table.good_active(1), 2U);
  table.report(1, PathEvent::lost, 0);
  table.report(1, PathEvent::probe_delivered, 0);
  EXPECT_EQ(table.state(1), EvState::denied);
  EXPECT_FALSE(contains(select(table, 16), 1));
  table.allow(1);
  EXPECT_EQ(table.state(1), EvState::good);
  EXPECT_FALSE(table.active(1)) << "its place is taken";
  EXPECT_TRUE(events(table).empty());
}

TEST_F(PathTableTest, AllowTakesAFreePlace) {
  config.ev_count = 8;
  PathTable table = make(4);
  table.deny(1);
  EXPECT_EQ(table.good_active(1), 1U);
  table.allow(0);
  table.allow(1);
  EXPECT_TRUE(table.active(1));
  EXPECT_EQ(table.good_active(1), 2U);
}

TEST_F(PathTableTest, DenyOfAnAssumedBadEvEndsItsProbing) {
  PathTable table = make(4);
  table.report(1, PathEvent::lost, 0);
  table.deny(1);
  EXPECT_EQ(table.next_probe_time(), kNever);
  EXPECT_EQ(table.count(EvState::assumed_bad), 0U);
}

TEST_F(PathTableTest, ASecondReaderGetsTheSameEvents) {
  PathTable table = make(4);
  table.report(0, PathEvent::lost, 10);
  std::vector<EvEvent> copies;
  table.copy_events(copies);
  table.report(1, PathEvent::lost, 20);
  ASSERT_EQ(copies.size(), 1U) << "from then on";
  EXPECT_EQ(copies[0].ev, 1U);
  EXPECT_EQ(copies[0].state, EvState::assumed_bad);
  EXPECT_EQ(copies[0].time, 20U);
  EXPECT_EQ(events(table).size(), 2U);
}

TEST_F(PathTableTest, TheLeastNumberOfActiveEvsCanBeSet) {
  config.ev_count = 8;
  PathTable table = make(4);
  table.set_least_active(8);
  table.report(0, PathEvent::lost, 0);
  EXPECT_EQ(table.state(0), EvState::good);
  EXPECT_EQ(table.held_at_floor(), 1U);
  table.set_least_active(1);
  table.report(0, PathEvent::lost, 0);
  EXPECT_EQ(table.state(0), EvState::assumed_bad);
}

TEST_F(PathTableTest, ProbesReviveAfterSuccessesInARow) {
  config.unanswered_probes = 2;
  PathTable table = make(4);
  EXPECT_EQ(table.next_probe_time(), kNever);
  EXPECT_EQ(table.take_due_probe(0), kNoEv);
  table.report(1, PathEvent::lost, 1'000);
  const TimePs due = 1'000 + config.probe_interval_ps;
  EXPECT_EQ(table.next_probe_time(), due);
  EXPECT_EQ(table.take_due_probe(due - 1), kNoEv);
  EXPECT_EQ(table.take_due_probe(due), 1);
  EXPECT_EQ(table.next_probe_time(), due + config.probe_interval_ps);
  events(table);
  table.report(1, PathEvent::probe_delivered, due);
  table.report(1, PathEvent::probe_delivered, due);
  table.report(1, PathEvent::probe_lost, due);
  table.report(1, PathEvent::probe_delivered, due);
  table.report(1, PathEvent::probe_delivered, due);
  EXPECT_EQ(table.state(1), EvState::assumed_bad);
  table.report(1, PathEvent::probe_delivered, due + 9);
  EXPECT_EQ(table.state(1), EvState::good);
  EXPECT_EQ(table.next_probe_time(), kNever);
  const auto all = events(table);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].state, EvState::good);
  EXPECT_EQ(all[0].time, due + 9);
}

TEST_F(PathTableTest, ABackupReturnsByParameter) {
  config.probe_successes = 1;
  for (const bool returns : {false, true}) {
    config.backups_return = returns;
    PathTable table = make(4);
    table.report(1, PathEvent::lost, 0);
    const EvIndex backup = table.last_backup();
    ASSERT_NE(backup, kNoEv);
    EXPECT_TRUE(table.active(backup));
    table.report(1, PathEvent::probe_delivered, 0);
    EXPECT_EQ(table.state(1), EvState::good);
    EXPECT_EQ(table.active(1), returns);
    EXPECT_EQ(table.active(backup), !returns);
    EXPECT_EQ(table.good_active(1), 2U);
  }
}

TEST_F(PathTableTest, WithoutAnAnswerNoFurtherProbe) {
  config.unanswered_probes = 1;
  for (const PathEvent answer : {PathEvent::probe_delivered, PathEvent::probe_ecn, PathEvent::probe_lost}) {
    PathTable table = make(4);
    table.report(1, PathEvent::lost, 0);
    table.report(2, PathEvent::lost, 0);
    const TimePs due = table.next_probe_time();
    EXPECT_EQ(table.take_due_probe(due), 1);
    EXPECT_EQ(table.next_probe_time(), kNever);
    EXPECT_EQ(table.take_due_probe(10 * due), kNoEv);
    table.report(1, answer, 10 * due);
    EXPECT_EQ(table.take_due_probe(10 * due), 2);
  }
}

TEST_F(PathTableTest, AProbeThatWasNotSentHoldsNoneUp) {
  PathTable table = make(4);
  table.report(1, PathEvent::lost, 0);
  const TimePs due = table.next_probe_time();
  EXPECT_EQ(table.take_due_probe(due), 1);
  table.probe_not_sent(1);
  EXPECT_EQ(table.next_probe_time(), due + config.probe_interval_ps);
}

TEST_F(PathTableTest, LostProbesInARowDoubleTheInterval) {
  for (const std::uint32_t doublings : {0U, 2U}) {
    config.probe_backoff = doublings;
    PathTable table = make(4);
    table.report(1, PathEvent::lost, 0);
    for (const std::uint32_t doubled : {0U, 1U, 2U, 2U}) {
      const TimePs due = table.next_probe_time();
      EXPECT_EQ(table.take_due_probe(due), 1);
      EXPECT_EQ(table.next_probe_time() - due, config.probe_interval_ps << std::min(doubled, doublings));
      table.report(1, PathEvent::probe_lost, due);
    }
    const TimePs due = table.next_probe_time();
    table.report(1, PathEvent::probe_delivered, due);
    EXPECT_EQ(table.take_due_probe(due), 1);
    EXPECT_EQ(table.next_probe_time() - due, config.probe_interval_ps);
  }
}

TEST_F(PathTableTest, SeveralBadEvsAreProbedInTurn) {
  config.unanswered_probes = 4;
  PathTable table = make(4);
  table.report(1, PathEvent::lost, 0);
  table.report(2, PathEvent::lost, 0);
  std::vector<EvIndex> probed;
  for (int i = 0; i < 4; ++i) {
    const TimePs due = table.next_probe_time();
    EXPECT_EQ(due, config.probe_interval_ps + static_cast<TimePs>(i) * config.probe_interval_ps / 2);
    probed.push_back(table.take_due_probe(due));
  }
  EXPECT_EQ(probed, (std::vector<EvIndex>{1, 2, 1, 2}));
}

TEST_F(PathTableTest, AMarkedProbeReplySkipsOrRevives) {
  config.probe_successes = 2;
  for (const ProbeSkipState state : {ProbeSkipState::skip, ProbeSkipState::good}) {
    config.probe_skip_state = state;
    PathTable table = make(4);
    table.report(1, PathEvent::lost, 0);
    table.report(1, PathEvent::probe_ecn, 0);
    EXPECT_EQ(table.state(1), EvState::assumed_bad);
    table.report(1, PathEvent::probe_ecn, 0);
    EXPECT_EQ(table.state(1), state == ProbeSkipState::skip ? EvState::skip : EvState::good);
  }
}

TEST_F(PathTableTest, RevivedEvFillsAPlaceThatNoBackupTook) {
  config.ev_count = 8;
  PathTable table = make(2);
  table.report(0, PathEvent::lost, 0);
  EXPECT_EQ(table.good_active(0), 3U);
  for (std::uint32_t i = 0; i < config.probe_successes; ++i) table.report(0, PathEvent::probe_delivered, 0);
  EXPECT_EQ(table.good_active(0), 4U);
}

TEST_F(PathTableTest, EventsBeyondTheQueueAreDroppedAndCounted) {
  config.ev_count = 1'024;
  config.ev_active = 512;
  PathTable table = make(4);
  for (EvIndex ev = 0; ev < 300; ++ev) table.report(ev, PathEvent::lost, ev);
  EXPECT_EQ(table.dropped_events(), 44U);
  const auto all = events(table);
  ASSERT_EQ(all.size(), 256U);
  EXPECT_EQ(all[255].ev, 255);
}

TEST_F(PathTableTest, AnUnreachablePortIsLeftOut) {
  PathTable table = make(4);
  table.set_port_status(0b1011);
  for (const EvIndex ev : select(table, 24)) EXPECT_NE(table.plane(ev), 2);
  EXPECT_FALSE(table.has_good(0b0100));
  EXPECT_TRUE(table.has_good(0b0101));
  table.set_port_status(kAll);
  EXPECT_TRUE(table.has_good(0b0100));
}

TEST_F(PathTableTest, ValuesAreFoundAgain) {
  PathTable table = make(4);
  for (EvIndex ev = 0; ev < 16; ++ev) EXPECT_EQ(table.find(table.value(ev)), ev);
  Ev other = 0;
  while (table.find(other) != kNoEv) ++other;
  EXPECT_EQ(table.find(other), kNoEv);
}

TEST_F(PathTableTest, ThirtyTwoPlanes) {
  config.ev_count = 64;
  config.ev_active = 64;
  PathTable table = make(32);
  const auto evs = select(table, 64);
  EXPECT_EQ(std::set<EvIndex>(evs.begin(), evs.end()).size(), 64U);
  EXPECT_EQ(table.plane(table.select(1U << 31, 0)), 31);
}

/// Whatever happens, planes never take over each other's load: no plane has more active EVs than its share.
TEST_F(PathTableTest, NoPlaneEverGetsMoreThanItsShare) {
  config.ev_count = 64;
  config.ev_active = 32;
  config.ev_min_active = 8;
  config.probe_successes = 1;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    KeyedRandom random(seed, "events");
    PathTable table = make(4, seed);
    for (TimePs now = 0; now < 2'000; ++now) {
      const auto ev = static_cast<EvIndex>(random.below(64));
      const std::uint64_t what = random.below(11);
      if (what == 9) {
        table.deny(ev);
      } else if (what == 10) {
        table.allow(ev);
      } else {
        table.report(ev, static_cast<PathEvent>(what), now);
      }
      const EvIndex chosen = table.select(static_cast<std::uint32_t>(random.below(16)), now);
      if (chosen != kNoEv) {
        ASSERT_TRUE(table.active(chosen));
        ASSERT_EQ(table.state(chosen), EvState::good);
      }
      std::array<std::uint32_t, 4> active{};
      std::array<std::uint32_t, kEvStates> states{};
      for (EvIndex i = 0; i < 64; ++i) {
        const EvState state = table.state(i);
        ++states[static_cast<std::size_t>(state)];
        if (table.active(i)) ++active[table.plane(i)];
        ASSERT_FALSE(table.active(i) && (state == EvState::assumed_bad || state == EvState::denied));
      }
      for (std::uint32_t plane = 0; plane < 4; ++plane) ASSERT_LE(active[plane], 8U);
      for (std::size_t s = 0; s < kEvStates; ++s) ASSERT_EQ(table.count(static_cast<EvState>(s)), states[s]);
    }
  }
}

TEST(ReversePaths, PlanesInTurnWithTheirOwnEv) {
  ReversePaths paths(4, KeyedRandom(1, "reverse"));
  std::map<std::uint8_t, Ev> evs;
  for (int i = 0; i < 8; ++i) {
    const auto choice = paths.pick(kAll);
    ASSERT_TRUE(choice.found);
    const auto [it, fresh] = evs.emplace(choice.plane, choice.ev);
    EXPECT_EQ(fresh, i < 4);
    EXPECT_EQ(it->second, choice.ev);
  }
}

TEST(ReversePaths, FieldsOfTheFirstEvsNameTheirPlanes) {
  const EvLayout layout{.kind = EvLayoutKind::fields};
  ReversePaths paths(4, KeyedRandom(1, "reverse"), layout, 3);
  for (int i = 0; i < 4; ++i) {
    const auto choice = paths.pick(kAll);
    EXPECT_EQ(layout.ev_for(choice.ev, choice.plane, layout.uplink().of(choice.ev), 3), choice.ev);
    EXPECT_LT(layout.uplink().of(choice.ev), 3U);
  }
}

TEST(ReversePaths, WhatGotThroughIsUsedAndUnreachablePlanesAreNot) {
  ReversePaths paths(4, KeyedRandom(1, "reverse"));
  paths.confirm(2, 0xCAFE);
  const auto choice = paths.pick(0b0100);
  EXPECT_EQ(choice.plane, 2);
  EXPECT_EQ(choice.ev, 0xCAFEU);
  paths.set_port_status(0b1011);
  EXPECT_FALSE(paths.pick(0b0100).found);
  for (int i = 0; i < 12; ++i) EXPECT_NE(paths.pick(kAll).plane, 2);
}

}  // namespace
}  // namespace mrc
