// GOAL, ASTRA-sim text and htsim connection matrices: what is read, and what each refusal says.
#include <gtest/gtest.h>

#include <sstream>
#include <tuple>

#include "traffic/astra_reader.h"
#include "traffic/expand_collectives.h"
#include "traffic/goal_binary_reader.h"
#include "traffic/goal_reader.h"
#include "traffic/htsim_reader.h"
#include "traffic/trace_error.h"
#include "traffic/trace_totals.h"

namespace mrc {
namespace {

struct Answer {
  Workload workload;
  Warnings warnings;
  std::string error = "accepted";
};

template <typename Read>
Answer answer(Read read) {
  Answer a;
  try {
    a.workload = read(a.warnings);
  } catch (const TraceError& error) {
    a.error = error.what();
  }
  return a;
}

Answer goal(const std::string& text) {
  return answer([&](Warnings& warnings) {
    std::istringstream in(text);
    return read_goal(in, "g", {}, warnings);
  });
}
Answer htsim(const std::string& text, const ReadOptions& options = {}) {
  return answer([&](Warnings&) {
    std::istringstream in(text);
    return read_htsim(in, "m", options);
  });
}
Answer astra(const std::string& text, const ReadOptions& options = {}) {
  return answer([&](Warnings& warnings) {
    std::istringstream in(text);
    return read_astra(in, "a", options, warnings);
  });
}

std::vector<std::uint32_t> dependents(const Workload& w, std::uint32_t node) {
  const auto first = w.dependents.begin() + w.nodes[node].first_dependent;
  return {first, first + w.nodes[node].dependents};
}

TEST(Goal, ReadsOperationsAndWaits) {
  const Answer a = goal(
      "num_ranks 2 /* two\n of them */\nrank 0 {\n l1: calc 1200 cpu 3\n l2: send 8b to 1 tag 7 nic 1\n"
      "l2 requires l1\n l3: calc 5\n l3 irequires l2\n}\nrank 1 {\nl1: recv 8b from 0 tag 7\n}\n");
  ASSERT_EQ(a.error, "accepted");
  const Workload& w = a.workload;
  ASSERT_EQ(w.nodes.size(), 5U) << "four operations and the start of l2";
  EXPECT_EQ(w.ranks, 2U);
  EXPECT_EQ(w.nodes[0].duration, 1'200'000U);
  EXPECT_EQ(w.nodes[0].stream, kComputeStream + 3);
  EXPECT_EQ(w.nodes[1].bytes, 8U);
  EXPECT_EQ(w.nodes[1].tag, 7U);
  EXPECT_EQ(w.nodes[1].origin, 5U) << "its line";
  EXPECT_EQ(w.nodes[1].match, 4U);
  EXPECT_EQ(dependents(w, 0), (std::vector<std::uint32_t>{3})) << "the start of l2 waits for l1";
  EXPECT_EQ(dependents(w, 3), (std::vector<std::uint32_t>{1, 2})) << "l2 and what may start with it";
}

TEST(Goal, RefusalsNameTheLine) {
  const std::string two = "num_ranks 2\nrank 0 {\n";
  EXPECT_EQ(goal("").error, "g: is empty; expected num_ranks and blocks of ranks");
  EXPECT_EQ(goal("rank 0 {").error, "g:1: expected num_ranks, found \"rank\"");
  EXPECT_EQ(goal("num_ranks 99999999999\n").error, "g:1: num_ranks is \"99999999999\"; allowed: an integer 1 … 131072");
  EXPECT_EQ(goal("num_ranks 2\n").error, "g: holds no block of a rank");
  EXPECT_EQ(goal("num_ranks 2\nrank 2 {\n}").error, "g:2: the rank is \"2\"; allowed: an integer 0 … 1");
  EXPECT_EQ(goal("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}").error, "g:4: a second block of rank 0");
  EXPECT_EQ(goal(two + "l1: send 8 to 1\n}").error, "g:3: expected a size such as 8b, found \"8\"");
  EXPECT_EQ(goal(two + "l1: send 8b to 0\n}").error, "g:3: rank 0 names itself; a message needs two ranks");
  EXPECT_EQ(goal(two + "l1: send 8b from 1\n}").error, "g:3: expected to, found \"from\"");
  EXPECT_EQ(goal(two + "l1: jump 8\n}").error, "g:3: expected send, recv or calc, found \"jump\"");
  EXPECT_EQ(goal(two + "l1: calc 1\nl1: calc 2\n}").error, "g:4: label l1 appears twice, first in line 3");
  EXPECT_EQ(goal(two + "l1: calc 1\nl1 requires l9\n}").error, "g:4: label l9 is not known in the block of rank 0");
  EXPECT_EQ(goal(two + "l1: calc 1\nl1 requires l1\n}").error, "g:4: l1 waits for itself");
  EXPECT_EQ(goal(two + "l1: calc 1\nl2: calc 1\nl1 requires l2\nl2 irequires l1\n}").error,
            "g:3: the operation is in or behind a loop of requires in the block of rank 0");
  EXPECT_EQ(goal(two + "l1: calc 1\n").error, "g: the block of rank 0 has no end; expected }");
  EXPECT_EQ(goal("num_ranks 2 /* x\n").error, "g: the comment of line 1 has no end");
  EXPECT_EQ(goal(two + "l1: send 8b to 1\n}").error, "g:3: sends to rank 1 with tag 0, but it is never received");
  EXPECT_EQ(goal(two + "l1: send 0b to 1\n}\nrank 1 {\nr: recv 0b from 0\n}").warnings.size(), 1U);
  EXPECT_EQ(goal(std::string(70'000, 'x')).error, "g:1: the line is longer than 65536 characters");
}

/// A schedule in binary, written from the same table as the reader's header says it.
class GoalFile {
 public:
  struct Operation {
    std::uint8_t type = 3;
    std::uint32_t peer = 0;
    std::uint64_t size = 0;
    std::uint32_t tag = 0;
    std::uint8_t cpu = 0;
    std::vector<std::uint32_t> before = {};        ///< operations that wait for its end
    std::vector<std::uint32_t> start_before = {};  ///< for its start
  };
  void add_rank(const std::vector<Operation>& operations) {
    std::vector<std::uint32_t> dependencies(operations.size());
    for (const Operation& operation : operations) {
      for (const std::uint32_t other : operation.before) ++dependencies[other];
      for (const std::uint32_t other : operation.start_before) ++dependencies[other];
    }
    std::string roots;
    std::string nodes;
    std::string list;
    std::uint32_t root_count = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Operation& o = operations[i];
      if (dependencies[i] == 0) {
        put(roots, i, 4);
        ++root_count;
      }
      put(nodes, dependencies[i], 4);
      put(nodes, o.type, 1);
      put(nodes, o.peer, 4);
      put(nodes, o.size, 8);
      put(nodes, o.tag, 4);
      put(nodes, o.cpu, 1);
      put(nodes, 0, 1);
      for (const auto* followers : {&o.before, &o.start_before}) {
        put(nodes, followers->size(), 4);
        put(nodes, list.size() / 4, 4);
        for (const std::uint32_t other : *followers) put(list, other, 4);
      }
    }
    std::string block;
    put(block, operations.size(), 4);
    put(block, root_count, 4);
    blocks_.push_back(block + roots + nodes + list);
  }
  std::string text() const {
    std::string text;
    put(text, 4223, 8);
    put(text, blocks_.size(), 4);
    put(text, 3, 1);
    put(text, 1, 1);
    std::uint64_t at = 6 + 16 * blocks_.size();
    for (const std::string& block : blocks_) {
      put(text, at, 8);
      put(text, at += block.size(), 8);
    }
    for (const std::string& block : blocks_) text += block;
    return text;
  }

 private:
  static void put(std::string& text, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  }
  std::vector<std::string> blocks_;
};
Answer goal_binary(const std::string& text) {
  return answer([&](Warnings& warnings) {
    std::istringstream in(text);
    return read_goal_binary(in, "b", {}, warnings);
  });
}
std::string two_ranks() {
  GoalFile file;
  file.add_rank({{.size = 1200, .cpu = 3, .before = {1}},
                 {.type = 1, .peer = 1, .size = 8, .tag = 7, .start_before = {2}},
                 {.size = 5}});
  file.add_rank({{.type = 2, .peer = 0, .size = 8, .tag = 7}});
  return file.text();
}

TEST(GoalBinary, HoldsWhatTheTextHolds) {
  const Answer text = goal(
      "num_ranks 2\nrank 0 {\n l1: calc 1200 cpu 3\n l2: send 8b to 1 tag 7\nl2 requires l1\n l3: calc 5\n"
      " l3 irequires l2\n}\nrank 1 {\nl1: recv 8b from 0 tag 7\n}\n");
  const Answer binary = goal_binary(two_ranks());
  ASSERT_EQ(binary.error, "accepted");
  ASSERT_EQ(binary.workload.nodes.size(), text.workload.nodes.size());
  EXPECT_EQ(binary.workload.dependents, text.workload.dependents);
  for (std::size_t i = 0; i < text.workload.nodes.size(); ++i) {
    const WorkNode& a = text.workload.nodes[i];
    const WorkNode& b = binary.workload.nodes[i];
    EXPECT_EQ(std::tie(a.kind, a.rank, a.peer, a.bytes, a.tag, a.duration, a.stream, a.match),
              std::tie(b.kind, b.rank, b.peer, b.bytes, b.tag, b.duration, b.stream, b.match));
  }
}

TEST(GoalBinary, DamageIsNamed) {
  const std::string whole = two_ranks();
  for (std::size_t bytes = 8; bytes < whole.size(); ++bytes)
    EXPECT_NE(goal_binary(whole.substr(0, bytes)).error, "accepted") << bytes << " bytes";
  EXPECT_EQ(goal_binary(whole + "x").error, "b: the last block ends at 234, but the file has 235 B");
  const auto with = [&](std::size_t at, char value) {
    std::string text = whole;
    text[at] = value;
    return goal_binary(text).error;
  };
  // 46 bytes of head and table, then rank 0: counts (8), one first operation (4), operations of 39 bytes.
  const std::size_t first = 46 + 12;
  EXPECT_EQ(with(8, 0), "b: 0 ranks; allowed: 1 … 131072");
  EXPECT_EQ(with(first, 1), "b: rank 0: 1 operations are listed as first, but those without dependencies are 0 others");
  EXPECT_EQ(with(first + 4, 9), "b: rank 0, operation 0: type is 9; allowed: 1 … 3");
  EXPECT_EQ(with(first + 39 + 5, 0), "b: rank 0, operation 1: peer is 0; allowed: another of the ranks 0 … 1");
  EXPECT_EQ(with(first + 39, 2), "b: rank 0, operation 1: has 2 dependencies, but 1 operations name it");
  EXPECT_EQ(with(first + 3 * 39, 9), "b: rank 0, operation 0: operation 9 waits for it; allowed: another of 0 … 2");
  EXPECT_EQ(with(first + 27, 4), "b: rank 0, operation 0: entries 4 to 5 of the list of followers, which has 2");
  GoalFile loop;
  loop.add_rank({{.before = {1}}, {.before = {0}}});
  EXPECT_EQ(goal_binary(loop.text()).error,
            "b: rank 0, operation 0: the operation is in or behind a loop of requires in the block of rank 0");
}

TEST(Htsim, ConnectionsStartAtTimesOrByTriggers) {
  const Answer a = htsim(
      "Nodes 3\nConnections 3\nTriggers 1\n0->1 id 1 start 500 size 1000 send_done_trigger 1\n"
      "2->1 id 2 start 0 size 2000 recv_done_trigger 1\n1->0 id 3 trigger 1 size 3000\ntrigger id 1 barrier count 2\n");
  ASSERT_EQ(a.error, "accepted");
  const Workload& w = a.workload;
  ASSERT_EQ(w.nodes.size(), 5U) << "three sends, the receive of id 2, the barrier";
  EXPECT_EQ(w.nodes[0].earliest, 500U);
  EXPECT_EQ(w.nodes[0].match, kNoWork);
  EXPECT_EQ(w.nodes[1].match, 2U);
  EXPECT_EQ(dependents(w, 4), (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(w.nodes[4].dependencies, 2U);
  EXPECT_EQ(w.sends(), 3U);
  const Workload played = expand_collectives(w, {});
  EXPECT_EQ(played.sends(), 4U) << "that rank 0 is done, rank 1 learns by a message of its own";
  EXPECT_EQ(played.bytes(), 6'001U);
  const Answer cut = htsim("Nodes 2\nConnections 2\n0->1 start 0 size 7\n0->1 start 0 size 8\n", {.rows = 1});
  EXPECT_EQ(cut.workload.sends(), 1U);
}

TEST(Htsim, MessagesOfOneConnectionShareItsId) {
  const Answer a = htsim(
      "Nodes 2\nConnections 3\n0->1 id 1 msg start 0 size 40\n0->1 id 1 msg 7 start 5 size 50\n1->0 id 2 start 0 size "
      "9\n");
  ASSERT_EQ(a.error, "accepted");
  EXPECT_EQ(a.workload.sends(), 3U);
  EXPECT_EQ(a.workload.bytes(), 99U);
  const std::string two = "Nodes 3\nConnections 2\n0->1 id 1 msg start 0 size 4\n";
  const std::string error =
      "m:4: id 1 appears twice, first in line 3; allowed: once, or messages (msg) of one connection";
  EXPECT_EQ(htsim(two + "0->2 id 1 msg start 0 size 4\n").error, error) << "another destination";
  EXPECT_EQ(htsim(two + "0->1 id 1 start 0 size 4\n").error, error) << "no message";
}

TEST(Htsim, RefusalsNameTheLine) {
  const std::string one = "Nodes 2\nConnections 1\n";
  EXPECT_EQ(htsim("").error, "m: is empty; expected Nodes, Connections and connections");
  EXPECT_EQ(htsim("Connections 1\n").error, "m:1: expected Nodes, found \"Connections\"");
  EXPECT_EQ(htsim("Nodes 2\n0->1 start 0 size 1\n").error, "m:2: a connection before the line Connections");
  EXPECT_EQ(htsim(one).error, "m: Connections says 1, but there are 0");
  EXPECT_EQ(htsim(one + "0->2 start 0 size 1\n").error, "m:3: DST is \"2\"; allowed: an integer 0 … 1");
  EXPECT_EQ(htsim(one + "1->1 start 0 size 1\n").error, "m:3: 1 sends to itself; a connection needs two nodes");
  EXPECT_EQ(htsim(one + "0->1 start 0\n").error, "m:3: expected size, found the line's end");
  EXPECT_EQ(htsim(one + "0->1 size 5\n").error, "m:3: expected start or trigger");
  EXPECT_EQ(htsim(one + "0->1 start 0 trigger 1 size 5\n").error, "m:3: start and trigger exclude one another");
  EXPECT_EQ(htsim(one + "0->1 start 0 size 0\n").error,
            "m:3: size (bytes) is \"0\"; allowed: an integer 1 … 1099511627776");
  EXPECT_EQ(htsim(one + "0->1 trigger 4 size 5\n").error, "m:3: trigger 4 is not defined");
  EXPECT_EQ(htsim(one + "0->1 trigger 4 size 5\ntrigger id 4 oneshot\n").error,
            "m:3: trigger 4 takes 1 activations, but 0 connections activate it: what it starts never starts");
  EXPECT_EQ(htsim(one + "0->1 id 1 trigger 4 size 5 send_done_trigger 4\ntrigger id 4 oneshot\n").error,
            "m:3: the triggers form a loop: this never starts");
  EXPECT_EQ(htsim(one + "trigger id 4 twice\n").error, "m:3: expected oneshot or barrier, found \"twice\"");
  EXPECT_EQ(htsim("Nodes 2\nConnections 9\n0->1 id 1 start 0 size 1\n0->1 id 1 start 0 size 1\n").error,
            "m:4: id 1 appears twice, first in line 3; allowed: once, or messages (msg) of one connection");
}

constexpr const char* kHead = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2 pp: 1 all_gpus: 8 pp_comm 4096\n";

TEST(Astra, AStepGoesForwardAndBackward) {
  const Answer a = astra(std::string(kHead) +
                         "2\none -1 10 ALLREDUCE 100 20 NONE 0 30 ALLREDUCE 200 5\n"
                         "two -1 11 ALLTOALL_EP 300 21 ALLGATHER 0 31 REDUCESCATTER_DP_EP 400 0\n");
  ASSERT_EQ(a.error, "accepted");
  ASSERT_EQ(a.warnings.size(), 1U);
  EXPECT_EQ(a.warnings[0], "a: 4096 B between pipeline stages have no place among the rows; they are not played");
  const Workload& w = a.workload;
  EXPECT_EQ(w.ranks, 8U);
  EXPECT_TRUE(w.same_on_all_ranks);
  ASSERT_EQ(w.collectives.size(), 4U);
  const auto ranks = [&](std::size_t c) { return w.groups[w.collectives[c].group].ranks; };
  EXPECT_EQ(ranks(0), (std::vector<std::uint32_t>{0, 1})) << "tensor parallel";
  EXPECT_EQ(ranks(1), (std::vector<std::uint32_t>{0, 2, 4, 6})) << "data parallel";
  EXPECT_EQ(ranks(2), (std::vector<std::uint32_t>{0, 2})) << "expert parallel";
  EXPECT_EQ(ranks(3), (std::vector<std::uint32_t>{0, 4})) << "data parallel among experts";
  // forward 10, all-reduce, 11, all-to-all; backward 21, 31, reduce-scatter beside 20, 30, all-reduce, then update 5.
  std::vector<TimePs> durations;
  for (const WorkNode& node : w.nodes) durations.push_back(node.duration / kPsPerNs);
  EXPECT_EQ(durations, (std::vector<TimePs>{10, 0, 11, 0, 21, 31, 0, 20, 30, 0, 5}));
  EXPECT_EQ(dependents(w, 5), (std::vector<std::uint32_t>{6, 7}));
  EXPECT_EQ(w.nodes[6].dependents, 0U) << "nothing of the backward pass waits for a weight gradient's collective";
  EXPECT_EQ(dependents(w, 9), (std::vector<std::uint32_t>{10})) << "but the update does";
  const Workload all = expand_collectives(w, {});
  EXPECT_EQ(all.bytes(), 8U * (100 + 2 * 3 * 50 + 150 + 200));
}

TEST(Astra, TheWorldIsCutToSize) {
  const std::string rows = "1\none -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 100 0\n";
  const Answer a =
      astra("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 16 pp: 4 all_gpus: 512\n" + rows, {.ranks = 16});
  ASSERT_EQ(a.error, "accepted");
  EXPECT_EQ(a.workload.ranks, 16U);
  ASSERT_EQ(a.warnings.size(), 1U);
  EXPECT_EQ(a.warnings[0],
            "a: cut to 16 of 512 ranks: tensor parallel 2, expert parallel 8 (of 16), pipeline 1 (of 4), "
            "data parallel 8");
  EXPECT_EQ(astra("DATA\n" + rows).error, "a:1: has no all_gpus; traffic.ranks says how many ranks there are");
  EXPECT_EQ(astra("DATA\n" + rows, {.ranks = 4}).workload.ranks, 4U);
  EXPECT_EQ(astra(kHead + rows, {.ranks = 3}).error,
            "a:1: 3 ranks; allowed: multiples of the 2 of a tensor parallel group");
}

/// Durations in ns of computations, and -1 - c for collective c, in the order of the file's playing.
std::vector<std::int64_t> order_of(const Workload& w) {
  std::vector<std::int64_t> order;
  for (const WorkNode& node : w.nodes) {
    order.push_back(node.kind == WorkKind::collective ? -1 - static_cast<std::int64_t>(node.match)
                                                      : static_cast<std::int64_t>(node.duration / kPsPerNs));
  }
  return order;
}

constexpr const char* kTwoRows =
    "2\none -1 1 ALLREDUCE 100 2 ALLGATHER 200 3 ALLREDUCE 300 4\ntwo -1 5 ALLTOALL 400 6 ALLTOALL 500 7 ALLREDUCE 600 "
    "8\n";

TEST(Astra, EachKindOfParallelismCommunicatesInItsOwnPasses) {
  using Order = std::vector<std::int64_t>;
  const ReadOptions four{.ranks = 4, .ranks_per_host = 2};
  const auto play = [&](const std::string& head) { return astra(head + "\n" + kTwoRows, four); };
  // Both weight gradients only, before the input gradients; each row's update behind its collective.
  const Answer data = play("DATA");
  EXPECT_EQ(order_of(data.workload), (Order{1, 5, 7, -2, 8, 6, 3, -1, 4})) << "row 0 has no input gradient to hand on";
  ASSERT_EQ(data.warnings.size(), 1U);
  EXPECT_EQ(data.warnings[0], "a: 4 collectives are in passes in which DATA does not communicate; they are not played");
  // Forward and input gradient; the latter beside the weight gradient, and a node of 0 ns waits for both.
  EXPECT_EQ(order_of(play("MODEL").workload), (Order{1, -1, 5, -3, 6, -4, 7, 8, 0, 2, 3, 4}));
  EXPECT_EQ(order_of(play("HYBRID_DATA_MODEL").workload), (Order{1, -1, 5, -4, 6, -5, 7, -6, 8, 0, 2, 3, -3, 4}));
  EXPECT_EQ(order_of(play("MICRO").workload), (Order{-1, -2})) << "one after another";
  EXPECT_EQ(order_of(play("DISTRIBUTED_INFERENCE").workload), (Order{1, -1, 5, -2}));
  EXPECT_EQ(play("MICRO").workload.nodes[0].dependents, 1U);
  const Workload hybrid = play("HYBRID_DATA_MODEL").workload;
  EXPECT_EQ(hybrid.groups[hybrid.collectives[0].group].ranks, (std::vector<std::uint32_t>{0, 1})) << "inner";
  EXPECT_EQ(hybrid.groups[hybrid.collectives[2].group].ranks, (std::vector<std::uint32_t>{0, 2})) << "outer";
  const Workload other = play("HYBRID_MODEL_DATA").workload;
  EXPECT_EQ(other.groups[other.collectives[0].group].ranks, (std::vector<std::uint32_t>{0, 2})) << "outer";
}

TEST(Astra, EachRowOfHybridCustomizedHasItsOwnParallelism) {
  const Answer a = astra(
      "HYBRID_CUSTOMIZED\n2\none -1 1 ALLREDUCE 100 2 NONE 0 3 ALLREDUCE 300 4 MODEL\n"
      "two -1 5 NONE 0 6 NONE 0 7 ALLREDUCE 600 8 DATA\n",
      {.ranks = 4});
  ASSERT_EQ(a.error, "accepted");
  EXPECT_EQ(order_of(a.workload), (std::vector<std::int64_t>{1, -1, 5, 6, 7, -2, 8, 2, 3, 4}));
  const std::string rows = "1\none -1 1 NONE 0 1 NONE 0 1 NONE 0 1";
  EXPECT_EQ(astra("HYBRID_CUSTOMIZED\n" + rows + "\n", {.ranks = 4}).error.substr(0, 25), "a:3: expected 13 fields (");
  EXPECT_EQ(astra("HYBRID_CUSTOMIZED\n" + rows + " SIDEWAYS\n", {.ranks = 4}).error.substr(0, 48),
            "a:3: parallelism of the row is \"SIDEWAYS\"; allow");
}

TEST(Astra, TheEmbeddingOfDlrmExchangesBesideTheBottomRows) {
  const std::string rows =
      "4\nembedding -1 1 ALLTOALL 100 2 ALLTOALL 200 3 NONE 0 0\nbottom -1 4 NONE 0 5 NONE 0 6 ALLREDUCE 300 0\n"
      "top_0 -1 7 NONE 0 8 NONE 0 9 NONE 0 0\ntop_1 -1 10 NONE 0 11 NONE 0 12 NONE 0 0\n";
  const Answer a = astra("HYBRID_DLRM 1\n" + rows, {.ranks = 4});
  ASSERT_EQ(a.error, "accepted");
  const Workload& w = a.workload;
  // Forward 1, all-to-all beside 4, join, 7, 10; backward 12, 11, 9, 8, all-to-all beside 6, all-reduce, 5, 3, join.
  EXPECT_EQ(order_of(w), (std::vector<std::int64_t>{1, -1, 4, 0, 7, 10, 12, 11, 9, 8, -2, 6, -3, 5, 3, 0}));
  EXPECT_EQ(dependents(w, 0), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(dependents(w, 1), (std::vector<std::uint32_t>{3})) << "the top rows wait for the embedding";
  EXPECT_EQ(dependents(w, 9), (std::vector<std::uint32_t>{10, 11}));
  EXPECT_EQ(dependents(w, 10), (std::vector<std::uint32_t>{15})) << "the step's end";
  EXPECT_EQ(order_of(astra("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1 all_gpus: 4\n" + rows).workload), order_of(w));
  EXPECT_EQ(astra("HYBRID_DLRM_ENHANCED 1\n" + rows, {.ranks = 4}).workload.nodes.size(), 15U) << "nothing waits";
  EXPECT_EQ(
      astra("HYBRID_DLRM\n" + rows, {.ranks = 4}).error,
      "a:1: HYBRID_DLRM needs the last bottom layer: a number behind it, or DLRM_LAST_BOTTOM_LAYER: and a number");
}

TEST(Astra, RowsSinceTheCheckpointRunForwardOnceMore) {
  const std::string rows =
      "4\nr0 -1 1 NONE 0 10 NONE 0 100 NONE 0 0\nr1 -1 2 ALLREDUCE 64 20 NONE 0 200 NONE 0 0\n"
      "r2 -1 3 NONE 0 30 NONE 0 300 NONE 0 0\nr3 -1 4 NONE 0 40 NONE 0 400 NONE 0 0\n";
  const std::string head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 all_gpus: 4 ";
  const Answer a = astra(head + "checkpoints: 1 1 checkpoint_initiates: 1 3\n" + rows);
  ASSERT_EQ(a.error, "accepted");
  EXPECT_EQ(order_of(a.workload), (std::vector<std::int64_t>{1, 2, -1, 3, 4, /* rows 1 and 2 */ 2, -1, 3, 40, 400, 30,
                                                             300, 20, 200, 10, 100}));
  TraceTotals totals;
  const std::string text = head + "checkpoints: 1 1 checkpoint_initiates: 1 3\n" + rows;
  std::istringstream in(text);
  Warnings warnings;
  read_astra(in, "a", {.totals = &totals}, warnings);
  EXPECT_EQ(totals.nodes, a.workload.nodes.size()) << "counting sees what is played";
  EXPECT_EQ(totals.collective_nodes(), 2U);
  EXPECT_EQ(astra(head + "checkpoints: 1 2 checkpoint_initiates: 1 1\n" + rows).error,
            "a:1: checkpoint_initiates names row 1, but checkpoints has none at or before it");
  EXPECT_EQ(astra(head + "checkpoints: 3 1 2\n" + rows).error, "a:1: option checkpoints has no value");
}

TEST(Astra, BroadcastsComeFromTheFirstOfTheGroup) {
  const Answer a = astra(std::string(kHead) + "1\nnorm -1 0 BROADCAST 16384 1 NONE 0 1 NONE 0 1\n");
  ASSERT_EQ(a.error, "accepted");
  EXPECT_EQ(a.workload.collectives.at(0).kind, CollectiveKind::broadcast);
  EXPECT_EQ(expand_collectives(a.workload, {}).bytes(), 4U * 16'384) << "one copy in each of four pairs";
}

TEST(Astra, RefusalsNameTheLine) {
  const std::string head = kHead;
  EXPECT_EQ(astra("").error, "a: is empty; expected the kind of parallelism");
  EXPECT_EQ(astra("HYBRID_OTHER\n").error,
            "a:1: parallelism is \"HYBRID_OTHER\"; allowed: DATA, MODEL, HYBRID_TRANSFORMER, "
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD, HYBRID_DATA_MODEL, HYBRID_MODEL_DATA, HYBRID_DLRM, HYBRID_DLRM_ENHANCED, "
            "HYBRID_CUSTOMIZED, MICRO, DISTRIBUTED_INFERENCE");
  EXPECT_EQ(astra("DATA all_gpus: x\n").error, "a:1: all_gpus is \"x\"; allowed: an integer 1 … 131072");
  EXPECT_EQ(astra("DATA all_gpus:\n").error, "a:1: option all_gpus has no value");
  EXPECT_EQ(astra(head).error, "a:2: expected the number of rows");
  EXPECT_EQ(astra(head + "18446744073709551616\n").error,
            "a:2: the number of rows is \"18446744073709551616\"; allowed: an integer 1 … 10000000");
  EXPECT_EQ(astra(head + "2\none -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n").error, "a: line 2 says 2 rows, but there are 1");
  EXPECT_EQ(astra(head + "1\none -1 1 NONE 0 1 NONE 0 1 NONE 0\n").error.substr(0, 25), "a:3: expected 12 fields (");
  EXPECT_EQ(astra(head + "1\none -1 1 NONE 0 1 GATHER 5 1 NONE 0 1\n").error,
            "a:3: input gradient kind is \"GATHER\"; allowed: NONE, or ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, "
            "BROADCAST, alone or with _TP, _DP, _EP, _DP_EP");
  EXPECT_EQ(astra(head + "1\none -1 -4 NONE 0 1 NONE 0 1 NONE 0 1\n").error,
            "a:3: forward compute (ns) is \"-4\"; allowed: an integer 0 … 1000000000000000");
  EXPECT_EQ(astra("DATA all_gpus: 4 new_option: 3\n1\none -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n").warnings.size(), 1U);
  EXPECT_EQ(astra("DATA all_gpus: 4 new_option: 3\n", {.strict = true}).error, "a:1: option new_option is not known");
}

}  // namespace
}  // namespace mrc
