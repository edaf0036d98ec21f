// The RTL against ring 1's records: every event and every field of the QP's state after each command.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vretransmit_buffer_4096.h"
#include "Vretransmit_buffer_small.h"
#include "cosim/retransmit_buffer_bench.h"

namespace mrc {
namespace {

TEST(RetransmitBufferRtl, RandomCommandsSmall) {
  RetransmitBufferBench<Vretransmit_buffer_small> bench({16, 64}, 1);
  const RetransmitBenchResult result = bench.run(400'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
  for (const auto& [bin, hits] : result.bins) EXPECT_GT(hits, 0U) << bin;
}

TEST(RetransmitBufferRtl, RandomCommandsAtTheDefaultSizes) {
  RetransmitBufferBench<Vretransmit_buffer_4096> bench({16'384, 4'096}, 2);
  const RetransmitBenchResult result = bench.run(100'000);
  EXPECT_EQ(result.mismatches, 0U) << result.first_mismatch;
}

}  // namespace
}  // namespace mrc
