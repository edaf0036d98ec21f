// What tenants cost each other: each job of a scenario alone on its NICs, and all together.
#pragma once

#include <cstdint>
#include <vector>

#include "study/campaign.h"
#include "study/run_planner.h"
#include "study/statistics.h"

namespace mrc {

/// Of one tenant.
struct Isolation {
  std::uint32_t job = 0;
  std::uint64_t messages = 0;
  // From its first message posted to its last one done, and of its messages, in us: means over the seeds.
  double alone_us = 0;
  double together_us = 0;
  double worst_alone_us = 0;
  double worst_together_us = 0;
  // Together over alone, seed by seed.
  Interval slowdown;
  Interval worst_slowdown;  ///< of the longest message time
  Interval p99_slowdown;
};

/// Runs job by job and all, with as many seeds. Throws StudyError where a run has no complete result, or where the
/// scenario's jobs are not separate tenants.
std::vector<Isolation> measure_isolation(Campaign& campaign, const RunPlanner& planner, StudyDatabase& database,
                                         std::uint32_t seeds);

}  // namespace mrc
