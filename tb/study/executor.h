// Where the runs of a study are executed.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "study/run_job.h"

namespace mrc {

class Executor {
 public:
  /// What an executor tells while it works; both may be called any number of times.
  struct Listener {
    std::function<void(std::size_t job, const RunOutcome&)> done;  ///< once a job
    std::function<void(std::size_t running)> tick;                 ///< from time to time
  };

  virtual ~Executor() = default;
  /// Executes all jobs, in their order as far as there is room. Returns when each is done, or sooner after an
  /// interruption. Throws StudyError when nothing can be executed at all.
  virtual void execute(const std::vector<RunJob>& jobs, const Listener& listener) = 0;
};

}  // namespace mrc
