#include "study/campaign.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "results/output_file.h"
#include "study/digest.h"
#include "study/interruption.h"
#include "study/study_error.h"

namespace mrc {

namespace fs = std::filesystem;

namespace {

/// Folder of traces that a study made for its runs.
constexpr const char* kTraces = "traces";

/// Outcomes on their way into the database, which writes several at once: each write waits for the disk. A run's own
/// files stay until then, so that a study which is killed loses none.
class Outcomes {
 public:
  explicit Outcomes(StudyDatabase& database) : database_(database) {}

  void add(const RunJob& job, RunOutcome&& outcome) {
    if (waiting_.empty()) since_ = Clock::now();
    waiting_.emplace_back(&job, std::move(outcome));
    if (waiting_.size() >= kMost) store();
  }
  /// Called when there is nothing else to do: stores all if the first has waited for long.
  void store_old() {
    if (!waiting_.empty() && Clock::now() - since_ >= kLongest) store();
  }
  void store() {
    if (waiting_.empty()) return;
    database_.sqlite().execute("BEGIN");
    for (const auto& [job, outcome] : waiting_) database_.store(job->digest, outcome);
    database_.sqlite().execute("COMMIT");
    for (const auto& [job, outcome] : waiting_) clear(*job);
    waiting_.clear();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMost = 256;
  static constexpr auto kLongest = std::chrono::milliseconds(200);

  StudyDatabase& database_;
  std::vector<std::pair<const RunJob*, RunOutcome>> waiting_;
  Clock::time_point since_;
};

}  // namespace

fs::path Campaign::folder_of(const std::string& database) {
  return fs::absolute(database).string() + ".runs";
}

Campaign::Campaign(std::vector<std::string> assignments, StudyDatabase& database, std::unique_ptr<Executor> executor,
                   OnProgress on_progress)
    : assignments_(std::move(assignments)),
      database_(database),
      executor_(std::move(executor)),
      on_progress_(std::move(on_progress)),
      folder_(folder_of(database.path())) {
  fs::create_directories(folder_);
  lock_ = open((folder_ / "lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    if (lock_ >= 0) close(lock_);
    throw StudyError(fmt::format("{}: another mrcsim works with it; wait for its end or choose another file with --db",
                                 database_.path()));
  }
}

Campaign::~Campaign() {
  std::error_code ignored;
  // Nothing left to fetch: nothing stays beside the database.
  bool empty = true;
  for (const auto& entry : fs::directory_iterator(folder_, ignored)) {
    const std::string name = entry.path().filename().string();
    empty = empty && (name == "lock" || name == kTraces || name == "slurm_tasks" || name.starts_with("array_"));
  }
  if (empty) fs::remove_all(folder_, ignored);
  close(lock_);
}

RunJob Campaign::job_of(const RunSpec& spec) const {
  RunJob job{.digest = spec.digest,
             .arguments = {"run", fs::absolute(spec.scenario).string()},
             .folder = folder_ / spec.digest};
  for (const std::string& assignment : assignments_) {
    job.arguments.insert(job.arguments.end(), {"--set", assignment});
  }
  for (const auto& [key, value] : spec.settings) {
    job.arguments.insert(job.arguments.end(), {"--set", key + "=" + value});
  }
  job.arguments.insert(job.arguments.end(), {"--seed", fmt::format("{}", spec.seed), "--quiet", "--only-result",
                                             "--out", job.folder.string()});
  return job;
}

std::string Campaign::keep_trace(const std::string& text) const {
  const fs::path file = folder_ / kTraces / (Digest().add(text).hex() + ".csv");
  fs::create_directories(file.parent_path());
  if (!fs::exists(file)) write_whole_file(file.string(), text, kInOwnFolder);
  return file.string();
}

std::vector<RunRecord> Campaign::run(const std::vector<RunSpec>& specs) {
  check_interruption();
  std::vector<RunSpec> todo;
  std::set<std::string> seen;
  StudyProgress progress;
  database_.sqlite().execute("BEGIN");
  for (const RunSpec& spec : specs) {
    if (!seen.insert(spec.digest).second) continue;
    RunRecord record = database_.plan(spec, own_build());
    const RunJob job = job_of(spec);
    // What a study that was killed had finished, or a cluster meanwhile has.
    if (record.state != "done") {
      if (const auto outcome = left_behind(job)) {
        database_.store(spec.digest, *outcome);
        record.state = "done";
      }
    }
    if (record.state == "done") {
      // A study that was killed may have stored it without the time to remove its files.
      clear(job);
      ++progress.known;
    } else {
      todo.push_back(spec);
    }
  }
  database_.sqlite().execute("COMMIT");
  known_ += progress.known;
  progress.wanted = todo.size();
  if (!todo.empty()) execute(todo, progress);
  check_interruption();
  std::vector<RunRecord> records;
  for (const RunSpec& spec : specs) records.push_back(*database_.find(spec.digest));
  return records;
}

void Campaign::execute(const std::vector<RunSpec>& todo, StudyProgress progress) {
  std::vector<RunJob> jobs;
  for (const RunSpec& spec : todo) jobs.push_back(job_of(spec));
  on_progress_(progress);
  Outcomes outcomes(database_);
  executor_->execute(jobs, {.done =
                                [&](std::size_t job, RunOutcome&& outcome) {
                                  ++progress.done;
                                  ++executed_;
                                  progress.failed += outcome.exit_code != 0 ? 1U : 0U;
                                  outcomes.add(jobs[job], std::move(outcome));
                                  on_progress_(progress);
                                },
                            .tick =
                                [&](std::size_t running) {
                                  progress.running = running;
                                  outcomes.store_old();
                                  on_progress_(progress);
                                }});
  outcomes.store();
}

}  // namespace mrc
