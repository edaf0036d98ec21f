// Gets runs done: what the database has is taken from there, the rest is executed and stored as it comes.
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

/// How far a batch of runs has come.
struct StudyProgress {
  std::size_t done = 0;  ///< of those that were to be executed
  std::size_t wanted = 0;
  std::size_t running = 0;
  std::size_t failed = 0;
  std::size_t known = 0;  ///< were in the database already
};

class Campaign {
 public:
  using OnProgress = std::function<void(const StudyProgress&)>;

  /// Only one process may work with a database at a time: throws StudyError when another does.
  Campaign(RunSubject subject, StudyDatabase& database, std::unique_ptr<Executor> executor, OnProgress on_progress);
  ~Campaign();
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  /// Folder of the runs under way, beside the database.
  static std::filesystem::path folder_of(const std::string& database);

  /// Each run's record, in the order of `specs`, which may name a run twice. Throws StudyInterrupted.
  std::vector<RunRecord> run(const std::vector<RunSpec>& specs);
  /// Runs that were executed, and runs that the database had, since the beginning.
  std::size_t executed() const { return executed_; }
  std::size_t known() const { return known_; }

 private:
  RunJob job_of(const RunSpec& spec) const;
  void execute(const std::vector<RunSpec>& todo, StudyProgress progress);

  RunSubject subject_;
  StudyDatabase& database_;
  std::unique_ptr<Executor> executor_;
  OnProgress on_progress_;
  std::filesystem::path folder_;
  int lock_ = -1;
  std::size_t executed_ = 0;
  std::size_t known_ = 0;
};

}  // namespace mrc
