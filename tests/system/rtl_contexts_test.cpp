// More QPs than slots for contexts: the blocks that hold what belongs to a QP put it out and take it in again, and
// nothing is lost or mixed up.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

/// Each QP sends twice, with all others in between; both ways, so that each node has the contexts of both directions.
constexpr int kQps = 1'536;
std::string turns_of_all() {
  std::string flows;
  for (int i = 0; i < 2 * kQps; ++i) flows += fmt::format("0,0,1,12288,{}\n0,1,0,12288,{}\n", i, 2 * kQps + i);
  return flows;
}
std::string settings() {
  return fmt::format(
      "traffic.qps_per_peer = {}\ntraffic.outstanding_messages = 1024\nprotocol.path_table_scope = \"destination\"\n"
      "fabric.nics = 2\nfabric.loss_rate = 0.004\nfabric.trim_rate = 0.004\nfabric.ecn_rate = 0.01\ntransport = "
      "\"mrc\"\n",
      kQps);
}

TEST(RtlContexts, MoveBetweenTheirSlotsAndTheOutside) {
  const auto systemc = run_flows(turns_of_all(), settings(), "", "systemc");
  ASSERT_GT(systemc["packets"]["retransmitted"].get<std::uint64_t>(), 0U);
  for (const std::string mode :
       {"--shadow psn_tracker,ack_coalescer,retransmit_buffer", "--rtl psn_tracker,ack_coalescer,retransmit_buffer",
        "--rtl psn_tracker,ack_coalescer,retransmit_buffer --rtl-timing pins"}) {
    const auto result = run_flows(turns_of_all(), settings(), mode, "rtl");
    ASSERT_EQ(result["rtl"].size(), 6U) << mode;
    for (const auto& row : result["rtl"]) {
      EXPECT_EQ(row["mismatches"], 0) << row;
      EXPECT_GE(row["transactions"], 6 * kQps) << row;
    }
    EXPECT_EQ(result["bytes"], systemc["bytes"]) << mode;
  }
}

}  // namespace
}  // namespace mrc
