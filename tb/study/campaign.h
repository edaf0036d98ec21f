// Completes a set of runs: results in the database are reused, the other runs are executed and stored when they end.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "study/executor.h"
#include "study/run_planner.h"
#include "study/study_database.h"

namespace mrc {

/// Progress of a batch of runs.
struct StudyProgress {
  std::size_t done = 0;  ///< executed so far
  std::size_t wanted = 0;
  std::size_t running = 0;
  std::size_t failed = 0;
  std::size_t known = 0;  ///< already in the database
};

class Campaign {
 public:
  using OnProgress = std::function<void(const StudyProgress&)>;

  /// Only one process may work with a database at a time: throws StudyError when another does.
  /// `assignments`: "key=value" for all runs, whatever their scenario.
  Campaign(std::vector<std::string> assignments, StudyDatabase& database, std::unique_ptr<Executor> executor,
           OnProgress on_progress);
  ~Campaign();
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  /// Folder of the runs in progress, next to the database.
  static std::filesystem::path folder_of(const std::string& database);

  /// Writes a trace for runs of this campaign beside their results and returns its path, which the text determines. It
  /// goes with the campaign.
  std::string keep_trace(const std::string& text) const;

  /// Each run's record, in the order of `specs`, which may name a run twice. Throws StudyInterrupted.
  std::vector<RunRecord> run(const std::vector<RunSpec>& specs);
  /// Runs executed, and runs reused from the database, so far.
  std::size_t executed() const { return executed_; }
  std::size_t known() const { return known_; }

 private:
  RunJob job_of(const RunSpec& spec) const;
  void execute(const std::vector<RunSpec>& todo, StudyProgress progress);

  std::vector<std::string> assignments_;
  StudyDatabase& database_;
  std::unique_ptr<Executor> executor_;
  OnProgress on_progress_;
  std::filesystem::path folder_;
  int lock_ = -1;
  std::size_t executed_ = 0;
  std::size_t known_ = 0;
};

}  // namespace mrc
