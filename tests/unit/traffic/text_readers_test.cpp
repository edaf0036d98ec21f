// GOAL, ASTRA-sim text and htsim connection matrices: what is read, and what each refusal says.
#include <gtest/gtest.h>

#include <sstream>

#include "traffic/astra_reader.h"
#include "traffic/expand_collectives.h"
#include "traffic/goal_reader.h"
#include "traffic/htsim_reader.h"
#include "traffic/trace_error.h"

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
            "m:4: id 1 appears twice");
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
  // forward 10, all-reduce, 11, all-to-all; backward 31, reduce-scatter beside 21; 30, all-reduce, update 5 beside 20.
  std::vector<TimePs> durations;
  for (const WorkNode& node : w.nodes) durations.push_back(node.duration / kPsPerNs);
  EXPECT_EQ(durations, (std::vector<TimePs>{10, 0, 11, 0, 31, 0, 21, 30, 0, 5, 20}));
  EXPECT_EQ(dependents(w, 4), (std::vector<std::uint32_t>{5, 6}));
  EXPECT_EQ(w.nodes[5].dependents, 0U) << "nothing of the backward pass waits for a weight gradient's collective";
  EXPECT_EQ(dependents(w, 8), (std::vector<std::uint32_t>{9})) << "but the update does";
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

TEST(Astra, RefusalsNameTheLine) {
  const std::string head = kHead;
  EXPECT_EQ(astra("").error, "a: is empty; expected the kind of parallelism");
  EXPECT_EQ(astra("HYBRID_OTHER\n").error,
            "a:1: parallelism is \"HYBRID_OTHER\"; allowed: DATA, MODEL, "
            "HYBRID_TRANSFORMER, HYBRID_TRANSFORMER_FWD_IN_BCKWD");
  EXPECT_EQ(astra("DATA all_gpus: x\n").error, "a:1: all_gpus is \"x\"; allowed: an integer 1 … 131072");
  EXPECT_EQ(astra("DATA all_gpus:\n").error, "a:1: option all_gpus has no value");
  EXPECT_EQ(astra(head).error, "a:2: expected the number of rows");
  EXPECT_EQ(astra(head + "18446744073709551616\n").error,
            "a:2: the number of rows is \"18446744073709551616\"; allowed: an integer 1 … 10000000");
  EXPECT_EQ(astra(head + "2\none -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n").error, "a: line 2 says 2 rows, but there are 1");
  EXPECT_EQ(astra(head + "1\none -1 1 NONE 0 1 NONE 0 1 NONE 0\n").error.substr(0, 25), "a:3: expected 12 fields (");
  EXPECT_EQ(
      astra(head + "1\none -1 1 NONE 0 1 BROADCAST 5 1 NONE 0 1\n").error,
      "a:3: input gradient kind is \"BROADCAST\"; allowed: NONE, or ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, "
      "alone or with _TP, _DP, _EP, _DP_EP");
  EXPECT_EQ(astra(head + "1\none -1 -4 NONE 0 1 NONE 0 1 NONE 0 1\n").error,
            "a:3: forward compute (ns) is \"-4\"; allowed: an integer 0 … 1000000000000000");
  EXPECT_EQ(astra("DATA all_gpus: 4 new_option: 3\n1\none -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n").warnings.size(), 1U);
  EXPECT_EQ(astra("DATA all_gpus: 4 new_option: 3\n", {.strict = true}).error, "a:1: option new_option is not known");
}

}  // namespace
}  // namespace mrc
