#include "traffic/flow_csv.h"

#include <gtest/gtest.h>

#include <sstream>

#include "traffic/trace_error.h"

namespace mrc {
namespace {

constexpr const char* kHeader = "start_us,src,dst,bytes,tag\n";

std::string refusal(const std::string& text) {
  std::istringstream in(text);
  try {
    read_flow_csv(in, "f.csv");
  } catch (const TraceError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(FlowCsv, ReadsFlows) {
  std::istringstream in(std::string(kHeader) + "0,0,1,4096,7\r\n1.5,2,0,1,0\n");
  const Workload w = read_flow_csv(in, "f.csv");
  ASSERT_EQ(w.nodes.size(), 2U);
  EXPECT_EQ(w.ranks, 3U);
  EXPECT_EQ(w.nodes[0].bytes, 4096U);
  EXPECT_EQ(w.nodes[0].tag, 7U);
  EXPECT_EQ(w.nodes[1].earliest, 1'500'000U);
  EXPECT_EQ(w.nodes[1].rank, 2U);
  EXPECT_EQ(w.nodes[1].peer, 0U);
  EXPECT_EQ(w.nodes[1].origin, 3U) << "its line";
  EXPECT_EQ(w.nodes[1].match, kNoWork);
}

TEST(FlowCsv, ReadsAndWritesPriorities) {
  const std::string text = "start_us,src,dst,bytes,tag,priority\n0.000000,0,1,4096,7,0\n2.000000,1,0,1,8,3\n";
  std::istringstream in(text);
  const Workload w = read_flow_csv(in, "f.csv");
  ASSERT_EQ(w.nodes.size(), 2U);
  EXPECT_EQ(w.nodes[0].traffic_class, 0);
  EXPECT_EQ(w.nodes[1].traffic_class, 3);
  EXPECT_EQ(flow_csv_text(w, {0, 2'000'000}), text);
  EXPECT_NE(refusal("start_us,src,dst,bytes,tag,priority\n0,0,1,1,0,4\n").find("column priority"), std::string::npos);
  EXPECT_NE(refusal("start_us,src,dst,bytes,tag,priority\n0,0,1,1,0\n").find("expected 6 fields"), std::string::npos);
}

TEST(FlowCsv, RefusalsNameLineAndColumn) {
  EXPECT_EQ(refusal(""), "f.csv:1: expected the header line start_us,src,dst,bytes,tag, with or without ,priority");
  EXPECT_EQ(refusal("start,src\n"),
            "f.csv:1: expected the header line start_us,src,dst,bytes,tag, with or without ,priority");
  EXPECT_EQ(refusal(kHeader), "f.csv: holds no flow");
  const auto with = [](const char* line) { return refusal(std::string(kHeader) + "0,0,1,1,1\n" + line + "\n"); };
  EXPECT_EQ(with("0,0,1,1"), "f.csv:3: expected 5 fields (start_us,src,dst,bytes,tag), found 4");
  EXPECT_EQ(with("0,0,1,1,1,1"), "f.csv:3: expected 5 fields (start_us,src,dst,bytes,tag), found 6");
  EXPECT_EQ(with(""), "f.csv:3: expected 5 fields (start_us,src,dst,bytes,tag), found 1");
  EXPECT_EQ(with("-1,0,1,1,1"), "f.csv:3: column start_us is \"-1\"; allowed: a decimal number 0 … 1000000000000");
  EXPECT_EQ(with("nan,0,1,1,1"), "f.csv:3: column start_us is \"nan\"; allowed: a decimal number 0 … 1000000000000");
  EXPECT_EQ(with("0,x,1,1,1"), "f.csv:3: column src is \"x\"; allowed: an integer 0 … 131071");
  EXPECT_EQ(with("0,0,1,0,1"), "f.csv:3: column bytes is \"0\"; allowed: an integer 1 … 1099511627776");
  EXPECT_EQ(with("0,0,1,1,-1"), "f.csv:3: column tag is \"-1\"; allowed: an integer 0 … 4294967295");
  EXPECT_EQ(with("0,0,1,1,1 "), "f.csv:3: column tag is \"1 \"; allowed: an integer 0 … 4294967295");
  EXPECT_EQ(with("0,0,131072,1,1"), "f.csv:3: column dst is \"131072\"; allowed: an integer 0 … 131071");
  EXPECT_EQ(with("0,0,1,1.5,1"), "f.csv:3: column bytes is \"1.5\"; allowed: an integer 1 … 1099511627776");
  EXPECT_EQ(with("0,0,1,1099511627777,1"),
            "f.csv:3: column bytes is \"1099511627777\"; allowed: an integer 1 … 1099511627776");
  EXPECT_EQ(with("0,0,1,1,4294967296"), "f.csv:3: column tag is \"4294967296\"; allowed: an integer 0 … 4294967295");
  EXPECT_EQ(with("1e12,131071,0,1099511627776,4294967295"), "accepted") << "the ends of all ranges";
  EXPECT_EQ(with("0,1,1,1,1"), "f.csv:3: src and dst are both 1; a flow needs two ranks");
}

}  // namespace
}  // namespace mrc
