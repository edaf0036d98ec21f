// A million transactions of each block at both sizes; every bin of the functional coverage at the small one. Of the
// transfers of spray_scheduler some are set-up and orders, of those of srv6_encap several are one packet.
#include <gtest/gtest.h>

#include <ostream>

#include "cosim/rtl_blocks.h"
#include "random_run.h"

namespace mrc::cosim {
namespace {

struct Million {
  const char* block;
  std::uint64_t small;  ///< transfers
  std::uint64_t at_default;
  friend void PrintTo(const Million& million, std::ostream* out) { *out << million.block; }
};

class CosimLong : public ::testing::TestWithParam<Million> {};

TEST_P(CosimLong, SmallHitsEveryBin) {
  expect_no_mismatch(*make_bench(GetParam().block, "small"), GetParam().small, 2, Bins::all);
}
TEST_P(CosimLong, AtTheDefaultSizes) {
  expect_no_mismatch(*make_bench(GetParam().block, "default"), GetParam().at_default, 3);
}
INSTANTIATE_TEST_SUITE_P(
    Of, CosimLong,
    ::testing::Values(Million{"ack_coalescer", 1'000'000, 1'000'000}, Million{"pcie_dma", 1'000'000, 1'000'000},
                      Million{"psn_tracker", 1'000'000, 1'000'000}, Million{"qp_scheduler", 1'000'000, 1'000'000},
                      Million{"retransmit_buffer", 1'000'000, 1'000'000},
                      Million{"spray_scheduler", 2'000'000, 3'000'000}, Million{"srv6_encap", 4'500'000, 4'500'000}),
    [](const auto& million) { return std::string(million.param.block); });

}  // namespace
}  // namespace mrc::cosim
