// Where the runs of a study are executed.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "study/run_job.h"

namespace mrc {

class Executor {
 public:
  /// Callbacks of an executor; both may be called any number of times.
  struct Listener {
    std::function<void(std::size_t job, RunOutcome&&)> done;  ///< once per job
    std::function<void(std::size_t running)> tick;            ///< from time to time
  };

  virtual ~Executor() = default;
  /// Executes all jobs, in order as far as there is room. Returns when all are done, or earlier after an interruption.
  /// Throws StudyError if nothing can be executed.
  virtual void execute(const std::vector<RunJob>& jobs, const Listener& listener) = 0;
};

}  // namespace mrc
