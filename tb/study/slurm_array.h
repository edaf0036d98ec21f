// Runs as the tasks of a Slurm job array.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/executor.h"

namespace mrc {

/// Each task writes its results and its exit code into the study's folder, which all machines must see. An array goes
/// on when the study is interrupted or killed; the same study started again waits for its tasks instead of submitting
/// them twice. Jobs beyond the cluster's MaxArraySize go into further arrays.
class SlurmArray : public Executor {
 public:
  /// `folder` holds scripts and the list of tasks; `sbatch_options` are given to sbatch as they are. At most
  /// `tasks_at_once` tasks run at a time, 0: as many as the cluster lets.
  SlurmArray(std::filesystem::path folder, std::vector<std::string> sbatch_options, std::size_t tasks_at_once);

  /// Throws StudyError when sbatch refuses.
  void execute(const std::vector<RunJob>& jobs, const Listener& listener) override;

 private:
  /// "1234_7" of each task that was submitted and not fetched.
  using Tasks = std::map<std::string, std::string>;  ///< digest → task

  Tasks read_tasks() const;
  void submit(const std::vector<const RunJob*>& jobs, Tasks& tasks);
  void write_tasks(const Tasks& tasks) const;
  std::size_t array_size() const;

  std::filesystem::path folder_;
  std::vector<std::string> sbatch_options_;
  std::size_t tasks_at_once_;
};

}  // namespace mrc
