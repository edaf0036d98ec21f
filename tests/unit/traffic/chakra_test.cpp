#include <gtest/gtest.h>

#include <google/protobuf/util/delimited_message_util.h>
#include <fstream>
#include <sstream>

#include "chakra.pb.h"
#include "one_collective.h"
#include "scratch_folder.h"
#include "traffic/chakra_reader.h"
#include "traffic/chakra_writer.h"
#include "traffic/expand_collectives.h"
#include "traffic/flow_csv.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

namespace pb = ::mrcsim::chakra;

class Chakra : public ScratchFolder {
 protected:
  std::string write(const std::string& name, const std::vector<pb::Node>& nodes) {
    const std::string file = path(name);
    std::ofstream out(file, std::ios::binary);
    pb::GlobalMetadata metadata;
    metadata.set_version("1");
    google::protobuf::util::SerializeDelimitedToOstream(metadata, &out);
    for (const pb::Node& node : nodes) google::protobuf::util::SerializeDelimitedToOstream(node, &out);
    return file;
  }
  static pb::Node node(std::uint64_t id, pb::NodeType type, std::vector<std::uint64_t> data = {},
                       std::vector<std::uint64_t> control = {}) {
    pb::Node n;
    n.set_id(id);
    n.set_type(type);
    for (const auto d : data) n.add_data_deps(d);
    for (const auto d : control) n.add_ctrl_deps(d);
    return n;
  }
  static void attribute(pb::Node& n, const char* name, std::int64_t value) {
    pb::Attribute* a = n.add_attr();
    a->set_name(name);
    a->set_int64_value(value);
  }
  static pb::Node communication(std::uint64_t id, pb::NodeType type, std::int64_t bytes, std::int64_t peer) {
    pb::Node n = node(id, type);
    attribute(n, "comm_size", bytes);
    attribute(n, type == pb::COMM_SEND_NODE ? "comm_dst" : "comm_src", peer);
    return n;
  }
  Workload read(const std::vector<std::string>& files, ReadOptions options = {}) {
    warnings_.clear();
    return read_chakra(files, options, warnings_);
  }
  std::string refusal(const std::vector<std::string>& files, ReadOptions options = {}) {
    try {
      read(files, options);
    } catch (const TraceError& error) {
      std::string text = error.what();
      for (std::size_t at = text.find(folder_.string()); at != std::string::npos; at = text.find(folder_.string())) {
        text.erase(at, folder_.string().size() + 1);
      }
      return text;
    }
    return "accepted";
  }
  std::vector<std::string> warnings_;
};

TEST_F(Chakra, WhatIsWrittenIsReadAgain) {
  const Workload made = one_collective(CollectiveKind::all_reduce, 4, 1 << 20, {.chunk_bytes = 1 << 16});
  write_chakra(made, path("ring.{rank}.et"));
  std::vector<std::string> files;
  for (int rank = 0; rank < 4; ++rank) files.push_back(path("ring." + std::to_string(rank) + ".et"));
  const Workload w = read(files);
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(w.ranks, made.ranks);
  EXPECT_EQ(w.nodes.size(), made.nodes.size());
  EXPECT_EQ(w.sends(), made.sends());
  EXPECT_EQ(w.bytes(), made.bytes());
  EXPECT_EQ(w.dependents.size(), made.dependents.size());
  // The nodes of a rank are in its file in the order of the workload, so the two can be compared node by node.
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const auto of_rank = [rank](const Workload& all) {
      std::vector<WorkNode> nodes;
      for (const WorkNode& n : all.nodes) {
        if (n.rank == rank) nodes.push_back(n);
      }
      return nodes;
    };
    const std::vector<WorkNode> before = of_rank(made);
    const std::vector<WorkNode> after = of_rank(w);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_EQ(after[i].origin, i);
      EXPECT_EQ(after[i].kind, before[i].kind);
      EXPECT_EQ(after[i].bytes, before[i].bytes);
      EXPECT_EQ(after[i].peer, before[i].peer);
      EXPECT_EQ(after[i].tag, before[i].tag);
      EXPECT_EQ(after[i].dependencies, before[i].dependencies);
      EXPECT_EQ(after[i].dependents, before[i].dependents);
    }
  }
}

TEST_F(Chakra, PlainWritesAreWrittenWithTheirReceives) {
  std::istringstream flows("start_us,src,dst,bytes,tag\n0,0,1,10,4294967295\n0,1,0,20,0\n");
  const std::string pattern = path("flows.{rank}.et");
  write_chakra(read_flow_csv(flows, "flows.csv"), pattern);
  const Workload w = read({path("flows.0.et"), path("flows.1.et")});
  ASSERT_EQ(w.nodes.size(), 4U);
  EXPECT_EQ(w.bytes(), 30U);
  EXPECT_EQ(w.nodes[0].tag, 4'294'967'295U);
  for (const WorkNode& n : w.nodes) EXPECT_NE(n.match, kNoWork);
  EXPECT_THROW(write_chakra(w, path("flows.et")), TraceError) << "no place for the rank";
}

TEST_F(Chakra, DamageIsNamed) {
  const std::string good = write("good.0.et", {node(1, pb::COMP_NODE), node(2, pb::COMP_NODE, {1})});
  const std::string bytes = content(good);
  const auto damaged = [&](const std::string& text) { return refusal({write_text("cut.0.et", text)}); };
  ASSERT_EQ(refusal({good}), "accepted");
  const std::string in_second = "cut.0.et: is damaged or cut off in node number 2; expected a whole Chakra node";
  EXPECT_EQ(damaged(bytes.substr(0, bytes.size() - 2)), in_second);
  EXPECT_EQ(damaged(bytes.substr(0, bytes.size() - 6)), in_second) << "only its length is there";
  std::string wrong = bytes;
  wrong[wrong.size() - 1] = '\xFF';
  EXPECT_EQ(damaged(wrong), in_second) << "a number that does not end";
  EXPECT_EQ(damaged(bytes.substr(0, 2)), "cut.0.et: does not begin with a Chakra GlobalMetadata message");
  EXPECT_EQ(damaged("start_us,src,dst,bytes,tag\n"), "cut.0.et: does not begin with a Chakra GlobalMetadata message");
  const std::size_t edge = bytes.size() - 1 - node(2, pb::COMP_NODE, {1}).ByteSizeLong();
  std::string inserted = bytes;
  inserted.insert(edge, std::string(12, '\xFF'));
  EXPECT_EQ(damaged(inserted), in_second) << "a length that is none, at a node's edge";
  EXPECT_EQ(damaged(bytes + std::string(12, '\xFF')),
            "cut.0.et: is damaged or cut off in node number 3; expected a whole Chakra node");
  EXPECT_EQ(damaged(bytes + std::string(4, '\0')),
            "cut.0.et: is damaged: node number 3 has no id, type, name or attribute");
  EXPECT_NE(damaged(bytes + "trailing text\n"), "accepted");
  // Only a cut between two nodes goes unseen; a changed byte may be sound too, but never escapes as another error.
  const std::size_t second = 1 + node(2, pb::COMP_NODE, {1}).ByteSizeLong();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(damaged(bytes.substr(0, n)) == "accepted", n == bytes.size() - second) << n;
    wrong = bytes;
    wrong[n] = static_cast<char>(wrong[n] ^ 0x80);
    const std::string answer = damaged(wrong);
    EXPECT_TRUE(answer == "accepted" || answer.starts_with("cut.0.et: ")) << n << ": " << answer;
  }
  EXPECT_EQ(refusal({write_text("empty.0.et", "")}), "empty.0.et: is empty; expected a Chakra execution trace");
  const std::string only = write("only.0.et", {});
  EXPECT_EQ(refusal({only}), "only.0.et: holds no node");
  EXPECT_EQ(refusal({path("absent.et")}), "absent.et: cannot be read");
}

TEST_F(Chakra, DataDependenciesBind) {
  EXPECT_EQ(refusal({write("a.0.et", {node(1, pb::COMP_NODE, {9})})}),
            "a.0.et: node 1: data dependency 9 is not a node of the file");
  EXPECT_EQ(refusal({write("b.0.et", {node(1, pb::COMP_NODE, {2}), node(2, pb::COMP_NODE, {1})})}),
            "b.0.et: node 1: data dependencies form a loop");
  EXPECT_EQ(refusal({write("c.0.et", {node(1, pb::COMP_NODE, {1})})}), "c.0.et: node 1: data dependencies form a loop");
  EXPECT_EQ(refusal({write("d.0.et", {node(1, pb::COMP_NODE), node(1, pb::COMP_NODE)})}),
            "d.0.et: node 1: appears twice");
}

TEST_F(Chakra, BadControlDependenciesAreDroppedAndCounted) {
  const std::string file = write("a.0.et", {node(1, pb::COMP_NODE, {}, {1, 77, 3}), node(2, pb::COMP_NODE, {1}),
                                            node(3, pb::COMP_NODE, {2}), node(4, pb::COMP_NODE, {}, {1})});
  const Workload w = read({file});
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("dropped 3 control dependencies: 1 on absent nodes, 1 on the node itself, 1 in loops"),
            std::string::npos)
      << warnings_[0];
  EXPECT_EQ(w.nodes[0].dependencies, 0U) << "what closed the loop is gone";
  EXPECT_EQ(w.nodes[3].dependencies, 1U) << "a sound control dependency stays";
  EXPECT_EQ(refusal({file}, {.strict = true}),
            "a.0.et: 3 control dependencies: 1 on absent nodes, 1 on the node itself, 1 in loops");
}

TEST_F(Chakra, SendsAndReceivesMustMatch) {
  const std::string s = write("p.0.et", {communication(5, pb::COMM_SEND_NODE, 100, 1)});
  EXPECT_EQ(refusal({s, write("p.1.et", {node(1, pb::COMP_NODE)})}),
            "p.0.et: node 5: sends to rank 1 with tag 0, but it is never received");
  EXPECT_EQ(refusal({s, write("q.1.et", {communication(6, pb::COMM_RECV_NODE, 90, 0)})}),
            "q.1.et: node 6: receives 90 B from rank 0, whose node 5 sends 100 B");
  EXPECT_EQ(refusal({write("r.0.et", {node(1, pb::COMP_NODE)}),
                     write("r.1.et", {communication(6, pb::COMM_RECV_NODE, 90, 0)})}),
            "r.1.et: node 6: receives from rank 0 with tag 0, but no send is left for it");
  EXPECT_EQ(refusal({write("t.0.et", {node(8, pb::COMM_SEND_NODE)})}),
            "t.0.et: node 8: comm_size is absent; allowed: an integer 1 … 1099511627776");
  EXPECT_EQ(refusal({write("u.0.et", {communication(8, pb::COMM_SEND_NODE, 10, 0)})}),
            "u.0.et: node 8: comm_dst is 0, the node's own rank; a message needs two ranks");
  EXPECT_EQ(refusal({write("v.0.et", {communication(8, pb::COMM_RECV_NODE, 10, 1)})}),
            "v.0.et: node 8: receives from rank 1 with tag 0, but no send is left for it (one file is all there is: a "
            "folder or a pattern with {rank} names them all)");
}

TEST_F(Chakra, FieldsHaveRanges) {
  const auto of = [&](pb::NodeType type, std::int64_t bytes, std::int64_t peer) {
    return refusal({write("a.0.et", {communication(8, type, bytes, peer)})});
  };
  EXPECT_EQ(of(pb::COMM_SEND_NODE, 0, 1), "a.0.et: node 8: comm_size is 0; allowed: an integer 1 … 1099511627776");
  EXPECT_EQ(of(pb::COMM_RECV_NODE, -5, 1), "a.0.et: node 8: comm_size is -5; allowed: an integer 1 … 1099511627776");
  EXPECT_EQ(of(pb::COMM_SEND_NODE, 1, 4'294'967'297),
            "a.0.et: node 8: comm_dst is 4294967297; allowed: an integer 0 … 131071");
  EXPECT_EQ(of(pb::COMM_RECV_NODE, 1, -1), "a.0.et: node 8: comm_src is -1; allowed: an integer 0 … 131071");
  pb::Node send = communication(8, pb::COMM_SEND_NODE, 1, 1);
  attribute(send, "comm_tag", 4'294'967'296);
  EXPECT_EQ(refusal({write("a.0.et", {send})}),
            "a.0.et: node 8: comm_tag is 4294967296; allowed: an integer -2147483648 … 4294967295");
  send = communication(8, pb::COMM_SEND_NODE, 1, 1);
  attribute(send, "comm_src", 3);
  EXPECT_EQ(refusal({write("a.0.et", {send})}), "a.0.et: node 8: comm_src is 3, but the file is that of rank 0");
  pb::Node receive = communication(8, pb::COMM_RECV_NODE, 1, 1);
  attribute(receive, "comm_dst", 2);
  EXPECT_EQ(refusal({write("a.0.et", {receive})}), "a.0.et: node 8: comm_dst is 2, but the file is that of rank 0");
  pb::Node work = node(8, pb::COMP_NODE);
  work.set_duration_micros(1'000'000'000'001);
  EXPECT_EQ(refusal({write("a.0.et", {work})}),
            "a.0.et: node 8: duration_micros is 1000000000001; allowed: 0 … 1000000000000");
  const std::string one = write("a.0.et", {node(1, pb::COMP_NODE)});
  EXPECT_EQ(refusal({one, write("a.1.et", {node(1, pb::COMP_NODE)})}, {.ranks = 3}),
            "a.0.et: traffic.ranks = 3, but there are files of 2 ranks");
}

TEST_F(Chakra, MessagesOfAPairMeetInOrderOfTheirTag) {
  const auto tagged = [](pb::Node n, std::int64_t tag) {
    attribute(n, "comm_tag", tag);
    return n;
  };
  const auto send = [&](std::uint64_t id, std::int64_t bytes, std::int64_t tag) {
    return tagged(communication(id, pb::COMM_SEND_NODE, bytes, 1), tag);
  };
  const auto receive = [&](std::uint64_t id, std::int64_t bytes, std::int64_t tag) {
    return tagged(communication(id, pb::COMM_RECV_NODE, bytes, 0), tag);
  };
  const Workload w = read({write("a.0.et", {send(1, 10, 5), send(2, 20, 6), send(3, 30, 5)}),
                           write("a.1.et", {receive(1, 20, 6), receive(2, 10, 5), receive(3, 30, 5)})});
  EXPECT_EQ(w.nodes[0].match, 4U);
  EXPECT_EQ(w.nodes[1].match, 3U);
  EXPECT_EQ(w.nodes[2].match, 5U);
  for (std::uint32_t i = 0; i < 6; ++i) EXPECT_EQ(w.nodes[w.nodes[i].match].match, i);
}

TEST_F(Chakra, OnlyWorkTakesTime) {
  std::vector<pb::Node> nodes;
  for (const pb::NodeType type :
       {pb::COMP_NODE, pb::METADATA_NODE, pb::MEM_LOAD_NODE, pb::MEM_STORE_NODE, pb::COMM_COLL_NODE}) {
    nodes.push_back(node(nodes.size(), type));
    nodes.back().set_duration_micros(7);
  }
  const Workload w = read({write("a.0.et", nodes)});
  ASSERT_EQ(w.nodes.size(), 5U);
  for (const WorkNode& n : w.nodes) EXPECT_EQ(n.kind, WorkKind::compute);
  EXPECT_EQ(w.nodes[0].duration, 7'000'000U);
  EXPECT_EQ(w.nodes[1].duration, 0U);
  EXPECT_EQ(w.nodes[2].duration, 0U);
  EXPECT_EQ(w.nodes[3].duration, 0U);
  EXPECT_EQ(w.nodes[4].duration, 7'000'000U) << "a collective without comm_type is work of the host";
}

TEST_F(Chakra, AControlDependencyOnALaterNodeOfTheFileStays) {
  const Workload w = read({write("a.0.et", {node(1, pb::COMP_NODE, {}, {2}), node(2, pb::COMP_NODE)})});
  EXPECT_TRUE(warnings_.empty());
  EXPECT_EQ(w.nodes[0].dependencies, 1U);
}

TEST_F(Chakra, AnInnocentNodeIsNotBlamedForALoop) {
  // Node 1 waits for the loop of 2 and 3 and is not in it.
  const std::string file = write("a.0.et", {node(1, pb::COMP_NODE, {2}, {4}), node(2, pb::COMP_NODE, {3}),
                                            node(3, pb::COMP_NODE, {2}), node(4, pb::COMP_NODE, {1})});
  EXPECT_EQ(refusal({file}), "a.0.et: node 2: data dependencies form a loop");
}

TEST_F(Chakra, ManyLoopsAreBrokenInTimeThatGrowsWithTheFile) {
  // Each node waits for the next by control, and the last data dependency closes 50,000 nested loops.
  constexpr std::uint64_t count = 50'000;
  std::vector<pb::Node> nodes;
  for (std::uint64_t i = 0; i < count; ++i) {
    nodes.push_back(node(i, pb::COMP_NODE, i == 0 ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{i - 1},
                         {(i + 1) % count, count - 1}));
  }
  const Workload w = read({write("a.0.et", nodes)});
  ASSERT_EQ(warnings_.size(), 1U);
  EXPECT_NE(warnings_[0].find("1 on the node itself, 99998 in loops"), std::string::npos) << warnings_[0];
  EXPECT_EQ(w.dependents.size(), count) << "the data dependencies, and the last node's on the first";
}

TEST_F(Chakra, CollectivesOfOneFileRunOverAsManyRanksAsAsked) {
  pb::Node all_reduce = node(3, pb::COMM_COLL_NODE, {1});
  attribute(all_reduce, "comm_type", 0);
  attribute(all_reduce, "comm_size", 8'000);
  const std::string file =
      write("one.et", {node(1, pb::COMP_NODE), all_reduce, node(4, pb::COMP_NODE, {3}), node(5, pb::COMM_COLL_NODE)});
  EXPECT_THROW(expand_collectives(read({file}), {}), TraceError) << "over how many ranks?";
  const Workload one = read({file}, {.ranks = 4});
  EXPECT_EQ(one.ranks, 4U);
  EXPECT_TRUE(one.same_on_all_ranks);
  const Workload w = expand_collectives(one, {});
  EXPECT_EQ(w.sends(), 4U * 2 * 3);
  EXPECT_EQ(w.bytes(), 4U * 6 * 2'000);
  EXPECT_EQ(refusal({write("three.0.et", {all_reduce, node(1, pb::COMP_NODE)}),
                     write("three.1.et", {node(1, pb::COMP_NODE)})}),
            "three.1.et: has 0 collectives, rank 0 has 1");
  pb::Node broadcast = node(9, pb::COMM_COLL_NODE);
  attribute(broadcast, "comm_type", 5);
  attribute(broadcast, "comm_size", 8'000);
  EXPECT_EQ(refusal({write("four.0.et", {all_reduce, node(1, pb::COMP_NODE)}), write("four.1.et", {broadcast})}),
            "four.1.et: node 9: broadcast of 8000 B, rank 0 has all_reduce of 8000 B in its place");
  pb::Node longer = node(9, pb::COMM_COLL_NODE);
  attribute(longer, "comm_type", 0);
  attribute(longer, "comm_size", 8'001);
  EXPECT_EQ(refusal({write("five.0.et", {all_reduce, node(1, pb::COMP_NODE)}), write("five.1.et", {longer})}),
            "five.1.et: node 9: all_reduce of 8001 B, rank 0 has all_reduce of 8000 B in its place");
  pb::Node unknown = node(3, pb::COMM_COLL_NODE);
  attribute(unknown, "comm_type", 17);
  EXPECT_EQ(refusal({write("six.et", {unknown})}), "six.et: node 3: comm_type is 17; allowed: an integer 0 … 9");
  EXPECT_EQ(
      refusal({write("seven.et", {communication(5, pb::COMM_SEND_NODE, 100, 1)})}, {.ranks = 4}),
      "seven.et: traffic.ranks = 4, but the file sends to or receives from other ranks, so it is that of one rank");
}

TEST_F(Chakra, GroupsAreThoseOfANameAndRowsCutTheFile) {
  const auto of_group = [&](std::uint64_t id, const char* name) {
    pb::Node n = node(id, pb::COMM_COLL_NODE);
    attribute(n, "comm_type", 6);
    attribute(n, "comm_size", 3'000);
    pb::Attribute* a = n.add_attr();
    a->set_name("pg_name");
    a->set_string_value(name);
    return n;
  };
  const Workload w =
      read({write("g.0.et", {of_group(1, "even"), of_group(2, "even")}), write("g.1.et", {of_group(1, "odd")}),
            write("g.2.et", {of_group(1, "even"), of_group(2, "even")}), write("g.3.et", {of_group(1, "odd")})});
  ASSERT_EQ(w.collectives.size(), 3U);
  EXPECT_EQ(w.groups[w.collectives[0].group].ranks, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(w.groups[w.collectives[2].group].ranks, (std::vector<std::uint32_t>{1, 3}));
  const std::string chain =
      write("chain.et", {node(7, pb::COMP_NODE, {8}), node(8, pb::COMP_NODE), node(9, pb::COMP_NODE, {7})});
  const Workload cut = read({chain}, {.rows = 2});
  ASSERT_EQ(cut.nodes.size(), 2U);
  EXPECT_EQ(cut.nodes[0].origin, 8U) << "what others wait for comes first";
  EXPECT_EQ(cut.nodes[0].dependents, 1U);
}

TEST_F(Chakra, ReductionsOfAGroupFollowEachOtherAsTheyWait) {
  // Two process groups of the same ranks; what comes first in the alphabet waits for the other.
  const auto all_reduce = [&](std::uint64_t id, const char* name, std::int64_t bytes,
                              std::vector<std::uint64_t> waits_for) {
    pb::Node n = node(id, pb::COMM_COLL_NODE, std::move(waits_for));
    attribute(n, "comm_type", 0);
    attribute(n, "comm_size", bytes);
    pb::Attribute* a = n.add_attr();
    a->set_name("pg_name");
    a->set_string_value(name);
    return n;
  };
  // Only rank 1 makes it wait, by a message of rank 0.
  pb::Node told = communication(3, pb::COMM_RECV_NODE, 8, 0);
  pb::Node tell = communication(3, pb::COMM_SEND_NODE, 8, 1);
  tell.add_data_deps(1);
  const Workload w = read({write("order.0.et", {all_reduce(1, "b", 4'000, {}), tell, all_reduce(2, "a", 8'000, {})}),
                           write("order.1.et", {all_reduce(1, "b", 4'000, {}), told, all_reduce(2, "a", 8'000, {3})})});
  ASSERT_EQ(w.collectives.size(), 2U);
  EXPECT_EQ(w.collectives[0].bytes, 8'000U) << "by name";
  const Workload reductions = expand_collectives(w, {.all_reduce = AllReduceAlgorithm::in_network});
  ASSERT_EQ(reductions.reductions.size(), 2U);
  EXPECT_EQ(reductions.reductions[0].bytes, 4'000U);
  EXPECT_EQ(reductions.reductions[1].bytes, 8'000U);
  for (const WorkNode& work : reductions.nodes) {
    if (work.kind != WorkKind::reduction) continue;
    EXPECT_EQ(work.bytes, reductions.reductions[work.match].bytes);
  }
}

TEST_F(Chakra, RowsOfAFileInOrderAreItsFirst) {
  std::vector<pb::Node> nodes{node(7, pb::COMP_NODE), node(3, pb::COMP_NODE, {7}, {7}), node(9, pb::COMP_NODE, {3})};
  const Workload in_order = read({write("in_order.et", nodes)}, {.rows = 2});
  // A control dependency on a node that is nowhere: only the whole file tells.
  nodes[1].add_ctrl_deps(1'000);
  const Workload searched = read({write("searched.et", nodes)}, {.rows = 2});
  ASSERT_EQ(warnings_.size(), 1U);
  for (const Workload* w : {&in_order, &searched}) {
    ASSERT_EQ(w->nodes.size(), 2U);
    EXPECT_EQ(w->nodes[0].origin, 7U);
    EXPECT_EQ(w->nodes[1].origin, 3U);
    EXPECT_EQ(w->dependents, (std::vector<std::uint32_t>{1}));
  }
}

}  // namespace
}  // namespace mrc
