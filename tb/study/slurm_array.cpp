#include "study/slurm_array.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "parameters/input_file.h"
#include "results/output_file.h"
#include "study/interruption.h"
#include "study/study_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

struct CommandResult {
  int exit_code = 0;
  std::string out;
};

/// Output and error of a shell command.
CommandResult command(const std::string& line) {
  FILE* pipe = popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw StudyError("no process can be started for: " + line);
  CommandResult result;
  char block[4096];
  for (std::size_t n = 0; (n = fread(block, 1, sizeof block, pipe)) > 0;) result.out.append(block, n);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  while (!result.out.empty() && result.out.back() == '\n') result.out.pop_back();
  return result;
}

std::string task_script(const RunJob& job) {
  std::string line = shell_quoted(fs::read_symlink(own_executable()).string());
  for (const std::string& argument : job.arguments) line += " " + shell_quoted(argument);
  const std::string exit_file = shell_quoted(exit_file_of(job).string());
  // The exit code appears last and whole: it says that the rest is there.
  return fmt::format(
      "begin=$(date +%s)\n{} >/dev/null 2>{}\ncode=$?\necho \"$code $(($(date +%s) - begin))\" >{}.tmp\n"
      "mv {}.tmp {}\n",
      line, shell_quoted(log_of(job).string()), exit_file, exit_file, exit_file);
}

fs::path script_of(const RunJob& job) {
  return job.folder.string() + ".sh";
}

std::optional<RunOutcome> finished(const RunJob& job) {
  std::ifstream file(exit_file_of(job));
  int code = 0;
  double seconds = 0;
  if (!(file >> code >> seconds)) return std::nullopt;
  return outcome_of(job, code, seconds);
}

/// State of each task that Slurm knows of, by name "1234_7". Empty when Slurm does not answer.
std::optional<std::map<std::string, std::string>> states_of(const std::map<std::string, std::string>& tasks) {
  std::vector<std::string> arrays;
  for (const auto& [digest, task] : tasks) arrays.push_back(task.substr(0, task.find('_')));
  std::sort(arrays.begin(), arrays.end());
  arrays.erase(std::unique(arrays.begin(), arrays.end()), arrays.end());
  std::map<std::string, std::string> states;
  for (const std::string& array : arrays) {
    const CommandResult queue =
        command(fmt::format("squeue --array --noheader --states=all --format='%i %T' --jobs={}", array));
    // Slurm forgets jobs some minutes after their end.
    if (queue.exit_code != 0 && queue.out.find("Invalid job id") == std::string::npos) return std::nullopt;
    if (queue.exit_code != 0) continue;
    std::istringstream lines(queue.out);
    for (std::string task, state; lines >> task >> state;) states[task] = state;
  }
  return states;
}

bool alive(const std::string& state) {
  static const std::vector<std::string> ended{"COMPLETED", "FAILED",    "CANCELLED", "TIMEOUT",      "NODE_FAIL",
                                              "PREEMPTED", "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY"};
  return std::find(ended.begin(), ended.end(), state) == ended.end();
}

}  // namespace

SlurmArray::SlurmArray(fs::path folder, std::vector<std::string> sbatch_options, std::size_t tasks_at_once)
    : folder_(fs::absolute(folder)), sbatch_options_(std::move(sbatch_options)), tasks_at_once_(tasks_at_once) {
  if (command("command -v sbatch").exit_code != 0) {
    throw StudyError("--on slurm: there is no sbatch on this machine (Debian: slurm-client)");
  }
}

SlurmArray::Tasks SlurmArray::read_tasks() const {
  Tasks tasks;
  std::ifstream file(folder_ / "slurm_tasks");
  for (std::string digest, task; file >> digest >> task;) tasks[digest] = task;
  return tasks;
}

void SlurmArray::write_tasks(const Tasks& tasks) const {
  std::string text;
  for (const auto& [digest, task] : tasks) text += fmt::format("{} {}\n", digest, task);
  write_whole_file((folder_ / "slurm_tasks").string(), text, kInOwnFolder);
}

std::size_t SlurmArray::array_size() const {
  const CommandResult config = command("scontrol show config | sed -n 's/^MaxArraySize *= *//p'");
  const std::size_t size = std::strtoul(config.out.c_str(), nullptr, 10);
  // Indices go from 0 to MaxArraySize - 1; Slurm's own default is 1001.
  return size > 1 ? size - 1 : 1000;
}

void SlurmArray::submit(const std::vector<const RunJob*>& jobs, Tasks& tasks) {
  const std::size_t most = array_size();
  for (std::size_t begin = 0; begin < jobs.size(); begin += most) {
    const std::size_t count = std::min(most, jobs.size() - begin);
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      const RunJob& job = *jobs[begin + i];
      clear(job);
      write_whole_file(script_of(job).string(), task_script(job), kInOwnFolder);
      list += script_of(job).string() + "\n";
    }
    const fs::path array = folder_ / fmt::format("array_{}", jobs[begin]->digest);
    write_whole_file(array.string() + ".list", list, kInOwnFolder);
    write_whole_file(array.string() + ".sh",
                     fmt::format("#!/bin/sh\nexec sh \"$(sed -n \"$((SLURM_ARRAY_TASK_ID + 1))p\" {})\"\n",
                                 shell_quoted(array.string() + ".list")),
                     kInOwnFolder);
    std::string line = fmt::format("sbatch --parsable --job-name=mrcsim --output=/dev/null --array=0-{}{}", count - 1,
                                   tasks_at_once_ > 0 ? fmt::format("%{}", tasks_at_once_) : "");
    for (const std::string& option : sbatch_options_) line += " " + shell_quoted(option);
    const CommandResult submitted = command(line + " " + shell_quoted(array.string() + ".sh"));
    if (submitted.exit_code != 0) throw StudyError("--on slurm: sbatch refuses: " + submitted.out);
    // "--parsable" prints the id, and the cluster behind a semicolon; warnings come before.
    const std::string last = submitted.out.substr(submitted.out.find_last_of('\n') + 1);
    const std::string id = last.substr(0, last.find(';'));
    for (std::size_t i = 0; i < count; ++i) tasks[jobs[begin + i]->digest] = fmt::format("{}_{}", id, i);
    write_tasks(tasks);
    fmt::print(stderr, "mrcsim: submitted job array {} of {} tasks; it goes on when mrcsim ends (scancel {})\n", id,
               count, id);
  }
}

void SlurmArray::execute(const std::vector<RunJob>& jobs, const Listener& listener) {
  Tasks known = read_tasks();
  Tasks tasks;
  for (const RunJob& job : jobs) {
    if (known.contains(job.digest)) tasks[job.digest] = known[job.digest];
  }
  auto states = states_of(tasks).value_or(std::map<std::string, std::string>{});
  std::vector<const RunJob*> fresh;
  for (const RunJob& job : jobs) {
    const bool under_way =
        tasks.contains(job.digest) && states.contains(tasks[job.digest]) && alive(states[tasks[job.digest]]);
    if (!under_way && !finished(job)) fresh.push_back(&job);
  }
  if (!fresh.empty()) submit(fresh, tasks);

  std::vector<bool> done(jobs.size());
  std::vector<bool> missed(jobs.size());
  std::size_t left = jobs.size();
  while (left > 0 && !interrupted()) {
    const auto now = states_of(tasks);
    std::size_t running = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (done[i]) continue;
      const std::string& task = tasks[jobs[i].digest];
      const auto state = now ? now->find(task) : std::map<std::string, std::string>::const_iterator{};
      const bool gone = now && (state == now->end() || !alive(state->second));
      running += now && state != now->end() && state->second == "RUNNING" ? 1 : 0;
      auto outcome = finished(jobs[i]);
      // A shared file system may show the files of a task a moment after Slurm says that it has ended.
      if (!outcome && gone && missed[i]) {
        outcome = RunOutcome{
            .exit_code = 1,
            .error = fmt::format("Slurm task {} ended without a result: {}", task,
                                 state == now->end()
                                     ? "no longer known to Slurm: cancelled before it began, or ended some time ago"
                                     : state->second),
            .wall_seconds = 0,
            .result_json = {}};
      }
      missed[i] = gone;
      if (!outcome) continue;
      if (outcome->exit_code != 0 && outcome->result_json.empty() && !outcome->error.starts_with("Slurm task"))
        outcome->error = fmt::format("Slurm task {}: {}", task, outcome->error);
      listener.done(i, std::move(*outcome));
      std::error_code ignored;
      fs::remove(script_of(jobs[i]), ignored);
      done[i] = true;
      --left;
    }
    listener.tick(running);
    if (left > 0) std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace mrc
