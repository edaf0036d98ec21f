// Runs as processes on this machine, a fixed number at a time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "study/executor.h"

namespace mrc {

class LocalPool : public Executor {
 public:
  explicit LocalPool(std::size_t workers) : workers_(workers) {}

  void execute(const std::vector<RunJob>& jobs, const Listener& listener) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker {
    std::size_t job = 0;
    pid_t process = 0;
    Clock::time_point start;
  };

  /// True when a worker's process has ended and was reported.
  bool reap(const std::vector<RunJob>& jobs, const Listener& listener);
  void end_all();

  std::size_t workers_;
  std::vector<Worker> busy_;
};

}  // namespace mrc
