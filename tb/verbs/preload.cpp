// Preloaded into programs that run on the model: their clocks and sleeps are simulated, they find the device, and while
// they wait the model knows of it. Everything else of them is as it is on disk. No library but libc is used.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "verbs/counted_loop.h"
#include "verbs/messages.h"
#include "verbs/program_side.h"

#define MRCSIM_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace mrc::verbs;

constexpr std::uint64_t kPsPerNs = 1'000;
constexpr std::uint64_t kPsPerUs = 1'000'000;
constexpr std::uint64_t kPsPerSecond = 1'000'000'000'000;
/// Simulated time 0 on the calendar: 2026-01-01, so that the same run prints the same dates.
constexpr std::int64_t kEpochSeconds = 1'767'225'600;
/// And of clocks that count from an unknown time: not 0, which Open MPI takes for a clock that was not read.
constexpr std::int64_t kMonotonicSeconds = 1;
/// The time stamp counter runs at 1 GHz: one count a nanosecond.
constexpr std::uint64_t kPsPerTsc = kPsPerNs;
constexpr char kDevices[] = "/dev/infiniband/uverbs";
constexpr char kSysfs[] = "/sys/class/infiniband";
constexpr int kNetlinkRdma = 20;
/// A thread that only reads its clock waits for the others after this time, or after this share of the time that it has
/// spent reading it.
constexpr std::uint64_t kMostAheadPs = kPsPerUs;
constexpr std::uint64_t kAheadShare = 64;
constexpr std::uint32_t kCreateChannelCommand = 17;  // IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL

/// A thread as the model knows it.
struct Thread {
  std::uint64_t clock_ps = 0;
  std::uint64_t told_ps = 0;   ///< the clock when the model last heard of it
  std::uint64_t acted_ps = 0;  ///< and when it last did more than to look at its clock
  int socket = -1;
  bool tried = false;
  bool busy = false;  ///< speaks with the model: a signal's handler may not
};
thread_local Thread this_thread;

char socket_path[sizeof(sockaddr_un::sun_path)];
char sysfs_path[256];  ///< the tree in the place of /sys
Charges charges;
pthread_t main_thread;
constexpr int kMostChannels = 4'096;
std::uint32_t channel_of_fd[kMostChannels];  ///< the model's numbers of completion channels
bool active = false;                         ///< the program belongs to a run
bool joined = false;                         ///< that it was not started by
volatile std::uint64_t latest_clock_ps = 0;  ///< of the program's main thread, for threads that never spoke

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}
// The function of libc behind one that is interposed here, looked up once.
#define MRCSIM_NEXT(name)                         \
  static decltype(&::name) libc_##name = nullptr; \
  if (libc_##name == nullptr) libc_##name = next<decltype(&::name)>(#name)

long raw_send(int socket, const void* bytes, std::size_t count, const int* fds, std::uint32_t fd_count) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostFds)] = {};
  iovec part{const_cast<void*>(bytes), count};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd_count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fd_count);
    memcpy(CMSG_DATA(header), fds, sizeof(int) * fd_count);
  }
  long sent = 0;
  do {
    sent = syscall(SYS_sendmsg, socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

long raw_receive(int socket, void* bytes, std::size_t room, int* fd) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{bytes, room};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  long got = 0;
  do {
    got = syscall(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (fd == nullptr || got < 0) return got;
  *fd = -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) memcpy(fd, CMSG_DATA(header), sizeof *fd);
  return got;
}

/// Without the model there is no NIC and no time, so the program ends. The model's watcher prints the reason, where a
/// program that joined the run may not see it.
[[noreturn]] void model_is_gone() {
  constexpr char text[] = "mrcsim: the run has ended\n";
  if (joined) syscall(SYS_write, STDERR_FILENO, text, sizeof text - 1);
  syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

int exchange(Thread& thread, Request* request, std::size_t bytes, Reply* reply, std::size_t room, int* fd,
             const int* fds = nullptr, std::uint32_t fd_count = 0) {
  thread.busy = true;
  request->clock_ps = thread.clock_ps;
  if (raw_send(thread.socket, request, bytes, fds, fd_count) != static_cast<long>(bytes)) model_is_gone();
  const long got = raw_receive(thread.socket, reply, room, fd);
  if (got < static_cast<long>(sizeof(Reply))) model_is_gone();
  if (reply->clock_ps > thread.clock_ps) thread.clock_ps = reply->clock_ps;
  thread.told_ps = thread.acted_ps = thread.clock_ps;
  thread.busy = false;
  if (pthread_equal(pthread_self(), main_thread)) latest_clock_ps = thread.clock_ps;
  return reply->error;
}

/// The model says when this thread may begin.
bool join(Thread& thread) {
  if (thread.tried) return thread.socket >= 0;
  thread.tried = true;
  const int saved = errno;
  const int fd = static_cast<int>(syscall(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, socket_path, sizeof socket_path);
  if (fd < 0 || syscall(SYS_connect, fd, &address, sizeof address) != 0) {
    if (fd >= 0) syscall(SYS_close, fd);
    errno = saved;
    return false;
  }
  // Out of the way of programs that count on low numbers.
  const int high = static_cast<int>(syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 200));
  if (high >= 0) syscall(SYS_close, fd);
  thread.socket = high >= 0 ? high : fd;
  thread.clock_ps = latest_clock_ps;
  struct {
    Request request;
    Hello hello;
  } message;
  message.request.call = Call::hello;
  message.hello.pid = static_cast<std::int32_t>(syscall(SYS_getpid));
  message.hello.tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  alignas(8) char answer[kMostBytes];
  auto* reply = reinterpret_cast<Reply*>(answer);
  if (exchange(thread, &message.request, sizeof message, reply, sizeof answer, nullptr) != 0) {
    fprintf(stderr, "mrcsim: the model refused this program\n");
    _exit(127);
  }
  memcpy(static_cast<void*>(&charges), reply + 1, sizeof charges);
  errno = saved;
  return true;
}

/// Whether the calling thread is one of those whose time is simulated: the main thread always, others once they use
/// verbs.
bool in_step() {
  return active && this_thread.socket >= 0 && !this_thread.busy;
}

void tell(Call call) {
  Request request;
  request.call = call;
  Reply answer;
  exchange(this_thread, &request, sizeof request, &answer, sizeof answer, nullptr);
}

std::uint64_t read_clock(std::uint64_t charge_ps) {
  if (this_thread.socket < 0) return latest_clock_ps;
  this_thread.clock_ps += charge_ps;
  if (pthread_equal(pthread_self(), main_thread)) latest_clock_ps = this_thread.clock_ps;
  const std::uint64_t now = this_thread.clock_ps;
  const std::uint64_t looking_ps = this_thread.told_ps - this_thread.acted_ps;
  const std::uint64_t ahead_ps = looking_ps / kAheadShare > kMostAheadPs ? looking_ps / kAheadShare : kMostAheadPs;
  if (this_thread.busy || now - this_thread.told_ps < ahead_ps) return now;
  const std::uint64_t acted_ps = this_thread.acted_ps;
  tell(Call::turn);
  this_thread.acted_ps = acted_ps;
  return now;
}

void sleep_until(std::uint64_t until_ps) {
  struct {
    Request request;
    Until until;
  } message;
  message.request.call = Call::sleep;
  message.until.until_ps = until_ps;
  Reply answer;
  exchange(this_thread, &message.request, sizeof message, &answer, sizeof answer, nullptr);
}

std::uint64_t after(std::uint64_t ps) {
  return this_thread.clock_ps > kForever - ps ? kForever : this_thread.clock_ps + ps;
}
std::uint64_t ps_of(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kPsPerSecond + static_cast<std::uint64_t>(time.tv_nsec) * kPsPerNs;
}

/// Until one of the descriptors is ready or the time has come. More descriptors than a message takes are not waited for
/// one by one: the caller looks again after a while.
void wait_fds(const pollfd* fds, std::uint32_t count, std::uint64_t until_ps) {
  struct {
    Request request;
    WaitFds wait;
  } message;
  message.request.call = Call::wait_fds;
  int numbers[kMostFds];
  for (std::uint32_t i = 0; i < count && message.wait.count < kMostFds; ++i) {
    if (fds[i].fd < 0 || fcntl(fds[i].fd, F_GETFD) < 0) continue;
    numbers[message.wait.count] = fds[i].fd;
    message.wait.events[message.wait.count++] = fds[i].events;
  }
  constexpr std::uint64_t again_ps = 10 * kPsPerUs;
  message.wait.until_ps = count > kMostFds ? after(again_ps) : until_ps;
  Reply answer;
  exchange(this_thread, &message.request, sizeof message, &answer, sizeof answer, nullptr, numbers, message.wait.count);
}

int raw_poll(pollfd* fds, nfds_t count, int timeout_ms) {
  return static_cast<int>(syscall(SYS_poll, fds, count, timeout_ms));
}

/// Before a call that would block on `fd`: returns when it does not any more.
void wait_for(int fd, short events) {
  if (!in_step()) return;
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_NONBLOCK) != 0) return;
  struct stat what;
  if (fstat(fd, &what) != 0 || S_ISREG(what.st_mode) || S_ISDIR(what.st_mode)) return;
  const int saved = errno;
  for (;;) {
    pollfd one{fd, events, 0};
    if (raw_poll(&one, 1, 0) != 0) break;
    wait_fds(&one, 1, kForever);
  }
  errno = saved;
}

/// Before an action on `fd` that other programs may see: threads with an earlier clock run first, so that data between
/// programs follows their clocks.
void before_effect(int fd, Call call = Call::turn) {
  if (!in_step()) return;
  const int saved = errno;
  struct stat what;
  if (fstat(fd, &what) == 0 && (S_ISSOCK(what.st_mode) || S_ISFIFO(what.st_mode))) tell(call);
  errno = saved;
}

/// After a write: waits until TCP has sent the data, so that the reader can see it.
ssize_t settled(int fd, ssize_t written) {
  if (!in_step() || written <= 0) return written;
  const int saved = errno;
  constexpr int looks = 100;
  constexpr timespec pause{0, 20'000};
  for (int left = 0, i = 0; i < looks && ioctl(fd, SIOCOUTQNSD, &left) == 0 && left > 0; ++i) {
    syscall(SYS_nanosleep, &pause, nullptr);
  }
  errno = saved;
  return written;
}

/// Where what a program names is to be found: the device in /dev/null, its place in /sys in the model's tree.
class Place {
 public:
  explicit Place(const char* path) : path_(path) {
    if (!active || path == nullptr) return;
    if (strncmp(path, kDevices, sizeof kDevices - 1) == 0) path_ = "/dev/null";
    if (strncmp(path, kSysfs, sizeof kSysfs - 1) != 0) return;
    const char* inside = path + sizeof "/sys" - 1;
    const std::size_t root = strlen(sysfs_path);
    if (root == 0 || root + strlen(inside) >= sizeof room_) return;
    memcpy(room_, sysfs_path, root);
    memcpy(room_ + root, inside, strlen(inside) + 1);
    path_ = room_;
  }
  const char* path() const { return path_; }

 private:
  const char* path_;
  char room_[512];
};

// ---- rdtsc, and loops over memory

/// What the program has set for the signals that are needed here.
struct Kept {
  int signal;
  struct sigaction wanted;
};
Kept kept_actions[] = {{SIGSEGV, {}}, {SIGTRAP, {}}, {kLookSignal, {}}};

Kept* kept_of(int signal) {
  for (Kept& kept : kept_actions) {
    if (kept.signal == signal) return &kept;
  }
  return nullptr;
}

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& wanted = kept_of(signal)->wanted;
  if ((wanted.sa_flags & SA_SIGINFO) != 0 && wanted.sa_sigaction != nullptr) {
    wanted.sa_sigaction(signal, info, context);
    return;
  }
  if (wanted.sa_handler != SIG_DFL && wanted.sa_handler != SIG_IGN) {
    wanted.sa_handler(signal);
    return;
  }
  if (signal == kLookSignal) return;  // ignored by default
  const bool sent = info->si_code <= 0;
  if (sent && wanted.sa_handler == SIG_IGN) return;
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  MRCSIM_NEXT(sigaction);
  libc_sigaction(signal, &plain, nullptr);
  // A faulting instruction faults again. A signal that was sent, or the trap behind an instruction, comes only once.
  if (sent || signal == SIGTRAP) raise(signal);
}

#if defined(__x86_64__)

void on_segv(int signal, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  // A fault of the program's own has an address; that of rdtsc has none, and its instruction can be read.
  if (info->si_code == SI_KERNEL) {
    const bool rdtsc = code[0] == 0x0F && code[1] == 0x31;
    const bool rdtscp = code[0] == 0x0F && code[1] == 0x01 && code[2] == 0xF9;
    if (rdtsc || rdtscp) {
      const int saved = errno;
      const std::uint64_t count = read_clock(charges.tsc_read_ps) / kPsPerTsc;
      errno = saved;
      registers[REG_RAX] = static_cast<greg_t>(count & 0xFFFF'FFFF);
      registers[REG_RDX] = static_cast<greg_t>(count >> 32);
      if (rdtscp) registers[REG_RCX] = 0;
      registers[REG_RIP] += rdtsc ? 2 : 3;
      return;
    }
  }
  pass_on(signal, info, context);
}

constexpr greg_t kTrapFlag = 0x100;
constexpr int kRegisters = REG_EFL + 1;  ///< those that a program computes with, its place and its flags
/// The red zone of the x86-64 ABI: a function without calls may keep data below the stack pointer.
constexpr std::size_t kStackBelow = 128;
constexpr std::size_t kStackBytes = kStackBelow + 896;
constexpr unsigned kMostSteps = 1'024;
constexpr std::size_t kMostCounted = 16;  ///< instructions of a loop that counts its rounds
/// What instructions call the registers REG_R8 to REG_RCX.
constexpr unsigned kNumbers[] = {8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1};

/// A thread that runs for long and asks for nothing either computes or loops over memory that the NIC will write. It is
/// in a loop that changes nothing if its registers and the end of its stack are again what they were some instructions
/// before, and no function was called or left between. What it does then does not depend on how often it goes round.
/// One register may differ in which the loop counts its rounds.
struct Look {
  bool on = false;
  unsigned steps = 0;
  unsigned keep_at = 1;     ///< the step whose state is kept next
  bool comparable = false;  ///< no call since
  std::uint64_t clock_ps = 0;
  greg_t registers[kRegisters];
  unsigned char stack[kStackBytes];
  std::size_t run = 0;  ///< instructions since
  const unsigned char* code[kMostCounted];
};
thread_local Look look;

/// The next instruction is a call of the system. It may block signals, and a trap that is blocked ends the program; or
/// it starts a thread or a process, which would inherit the trap.
bool is_before_syscall(const greg_t* registers) {
  const auto* code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  return code[0] == 0x0F && code[1] == 0x05;
}

bool is_same_round(const greg_t* registers) {
  if (memcmp(registers, look.registers, sizeof look.registers) == 0) return true;
  if (registers[REG_RIP] != look.registers[REG_RIP] || look.run > kMostCounted) return false;
  int counter = -1;
  for (int i = 0; i <= REG_RCX; ++i) {
    if (registers[i] == look.registers[i]) continue;
    if (counter >= 0) return false;
    counter = i;
  }
  return counter >= 0 && only_counts(look.code, look.run, kNumbers[counter]);
}

void on_step(int signal, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (!look.on) return pass_on(signal, info, context);
  const auto stop = [&] {
    look.on = false;
    registers[REG_EFL] &= ~kTrapFlag;
  };
  // It has called something.
  if (this_thread.busy || this_thread.clock_ps != look.clock_ps) return stop();
  if (++look.steps > kMostSteps || is_before_syscall(registers)) return stop();
  const auto* stack = reinterpret_cast<const unsigned char*>(registers[REG_RSP]) - kStackBelow;
  look.comparable = look.comparable && registers[REG_RSP] == look.registers[REG_RSP];
  if (look.comparable && is_same_round(registers) && memcmp(stack, look.stack, kStackBytes) == 0) {
    stop();
    const int saved = errno;
    tell(Call::spin);
    errno = saved;
    return;
  }
  const bool keeps = look.steps == look.keep_at;
  if (keeps) look.run = 0;
  if (look.run < kMostCounted) look.code[look.run] = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  ++look.run;
  if (!keeps) return;
  look.keep_at *= 2;
  look.comparable = true;
  memcpy(look.registers, registers, sizeof look.registers);
  memcpy(look.stack, stack, kStackBytes);
}

/// The model has had no message from this thread for a while.
void on_look(int signal, siginfo_t* info, void* context) {
  if (info->si_code != SI_TKILL) return pass_on(signal, info, context);
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (!in_step() || is_before_syscall(registers)) return;
  look.on = true;
  look.steps = 0;
  look.keep_at = 1;
  look.comparable = false;
  look.run = 0;
  look.clock_ps = this_thread.clock_ps;
  registers[REG_EFL] |= kTrapFlag;
}

void trap_rdtsc(bool on) {
  prctl(PR_SET_TSC, on ? PR_TSC_SIGSEGV : PR_TSC_ENABLE, 0, 0, 0);
}

void catch_signals() {
  MRCSIM_NEXT(sigaction);
  const auto handle = [](int signal, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK | SA_RESTART;
    sigaddset(&action.sa_mask, kLookSignal);  // a handler is not looked at
    libc_sigaction(signal, &action, &kept_of(signal)->wanted);
  };
  handle(SIGSEGV, on_segv);
  handle(SIGTRAP, on_step);
  handle(kLookSignal, on_look);
  trap_rdtsc(true);
}

#else
#error "programs on modeled NICs: x86-64 only"
#endif

void in_child() {
  this_thread.socket = -1;
  this_thread.tried = false;
  main_thread = pthread_self();
  join(this_thread);
}

/// A rank of MPI runs on the node of its number, and not on that of the program that has started it. Changes what the
/// environment says, in the array that libc takes over.
void move_to_node_of_rank(char** settings) {
  static char sysfs[256];
  static char node[64];
  const char* rank = getenv(kRank);
  const char* run = getenv("MRCSIM_HOST_SOCKET");
  if (rank == nullptr || joined) return;
  const auto folder = static_cast<int>(strrchr(run, '/') - run);
  snprintf(sysfs, sizeof sysfs, "SYSFS_PATH=%.*s/node%s", folder, run, rank);
  snprintf(node, sizeof node, "MRCSIM_HOST_NODE=%s", rank);
  for (char** setting = settings; *setting != nullptr; ++setting) {
    for (char* changed : {sysfs, node}) {
      const std::size_t name = static_cast<std::size_t>(strchr(changed, '=') - changed) + 1;
      if (strncmp(*setting, changed, name) == 0) *setting = changed;
    }
  }
}

/// The first constructor of all, libc's own included: which gives it the environment, as the loader does.
__attribute__((constructor)) void begin(int, char**, char** settings) {
  if (environ == nullptr) environ = settings;
  const char* path = getenv("MRCSIM_HOST_SOCKET");
  if (path == nullptr || strlen(path) >= sizeof socket_path) return;
  memcpy(socket_path, path, strlen(path) + 1);
  joined = getenv("MRCSIM_HOST_JOINED") != nullptr;
  move_to_node_of_rank(settings);
  const char* sysfs = getenv("SYSFS_PATH");
  if (sysfs != nullptr && strlen(sysfs) < sizeof sysfs_path) memcpy(sysfs_path, sysfs, strlen(sysfs) + 1);
  main_thread = pthread_self();
  // The model reads and writes what the program registers.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  active = true;
  catch_signals();
  if (!join(this_thread)) {
    trap_rdtsc(false);
    active = false;
    return;
  }
  pthread_atfork(nullptr, nullptr, in_child);
}

/// Other programs see the descriptors close at this time.
__attribute__((destructor)) void end() {
  if (in_step()) tell(Call::turn);
}

}  // namespace

MRCSIM_EXPORT int mrcsim_call(Request* request, std::size_t bytes, Reply* reply, int* fd) {
  if (!active || !join(this_thread)) return ENODEV;
  return exchange(this_thread, request, bytes, reply, kMostBytes, fd);
}

MRCSIM_EXPORT std::uint32_t mrcsim_channel_of(int fd) {
  return fd >= 0 && fd < kMostChannels ? channel_of_fd[fd] : 0;
}

// ---- other programs

namespace {

/// The rdtsc trap survives exec(), its handler does not: the new program would be killed in its loader.
template <typename Start>
auto without_trap(Start start) {
  if (!active) return start();
  trap_rdtsc(false);
  const auto result = start();
  trap_rdtsc(true);
  return result;
}

constexpr int kMostWords = 4'096;

/// Calls `start` with the words of execl() and its like. `more` is then behind the last of them.
template <typename Start>
int with_words(const char* first, va_list* more, Start start) {
  const char* words[kMostWords];
  words[0] = first;
  for (int i = 0; words[i] != nullptr; ++i) {
    if (i + 1 == kMostWords) {
      errno = E2BIG;
      return -1;
    }
    words[i + 1] = va_arg(*more, const char*);
  }
  return start(const_cast<char* const*>(words));
}

}  // namespace

MRCSIM_EXPORT int execve(const char* path, char* const words[], char* const settings[]) noexcept {
  MRCSIM_NEXT(execve);
  return without_trap([&] { return libc_execve(path, words, settings); });
}
MRCSIM_EXPORT int execv(const char* path, char* const words[]) noexcept {
  return execve(path, words, environ);
}
MRCSIM_EXPORT int execvpe(const char* name, char* const words[], char* const settings[]) noexcept {
  MRCSIM_NEXT(execvpe);
  return without_trap([&] { return libc_execvpe(name, words, settings); });
}
MRCSIM_EXPORT int execvp(const char* name, char* const words[]) noexcept {
  return execvpe(name, words, environ);
}
MRCSIM_EXPORT int execveat(int folder, const char* path, char* const words[], char* const settings[],
                           int flags) noexcept {
  MRCSIM_NEXT(execveat);
  return without_trap([&] { return libc_execveat(folder, path, words, settings, flags); });
}
MRCSIM_EXPORT int fexecve(int fd, char* const words[], char* const settings[]) noexcept {
  MRCSIM_NEXT(fexecve);
  return without_trap([&] { return libc_fexecve(fd, words, settings); });
}
MRCSIM_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  va_list more;
  va_start(more, first);
  const int result = with_words(first, &more, [&](char* const* words) { return execv(path, words); });
  va_end(more);
  return result;
}
MRCSIM_EXPORT int execlp(const char* name, const char* first, ...) noexcept {
  va_list more;
  va_start(more, first);
  const int result = with_words(first, &more, [&](char* const* words) { return execvp(name, words); });
  va_end(more);
  return result;
}
MRCSIM_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  va_list more;
  va_start(more, first);
  const int result =
      with_words(first, &more, [&](char* const* words) { return execve(path, words, va_arg(more, char* const*)); });
  va_end(more);
  return result;
}
MRCSIM_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                              const posix_spawnattr_t* attributes, char* const words[], char* const settings[]) {
  MRCSIM_NEXT(posix_spawn);
  return without_trap([&] { return libc_posix_spawn(pid, path, actions, attributes, words, settings); });
}
MRCSIM_EXPORT int posix_spawnp(pid_t* pid, const char* name, const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const words[], char* const settings[]) {
  MRCSIM_NEXT(posix_spawnp);
  return without_trap([&] { return libc_posix_spawnp(pid, name, actions, attributes, words, settings); });
}
MRCSIM_EXPORT int system(const char* command) {
  MRCSIM_NEXT(system);
  return without_trap([&] { return libc_system(command); });
}
MRCSIM_EXPORT FILE* popen(const char* command, const char* type) {
  MRCSIM_NEXT(popen);
  return without_trap([&] { return libc_popen(command, type); });
}

// ---- clocks and sleeps

namespace {

/// What the clock shows at simulated time 0.
std::int64_t begin_of(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? kEpochSeconds : kMonotonicSeconds;
}

}  // namespace

MRCSIM_EXPORT int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (!active) return static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  const std::uint64_t now = read_clock(charges.clock_read_ps);
  time->tv_sec = static_cast<time_t>(now / kPsPerSecond) + begin_of(clock);
  time->tv_nsec = static_cast<long>(now % kPsPerSecond / kPsPerNs);
  return 0;
}

MRCSIM_EXPORT int gettimeofday(timeval* time, void* zone) noexcept {
  if (!active) return static_cast<int>(syscall(SYS_gettimeofday, time, zone));
  const std::uint64_t now = read_clock(charges.clock_read_ps);
  time->tv_sec = static_cast<time_t>(now / kPsPerSecond) + kEpochSeconds;
  time->tv_usec = static_cast<suseconds_t>(now % kPsPerSecond / kPsPerUs);
  return 0;
}

MRCSIM_EXPORT time_t time(time_t* to) noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}

/// perftest and OCP's example draw their first PSNs by process id and time. For the same figures each time, the node's
/// number takes the place of the process id; other seeds stay.
MRCSIM_EXPORT void srand48(long seed) noexcept {
  MRCSIM_NEXT(srand48);
  const char* node = getenv("MRCSIM_HOST_NODE");
  const long now = kEpochSeconds + static_cast<long>(latest_clock_ps / kPsPerSecond);
  for (const long seconds : {now - 1, now}) {
    if (!active || node == nullptr) break;
    if (seed == seconds * getpid()) seed = seconds * (1 + atol(node));
    if (seed == (seconds ^ getpid())) seed = seconds ^ (1 + atol(node));
  }
  libc_srand48(seed);
}

MRCSIM_EXPORT int nanosleep(const timespec* wanted, timespec* left) {
  MRCSIM_NEXT(nanosleep);
  if (!in_step()) return libc_nanosleep(wanted, left);
  sleep_until(after(ps_of(*wanted)));
  if (left != nullptr) *left = {};
  return 0;
}

MRCSIM_EXPORT int clock_nanosleep(clockid_t clock, int flags, const timespec* wanted, timespec* left) {
  MRCSIM_NEXT(clock_nanosleep);
  if (!in_step()) return libc_clock_nanosleep(clock, flags, wanted, left);
  std::uint64_t until = ps_of(*wanted);
  if ((flags & TIMER_ABSTIME) == 0) {
    until = after(until);
  } else {
    const std::uint64_t begin = static_cast<std::uint64_t>(begin_of(clock)) * kPsPerSecond;
    until = until > begin ? until - begin : 0;
  }
  sleep_until(until);
  if (left != nullptr) *left = {};
  return 0;
}

MRCSIM_EXPORT int usleep(useconds_t us) {
  const timespec wanted{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000) * 1'000};
  return nanosleep(&wanted, nullptr);
}

MRCSIM_EXPORT unsigned int sleep(unsigned int seconds) {
  const timespec wanted{static_cast<time_t>(seconds), 0};
  nanosleep(&wanted, nullptr);
  return 0;
}

namespace {

void set_alarm(std::uint64_t at_ps, std::uint64_t interval_ps) {
  struct {
    Request request;
    Until until;
  } message;
  message.request.call = Call::set_alarm;
  message.until = {at_ps, interval_ps};
  Reply answer;
  exchange(this_thread, &message.request, sizeof message, &answer, sizeof answer, nullptr);
}

std::uint64_t ps_of(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kPsPerSecond + static_cast<std::uint64_t>(time.tv_usec) * kPsPerUs;
}

}  // namespace

MRCSIM_EXPORT unsigned int alarm(unsigned int seconds) noexcept {
  if (!in_step()) return static_cast<unsigned int>(syscall(SYS_alarm, seconds));
  set_alarm(seconds == 0 ? 0 : after(seconds * kPsPerSecond), 0);
  return 0;
}

MRCSIM_EXPORT int setitimer(__itimer_which_t which, const itimerval* timer, itimerval* old) noexcept {
  if (!in_step() || which != ITIMER_REAL || timer == nullptr) {
    return static_cast<int>(syscall(SYS_setitimer, which, timer, old));
  }
  const std::uint64_t first = ps_of(timer->it_value);
  set_alarm(first == 0 ? 0 : after(first), ps_of(timer->it_interval));
  if (old != nullptr) *old = {};
  return 0;
}

// ---- waiting for descriptors

MRCSIM_EXPORT ssize_t read(int fd, void* to, size_t bytes) {
  wait_for(fd, POLLIN);
  return syscall(SYS_read, fd, to, bytes);
}
MRCSIM_EXPORT ssize_t __read_chk(int fd, void* to, size_t bytes, size_t room) {
  if (bytes > room) abort();
  return read(fd, to, bytes);
}
MRCSIM_EXPORT ssize_t recv(int fd, void* to, size_t bytes, int flags) {
  if ((flags & MSG_DONTWAIT) == 0) wait_for(fd, POLLIN);
  return syscall(SYS_recvfrom, fd, to, bytes, flags, nullptr, nullptr);
}
MRCSIM_EXPORT ssize_t recvfrom(int fd, void* to, size_t bytes, int flags, sockaddr* from, socklen_t* length) {
  if ((flags & MSG_DONTWAIT) == 0) wait_for(fd, POLLIN);
  return syscall(SYS_recvfrom, fd, to, bytes, flags, from, length);
}
MRCSIM_EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  if ((flags & MSG_DONTWAIT) == 0) wait_for(fd, POLLIN);
  return syscall(SYS_recvmsg, fd, message, flags);
}
MRCSIM_EXPORT int accept(int fd, sockaddr* from, socklen_t* length) {
  wait_for(fd, POLLIN);
  return static_cast<int>(syscall(SYS_accept, fd, from, length));
}
MRCSIM_EXPORT int accept4(int fd, sockaddr* from, socklen_t* length, int flags) {
  wait_for(fd, POLLIN);
  return static_cast<int>(syscall(SYS_accept4, fd, from, length, flags));
}

// What others may see of it.
MRCSIM_EXPORT ssize_t send(int fd, const void* from, size_t bytes, int flags) {
  before_effect(fd);
  return settled(fd, syscall(SYS_sendto, fd, from, bytes, flags, nullptr, 0));
}
MRCSIM_EXPORT ssize_t sendto(int fd, const void* from, size_t bytes, int flags, const sockaddr* to, socklen_t length) {
  before_effect(fd);
  return settled(fd, syscall(SYS_sendto, fd, from, bytes, flags, to, length));
}
MRCSIM_EXPORT ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  before_effect(fd);
  return settled(fd, syscall(SYS_sendmsg, fd, message, flags));
}
MRCSIM_EXPORT ssize_t writev(int fd, const iovec* parts, int count) {
  before_effect(fd);
  return settled(fd, syscall(SYS_writev, fd, parts, count));
}
MRCSIM_EXPORT int connect(int fd, const sockaddr* to, socklen_t length) {
  before_effect(fd, Call::connects);
  return static_cast<int>(syscall(SYS_connect, fd, to, length));
}
MRCSIM_EXPORT int shutdown(int fd, int how) noexcept {
  before_effect(fd);
  return static_cast<int>(syscall(SYS_shutdown, fd, how));
}
/// A process that closes all that it has inherited keeps its way to the model.
MRCSIM_EXPORT int close(int fd) {
  if (active && fd >= 0 && fd == this_thread.socket) {
    errno = EBADF;
    return -1;
  }
  before_effect(fd);
  return static_cast<int>(syscall(SYS_close, fd));
}

MRCSIM_EXPORT int poll(pollfd* fds, nfds_t count, int timeout_ms) {
  if (!in_step() || timeout_ms == 0) return raw_poll(fds, count, in_step() ? 0 : timeout_ms);
  const std::uint64_t until =
      timeout_ms < 0 ? kForever : after(static_cast<std::uint64_t>(timeout_ms) * 1'000 * kPsPerUs);
  for (;;) {
    const int ready = raw_poll(fds, count, 0);
    if (ready != 0 || this_thread.clock_ps >= until) return ready;
    wait_fds(fds, static_cast<std::uint32_t>(count), until);
  }
}
MRCSIM_EXPORT int __poll_chk(pollfd* fds, nfds_t count, int timeout_ms, size_t room) {
  if (count > room / sizeof *fds) abort();
  return poll(fds, count, timeout_ms);
}

MRCSIM_EXPORT int select(int count, fd_set* readers, fd_set* writers, fd_set* others, timeval* timeout) {
  MRCSIM_NEXT(select);
  if (!in_step()) return libc_select(count, readers, writers, others, timeout);
  const std::uint64_t until = timeout == nullptr ? kForever : after(ps_of(*timeout));
  fd_set wanted[3];
  fd_set* sets[3] = {readers, writers, others};
  constexpr short events[3] = {POLLIN, POLLOUT, POLLPRI};
  pollfd fds[kMostFds];
  std::uint32_t used = 0;
  for (int i = 0; i < 3; ++i) {
    FD_ZERO(&wanted[i]);
    if (sets[i] == nullptr) continue;
    wanted[i] = *sets[i];
    for (int fd = 0; fd < count && used < kMostFds; ++fd) {
      if (FD_ISSET(fd, &wanted[i])) fds[used++] = {fd, events[i], 0};
    }
  }
  for (;;) {
    timeval none{};
    for (int i = 0; i < 3; ++i) {
      if (sets[i] != nullptr) *sets[i] = wanted[i];
    }
    const int ready = libc_select(count, readers, writers, others, &none);
    if (ready != 0 || this_thread.clock_ps >= until) return ready;
    wait_fds(fds, used, until);
  }
}

MRCSIM_EXPORT int epoll_wait(int epoll, epoll_event* events, int most, int timeout_ms) {
  const auto look = [&](int wait_ms) {
    return static_cast<int>(syscall(SYS_epoll_pwait, epoll, events, most, wait_ms, nullptr, 8));
  };
  if (!in_step()) return look(timeout_ms);
  const std::uint64_t until =
      timeout_ms < 0 ? kForever : after(static_cast<std::uint64_t>(timeout_ms) * 1'000 * kPsPerUs);
  for (;;) {
    const int ready = look(0);
    if (ready != 0 || this_thread.clock_ps >= until) return ready;
    const pollfd one{epoll, POLLIN, 0};
    wait_fds(&one, 1, until);
  }
}

// ---- the device

namespace {

int open_path(const char* path, int flags, mode_t mode) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, Place(path).path(), flags, static_cast<unsigned>(mode)));
}

/// libibverbs asks its kernel for a completion channel by a write, which no provider can take over.
bool creates_channel(int fd, const void* from, size_t bytes, ssize_t& result) {
  struct Command {
    std::uint32_t command;
    std::uint16_t in_words;
    std::uint16_t out_words;
    std::uint64_t response;
  };
  if (bytes != sizeof(Command) || fd < 0) return false;
  struct stat what;
  struct stat null;
  if (fstat(fd, &what) != 0 || !S_ISCHR(what.st_mode) || stat("/dev/null", &null) != 0 ||
      what.st_rdev != null.st_rdev) {
    return false;
  }
  Command command;
  memcpy(&command, from, sizeof command);
  if (command.command != kCreateChannelCommand || command.in_words != sizeof command / 4 || command.out_words != 1) {
    return false;
  }
  Request request;
  request.call = Call::create_channel;
  alignas(8) char answer[kMostBytes];
  auto* reply = reinterpret_cast<Reply*>(answer);
  int channel = -1;
  const int error = mrcsim_call(&request, sizeof request, reply, &channel);
  if (error != 0 || channel < 0 || channel >= kMostChannels) {
    errno = error != 0 ? error : EIO;
    result = -1;
    return true;
  }
  channel_of_fd[channel] = reply->count;
  memcpy(reinterpret_cast<void*>(command.response), &channel, sizeof channel);
  result = static_cast<ssize_t>(bytes);
  return true;
}

}  // namespace

MRCSIM_EXPORT int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>((flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0);
  va_end(more);
  return open_path(path, flags, mode);
}
MRCSIM_EXPORT int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = static_cast<mode_t>((flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0);
  va_end(more);
  return open_path(path, flags, mode);
}
MRCSIM_EXPORT int __open_2(const char* path, int flags) {
  return open_path(path, flags, 0);
}
MRCSIM_EXPORT int __open64_2(const char* path, int flags) {
  return open_path(path, flags, 0);
}
MRCSIM_EXPORT int access(const char* path, int mode) noexcept {
  return static_cast<int>(syscall(SYS_access, Place(path).path(), mode));
}
MRCSIM_EXPORT int stat(const char* path, struct stat* to) noexcept {
  MRCSIM_NEXT(stat);
  return libc_stat(Place(path).path(), to);
}
MRCSIM_EXPORT ssize_t write(int fd, const void* from, size_t bytes) {
  ssize_t result = 0;
  if (active && creates_channel(fd, from, bytes, result)) return result;
  before_effect(fd);
  return settled(fd, syscall(SYS_write, fd, from, bytes));
}
/// A host with RDMA devices of its own would name these first.
MRCSIM_EXPORT int socket(int domain, int type, int protocol) noexcept {
  if (active && domain == AF_NETLINK && protocol == kNetlinkRdma) {
    errno = EPROTONOSUPPORT;
    return -1;
  }
  return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}
/// The handlers of the signals that are needed here stay ours; the program's are called behind them.
MRCSIM_EXPORT int sigaction(int signal, const struct sigaction* wanted, struct sigaction* old) noexcept {
  MRCSIM_NEXT(sigaction);
  Kept* kept = active ? kept_of(signal) : nullptr;
  if (kept == nullptr) return libc_sigaction(signal, wanted, old);
  if (old != nullptr) *old = kept->wanted;
  if (wanted != nullptr) kept->wanted = *wanted;
  return 0;
}
MRCSIM_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  MRCSIM_NEXT(signal);
  Kept* kept = active ? kept_of(number) : nullptr;
  if (kept == nullptr) return libc_signal(number, handler);
  const sighandler_t before = kept->wanted.sa_handler;
  kept->wanted = {};
  kept->wanted.sa_handler = handler;
  return before;
}

namespace {

/// Some programs block all signals; those that are used here must stay unblocked.
const sigset_t* without_ours(const sigset_t* wanted, sigset_t& room) {
  if (!active || wanted == nullptr) return wanted;
  room = *wanted;
  for (const Kept& kept : kept_actions) sigdelset(&room, kept.signal);
  return &room;
}

}  // namespace

MRCSIM_EXPORT int pthread_sigmask(int how, const sigset_t* wanted, sigset_t* old) noexcept {
  MRCSIM_NEXT(pthread_sigmask);
  sigset_t room;
  return libc_pthread_sigmask(how, how == SIG_UNBLOCK ? wanted : without_ours(wanted, room), old);
}
MRCSIM_EXPORT int sigprocmask(int how, const sigset_t* wanted, sigset_t* old) noexcept {
  MRCSIM_NEXT(sigprocmask);
  sigset_t room;
  return libc_sigprocmask(how, how == SIG_UNBLOCK ? wanted : without_ours(wanted, room), old);
}
