// The adapter's answers, cycles and banks against the reference.
#include <gtest/gtest.h>

#include "Vpsn_tracker_16384.h"
#include "cosim/psn_tracker/adapter.h"
#include "nic/rx/psn_tracker_reference.h"

namespace mrc {
namespace {

constexpr PsnTrackerSizes kDefault{16'384, 4'096, 8};

TEST(PsnTrackerRtl, AdapterAnswersAsTheReference) {
  const PsnTrackerSettings settings;
  PsnTrackerAdapter<Vpsn_tracker_16384> rtl(settings);
  PsnTrackerReference reference(kDefault, settings);
  const auto same = [&](const PsnRequest& request) {
    return rtl.run(request) == reference.run(request) && rtl.banks_in_use() == reference.pool().in_use() &&
           rtl.latency_cycles() == 6 + kPsnTrackerCyclesPerBank * (reference.banks_visited() - 1);
  };
  ASSERT_TRUE(same({.op = PsnOp::setup, .qp = 16'383, .psn = 0xFF'FF00}));
  for (Psn ahead = 1; ahead < 1'024; ++ahead) {
    ASSERT_TRUE(same({.qp = 16'383, .psn = psn_add(0xFF'FF00, ahead), .ends_message = ahead % 3 == 0})) << ahead;
  }
  ASSERT_TRUE(same({.op = PsnOp::sack, .qp = 16'383, .psn = 0xFF'FF20, .ce = true}));
  ASSERT_TRUE(same({.qp = 16'383, .psn = 0xFF'FF00}));
  EXPECT_EQ(rtl.latency_cycles(), 20U) << "eight banks, five stages, one cycle for the reply";
  EXPECT_EQ(rtl.banks_in_use(), 0U);
}

}  // namespace
}  // namespace mrc
