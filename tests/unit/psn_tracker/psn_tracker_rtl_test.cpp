// The adapter's answers, cycles and banks against the reference.
#include <gtest/gtest.h>

#include "Vpsn_tracker_1024.h"
#include "cosim/psn_tracker/adapter.h"
#include "nic/rx/psn_tracker_reference.h"

namespace mrc {
namespace {

/// The reference has a place for each QP, the RTL for 1,024 at a time.
constexpr std::uint32_t kQps = 16'384;
constexpr PsnTrackerSizes kReference{kQps, 4'096, 8};

TEST(PsnTrackerRtl, AdapterAnswersAsTheReference) {
  const PsnTrackerSettings settings;
  PsnTrackerAdapter<Vpsn_tracker_1024> rtl(settings);
  PsnTrackerReference reference(kReference, settings);
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

TEST(PsnTrackerRtl, ContextsOfMoreQpsThanSlotsKeepWhatHasArrived) {
  const PsnTrackerSettings settings;
  PsnTrackerAdapter<Vpsn_tracker_1024> rtl(settings);
  PsnTrackerReference reference(kReference, settings);
  const auto same = [&](const PsnRequest& request) {
    return rtl.run(request) == reference.run(request) && rtl.banks_in_use() == reference.pool().in_use();
  };
  constexpr std::uint32_t qps = 3'000;
  for (std::uint32_t qp = 0; qp < qps; ++qp) ASSERT_TRUE(same({.op = PsnOp::setup, .qp = qp, .psn = qp * 7})) << qp;
  // Every second QP has a hole while its context is away.
  for (std::uint32_t qp = 0; qp < qps; ++qp) ASSERT_TRUE(same({.qp = qp, .psn = qp * 7 + qp % 2})) << qp;
  EXPECT_EQ(rtl.banks_in_use(), qps / 2);
  for (std::uint32_t qp = 0; qp < qps; ++qp) {
    ASSERT_TRUE(same({.qp = qp, .psn = qp * 7 + 1 - qp % 2})) << qp;
    ASSERT_TRUE(same({.op = PsnOp::sack, .qp = qp, .psn = qp * 7})) << qp;
  }
  EXPECT_EQ(rtl.banks_in_use(), 0U);
}

}  // namespace
}  // namespace mrc
