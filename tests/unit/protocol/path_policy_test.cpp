// Path policies: what each picks, that none picks what may not be used, and that its draws are its table's own.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mrc/control/path_policy_registry.h"
#include "mrc/control/path_table.h"

namespace mrc {
namespace {

constexpr std::uint32_t kAllPorts = ~0U;

class PathPolicyTest : public testing::Test {
 protected:
  PathTable make(const std::string& policy, std::uint32_t planes = 4, std::uint64_t seed = 1) {
    const KeyedRandom random(seed, "table");
    const EvProfile profile = make_auto_profile(config, planes, KeyedRandom(1, "profile"));
    return PathTable(profile, config, planes, random,
                     make_path_policy(policy, static_cast<std::uint32_t>(profile.value.size()), random));
  }
  static std::vector<EvIndex> select(PathTable& table, std::size_t count, std::uint32_t ports = kAllPorts) {
    std::vector<EvIndex> evs;
    for (std::size_t i = 0; i < count; ++i) evs.push_back(table.select(ports, 0));
    return evs;
  }
  static std::map<EvIndex, std::uint32_t> tally(const std::vector<EvIndex>& evs) {
    std::map<EvIndex, std::uint32_t> count;
    for (const EvIndex ev : evs) ++count[ev];
    return count;
  }
  ProtocolConfig config{.ev_count = 64, .ev_active = 32};
};

/// All rows, MRC's own included.
class EveryPathPolicy : public PathPolicyTest, public testing::WithParamInterface<std::string> {};

TEST_P(EveryPathPolicy, PicksOnlyWhatMayBeUsed) {
  config.ev_min_active = 1;
  KeyedRandom random(7, GetParam());
  std::array<std::uint64_t, 4> met{};  // denied, assumed bad, a port without room, a plane that is down
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PathTable table = make(GetParam(), 4, seed);
    std::uint32_t up = 0b1111;
    for (TimePs now = 0; now < 2'000; ++now) {
      const auto any = static_cast<EvIndex>(random.below(table.size()));
      if (random.chance(0.02)) table.deny(any);
      if (random.chance(0.02)) table.allow(any);
      if (random.chance(0.3)) table.report(any, static_cast<PathEvent>(random.below(9)), now);
      if (random.chance(0.01)) table.set_port_status(up = static_cast<std::uint32_t>(random.below(16)));
      const auto free = static_cast<std::uint32_t>(random.below(16));
      const EvIndex ev = table.select(free, now);
      met[0] += table.count(EvState::denied);
      met[1] += table.count(EvState::assumed_bad);
      met[2] += free != 0b1111 ? 1 : 0;
      met[3] += up != 0b1111 ? 1 : 0;
      if (ev == kNoEv) continue;
      ASSERT_LT(ev, table.size());
      ASSERT_EQ(table.state(ev), EvState::good) << "EV " << ev;
      ASSERT_TRUE(table.active(ev)) << "EV " << ev << " is a backup";
      ASSERT_NE(free >> table.plane(ev) & 1, 0U) << "no room in the port of plane " << int{table.plane(ev)};
      ASSERT_NE(up >> table.plane(ev) & 1, 0U) << "plane " << int{table.plane(ev)} << " is down";
    }
  }
  for (const std::uint64_t times : met) EXPECT_GT(times, 1'000U);
}

TEST_P(EveryPathPolicy, FindsThePlaneThatIsFree) {
  PathTable table = make(GetParam());
  std::set<std::uint32_t> planes;
  for (std::uint32_t plane = 0; plane < 4; ++plane) {
    const EvIndex ev = table.select(1U << plane, 0);
    if (ev == kNoEv) continue;
    EXPECT_EQ(table.plane(ev), plane);
    planes.insert(plane);
  }
  EXPECT_EQ(planes.size(), GetParam() == "single_path" ? 1U : 4U) << "a single path waits for its port";
  EXPECT_EQ(table.select(0, 0), kNoEv);
}

TEST_P(EveryPathPolicy, DrawsAreKeyed) {
  PathTable a = make(GetParam(), 4, 1), b = make(GetParam(), 4, 2), again = make(GetParam(), 4, 1);
  const std::vector<EvIndex> of_a = select(a, 200);
  EXPECT_EQ(select(again, 200), of_a);
  EXPECT_NE(select(b, 200), of_a);
}

TEST_P(EveryPathPolicy, AnEvThatLosesPacketsGivesWayToABackupOfItsPlane) {
  PathTable table = make(GetParam());
  const EvIndex ev = table.select(kAllPorts, 0);
  table.report(ev, PathEvent::lost, 0);
  EXPECT_EQ(table.state(ev), EvState::assumed_bad);
  ASSERT_NE(table.last_backup(), kNoEv);
  EXPECT_EQ(table.plane(table.last_backup()), table.plane(ev));
  const std::vector<EvIndex> evs = select(table, 200);
  EXPECT_EQ(std::count(evs.begin(), evs.end(), ev), 0);
  EXPECT_EQ(std::count(evs.begin(), evs.end(), kNoEv), 0);
}

TEST_P(EveryPathPolicy, WithObliviousFeedbackHearsNothing) {
  config.path_feedback = PathFeedback::oblivious;
  PathTable table = make(GetParam()), unheard = make(GetParam());
  for (EvIndex ev = 0; ev < 30; ++ev) table.report(ev, ev % 2 == 0 ? PathEvent::ecn : PathEvent::lost, 0);
  EXPECT_EQ(select(table, 100), select(unheard, 100));
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryPathPolicy, testing::ValuesIn(path_policy_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST(PathPolicyDocument, HasARowForEachPolicyWithItsSource) {
  const std::filesystem::path root = MRCSIM_SOURCE_DIR;
  std::ifstream document(root / "docs/path_policies.md");
  ASSERT_TRUE(document) << root;
  std::map<std::string, std::string> rows;  // the first with a name is the description
  for (std::string line; std::getline(document, line);) {
    const std::size_t end = line.find("` |");
    if (line.rfind("| `", 0) == 0 && end != std::string::npos) rows.emplace(line.substr(3, end - 3), line);
  }
  for (const PathPolicyRow& policy : kPathPolicies) {
    const std::string& row = rows[std::string(policy.name)];
    EXPECT_NE(row.find("| " + std::string(policy.source) + ":"), std::string::npos) << policy.name << ": " << row;
  }
}

TEST_F(PathPolicyTest, AnUnknownNameIsRefused) {
  EXPECT_THROW(make_path_policy("rotations", 64, KeyedRandom()), std::invalid_argument);
  EXPECT_EQ(make_path_policy("rotation", 64, KeyedRandom()), nullptr) << "PathTable does it itself";
}

TEST_F(PathPolicyTest, ChoicesAreCountedAndNumbered) {
  // Two planes over 130 EVs: EVs 1 and 129 on plane 0, 64 on plane 1.
  const std::vector<std::uint64_t> good{0b10, 0, 0, 0b1, 0b10, 0};
  const PathChoices both(good.data(), 3, 2, 0b11, 0b11);
  EXPECT_EQ(both.count(), 3U);
  EXPECT_EQ(both.nth(0), 1);
  EXPECT_EQ(both.nth(1), 64);
  EXPECT_EQ(both.nth(2), 129);
  EXPECT_EQ(both.next_from(0), 1);
  EXPECT_EQ(both.next_from(2), 64);
  EXPECT_EQ(both.next_from(65), 129);
  EXPECT_EQ(both.next_from(130), 1) << "after the last comes the first";
  EXPECT_EQ(both.next_from(1'000), 1);
  const PathChoices first(good.data(), 3, 2, 0b01, 0b11);
  EXPECT_EQ(first.count(), 2U);
  EXPECT_EQ(first.nth(1), 129);
  EXPECT_EQ(first.next_from(2), 129);
  EXPECT_FALSE(first.may_use(64));
  EXPECT_TRUE(first.may_wait_for(64)) << "its port is busy";
  EXPECT_FALSE(first.may_wait_for(65));
}

TEST_F(PathPolicyTest, RandomTakesAllEvsEquallyWhateverIsHeard) {
  PathTable table = make("random");
  for (int i = 0; i < 100; ++i) table.report(3, PathEvent::ecn, 0);
  EXPECT_EQ(table.state(3), EvState::good) << "only the rotation skips";
  const auto count = tally(select(table, 32'000));
  ASSERT_EQ(count.size(), 32U);
  // 1,000 each, with a standard deviation of 31.
  for (const auto& [ev, times] : count) EXPECT_NEAR(times, 1'000, 160) << "EV " << ev;
}

TEST_F(PathPolicyTest, RoundRobinTakesEachEvOnceARound) {
  PathTable table = make("round_robin");
  const std::vector<EvIndex> evs = select(table, 96);
  for (std::size_t i = 1; i < evs.size(); ++i) EXPECT_EQ(evs[i], (evs[i - 1] + 1) % 32);
  table.report(5, PathEvent::ecn, 0);
  EXPECT_EQ(tally(select(table, 32)).size(), 32U) << "a mark changes nothing";
}

TEST_F(PathPolicyTest, SinglePathKeepsItsEvUntilItIsLost) {
  PathTable table = make("single_path");
  const std::vector<EvIndex> evs = select(table, 100);
  const EvIndex ev = evs.front();
  EXPECT_EQ(tally(evs).size(), 1U);
  EXPECT_EQ(table.select(~(1U << table.plane(ev)), 0), kNoEv) << "it waits for its port";
  EXPECT_EQ(table.select(kAllPorts, 0), ev);
  table.report(ev, PathEvent::ecn, 0);
  EXPECT_EQ(table.select(kAllPorts, 0), ev) << "a mark changes nothing";
  table.deny(ev);
  const EvIndex other = table.select(kAllPorts, 0);
  EXPECT_NE(other, ev);
  EXPECT_EQ(tally(select(table, 100)), (std::map<EvIndex, std::uint32_t>{{other, 100}}));
}

TEST_F(PathPolicyTest, SinglePathLeavesAPlaneThatIsDown) {
  PathTable table = make("single_path");
  const EvIndex ev = table.select(kAllPorts, 0);
  table.set_port_status(~(1U << table.plane(ev)));
  const EvIndex other = table.select(kAllPorts, 0);
  ASSERT_NE(other, kNoEv);
  EXPECT_NE(table.plane(other), table.plane(ev));
}

TEST_F(PathPolicyTest, EcnBitmapPassesOverAMarkedEvOncePerMark) {
  PathTable table = make("ecn_bitmap");
  const auto round = [&] { return tally(select(table, 32)); };
  for (int i = 0; i < 3; ++i) table.report(9, PathEvent::ecn, 0);
  // 31 EVs have their turns in a round that passes over one.
  EXPECT_EQ(tally(select(table, 31)).count(9), 0U);
  EXPECT_EQ(tally(select(table, 31)).count(9), 0U);
  EXPECT_EQ(tally(select(table, 31)).count(9), 0U);
  EXPECT_EQ(round().count(9), 1U);
}

TEST_F(PathPolicyTest, EcnBitmapWeighsTrimsAndLossesAndEndsAtFifteen) {
  config.assumed_bad_losses = 8;
  const std::vector<std::pair<std::vector<PathEvent>, int>> cases{
      {{PathEvent::trimmed}, 4},
      {{PathEvent::lost}, 15},
      {{PathEvent::trimmed, PathEvent::trimmed, PathEvent::trimmed, PathEvent::trimmed, PathEvent::ecn}, 15},
      {{PathEvent::delivered}, 0}};
  for (const auto& [events, rounds] : cases) {
    PathTable table = make("ecn_bitmap");
    for (const PathEvent event : events) table.report(9, event, 0);
    int missed = 0;
    while (tally(select(table, 31)).count(9) == 0 && missed < 100) ++missed;
    EXPECT_NEAR(missed, rounds, 1) << "31 picks are not quite a round of 32";
  }
}

TEST_F(PathPolicyTest, EcnBitmapWithAllMarkedStillSends) {
  PathTable table = make("ecn_bitmap");
  for (EvIndex ev = 0; ev < 32; ++ev) {
    for (int i = 0; i < 15; ++i) table.report(ev, PathEvent::ecn, 0);
  }
  for (const EvIndex ev : select(table, 100)) EXPECT_NE(ev, kNoEv);
}

TEST_F(PathPolicyTest, RepsUsesWhatWasAcknowledgedUnmarkedOnceAndInOrder) {
  PathTable table = make("reps");
  for (const EvIndex ev : {4, 17, 9}) table.report(ev, PathEvent::delivered, 0);
  EXPECT_EQ(select(table, 3), (std::vector<EvIndex>{4, 17, 9}));
  // Then it explores: 2,000 random picks meet all 32.
  EXPECT_EQ(tally(select(table, 2'000)).size(), 32U);
}

TEST_F(PathPolicyTest, RepsForgetsAMarkedEv) {
  PathTable table = make("reps");
  for (const EvIndex ev : {4, 17, 4, 9}) table.report(ev, PathEvent::delivered, 0);
  table.report(4, PathEvent::ecn, 0);
  EXPECT_EQ(select(table, 2), (std::vector<EvIndex>{17, 9}));
}

TEST_F(PathPolicyTest, RepsRemembersTheLatestEight) {
  PathTable table = make("reps");
  for (EvIndex ev = 0; ev < 20; ++ev) table.report(ev, PathEvent::delivered, 0);
  EXPECT_EQ(select(table, 8), (std::vector<EvIndex>{12, 13, 14, 15, 16, 17, 18, 19}));
}

TEST_F(PathPolicyTest, RepsTakesTheOldestWhosePortIsFree) {
  PathTable table = make("reps");  // EV i is on plane i % 4
  for (const EvIndex ev : {4, 17, 9}) table.report(ev, PathEvent::delivered, 0);
  EXPECT_EQ(table.select(0b0010, 0), 17);
  EXPECT_EQ(table.select(0b0001, 0), 4);
  EXPECT_EQ(table.plane(table.select(0b1000, 0)), 3) << "no EV of plane 3 is known: it explores";
  EXPECT_EQ(table.select(kAllPorts, 0), 9);
}

TEST_F(PathPolicyTest, RepsFreezesAfterALoss) {
  PathTable table = make("reps");
  for (const EvIndex ev : {4, 17, 9}) table.report(ev, PathEvent::delivered, 0);
  table.report(2, PathEvent::lost, 0);
  EXPECT_EQ(select(table, 7), (std::vector<EvIndex>{4, 17, 9, 4, 17, 9, 4})) << "the good ones, again and again";
  std::set<EvIndex> later;
  for (int i = 0; i < 200; ++i) later.insert(table.select(kAllPorts, RecycledEntropies::kFreezing));
  EXPECT_GT(later.size(), 20U) << "thawed, it explores";
}

TEST_F(PathPolicyTest, RotationAloneSkips) {
  PathTable rotation = make("rotation");
  rotation.report(9, PathEvent::ecn, 0);
  EXPECT_EQ(rotation.state(9), EvState::skip);
  PathTable bitmap = make("ecn_bitmap");
  bitmap.report(9, PathEvent::ecn, 0);
  EXPECT_EQ(bitmap.state(9), EvState::good);
  EXPECT_EQ(bitmap.next_skip_end(), kNever);
}

}  // namespace
}  // namespace mrc
