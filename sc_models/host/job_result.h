// What a job's ranks saw: the step's time, how much communication was not hidden behind computation, who was last, and
// what bandwidth collectives had by the formulas of the NCCL tests.
#pragma once

#include <vector>

#include "host/collective_schedule.h"
#include "host/workload.h"
#include "results/run_result.h"

namespace mrc {

/// When a node of work began and ended; kNever where it did not.
struct WorkTimes {
  TimePs started = kNever;
  TimePs done = kNever;
};

/// `times[i]` is that of workload.nodes[i], after the run. A collective's time is that from its last rank's start to
/// its last rank's end; those that did not end do not count. `options` are those it was carried out with; `late_ranks`
/// of the ranks are listed, the latest first.
JobResult make_job_result(const Workload& workload, const std::vector<WorkTimes>& times,
                          const CollectiveOptions& options, std::uint32_t late_ranks = 0);

}  // namespace mrc
