#include "traffic/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "traffic/expand_collectives.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// Bytes from the first to the second rank of each pair that exchanges any.
std::map<Pair, std::uint64_t> bytes_by_pair(const Workload& workload) {
  std::map<Pair, std::uint64_t> bytes;
  for (const WorkNode& node : workload.nodes) {
    if (node.kind == WorkKind::send) bytes[{node.rank, node.peer}] += node.bytes;
  }
  return bytes;
}

std::vector<std::uint32_t> destinations(std::uint32_t ranks, std::uint64_t seed) {
  std::vector<std::uint32_t> by_rank(ranks, ranks);
  for (const WorkNode& node : make_permutation({ranks, 10, 1}, seed).nodes) by_rank.at(node.rank) = node.peer;
  return by_rank;
}

TEST(Patterns, AnAllToAllGivesEachPairItsShare) {
  const auto bytes =
      bytes_by_pair(expand_collectives(make_collectives("x", CollectiveKind::all_to_all, {5, 1000, 3}), {}));
  EXPECT_EQ(bytes.size(), 5U * 4U);
  for (const auto& [pair, sent] : bytes) {
    EXPECT_NE(pair.first, pair.second);
    EXPECT_EQ(sent, 3U * 200U);
  }
}

TEST(Patterns, EveryCollectiveWaitsForTheOneBeforeAtItsRank) {
  const Workload workload = make_collectives("x", CollectiveKind::all_gather, {3, 1000, 4});
  ASSERT_EQ(workload.collectives.size(), 4U);
  ASSERT_EQ(workload.nodes.size(), 3U * 4U);
  for (const WorkNode& node : workload.nodes) {
    EXPECT_EQ(node.dependencies, node.match == 0 ? 0U : 1U);
    for (std::uint32_t d = 0; d < node.dependents; ++d) {
      const WorkNode& next = workload.nodes[workload.dependents[node.first_dependent + d]];
      EXPECT_EQ(next.rank, node.rank);
      EXPECT_EQ(next.match, node.match + 1);
    }
  }
}

TEST(Patterns, APermutationSendsOnceFromAndToEveryRank) {
  for (const std::uint32_t ranks : {2U, 3U, 17U, 1000U}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<std::uint32_t> by_rank = destinations(ranks, seed);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) EXPECT_NE(by_rank[rank], rank);
      EXPECT_EQ(std::set<std::uint32_t>(by_rank.begin(), by_rank.end()).size(), ranks);
      EXPECT_LT(*std::max_element(by_rank.begin(), by_rank.end()), ranks);
    }
  }
}

TEST(Patterns, TheSeedDecidesThePermutation) {
  EXPECT_EQ(destinations(64, 3), destinations(64, 3));
  EXPECT_NE(destinations(64, 3), destinations(64, 4));
  // Of 4 ranks there are 9 without one that sends to itself; 9,000 seeds draw each about 1,000 times.
  std::map<std::vector<std::uint32_t>, int> drawn;
  for (std::uint64_t seed = 0; seed < 9000; ++seed) ++drawn[destinations(4, seed)];
  EXPECT_EQ(drawn.size(), 9U);
  for (const auto& [by_rank, times] : drawn) EXPECT_NEAR(times, 1000, 150);
}

TEST(Patterns, RoundsOfAPermutationAreEqual) {
  const Workload workload = make_permutation({8, 10, 3}, 1);
  ASSERT_EQ(workload.nodes.size(), 24U);
  for (std::size_t i = 8; i < 24; ++i) {
    EXPECT_EQ(workload.nodes[i].rank, workload.nodes[i - 8].rank);
    EXPECT_EQ(workload.nodes[i].peer, workload.nodes[i - 8].peer);
  }
  for (const auto& [pair, bytes] : bytes_by_pair(workload)) EXPECT_EQ(bytes, 30U);
}

TEST(Patterns, AnIncastSendsFromAllOthersToOne) {
  const auto bytes = bytes_by_pair(make_incast({6, 7, 2}, 4));
  EXPECT_EQ(bytes.size(), 5U);
  for (const auto& [pair, sent] : bytes) {
    EXPECT_NE(pair.first, 4U);
    EXPECT_EQ(pair.second, 4U);
    EXPECT_EQ(sent, 14U);
  }
}

TEST(Patterns, RefuseWhatNoReaderTakes) {
  EXPECT_THROW(make_permutation({1, 10, 1}, 1), TraceError);
  EXPECT_THROW(make_incast({131'073, 10, 1}, 0), TraceError);
  EXPECT_THROW(make_incast({4, 10, 1}, 4), TraceError);
  EXPECT_THROW(make_collectives("x", CollectiveKind::all_to_all, {4, 0, 1}), TraceError);
  EXPECT_THROW(make_collectives("x", CollectiveKind::all_to_all, {4, 10, 0}), TraceError);
  EXPECT_THROW(make_permutation({131'072, 10, 1'000}, 1), TraceError);
}

}  // namespace
}  // namespace mrc
