// Each block against its reference at random load on every port, with resets in the middle of traffic and random
// initial state, at both sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "cosim/rtl_blocks.h"
#include "random_run.h"

namespace mrc::cosim {
namespace {

struct Case {
  const char* block;
  const char* size;
  std::uint64_t transfers;
  friend void PrintTo(const Case& run, std::ostream* out) { *out << run.block << " " << run.size; }
};

constexpr std::array kRuns{
    Case{"ack_coalescer", "small", 60'000},     Case{"ack_coalescer", "default", 20'000},
    Case{"pcie_dma", "small", 100'000},         Case{"pcie_dma", "default", 30'000},
    Case{"psn_tracker", "small", 60'000},       Case{"psn_tracker", "default", 20'000},
    Case{"qp_scheduler", "small", 60'000},      Case{"qp_scheduler", "default", 40'000},
    Case{"retransmit_buffer", "small", 60'000}, Case{"retransmit_buffer", "default", 20'000},
    Case{"spray_scheduler", "small", 60'000},   Case{"spray_scheduler", "default", 40'000},
    Case{"srv6_encap", "small", 40'000},        Case{"srv6_encap", "default", 20'000},
};

class Cosim : public ::testing::TestWithParam<Case> {};

TEST_P(Cosim, OfRandomTransfersFindsNothing) {
  expect_no_mismatch(*make_bench(GetParam().block, GetParam().size), GetParam().transfers, 1);
}
INSTANTIATE_TEST_SUITE_P(Of, Cosim, ::testing::ValuesIn(kRuns),
                         [](const auto& run) { return std::string(run.param.block) + "_" + run.param.size; });

TEST(CosimBlocks, AreAllRun) {
  for (const std::string& block : rtl_block_names()) {
    EXPECT_TRUE(std::any_of(kRuns.begin(), kRuns.end(), [&](const Case& run) { return run.block == block; })) << block;
  }
}

}  // namespace
}  // namespace mrc::cosim
