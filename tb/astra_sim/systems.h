// ASTRA-sim's systems on a network of ours. The only file beside this header that knows ASTRA-sim.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace mrc {

class LiveNetwork;

/// As the front ends of ASTRA-sim take them.
struct AstraOptions {
  std::string workload;
  std::string system;
  std::string remote_memory;
  std::string comm_group = "empty";
  std::string logging = "empty";
  std::string logging_folder = "log";
  int queues_per_dimension = 1;
  double comm_scale = 1;
  double injection_scale = 1;
  bool rendezvous = false;
};

class AstraSystems {
 public:
  /// One system a position in `dimensions`. Reads all of ASTRA-sim's files; where ASTRA-sim ends the process because of
  /// one, the exit code is 2. Throws std::exception for others.
  AstraSystems(const AstraOptions& options, const std::vector<int>& dimensions, LiveNetwork& network);
  /// What ASTRA-sim has logged is on standard output afterwards.
  ~AstraSystems();
  AstraSystems(const AstraSystems&) = delete;
  AstraSystems& operator=(const AstraSystems&) = delete;

  /// Each system's trace begins at time 0.
  void schedule_start();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mrc
