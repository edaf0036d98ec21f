#include "study/local_pool.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "study/interruption.h"
#include "study/study_error.h"

namespace mrc {
namespace {

constexpr int kCannotStart = 127;

[[noreturn]] void become(std::vector<char*> arguments, const std::string& log, pid_t parent) {
  // A study that is killed takes its runs with it: nobody would fetch their results, and a second start would double
  // the load.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotStart);
  const int null = open("/dev/null", O_RDWR);
  const int errors = open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execv(own_executable(), arguments.data());
  _exit(kCannotStart);
}

pid_t start(const RunJob& job) {
  clear(job);
  std::vector<std::string> texts{"mrcsim"};
  texts.insert(texts.end(), job.arguments.begin(), job.arguments.end());
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  arguments.push_back(nullptr);
  const std::string log = log_of(job).string();
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process == 0) become(arguments, log, parent);
  if (process < 0) throw StudyError(fmt::format("no process can be started: {}", std::strerror(errno)));
  return process;
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

bool LocalPool::reap(const std::vector<RunJob>& jobs, const Listener& listener) {
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    int status = 0;
    if (waitpid(busy_[i].process, &status, WNOHANG) != busy_[i].process) continue;
    const Worker worker = busy_[i];
    busy_.erase(busy_.begin() + static_cast<std::ptrdiff_t>(i));
    const double seconds = std::chrono::duration<double>(Clock::now() - worker.start).count();
    const int code = exit_code_of(status);
    // A run that was told to stop has not failed.
    if (!interrupted()) listener.done(worker.job, outcome_of(jobs[worker.job], code, seconds));
    return true;
  }
  return false;
}

void LocalPool::end_all() {
  for (const Worker& worker : busy_) kill(worker.process, SIGTERM);
  for (const Worker& worker : busy_) waitpid(worker.process, nullptr, 0);
  busy_.clear();
}

void LocalPool::execute(const std::vector<RunJob>& jobs, const Listener& listener) {
  std::size_t next = 0;
  while (next < jobs.size() || !busy_.empty()) {
    if (interrupted()) {
      end_all();
      return;
    }
    if (next < jobs.size() && busy_.size() < workers_) {
      busy_.push_back({next, start(jobs[next]), Clock::now()});
      ++next;
      continue;
    }
    if (reap(jobs, listener)) continue;
    listener.tick(busy_.size());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace mrc
