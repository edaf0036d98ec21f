// Programs and the model in lock step of simulated time. Each thread that speaks with the model has a clock. One of
// them runs at a time, the one whose clock is least; the NICs go on while all wait, up to the next of the times at
// which one acts. Before a thread does what another program may see (it writes to a socket, closes one, ends), it waits
// until nobody is behind its clock. So the same programs with the same scenario do the same at the same times, as long
// as they do not race with themselves.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "programs/launcher.h"
#include "programs/programs.h"
#include "programs/verbs_node.h"
#include "verbs/messages.h"

namespace mrc {

class LockStep : public Programs {
 public:
  LockStep(const ScenarioConfig& scenario, Launcher& launcher, std::vector<ProgramCommand> commands, bool beyond_mrc);
  ~LockStep() override;

  // Programs
  OtherMemory& memory_of(NodeId node) override { return nodes_[node]->memory(); }
  void attach(const std::vector<ProgramHost*>& hosts) override;
  TimePs run(TimePs now) override;
  TimePs next_visible() const override;
  bool over() const override;
  std::uint64_t progress() const override;
  std::uint64_t messages_offered() const override;
  std::uint64_t bytes_offered() const override;
  std::vector<std::string> failures() const override;
  std::vector<std::string> describe_waits() const override;
  std::vector<std::string> notes() const override;

 private:
  struct Command {
    ProgramCommand what;
    pid_t pid = 0;  ///< 0: not started
    bool ended = false;
    int code = 0;
    int signal = 0;  ///< that ended it; 0: none
  };
  /// A process that has spoken.
  struct Process {
    pid_t pid = 0;
    NodeId node = 0;
    std::uint32_t number = 0;      ///< at its node
    bool joined = false;           ///< it was started by another `mrcsim host`
    bool looks_at_memory = false;  ///< between polls of its completion queues
    std::uint32_t threads = 0;
    TimePs alarm_at = kNever;
    TimePs alarm_interval = 0;
    pid_t alarm_pid = 0;
  };
  enum class State : std::uint8_t {
    running,   ///< it has the turn
    waiting,   ///< for `at`, when its request is carried out
    polling,   ///< for a completion
    spinning,  ///< it loops over its memory until something is written there
    probing,   ///< for answers to its probes
    on_fds,    ///< for a descriptor
    left,      ///< in a call of the operating system that the model does not know
  };
  struct Task {
    int socket = -1;
    int process = -1;  ///< -1: it has not said who it is
    pid_t tid = 0;
    State state = State::left;
    TimePs clock = 0;  ///< as far as it is known
    TimePs at = kNever;
    std::vector<std::byte> request;
    std::set<std::uint32_t> polled;  ///< queues that were empty since the last that was seen
    std::vector<pollfd> fds;         ///< ours
    std::uint64_t batch = 0;         ///< of probes that it waits for; 0: none
    bool awaits_events = false;      ///< one of them is for events of the device
    bool missed_write = false;       ///< its memory was written since it ran
    bool has_rested = false;         ///< it has waited for something, as a server that listens, or connected
    bool was_spinning = false;
    bool wakes = false;  ///< `request` is done; the turn comes with its reply
  };

  void open_socket();
  void close_task(std::size_t task);
  void accept_tasks();
  /// Looks at all sockets for at most `timeout_us`. True where something came.
  bool listen(int timeout_us);
  void take_message(Task& task);
  void reap();
  bool start_next();
  bool all_rest() const;

  /// Until the task that has the turn gives it back or turns out not to need it.
  void wait_for_turn(Task& task);
  Task* with_turn();
  void wake(Task& task);
  /// Those of a process whose memory was written: that loop over it, or look at it between polls.
  void wake_by_write(NodeId node, std::uint32_t number);
  void wake_siblings(const Task& goes_on);
  /// All poll, and what they poll for may be bytes: learns whose memory has been written. False where there is none.
  bool wake_by_missed_writes();
  /// They may look at something else between polls, such as a socket: they poll on, for a while.
  bool poll_on();
  /// When bytes for a program that polls are seen.
  TimePs next_write_to_polling() const;
  void wake_by_events();
  void wake_by_fds();
  void fire_alarms();
  Task* least();
  TimePs next_time() const;
  /// One step of one program, if one may do anything at this time.
  bool let_one_run();
  bool nics_work() const;
  bool all_poll() const;
  void wait_outside();
  bool failed() const;
  /// A program has failed, and all others sleep.
  bool is_stuck_after_failure() const;

  void serve(Task& task);
  void hello(Task& task);
  void refuse(Task& task, const char* why);
  void reply(Task& task, TimePs clock, const VerbsAnswer& answer, const void* rest = nullptr, std::size_t bytes = 0,
             int fd = -1);
  void poll_cq(Task& task, bool woken);
  void wait_for_fds(Task& task);
  void probe_evs(Task& task);
  /// It does not wait for them any more.
  void forget_probes(Task& task);
  VerbsAnswer carry_out(Task& task);
  /// The arguments of the task's request; null where it is too short.
  template <typename Arguments>
  const Arguments* arguments(const Task& task) const;
  std::span<const std::byte> tail(const Task& task, std::size_t arguments) const;
  Process& process(const Task& task) { return processes_[static_cast<std::size_t>(task.process)]; }
  VerbsNode& node(const Task& task) { return *nodes_[process(task).node]; }

  const ScenarioConfig& scenario_;
  Launcher& launcher_;
  std::vector<Command> commands_;
  std::vector<std::unique_ptr<VerbsNode>> nodes_;  ///< null where the node is not built
  std::vector<Process> processes_;
  std::vector<std::unique_ptr<Task>> tasks_;
  int listener_ = -1;
  TimePs now_ = 0;  ///< of the NICs
  std::uint64_t served_ = 0;
  std::uint64_t served_before_ = 0;  ///< when all polled last
  TimePs idle_since_ = 0;            ///< of all programs, which poll in vain
  int quiet_looks_ = 0;              ///< since a program failed: times that nothing came from outside
  bool signaled_ = false;            ///< a signal came since run() was called
  bool abandoned_ = false;           ///< programs that are left are not waited for
};

}  // namespace mrc
