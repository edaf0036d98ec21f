#include "host/collective_schedule.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <ostream>
#include <set>
#include <stdexcept>

#include "one_collective.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

/// What a rank's buffer holds at each byte: whose contributions, or (all-to-all) which sender's which byte.
using Contributions = std::multiset<std::uint32_t>;

/// Carries a schedule out byte by byte, in an order that its waits allow; `last_first` turns the order of what is ready
/// round. A message takes what its source holds when it starts, as an RDMA WRITE may.
class Machine {
 public:
  Machine(CollectiveKind kind, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t root,
          CollectiveSchedule schedule)
      : kind_(kind), ranks_(ranks), bytes_(bytes), root_(root), schedule_(std::move(schedule)) {
    memory_.assign(ranks, std::vector<Contributions>(bytes));
    received_.assign(ranks, std::map<std::uint64_t, std::uint32_t>());
    for (std::uint32_t r = 0; r < ranks; ++r) {
      for (std::uint64_t b = 0; b < bytes; ++b) {
        if (starts_with(r, b)) memory_[r][b] = {r};
      }
    }
  }

  void run(bool last_first) {
    std::vector<std::uint32_t> waits;
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < schedule_.transfers.size(); ++i) {
      waits.push_back(schedule_.transfers[i].waits);
      if (waits[i] == 0) ready.push_back(i);
    }
    std::size_t done = 0;
    while (!ready.empty()) {
      const std::size_t at = last_first ? ready.size() - 1 : 0;
      const std::uint32_t i = ready[at];
      ready.erase(ready.begin() + static_cast<std::ptrdiff_t>(at));
      deliver(schedule_.transfers[i]);
      ++done;
      for (std::uint32_t d = 0; d < schedule_.transfers[i].dependents; ++d) {
        const std::uint32_t next = schedule_.dependents[schedule_.transfers[i].first_dependent + d];
        const Transfer& after = schedule_.transfers[next];
        EXPECT_EQ(after.source, after.paced ? schedule_.transfers[i].source : schedule_.transfers[i].destination)
            << "a rank can only wait for what happens at itself";
        if (--waits[next] == 0) ready.push_back(next);
      }
    }
    EXPECT_EQ(done, schedule_.transfers.size()) << "waits form a loop";
  }

  void check() const {
    Contributions all;
    for (std::uint32_t r = 0; r < ranks_; ++r) all.insert(r);
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      for (std::uint64_t b = 0; b < bytes_; ++b) {
        const Contributions& has = memory_[r][b];
        switch (kind_) {
          case CollectiveKind::all_reduce:
            ASSERT_EQ(has, all) << "rank " << r << " byte " << b;
            break;
          case CollectiveKind::reduce_scatter:
            if (owner(b) == r) {
              ASSERT_EQ(has, all) << "rank " << r << " byte " << b;
            }
            break;
          case CollectiveKind::reduce:
            if (r == root_) {
              ASSERT_EQ(has, all) << "byte " << b;
            }
            break;
          case CollectiveKind::all_gather:
            ASSERT_EQ(has, Contributions{owner(b)}) << "rank " << r << " byte " << b;
            break;
          case CollectiveKind::gather:
            if (r == root_) {
              ASSERT_EQ(has, Contributions{owner(b)}) << "byte " << b;
            }
            break;
          case CollectiveKind::broadcast:
            ASSERT_EQ(has, Contributions{root_}) << "rank " << r << " byte " << b;
            break;
          case CollectiveKind::scatter:
            if (owner(b) == r) {
              ASSERT_EQ(has, Contributions{root_}) << "rank " << r << " byte " << b;
            }
            break;
          case CollectiveKind::all_to_all:
          case CollectiveKind::barrier:
            break;
        }
      }
    }
    if (kind_ == CollectiveKind::all_to_all) check_exchange();
    if (kind_ == CollectiveKind::barrier) check_barrier();
  }

 private:
  std::uint32_t owner(std::uint64_t byte) const {
    // Channels cut the buffer first, so shares are only known where there is one channel.
    for (std::uint32_t i = 0; i < ranks_; ++i) {
      const auto at = [&](std::uint64_t k) { return bytes_ / ranks_ * k + bytes_ % ranks_ * k / ranks_; };
      if (byte >= at(i) && byte < at(std::uint64_t{i} + 1)) return i;
    }
    return 0;
  }
  bool starts_with(std::uint32_t rank, std::uint64_t byte) const {
    if (kind_ == CollectiveKind::all_gather || kind_ == CollectiveKind::gather) return owner(byte) == rank;
    if (kind_ == CollectiveKind::broadcast || kind_ == CollectiveKind::scatter) return rank == root_;
    return true;
  }
  void deliver(const Transfer& t) {
    ASSERT_LT(t.source, ranks_);
    ASSERT_LT(t.destination, ranks_);
    ASSERT_NE(t.source, t.destination);
    ASSERT_LE(t.offset + t.bytes, bytes_);
    told_[t.destination].insert(t.source);
    for (const std::uint32_t before : told_[t.source]) told_[t.destination].insert(before);
    for (std::uint64_t b = t.offset; b < t.offset + t.bytes; ++b) {
      if (kind_ == CollectiveKind::all_to_all) {
        ++exchanged_[{t.source, b}];
        destination_of_[{t.source, b}] = t.destination;
        continue;
      }
      const Contributions& brought = memory_[t.source][b];
      Contributions& has = memory_[t.destination][b];
      if (!t.reduces) has.clear();
      has.insert(brought.begin(), brought.end());
    }
  }
  /// Every byte of every sender goes to one rank, but for its own block; blocks lie in the order of their ranks.
  void check_exchange() const {
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      std::uint64_t sent = 0;
      std::uint32_t last = 0;
      for (std::uint64_t b = 0; b < bytes_; ++b) {
        const auto it = destination_of_.find({r, b});
        if (it == destination_of_.end()) continue;
        ++sent;
        EXPECT_EQ(exchanged_.at({r, b}), 1U);
        EXPECT_GE(it->second, last);
        last = it->second;
      }
      EXPECT_LE(sent, bytes_);
    }
  }
  /// Nobody leaves before all have come.
  void check_barrier() const {
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      std::set<std::uint32_t> others = told_.at(r);
      others.insert(r);
      EXPECT_EQ(others.size(), ranks_) << "rank " << r;
    }
  }

  CollectiveKind kind_;
  std::uint32_t ranks_;
  std::uint64_t bytes_;
  std::uint32_t root_;
  CollectiveSchedule schedule_;
  std::vector<std::vector<Contributions>> memory_;
  std::vector<std::map<std::uint64_t, std::uint32_t>> received_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> exchanged_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> destination_of_;
  std::map<std::uint32_t, std::set<std::uint32_t>> told_;
};

struct Case {
  const char* name;
  CollectiveKind kind;
  CollectiveOptions options;
  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }
};

constexpr AllReduceAlgorithm kHalving = AllReduceAlgorithm::halving_doubling;
constexpr AllReduceAlgorithm kTree = AllReduceAlgorithm::double_binary_tree;
constexpr AllReduceAlgorithm kHierarchical = AllReduceAlgorithm::hierarchical;

class DataMovement : public ::testing::TestWithParam<std::tuple<Case, std::uint32_t>> {};

TEST_P(DataMovement, EveryRankEndsWithTheRightBytes) {
  const auto& [test_case, ranks] = GetParam();
  CollectiveOptions options = test_case.options;
  if (options.all_reduce == kHierarchical && ranks % options.ranks_per_host != 0 && ranks > options.ranks_per_host) {
    EXPECT_THROW(make_schedule(test_case.kind, 64, ranks, 0, options), std::invalid_argument);
    return;
  }
  const bool channels_mix_shares =
      test_case.kind == CollectiveKind::all_gather || test_case.kind == CollectiveKind::reduce_scatter;
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{ranks}, std::uint64_t{97}}) {
    for (const std::uint32_t root : {0U, ranks - 1}) {
      for (const bool last_first : {false, true}) {
        if (channels_mix_shares) options.channels = 1;
        Machine machine(test_case.kind, ranks, bytes, root, make_schedule(test_case.kind, bytes, ranks, root, options));
        machine.run(last_first);
        machine.check();
        if (HasFatalFailure()) FAIL() << test_case.name << " ranks " << ranks << " bytes " << bytes << " root " << root;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(
    All, DataMovement,
    ::testing::Combine(
        ::testing::Values(
            Case{"ring", CollectiveKind::all_reduce, {}},
            Case{"ring_chunks", CollectiveKind::all_reduce, {.channels = 2, .chunk_bytes = 3}},
            Case{"halving", CollectiveKind::all_reduce, {.all_reduce = kHalving, .channels = 2}},
            Case{"tree", CollectiveKind::all_reduce, {.all_reduce = kTree, .chunk_bytes = 7}},
            Case{"hierarchical",
                 CollectiveKind::all_reduce,
                 {.all_reduce = kHierarchical, .chunk_bytes = 5, .ranks_per_host = 4}},
            Case{"all_gather", CollectiveKind::all_gather, {.chunk_bytes = 4}},
            Case{"reduce_scatter", CollectiveKind::reduce_scatter, {.chunk_bytes = 4}},
            Case{"direct", CollectiveKind::all_to_all, {}},
            Case{"paced", CollectiveKind::all_to_all, {.all_to_all = AllToAllAlgorithm::paced, .window = 2}},
            Case{"skewed", CollectiveKind::all_to_all, {.skew = 1.2}},
            Case{"broadcast", CollectiveKind::broadcast, {.chunk_bytes = 10}},
            Case{"reduce", CollectiveKind::reduce, {.chunk_bytes = 10}}, Case{"gather", CollectiveKind::gather, {}},
            Case{"scatter", CollectiveKind::scatter, {}}, Case{"barrier", CollectiveKind::barrier, {}}),
        ::testing::Values(2U, 3U, 4U, 5U, 7U, 8U, 12U, 13U, 16U, 31U)),
    [](const auto& with) {
      return std::string(std::get<0>(with.param).name) + "_" + std::to_string(std::get<1>(with.param));
    });

std::map<std::uint32_t, std::uint64_t> sent_by(const CollectiveSchedule& schedule) {
  std::map<std::uint32_t, std::uint64_t> sent;
  for (const Transfer& t : schedule.transfers) sent[t.source] += t.bytes;
  return sent;
}

TEST(CollectiveSchedule, ARingAllReduceMovesTwoTimesAllButOneShareARank) {
  for (const std::uint32_t ranks : {2U, 3U, 7U, 8U, 48U}) {
    const std::uint64_t bytes = 1'000ULL * ranks;
    for (const std::uint32_t channels : {1U, 2U}) {
      const CollectiveSchedule s =
          make_schedule(CollectiveKind::all_reduce, bytes, ranks, 0, {.channels = channels, .chunk_bytes = 100});
      for (const auto& [rank, sent] : sent_by(s)) EXPECT_EQ(sent, 2 * (ranks - 1) * bytes / ranks) << rank;
      for (const Transfer& t : s.transfers) EXPECT_LE(t.bytes, 100U);
    }
  }
  // With a length that the ranks do not divide, it holds over all of them.
  std::uint64_t all = 0;
  for (const auto& [rank, sent] : sent_by(make_schedule(CollectiveKind::all_reduce, 1'001, 7, 0, {}))) all += sent;
  EXPECT_EQ(all, 2 * 6 * 1'001U);
}

TEST(CollectiveSchedule, HierarchicalMovesLessBetweenHosts) {
  CollectiveOptions options{.all_reduce = kHierarchical, .ranks_per_host = 4};
  const CollectiveSchedule s = make_schedule(CollectiveKind::all_reduce, 16'000, 16, 0, options);
  std::uint64_t between = 0;
  for (const Transfer& t : s.transfers) between += t.source / 4 != t.destination / 4 ? t.bytes : 0;
  EXPECT_EQ(between, 16 * 2 * 3 * 16'000U / 4 / 4);
}

TEST(CollectiveSchedule, SkewKeepsTheSumAndOrdersRanks) {
  const CollectiveSchedule s = make_schedule(CollectiveKind::all_to_all, 1'000'000, 8, 0, {.skew = 1.0, .seed = 3});
  std::map<std::uint32_t, std::uint64_t> received;
  for (const Transfer& t : s.transfers) received[t.destination] += t.bytes;
  std::uint64_t least = ~0ULL;
  std::uint64_t most = 0;
  for (const auto& [rank, bytes] : received) {
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  EXPECT_NEAR(static_cast<double>(most) / static_cast<double>(least), 8.0, 0.01) << "1 against 1/8";
}

TEST(CollectiveSchedule, AFoldedScheduleIsRankZeros) {
  CollectiveOptions options{.channels = 2, .chunk_bytes = 1'000};
  for (const CollectiveKind kind :
       {CollectiveKind::all_reduce, CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all, CollectiveKind::barrier}) {
    for (const std::uint32_t ranks : {2U, 6U, 16U}) {
      const CollectiveSchedule whole = make_schedule(kind, 9'600, ranks, 0, options);
      const CollectiveSchedule folded = make_folded_schedule(kind, 9'600, ranks, options);
      EXPECT_EQ(folded.transfers.size() * ranks, whole.transfers.size());
      EXPECT_EQ(sent_by(folded)[0], sent_by(whole)[0]);
      EXPECT_EQ(folded.dependents.size() * ranks, whole.dependents.size());
    }
  }
  EXPECT_THROW(make_folded_schedule(CollectiveKind::broadcast, 9'600, 4, options), std::invalid_argument);
}

TEST(CollectiveSchedule, RefusesWhatTakesTooManyMessages) {
  EXPECT_THROW(make_schedule(CollectiveKind::all_to_all, 1 << 20, 20'000, 0, {}), std::invalid_argument);
  EXPECT_EQ(make_schedule(CollectiveKind::all_to_all, 1 << 20, 256, 0, {}).transfers.size(), 256U * 255U);
  EXPECT_TRUE(make_schedule(CollectiveKind::all_reduce, 1 << 20, 1, 0, {}).transfers.empty());
}

TEST(ExpandCollectives, WhatWaitsForTheCollectiveWaitsForItsEndAtThatRank) {
  WorkloadBuilder builder;
  const std::uint32_t position = builder.collective({CollectiveKind::all_reduce, 900, builder.group({0, 1, 2}), 0});
  std::vector<std::uint32_t> after;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    WorkNode node;
    node.rank = rank;
    node.kind = WorkKind::collective;
    node.match = position;
    node.origin = 70 + rank;
    const std::uint32_t at = builder.add(node);
    node.kind = WorkKind::compute;
    after.push_back(builder.add(node));
    builder.depend(after.back(), at);
  }
  const Workload w = expand_collectives(builder.finish(3), {});
  ASSERT_EQ(w.spans.size(), 3U);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const WorkNode& end = w.nodes[w.spans[rank].end];
    EXPECT_EQ(end.dependencies, 1U + 4U + 4U) << "its start, sends and receives";
    ASSERT_EQ(end.dependents, 1U);
    EXPECT_EQ(w.dependents[end.first_dependent], after[rank]);
    EXPECT_EQ(w.nodes[after[rank]].dependencies, 1U);
  }
  for (const WorkNode& node : w.nodes) EXPECT_EQ(node.origin, 70 + node.rank) << "messages name the collective's node";
}

TEST(ExpandCollectives, AWaitAcrossRanksIsAMessage) {
  WorkloadBuilder builder;
  WorkNode node;
  const std::uint32_t first = builder.add(node);
  node.rank = 1;
  const std::uint32_t second = builder.add(node);
  builder.depend(second, first);
  const Workload w = expand_collectives(builder.finish(2), {});
  EXPECT_EQ(w.sends(), 1U);
  EXPECT_EQ(w.bytes(), 1U);
  EXPECT_EQ(w.nodes[second].dependencies, 1U);
  EXPECT_EQ(w.nodes[first].dependents, 1U);
}

TEST(ExpandCollectives, RanksThatAreAlikeAreWrittenOutWithTheirGroups) {
  WorkloadBuilder builder;
  WorkNode node;
  node.kind = WorkKind::collective;
  node.match = builder.collective({CollectiveKind::all_to_all, 600, builder.group({0, 2, 4}), 0});
  builder.add(node);
  Workload one = builder.finish(12);
  one.same_on_all_ranks = true;
  const Workload w = replicate(one);
  ASSERT_EQ(w.collectives.size(), 4U);
  EXPECT_EQ(w.groups[w.collectives[w.nodes[3].match].group].ranks, (std::vector<std::uint32_t>{1, 3, 5}));
  EXPECT_EQ(w.groups[w.collectives[w.nodes[11].match].group].ranks, (std::vector<std::uint32_t>{7, 9, 11}));
  one.ranks = 9;
  EXPECT_THROW(replicate(one), TraceError);
}

TEST(ExpandCollectives, AnAllReduceInSwitchesHasAPartOfEachRankForEachChannel) {
  const CollectiveOptions options{.all_reduce = AllReduceAlgorithm::in_network, .channels = 2};
  const Workload w = one_collective(CollectiveKind::all_reduce, 3, 1'001, options);
  ASSERT_EQ(w.reductions.size(), 2U);
  EXPECT_EQ(w.reductions[0].bytes + w.reductions[1].bytes, 1'001U);
  EXPECT_EQ(w.sends(), 6U);
  EXPECT_EQ(w.bytes(), 3U * 1'001);
  std::set<std::pair<std::uint32_t, std::uint32_t>> parts;  // rank and channel
  for (const WorkNode& node : w.nodes) {
    EXPECT_NE(node.kind, WorkKind::send);
    if (node.kind != WorkKind::reduction) continue;
    EXPECT_EQ(node.bytes, w.reductions[node.match].bytes);
    EXPECT_EQ(node.dependencies, 1U) << "the start of the collective";
    EXPECT_EQ(node.dependents, 1U) << "its end";
    parts.emplace(node.rank, node.lane);
  }
  EXPECT_EQ(parts.size(), 6U);
  EXPECT_EQ(w.spans.size(), 3U);
  // Other kinds are messages as before.
  EXPECT_GT(one_collective(CollectiveKind::all_gather, 3, 1'001, options).sends(), 0U);
  EXPECT_TRUE(one_collective(CollectiveKind::all_gather, 3, 1'001, options).reductions.empty());
  EXPECT_THROW(make_schedule(CollectiveKind::all_reduce, 1'001, 3, 0, options), std::invalid_argument);
}

}  // namespace
}  // namespace mrc
