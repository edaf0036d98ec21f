// The block keeps the cycles of its data sheet: each command that comes alone, and the one behind it.
#include <gtest/gtest.h>

#include "Vretransmit_buffer_bench.h"
#include "Vretransmit_buffer_bench_small.h"
#include "cosim/retransmit_buffer/model.h"
#include "random_run.h"

namespace mrc::cosim {
namespace {

template <typename Model>
void expect_cycles(const RetransmitBufferSizes& sizes, std::uint32_t buckets, std::uint64_t transfers) {
  auto model = std::make_unique<RetransmitBufferModel>(sizes, make_retransmit_buffer_dut<Model>);
  model->compare_cycles(buckets);
  StreamBench bench("retransmit_buffer", std::move(model));
  expect_no_mismatch(bench, transfers, 2);
}

TEST(RetransmitBufferCycles, AreThoseOfTheDataSheetAtTheSmallSize) {
  expect_cycles<Vretransmit_buffer_bench_small>({16, 64, 8}, 32, 60'000);
}
TEST(RetransmitBufferCycles, AreThoseOfTheDataSheetAtTheDefaultSize) {
  expect_cycles<Vretransmit_buffer_bench>({16'384, 4'096, 1'024}, 16'384, 20'000);
}

}  // namespace
}  // namespace mrc::cosim
