// Runs as processes on this machine, a fixed number at a time. Each is a fork of this process, which has been loaded
// and set up once for all, and goes on with the arguments of its run.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "study/executor.h"

namespace mrc {

class LocalPool : public Executor {
 public:
  /// The command line: its exit code. A child calls it, in which nothing has been run yet.
  using CommandLine = int (*)(int argc, char** argv);

  LocalPool(std::size_t workers, CommandLine command_line) : workers_(workers), command_line_(command_line) {}

  void execute(const std::vector<RunJob>& jobs, const Listener& listener) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker {
    std::size_t job = 0;
    pid_t process = 0;
    Clock::time_point start;
  };

  pid_t start(const RunJob& job) const;
  /// True when a worker's process has ended and was reported.
  bool reap(const std::vector<RunJob>& jobs, const Listener& listener);
  void end_all();

  std::size_t workers_;
  CommandLine command_line_;
  std::vector<Worker> busy_;
};

}  // namespace mrc
