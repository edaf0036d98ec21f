#include "study/local_pool.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include <fmt/format.h>

#include "study/interruption.h"
#include "study/study_error.h"

namespace mrc {
namespace {

constexpr int kCannotStart = 127;

/// Signals that are held back while one of these lives; a wait can take them.
class HeldSignals {
 public:
  explicit HeldSignals(std::initializer_list<int> signals) {
    sigemptyset(&held_);
    for (const int signal : signals) sigaddset(&held_, signal);
    sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { restore(); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  void restore() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  /// Until one of them comes, another signal is handled, or the time is over.
  void wait(std::chrono::nanoseconds most) const {
    const timespec time{0, static_cast<long>(most.count())};
    sigtimedwait(&held_, nullptr, &time);
  }

 private:
  sigset_t held_{};
  sigset_t before_{};
};

/// The child's side of a fork: nothing of the study's files, locks and signal handlers is left in it.
void leave_the_study(const std::string& log, pid_t parent) {
  // A study that is killed takes its runs with it: nobody would fetch their results, and a second start would double
  // the load.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotStart);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  const int null = open("/dev/null", O_RDWR);
  const int errors = open(log.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0644);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
}

int exit_code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

pid_t LocalPool::start(const RunJob& job) const {
  clear(job);
  std::vector<std::string> texts{"mrcsim"};
  texts.insert(texts.end(), job.arguments.begin(), job.arguments.end());
  std::vector<char*> arguments;
  for (std::string& text : texts) arguments.push_back(text.data());
  const auto count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  const std::string log = log_of(job).string();
  const pid_t parent = getpid();
  // The handlers of the study would take what is meant to end the run.
  const HeldSignals held{SIGINT, SIGTERM, SIGHUP};
  const pid_t process = fork();
  if (process == 0) {
    leave_the_study(log, parent);
    held.restore();
    // What the study has at exit is not the child's to do again.
    _exit(command_line_(count, arguments.data()));
  }
  if (process < 0) throw StudyError(fmt::format("no process can be started: {}", std::strerror(errno)));
  return process;
}

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
  constexpr auto between_ticks = std::chrono::milliseconds(100);
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
    // Held back before it is looked whether one has ended: a child that ends behind the look ends the wait.
    const HeldSignals held{SIGCHLD};
    if (reap(jobs, listener)) continue;
    listener.tick(busy_.size());
    held.wait(between_ticks);
  }
}

}  // namespace mrc
