#include "traffic/ring_all_reduce.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "traffic/broadcast.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

/// What a run of the workload in some order the dependencies allow did.
struct Execution {
  std::uint64_t done = 0;
  std::map<std::uint32_t, std::uint64_t> sent_bytes;
};

Execution execute(const Workload& w) {
  std::vector<std::uint32_t> waits(w.nodes.size());
  std::vector<bool> arrived(w.nodes.size());
  std::vector<bool> asked(w.nodes.size());
  std::vector<std::uint32_t> ready;
  Execution result;
  for (std::uint32_t i = 0; i < w.nodes.size(); ++i) {
    waits[i] = w.nodes[i].dependencies;
    if (waits[i] == 0) ready.push_back(i);
  }
  const auto finish = [&](std::uint32_t i) {
    ++result.done;
    for (std::uint32_t d = 0; d < w.nodes[i].dependents; ++d) {
      const std::uint32_t next = w.dependents[w.nodes[i].first_dependent + d];
      if (--waits[next] == 0) ready.push_back(next);
    }
  };
  while (!ready.empty()) {
    const std::uint32_t i = ready.back();
    ready.pop_back();
    const WorkNode& node = w.nodes[i];
    if (node.kind == WorkKind::receive) {
      asked[i] = true;
      if (arrived[i]) finish(i);
      continue;
    }
    if (node.kind == WorkKind::send) {
      result.sent_bytes[node.rank] += node.bytes;
      arrived[node.match] = true;
      if (asked[node.match]) finish(node.match);
    }
    finish(i);
  }
  return result;
}

class Ring : public ::testing::TestWithParam<std::tuple<std::uint32_t, std::uint64_t>> {};

TEST_P(Ring, EveryRankSendsItsShareInEachStepAndAllEnds) {
  const auto [ranks, chunk] = GetParam();
  constexpr std::uint64_t bytes = 1 << 20;
  const Workload w = make_ring_all_reduce(ranks, bytes, chunk);
  const Execution e = execute(w);
  EXPECT_EQ(e.done, w.nodes.size()) << "dependencies form a loop or a receive is never served";
  const std::uint64_t share = (bytes + ranks - 1) / ranks;
  ASSERT_EQ(e.sent_bytes.size(), ranks);
  for (const auto& [rank, sent] : e.sent_bytes) EXPECT_EQ(sent, 2 * (ranks - 1) * share) << "rank " << rank;
  std::uint64_t reductions = 0;
  for (const WorkNode& node : w.nodes) {
    if (node.kind == WorkKind::compute) {
      ++reductions;
      continue;
    }
    ASSERT_EQ(w.nodes[node.match].match, static_cast<std::uint32_t>(&node - w.nodes.data()));
    EXPECT_TRUE(node.kind != WorkKind::send || node.peer == (node.rank + 1) % ranks);
    EXPECT_TRUE(chunk == 0 || node.bytes <= chunk);
  }
  const std::uint64_t chunks = chunk == 0 ? 1 : (share + chunk - 1) / chunk;
  EXPECT_EQ(reductions, chunks * ranks * (ranks - 1)) << "all but one of the ranks' data are added to each share";
  EXPECT_EQ(w.nodes.size(), ring_all_reduce_nodes(ranks, chunks));
}
INSTANTIATE_TEST_SUITE_P(Sizes, Ring,
                         ::testing::Combine(::testing::Values(2U, 3U, 8U),
                                            ::testing::Values(0ULL, 65'536ULL, 100'000ULL)));

/// Every send of a step passes on what the rank received in the step before, reduced in the first N - 1 steps.
TEST(RingAllReduce, AStepWaitsForTheOneBefore) {
  const Workload w = make_ring_all_reduce(4, 4'000, 0);
  std::vector<std::vector<std::uint32_t>> dependencies(w.nodes.size());
  for (std::uint32_t i = 0; i < w.nodes.size(); ++i) {
    for (std::uint32_t d = 0; d < w.nodes[i].dependents; ++d)
      dependencies[w.dependents[w.nodes[i].first_dependent + d]].push_back(i);
  }
  std::vector<std::uint32_t> sends;
  for (std::uint32_t i = 0; i < w.nodes.size(); ++i) {
    if (w.nodes[i].rank == 2 && w.nodes[i].kind == WorkKind::send) sends.push_back(i);
  }
  ASSERT_EQ(sends.size(), 6U);
  EXPECT_TRUE(dependencies[sends[0]].empty());
  for (std::size_t step = 1; step < 6; ++step) {
    ASSERT_EQ(dependencies[sends[step]].size(), 1U) << "step " << step;
    const std::uint32_t before = dependencies[sends[step]].front();
    const WorkKind kind = step < 4 ? WorkKind::compute : WorkKind::receive;
    EXPECT_EQ(w.nodes[before].kind, kind) << "step " << step;
  }
}

std::string refusal(std::uint32_t ranks, std::uint64_t bytes, std::uint64_t chunk_bytes) {
  try {
    make_ring_all_reduce(ranks, bytes, chunk_bytes);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RingAllReduce, RefusesWhatIsOutOfRange) {
  EXPECT_EQ(refusal(1, 100, 0), "ring_all_reduce: 1 ranks; allowed: 2 … 131071");
  EXPECT_EQ(refusal(2, 0, 0), "ring_all_reduce: 0 bytes; allowed: 1 … 1099511627776");
  EXPECT_EQ(refusal(2, 1, 0), "accepted");
  EXPECT_EQ(refusal(4096, 1 << 30, 1),
            "ring_all_reduce: makes 21984863846400 nodes of work; allowed: at most 67108864");
}

TEST(Broadcast, EachRankPassesOnWhatItHas) {
  WorkloadBuilder builder;
  std::vector<std::uint32_t> at;
  std::vector<std::uint32_t> after;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    WorkNode node;
    node.rank = rank;
    node.origin = 70 + rank;
    at.push_back(builder.add(node));
    after.push_back(builder.add(node));
    builder.depend(after.back(), at.back());
  }
  add_broadcast_in_place(builder, at, 999);
  const Workload w = builder.finish(3);
  const Execution e = execute(w);
  EXPECT_EQ(e.done, w.nodes.size());
  EXPECT_EQ(e.sent_bytes, (std::map<std::uint32_t, std::uint64_t>{{0, 999}, {1, 999}}));
  EXPECT_EQ(w.nodes[after[0]].dependencies, 1U) << "the root has the data from the start";
  EXPECT_EQ(w.nodes[after[2]].dependencies, 2U) << "the node itself and what the rank receives";
  for (const WorkNode& node : w.nodes) {
    EXPECT_EQ(node.origin, 70 + node.rank) << "messages name the collective's node";
    if (node.kind == WorkKind::send && node.rank == 1) {
      EXPECT_EQ(node.dependencies, 2U) << "its node's turn, and the data";
    }
  }
}

TEST(RingInPlace, WhatWaitsForTheNodeWaitsForTheRing) {
  WorkloadBuilder builder;
  std::vector<std::uint32_t> at;
  std::vector<std::uint32_t> after;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    WorkNode node;
    node.rank = rank;
    at.push_back(builder.add(node));
    after.push_back(builder.add(node));
    builder.depend(after.back(), at.back());
  }
  add_ring_all_reduce_in_place(builder, at, 999);
  const Workload w = builder.finish(3);
  for (const std::uint32_t node : after)
    EXPECT_EQ(w.nodes[node].dependencies, 2U) << "the node itself and the ring's last receive";
  EXPECT_EQ(execute(w).done, w.nodes.size());
}

}  // namespace
}  // namespace mrc
