// What a job's ranks saw, from times by hand.
#include "host/job_result.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace mrc {
namespace {

constexpr TimePs kUs = kPsPerUs;

/// Four ranks that send 100 B each to a neighbour, in `us`; rank 0 computes for 40 us.
struct FourRanks {
  explicit FourRanks(std::array<TimePs, 4> us) {
    workload.ranks = 4;
    constexpr std::array<std::uint32_t, 4> peers{1, 0, 3, 2};
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      WorkNode send;
      send.kind = WorkKind::send;
      send.rank = rank;
      send.peer = peers[rank];
      send.bytes = 100;
      workload.nodes.push_back(send);
      times.push_back({5 * kUs, (5 + us[rank]) * kUs});
    }
    WorkNode computation;
    computation.duration = 40 * kUs;
    computation.stream = 1;
    workload.nodes.push_back(computation);
    times.push_back({0, 40 * kUs});
  }
  Workload workload;
  std::vector<WorkTimes> times;
};

TEST(JobResult, LateRanksAreThoseWhoseMessagesOrComputationsTookLongest) {
  const FourRanks job({10, 10, 30, 10});
  const JobResult result = make_job_result(job.workload, job.times, {}, 3);
  ASSERT_EQ(result.late_ranks.size(), 3U);
  // Messages take 15 us in the mean, computations 10 us.
  EXPECT_EQ(result.late_ranks[0].rank, 0U);
  EXPECT_EQ(result.late_ranks[0].late_by, "computation");
  EXPECT_DOUBLE_EQ(result.late_ranks[0].computation_late_us, 30);
  EXPECT_DOUBLE_EQ(result.late_ranks[0].exposed_communication_us, 0);
  EXPECT_EQ(result.late_ranks[1].rank, 2U);
  EXPECT_EQ(result.late_ranks[1].late_by, "sends");
  EXPECT_DOUBLE_EQ(result.late_ranks[1].sends_late_us, 15);
  EXPECT_DOUBLE_EQ(result.late_ranks[1].receives_late_us, -5);
  EXPECT_DOUBLE_EQ(result.late_ranks[1].exposed_communication_us, 30);
  EXPECT_DOUBLE_EQ(result.late_ranks[1].end_us, 35);
  EXPECT_EQ(result.late_ranks[2].rank, 3U);
  EXPECT_EQ(result.late_ranks[2].late_by, "receives");
}

TEST(JobResult, MessagesOfOtherSizesAndThoseThatDidNotEndDoNotCount) {
  FourRanks job({10, 10, 30, 10});
  job.workload.nodes[2].bytes = 300;
  job.times[3].done = kNever;
  const JobResult result = make_job_result(job.workload, job.times, {}, 4);
  for (const JobResult::LateRank& row : result.late_ranks) EXPECT_DOUBLE_EQ(row.sends_late_us, 0) << row.rank;
}

TEST(JobResult, WithoutThemNothingIsListed) {
  const FourRanks job({10, 10, 30, 10});
  EXPECT_TRUE(make_job_result(job.workload, job.times, {}).late_ranks.empty());
}

}  // namespace
}  // namespace mrc
