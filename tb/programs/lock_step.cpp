#include "programs/lock_step.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace mrc {
namespace {

using namespace verbs;

/// Processor time that a thread may use without a message. After it, the thread is computing or polls its memory: it is
/// interrupted and checked (verbs/preload.cpp), and again after twice the time.
constexpr std::int64_t kSilentNs = 1'000'000;
/// The same for a thread that polled its memory before and has since received a write.
constexpr std::int64_t kSilentAgainNs = 50'000;
constexpr int kLookUs = 1'000;
/// How often a thread is found asleep in the operating system before the others continue without it.
constexpr int kSleepingLooks = 5;
/// Longest simulated time that an empty poll waits: a program may look at something else between polls.
constexpr TimePs kLongestPoll = 1'000 * kPsPerUs;
/// Real time between checks of waits for something outside of the model.
constexpr int kOutsideUs = 100'000;
/// After a program has failed: checks without any activity until the others are ended, and real time that one may
/// compute.
constexpr int kQuietLooks = 20;
/// Simulated time for which all programs poll in vain until they count as stalled.
constexpr TimePs kLongestIdle = 100 * kLongestPoll;
constexpr int kLongestAfterFailureS = 20;
constexpr int kHelloSeconds = 20;

std::int64_t cpu_ns(pid_t pid) {
  clockid_t clock = 0;
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// The letter of /proc: R, S, …; X where it is gone.
char state_of(pid_t pid, pid_t tid) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/stat", pid, tid));
  std::string line;
  if (!std::getline(file, line)) return 'X';
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos || name_end + 2 >= line.size() ? 'X' : line[name_end + 2];
}

/// Not asleep: it runs, waits for a disk, or for a debugger.
bool is_active(char state) {
  return state == 'R' || state == 'D' || state == 't';
}

bool ready(std::vector<pollfd>& fds, int timeout_us) {
  const timespec timeout{timeout_us / 1'000'000, timeout_us % 1'000'000 * 1'000L};
  return ppoll(fds.data(), fds.size(), &timeout, nullptr) > 0;
}

/// A number in the environment of the process, which it has from whoever started it; -1 without.
int number_in_environment(pid_t pid, const std::string& name) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  for (std::string setting; std::getline(file, setting, '\0');) {
    if (setting.starts_with(name + "=")) return std::atoi(setting.c_str() + name.size() + 1);
  }
  return -1;
}

/// It was started by another `mrcsim host`.
bool has_joined(pid_t pid) {
  return number_in_environment(pid, "MRCSIM_HOST_JOINED") > 0;
}

int node_of_process(pid_t pid) {
  const int rank = has_joined(pid) ? -1 : number_in_environment(pid, kRank);
  return rank >= 0 ? rank : number_in_environment(pid, "MRCSIM_HOST_NODE");
}

Call call_of(std::span<const std::byte> message) {
  Request request;
  std::memcpy(static_cast<void*>(&request), message.data(), sizeof request);
  return request.call;
}

std::string words_of(const ProgramCommand& command) {
  return fmt::format("{} on nic{}", command.words.front(), command.node);
}

}  // namespace

LockStep::LockStep(const ScenarioConfig& scenario, Launcher& launcher, std::vector<ProgramCommand> commands,
                   bool beyond_mrc)
    : scenario_(scenario), launcher_(launcher) {
  for (ProgramCommand& command : commands) commands_.push_back({std::move(command)});
  for (NodeId id = 0; id < scenario.fabric.nics; ++id) {
    const TimePs later = ps_from_ns(scenario.node(id).host.residual_ns);
    nodes_.push_back(std::make_unique<VerbsNode>(later, beyond_mrc));
  }
  open_socket();
}

LockStep::~LockStep() {
  for (const std::string& note : notes()) fmt::print(stderr, "mrcsim: {}\n", note);
  for (const Command& command : commands_) {
    if (command.pid == 0) continue;
    // Including processes that it left in the background. The number is its own until waitpid().
    kill(-command.pid, SIGKILL);
    kill(command.pid, SIGKILL);
    waitpid(command.pid, nullptr, 0);
  }
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i] != nullptr) close(tasks_[i]->socket);
    for (const pollfd& fd : tasks_[i] != nullptr ? tasks_[i]->fds : std::vector<pollfd>()) close(fd.fd);
  }
  if (listener_ >= 0) close(listener_);
}

void LockStep::open_socket() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = launcher_.socket().string();
  if (path.size() >= sizeof address.sun_path)
    throw std::invalid_argument(fmt::format("{}: the name is too long", path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0 || bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, SOMAXCONN) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
}

void LockStep::attach(const std::vector<ProgramHost*>& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i] == nullptr) {
      nodes_[i] = nullptr;
    } else {
      nodes_[i]->attach(*hosts[i], nodes_);
    }
  }
}

// ---- sockets

void LockStep::accept_tasks() {
  for (;;) {
    const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    auto task = std::make_unique<Task>();
    task->socket = fd;
    task->clock = now_;
    tasks_.push_back(std::move(task));
  }
}

void LockStep::close_task(std::size_t index) {
  Task& task = *tasks_[index];
  close(task.socket);
  for (const pollfd& fd : task.fds) close(fd.fd);
  forget_probes(task);
  if (task.process >= 0) {
    Process& owner = process(task);
    if (--owner.threads == 0) {
      nodes_[owner.node]->remove_process(now_, owner.number);
      owner.pid = 0;
    }
  }
  tasks_[index] = nullptr;
}

void LockStep::take_message(Task& task) {
  std::array<std::byte, kMostBytes> bytes;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostFds)];
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(task.socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  for (const pollfd& fd : task.fds) close(fd.fd);
  task.fds.clear();
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); got >= 0 && header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      task.fds.push_back({fd, POLLIN, 0});
    }
  }
  const auto index = static_cast<std::size_t>(
      std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& t) { return t.get() == &task; }) - tasks_.begin());
  Request request;
  if (got >= static_cast<ssize_t>(sizeof request))
    std::memcpy(static_cast<void*>(&request), bytes.data(), sizeof request);
  const bool sound = got >= static_cast<ssize_t>(sizeof request) && static_cast<std::uint32_t>(request.call) < kCalls &&
                     (request.call == Call::hello) == (task.process < 0);
  if (!sound) {
    // The program has ended, or what it sent cannot be a request.
    if (got > 0) fmt::print(stderr, "mrcsim: a program sent an invalid message; its connection is closed\n");
    close_task(index);
    return;
  }
  forget_probes(task);
  task.request.assign(bytes.data(), bytes.data() + got);
  task.clock = std::max({task.clock, std::min<TimePs>(request.clock_ps, kNever - 1), now_});
  task.at = task.clock;
  // A thread that lost its turn may have missed a write: it polls its memory once more.
  const bool spins = request.call == Call::spin && task.state == State::running;
  task.state = spins ? State::spinning : State::waiting;
  task.was_spinning |= spins;
  task.wakes = false;
}

bool LockStep::listen(int timeout_us) {
  std::vector<pollfd> fds{{listener_, POLLIN, 0}};
  std::vector<Task*> of_fd{nullptr};
  for (const auto& task : tasks_) {
    if (task == nullptr) continue;
    fds.push_back({task->socket, POLLIN, 0});
    of_fd.push_back(task.get());
  }
  errno = 0;
  const bool came = ready(fds, timeout_us);
  signaled_ |= errno == EINTR;
  if (!came) return false;
  if (fds[0].revents != 0) accept_tasks();
  for (std::size_t i = 1; i < fds.size(); ++i) {
    if (fds[i].revents != 0) take_message(*of_fd[i]);
  }
  std::erase_if(tasks_, [](const auto& task) { return task == nullptr; });
  return true;
}

void LockStep::reap() {
  for (Command& command : commands_) {
    if (command.pid == 0 || command.ended) continue;
    siginfo_t info{};
    // The process stays until the destructor: its number may not become a stranger's.
    if (waitid(P_PID, static_cast<id_t>(command.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) continue;
    if (info.si_pid != command.pid) continue;
    command.ended = true;
    (info.si_code == CLD_EXITED ? command.code : command.signal) = info.si_status;
  }
}

// ---- who has the turn

LockStep::Task* LockStep::with_turn() {
  for (const auto& task : tasks_) {
    if (task->state == State::running) return task.get();
  }
  return nullptr;
}

void LockStep::wait_for_turn(Task& task) {
  const Task* const wanted = &task;
  const pid_t pid = process(task).pid;
  const pid_t tid = task.tid;
  std::int64_t looked_ns = cpu_ns(pid);
  std::int64_t silent_ns = task.was_spinning ? kSilentAgainNs : kSilentNs;
  auto begun = std::chrono::steady_clock::now();
  int sleeping = 0;
  while (true) {
    listen(static_cast<int>(std::min<std::int64_t>(silent_ns / 1'000, kLookUs)));
    const bool there = std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& t) { return t.get() == wanted; });
    if (!there || task.state != State::running) return;
    if (signaled_) {
      // The run may have been interrupted: do not wait for a program that computes.
      task.state = State::left;
      return;
    }
    const char state = state_of(pid, tid);
    if (is_active(state)) {
      sleeping = 0;
      const std::int64_t used_ns = cpu_ns(pid) - looked_ns;
      if (used_ns > silent_ns) {
        syscall(SYS_tgkill, pid, tid, kLookSignal);
        looked_ns += used_ns;
        silent_ns *= 2;
      }
      reap();
      const auto now = std::chrono::steady_clock::now();
      if (!failed()) begun = now;
      if (now - begun <= std::chrono::seconds(kLongestAfterFailureS)) continue;
      abandoned_ = true;
    } else if (++sleeping < kSleepingLooks) {
      continue;
    }
    task.state = State::left;
    return;
  }
}

LockStep::Task* LockStep::least() {
  Task* first = nullptr;
  for (const auto& task : tasks_) {
    if (task->state != State::waiting) continue;
    if (first == nullptr || task->at < first->at) first = task.get();
  }
  return first;
}

/// It gets the next turn, and then the answer to its request.
void LockStep::wake(Task& task) {
  task.state = State::waiting;
  task.at = std::max(task.clock, now_);
  task.wakes = true;
}

void LockStep::wake_by_write(NodeId node, std::uint32_t number) {
  for (const auto& task : tasks_) {
    if (task->process < 0 || process(*task).node != node || process(*task).number != number) continue;
    const Process& owner = process(*task);
    task->missed_write = true;
    if (task->state != State::spinning && task->state != State::polling) continue;
    if (task->state == State::spinning || owner.looks_at_memory) wake(*task);
  }
}

/// Another thread of their process goes on, which may hold the lock that they loop over. One that loops itself changes
/// nothing.
void LockStep::wake_siblings(const Task& goes_on) {
  if (goes_on.process < 0 || call_of(goes_on.request) == Call::spin) return;
  for (const auto& task : tasks_) {
    if (task->process == goes_on.process && task->state == State::spinning) wake(*task);
  }
}

bool LockStep::wake_by_missed_writes() {
  bool woken = false;
  for (const auto& task : tasks_) {
    if (task->state != State::polling || !task->missed_write) continue;
    process(*task).looks_at_memory = true;
    wake(*task);
    woken = true;
  }
  return woken;
}

bool LockStep::poll_on() {
  if (served_ != served_before_) idle_since_ = now_;
  served_before_ = served_;
  return now_ - idle_since_ < kLongestIdle;
}

TimePs LockStep::next_write_to_polling() const {
  TimePs next = kNever;
  for (const auto& task : tasks_) {
    if (task->state != State::polling) continue;
    next = std::min(next, nodes_[processes_[static_cast<std::size_t>(task->process)].node]->memory().next_write());
  }
  return next;
}

void LockStep::wake_by_events() {
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id] == nullptr) continue;
    nodes_[id]->take_completions(now_);
    for (const std::uint32_t number : nodes_[id]->memory().apply(now_)) wake_by_write(id, number);
  }
  for (const auto& task : tasks_) {
    const bool answered = task->state == State::probing && node(*task).probes_are_answered(now_, task->batch);
    if (answered || (task->state == State::probing && task->at <= now_)) wake(*task);
    if (task->state != State::polling) continue;
    const bool late = task->at <= now_;
    // It has waited for long, not for a completion of its own: for bytes.
    if (late && task->missed_write && !node(*task).has_work()) process(*task).looks_at_memory = true;
    if (late || node(*task).has_completion(now_, process(*task).number)) wake(*task);
  }
}

void LockStep::wake_by_fds() {
  for (const auto& task : tasks_) {
    if (task->state != State::on_fds) continue;
    if (!ready(task->fds, 0) && task->at > now_) continue;
    // What it learns by the descriptor may be that bytes are there.
    const Process& owner = process(*task);
    for (const std::uint32_t number : node(*task).memory().apply(0, owner.number)) wake_by_write(owner.node, number);
    wake(*task);
  }
}

void LockStep::fire_alarms() {
  for (Process& owner : processes_) {
    if (owner.pid == 0 || owner.alarm_at > now_) continue;
    owner.alarm_at = owner.alarm_interval == 0 ? kNever : owner.alarm_at + owner.alarm_interval;
    kill(owner.pid, SIGALRM);
    for (const auto& task : tasks_) {
      if (task->process < 0 || &process(*task) != &owner) continue;
      const bool rests =
          task->state == State::polling || task->state == State::spinning || task->state == State::on_fds;
      if (rests) wake(*task);
    }
  }
}

/// Nobody acts before something comes from the NICs or from a descriptor. A program that sleeps before it has waited
/// for anything may not listen yet.
bool LockStep::all_rest() const {
  return std::none_of(tasks_.begin(), tasks_.end(), [this](const auto& task) {
    if (task->state == State::waiting)
      return !(task->has_rested && call_of(task->request) == Call::sleep && task->at > now_);
    return task->state == State::running;
  });
}

bool LockStep::start_next() {
  const auto next =
      std::find_if(commands_.begin(), commands_.end(), [](const Command& command) { return command.pid == 0; });
  if (next == commands_.end() || !all_rest()) return false;
  next->pid = launcher_.start(next->what);
  const auto said_hello = [&] {
    return std::any_of(tasks_.begin(), tasks_.end(),
                       [](const auto& task) { return task->process < 0 && task->state == State::waiting; });
  };
  for (int i = 0; i < kHelloSeconds * 1'000'000 / kOutsideUs && !next->ended && !said_hello(); ++i) {
    if (!listen(kOutsideUs)) reap();
  }
  return true;
}

TimePs LockStep::next_time() const {
  TimePs next = kNever;
  for (const auto& task : tasks_) {
    const bool has_time = task->state == State::waiting || task->state == State::polling ||
                          task->state == State::probing || task->state == State::on_fds;
    if (has_time) {
      next = std::min(next, task->at);
    }
  }
  for (const Process& owner : processes_) {
    if (owner.pid != 0) next = std::min(next, owner.alarm_at);
  }
  return next;
}

bool LockStep::let_one_run() {
  if (Task* task = with_turn()) {
    wait_for_turn(*task);
    return true;
  }
  listen(0);
  reap();
  fire_alarms();
  wake_by_events();
  wake_by_fds();
  if (with_turn() != nullptr) return true;
  if (Task* task = least(); task != nullptr && task->at <= now_) {
    serve(*task);
    return true;
  }
  return start_next();
}

bool LockStep::nics_work() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return node != nullptr && node->has_work(); });
}

/// All programs wait for the NICs, and the NICs have nothing to deliver.
bool LockStep::all_poll() const {
  const bool polls = std::all_of(tasks_.begin(), tasks_.end(), [](const auto& task) {
    return task->state == State::polling || task->state == State::spinning;
  });
  const bool alarms = std::any_of(processes_.begin(), processes_.end(),
                                  [](const Process& owner) { return owner.pid != 0 && owner.alarm_at != kNever; });
  return polls && !alarms && !tasks_.empty();
}

void LockStep::wait_outside() {
  std::vector<pollfd> fds{{listener_, POLLIN, 0}};
  for (const auto& task : tasks_) {
    fds.push_back({task->socket, POLLIN, 0});
    if (task->state == State::on_fds) fds.insert(fds.end(), task->fds.begin(), task->fds.end());
  }
  const bool came = ready(fds, kOutsideUs);
  reap();
  quiet_looks_ = came || !is_stuck_after_failure() ? 0 : quiet_looks_ + 1;
  // They may wait for a write by another thread.
  for (const auto& task : tasks_) {
    if (!came && task->state == State::spinning) wake(*task);
  }
}

bool LockStep::failed() const {
  return std::any_of(commands_.begin(), commands_.end(), [](const Command& command) {
    return command.ended && (command.signal != 0 || command.code != 0);
  });
}

bool LockStep::is_stuck_after_failure() const {
  return failed() && std::none_of(tasks_.begin(), tasks_.end(), [&](const auto& task) {
           if (task->process < 0) return false;
           const char state = state_of(processes_[static_cast<std::size_t>(task->process)].pid, task->tid);
           return is_active(state);
         });
}

TimePs LockStep::run(TimePs now) {
  now_ = now;
  signaled_ = false;
  while (!over()) {
    if (signaled_) return now;
    if (let_one_run()) continue;
    const TimePs visible = next_visible();
    const TimePs until = std::min(next_time(), visible);
    if (nics_work() || visible != kNever) return until;
    if (all_poll()) {
      if (wake_by_missed_writes()) continue;
      const TimePs bytes = next_write_to_polling();
      return bytes != kNever || !poll_on() ? bytes : until;
    }
    if (until != kNever) return until;
    // Nothing comes from the NICs: time does not go on.
    wait_outside();
    abandoned_ |= quiet_looks_ >= kQuietLooks;
    if (!let_one_run()) return now;
  }
  return kNever;
}

// ---- requests

template <typename Arguments>
const Arguments* LockStep::arguments(const Task& task) const {
  if (task.request.size() < sizeof(Request) + sizeof(Arguments)) return nullptr;
  return reinterpret_cast<const Arguments*>(task.request.data() + sizeof(Request));
}

std::span<const std::byte> LockStep::tail(const Task& task, std::size_t arguments) const {
  return std::span(task.request).subspan(sizeof(Request) + arguments);
}

void LockStep::reply(Task& task, TimePs clock, const VerbsAnswer& answer, const void* rest, std::size_t bytes, int fd) {
  Reply head;
  head.error = answer.error;
  head.count = answer.count;
  head.value = answer.value;
  head.clock_ps = clock;
  std::array<iovec, 2> parts{iovec{&head, sizeof head}, iovec{const_cast<void*>(rest), bytes}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = bytes > 0 ? 2 : 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  // A program that does not take its answer is gone, or is told so.
  [[maybe_unused]] const ssize_t sent = sendmsg(task.socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (fd >= 0) close(fd);
  for (const pollfd& open : task.fds) close(open.fd);
  task.fds.clear();
  task.clock = clock;
  task.at = kNever;
  task.state = State::running;
  task.wakes = false;
  task.missed_write = false;
  ++served_;
  wake_siblings(task);
}

void LockStep::refuse(Task& task, const char* why) {
  fmt::print(stderr, "mrcsim: {}\n", why);
  shutdown(task.socket, SHUT_RDWR);
  task.state = State::left;
}

void LockStep::hello(Task& task) {
  ucred peer{};
  socklen_t length = sizeof peer;
  const auto* hello = arguments<Hello>(task);
  const bool known = getsockopt(task.socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  const int node = known ? node_of_process(peer.pid) : -1;
  const bool good = hello != nullptr && hello->version == kVersion && known && hello->pid == peer.pid && node >= 0 &&
                    static_cast<std::size_t>(node) < nodes_.size() && nodes_[static_cast<std::size_t>(node)] != nullptr;
  if (!good)
    return refuse(
        task, "a connection was refused: it is from a process outside of this run, or from another version of mrcsim");
  auto owner = std::find_if(processes_.begin(), processes_.end(), [&](const Process& p) { return p.pid == peer.pid; });
  if (owner == processes_.end()) {
    const auto id = static_cast<NodeId>(node);
    const std::uint32_t number = nodes_[id]->memory().add_process(peer.pid);
    if (number == 0) return refuse(task, "a connection was refused: its node has too many processes");
    const bool joined = has_joined(peer.pid);
    processes_.push_back({.pid = peer.pid, .node = id, .number = number, .joined = joined});
    owner = processes_.end() - 1;
  }
  ++owner->threads;
  task.process = static_cast<int>(owner - processes_.begin());
  task.tid = hello->tid;
  const ProgramsConfig& costs = scenario_.node(owner->node).host.programs;
  const Charges charges{ps_from_ns(costs.clock_read_ns), ps_from_ns(costs.tsc_read_ns)};
  reply(task, now_, {}, &charges, sizeof charges);
}

void LockStep::poll_cq(Task& task, bool woken) {
  const auto* wanted = arguments<OneObject>(task);
  if (wanted == nullptr) return reply(task, now_, {.error = EINVAL});
  std::vector<WorkCompletion> found;
  const VerbsAnswer answer =
      node(task).poll(now_, process(task).number, wanted->object, std::min(wanted->number, kMostCompletions), found);
  const double poll_ns = scenario_.node(process(task).node).host.programs.poll_ns;
  const bool has_bytes = task.missed_write && process(task).looks_at_memory;
  if (answer.error == 0 && found.empty() && !woken && !has_bytes && !task.polled.insert(wanted->object).second) {
    // Nothing will be there until something happens.
    task.state = State::polling;
    task.has_rested = true;
    task.at = now_ + kLongestPoll;
    return;
  }
  if (!found.empty() || woken) task.polled.clear();
  if (found.empty()) --served_;  // a look is not progress
  reply(task, now_ + ps_from_ns(poll_ns), answer, found.data(), found.size() * sizeof(WorkCompletion));
}

void LockStep::wait_for_fds(Task& task) {
  const auto* wanted = arguments<WaitFds>(task);
  if (wanted == nullptr || wanted->count > kMostFds || wanted->count != task.fds.size()) {
    return reply(task, now_, {.error = EINVAL});
  }
  task.awaits_events = false;
  for (std::uint32_t i = 0; i < wanted->count; ++i) {
    task.fds[i].events = wanted->events[i];
    struct stat what {};
    if (fstat(task.fds[i].fd, &what) == 0) task.awaits_events |= node(task).is_async_channel(what.st_ino);
  }
  task.at = std::max(now_, wanted->until_ps);
  task.state = State::on_fds;
  task.has_rested = true;
}

void LockStep::forget_probes(Task& task) {
  if (task.batch != 0) node(task).forget_probes(std::exchange(task.batch, 0));
}

void LockStep::probe_evs(Task& task) {
  const TimePs end = now_ + ps_from_us(scenario_.node(process(task).node).host.programs.control_us);
  if (task.batch != 0) {
    std::vector<ProbeAnswer> answers;
    const VerbsAnswer answer = node(task).end_probes(now_, std::exchange(task.batch, 0), answers);
    return reply(task, end, answer, answers.data(), answers.size() * sizeof(ProbeAnswer));
  }
  const auto* wanted = arguments<ProbeEvs>(task);
  const bool whole = wanted != nullptr && wanted->count > 0 && wanted->count <= kMostProbes &&
                     wanted->count * sizeof(ProbeOrder) <= tail(task, sizeof(ProbeEvs)).size();
  const VerbsAnswer begun =
      whole ? node(task).begin_probes(now_, *wanted, tail(task, sizeof(ProbeEvs))) : VerbsAnswer{.error = EINVAL};
  if (begun.error != 0) return reply(task, end, begun);
  task.batch = begun.value;
  task.at = now_ + wanted->timeout_ns * kPsPerNs;
  task.state = State::probing;
  task.has_rested = true;
}

VerbsAnswer LockStep::carry_out(Task& task) {
  VerbsNode& here = node(task);
  const std::uint32_t owner = process(task).number;
  Request request;
  std::memcpy(static_cast<void*>(&request), task.request.data(), sizeof request);
  const auto with = [&]<typename Arguments>(const Arguments*, auto call) -> VerbsAnswer {
    const Arguments* found = arguments<Arguments>(task);
    return found == nullptr ? VerbsAnswer{.error = EINVAL} : call(*found);
  };
  const OneObject* one = nullptr;
  switch (request.call) {
    case Call::register_memory:
      return with(static_cast<RegisterMemory*>(nullptr), [&](const auto& a) { return here.register_memory(owner, a); });
    case Call::deregister_memory:
      return with(one, [&](const auto& a) { return here.deregister_memory(owner, a.object); });
    case Call::create_cq:
      return with(static_cast<CreateCq*>(nullptr), [&](const auto& a) { return here.create_cq(owner, a); });
    case Call::resize_cq:
      return {};
    case Call::destroy_cq:
      return with(one, [&](const auto& a) { return here.destroy_cq(owner, a.object); });
    case Call::arm_cq:
      return with(one, [&](const auto& a) { return here.arm_cq(now_, owner, a.object, a.number != 0); });
    case Call::create_srq:
      return with(one, [&](const auto& a) { return here.create_srq(owner, a.number); });
    case Call::destroy_srq:
      return with(one, [&](const auto& a) { return here.destroy_srq(owner, a.object); });
    case Call::create_qp:
      return with(static_cast<CreateQp*>(nullptr), [&](const auto& a) { return here.create_qp(owner, a); });
    case Call::modify_qp:
      return with(static_cast<ModifyQp*>(nullptr), [&](const auto& a) { return here.modify_qp(now_, owner, a); });
    case Call::query_qp:
      return with(one, [&](const auto& a) { return here.query_qp(owner, a.object); });
    case Call::destroy_qp:
      return with(one, [&](const auto& a) { return here.destroy_qp(now_, owner, a.object); });
    case Call::post_send:
      return with(static_cast<PostSend*>(nullptr), [&](const auto& a) -> VerbsAnswer {
        const std::span<const std::byte> rest = tail(task, sizeof a);
        const bool whole = a.inline_bytes > 0 ? a.inline_bytes <= std::min<std::size_t>(rest.size(), kMostInlineBytes)
                                              : a.sges <= kMostSges && a.sges * sizeof(Sge) <= rest.size();
        return whole ? here.post_send(now_, owner, a, rest) : VerbsAnswer{.error = EINVAL};
      });
    case Call::post_receive:
      return with(static_cast<PostReceive*>(nullptr), [&](const auto& a) -> VerbsAnswer {
        const std::span<const std::byte> rest = tail(task, sizeof a);
        const bool whole = a.sges <= kMostSges && a.sges * sizeof(Sge) <= rest.size();
        return whole ? here.post_receive(now_, owner, a, rest) : VerbsAnswer{.error = EINVAL};
      });
    case Call::set_evs:
      return with(static_cast<SetEvs*>(nullptr), [&](const auto& a) -> VerbsAnswer {
        const std::span<const std::byte> rest = tail(task, sizeof a);
        const bool whole = a.count <= kMostEvsOfRequest && a.count * sizeof(EvSetting) <= rest.size();
        return whole ? here.set_evs(now_, a, rest) : VerbsAnswer{.error = EINVAL};
      });
    case Call::replace_evs:
      return with(static_cast<ReplaceEvs*>(nullptr), [&](const auto& a) -> VerbsAnswer {
        const std::span<const std::byte> rest = tail(task, sizeof a);
        const bool whole = a.count <= kMostEvsOfRequest && a.count * sizeof(EvReplacement) <= rest.size();
        return whole ? here.replace_evs(a, rest) : VerbsAnswer{.error = EINVAL};
      });
    case Call::set_ev_profile:
      return with(static_cast<SetEvProfile*>(nullptr), [&](const auto& a) { return here.set_ev_profile(a); });
    case Call::set_congestion:
      return with(static_cast<SetCongestion*>(nullptr), [&](const auto& a) { return here.set_congestion(a); });
    case Call::watch_evs:
      return with(one, [&](const auto& a) { return here.watch_evs(owner, a.object); });
    case Call::set_alarm:
      return with(static_cast<Until*>(nullptr), [&](const auto& a) -> VerbsAnswer {
        process(task).alarm_at = a.until_ps == 0 ? kNever : std::max<TimePs>(a.until_ps, now_);
        process(task).alarm_interval = a.interval_ps;
        return {};
      });
    default:
      return {.error = EINVAL};
  }
}

void LockStep::serve(Task& task) {
  Request request;
  std::memcpy(static_cast<void*>(&request), task.request.data(), sizeof request);
  if (request.call == Call::hello) return hello(task);
  if (request.call == Call::poll_cq) return poll_cq(task, task.wakes);
  task.polled.clear();
  if (request.call == Call::probe_evs) return probe_evs(task);
  // Others need not wait until one that connects to a program before it listens itself.
  if (request.call == Call::connects) task.has_rested = true;
  const bool only_waits = request.call == Call::turn || request.call == Call::spin || request.call == Call::connects;
  if (only_waits) return reply(task, now_, {});
  const ProgramsConfig& costs = scenario_.node(process(task).node).host.programs;
  if (request.call == Call::wait_fds) return task.wakes ? reply(task, now_, {}) : wait_for_fds(task);
  if (request.call == Call::sleep) {
    const auto* wanted = arguments<Until>(task);
    if (wanted != nullptr && wanted->until_ps > now_ && !task.wakes) {
      task.at = wanted->until_ps;
      return;
    }
    return reply(task, now_, {});
  }
  if (request.call == Call::query_device) {
    const DeviceInfo info = node(task).device();
    return reply(task, now_ + ps_from_us(costs.control_us), {}, &info, sizeof info);
  }
  if (request.call == Call::query_profiles) {
    const ProfileInfo info = node(task).profiles();
    return reply(task, now_ + ps_from_us(costs.control_us), {}, &info, sizeof info);
  }
  if (request.call == Call::query_evs) {
    const auto* wanted = arguments<OneObject>(task);
    const std::vector<EvInfo> evs = wanted == nullptr ? std::vector<EvInfo>() : node(task).evs(wanted->object);
    const auto count = static_cast<std::uint32_t>(evs.size());
    return reply(task, now_ + ps_from_us(costs.control_us), {.error = wanted == nullptr ? EINVAL : 0, .count = count},
                 evs.data(), evs.size() * sizeof(EvInfo));
  }
  if (request.call == Call::create_channel || request.call == Call::open_async) {
    int fd = -1;
    const VerbsAnswer answer = node(task).create_channel(process(task).number, request.call == Call::open_async, fd);
    return reply(task, now_ + ps_from_us(costs.control_us), answer, nullptr, 0, fd);
  }
  const VerbsAnswer answer = carry_out(task);
  if (answer.again) {
    task.at = now_ + ps_from_ns(std::max(costs.poll_ns, 1.0));
    return;
  }
  const bool data_path = request.call == Call::post_send || request.call == Call::post_receive;
  const TimePs cost = data_path ? ps_from_ns(costs.post_ns) : ps_from_us(costs.control_us);
  reply(task,
        now_ + (request.call == Call::arm_cq || request.call == Call::set_alarm ? ps_from_ns(costs.poll_ns) : cost),
        answer);
}

// ---- what the run asks

TimePs LockStep::next_visible() const {
  TimePs next = kNever;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (nodes_[id] == nullptr) continue;
    next = std::min(next, nodes_[id]->next_visible(now_));
    const bool looked_at = std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& task) {
      if (task->state != State::spinning && task->state != State::polling) return false;
      const Process& owner = processes_[static_cast<std::size_t>(task->process)];
      return owner.node == id && (task->state == State::spinning || owner.looks_at_memory);
    });
    if (looked_at) next = std::min(next, nodes_[id]->memory().next_write());
    const bool awaited = std::any_of(tasks_.begin(), tasks_.end(), [&](const auto& task) {
      return task->state == State::on_fds && task->awaits_events &&
             processes_[static_cast<std::size_t>(task->process)].node == id;
    });
    // The NIC has seen the change just after its time.
    const TimePs change = nodes_[id]->host().next_port_change();
    if (awaited && change != kNever) next = std::min(next, change + 1);
  }
  return next;
}

bool LockStep::over() const {
  const bool ended =
      std::all_of(commands_.begin(), commands_.end(), [](const Command& command) { return command.ended; });
  const bool joined = std::any_of(processes_.begin(), processes_.end(),
                                  [](const Process& owner) { return owner.joined && owner.pid != 0; });
  return abandoned_ || (ended && !joined);
}

std::uint64_t LockStep::progress() const {
  std::uint64_t sum = served_;
  for (const auto& node : nodes_) sum += node == nullptr ? 0 : node->completions();
  return sum;
}

std::uint64_t LockStep::messages_offered() const {
  std::uint64_t sum = 0;
  for (const auto& node : nodes_) sum += node == nullptr ? 0 : node->messages();
  return sum;
}

std::uint64_t LockStep::bytes_offered() const {
  std::uint64_t sum = 0;
  for (const auto& node : nodes_) sum += node == nullptr ? 0 : node->bytes();
  return sum;
}

std::vector<std::string> LockStep::failures() const {
  // Killed programs first: their end may be the reason why others failed or wait.
  std::vector<std::string> killed;
  std::vector<std::string> others;
  for (const Command& command : commands_) {
    const std::string words = words_of(command.what);
    if (!command.ended && abandoned_) {
      others.push_back(fmt::format("{} still ran after another program had failed, and was ended", words));
    }
    if (!command.ended) continue;
    if (command.signal != 0) {
      killed.push_back(fmt::format("{} was ended by signal {}", words, command.signal));
    } else if (command.code != 0) {
      others.push_back(fmt::format("{} ended with code {}", words, command.code));
    }
  }
  killed.insert(killed.end(), others.begin(), others.end());
  return killed;
}

std::vector<std::string> LockStep::notes() const {
  VerbsNode::Beyond sum;
  for (const auto& node : nodes_) {
    if (node == nullptr) continue;
    sum.sends += node->beyond().sends;
    sum.empty += node->beyond().empty;
    sum.reads += node->beyond().reads;
    sum.atomics += node->beyond().atomics;
    sum.datagrams += node->beyond().datagrams;
    sum.within += node->beyond().within;
    sum.datagrams_dropped += node->beyond().datagrams_dropped;
  }
  std::vector<std::string> notes;
  if (sum.sends > 0)
    notes.push_back(fmt::format("beyond MRC: {} SENDs were carried as WRITEs with immediate", sum.sends));
  if (sum.empty > 0) notes.push_back(fmt::format("beyond MRC: {} WRITEs of 0 bytes were carried as 1 byte", sum.empty));
  constexpr const char* as_requests = "were carried as a request and a WRITE back";
  if (sum.reads > 0) notes.push_back(fmt::format("beyond MRC: {} READs {}", sum.reads, as_requests));
  if (sum.atomics > 0) notes.push_back(fmt::format("beyond MRC: {} atomic operations {}", sum.atomics, as_requests));
  if (sum.within > 0) notes.push_back(fmt::format("beyond MRC: {} messages within a node were copied", sum.within));
  if (sum.datagrams > 0) {
    notes.push_back(
        fmt::format("beyond MRC: {} datagrams were carried as WRITEs with immediate, {} dropped by receivers",
                    sum.datagrams, sum.datagrams_dropped));
  }
  return notes;
}

std::vector<std::string> LockStep::describe_waits() const {
  std::vector<std::string> lines;
  for (const auto& task : tasks_) {
    if (task->process < 0) continue;
    const Process& owner = processes_[static_cast<std::size_t>(task->process)];
    const char* what = task->state == State::polling    ? "polls a completion queue that stays empty"
                       : task->state == State::probing  ? "waits for answers to probes"
                       : task->state == State::on_fds   ? "waits for a descriptor"
                       : task->state == State::spinning ? "waits for a write into its memory"
                       : task->state == State::left     ? "waits in the operating system"
                                                        : "runs";
    lines.push_back(fmt::format("process {} on nic{} {}", owner.pid, owner.node, what));
  }
  return lines;
}

}  // namespace mrc
