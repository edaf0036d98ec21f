#include "programs/launcher.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "verbs/messages.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr int kGids = 4;
constexpr char kFolder[] = "mrcsim-host-";
constexpr char kSocket[] = "model";

void put(const fs::path& file, const std::string& line) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << line << '\n';
}

/// As the kernel writes it: groups of two bytes.
std::string gid_text(NodeId node) {
  const verbs::Gid gid = verbs::gid_of(node);
  std::string text;
  for (std::size_t i = 0; i < verbs::kGidBytes; i += 2)
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid.raw[i], gid.raw[i + 1]);
  return text;
}

/// What libibverbs looks at of a device with one port.
void write_sysfs(const fs::path& root, NodeId node) {
  const fs::path verbs = root / "class/infiniband_verbs";
  put(verbs / "abi_version", "6");
  put(verbs / "uverbs0/ibdev", "mrc0");
  put(verbs / "uverbs0/dev", "1:3");  // of /dev/null, which is opened in its place
  put(verbs / "uverbs0/abi_version", "1");
  const fs::path device = root / "class/infiniband/mrc0";
  put(device / "node_type", "1: CA");
  put(device / "node_guid", fmt::format("4d52:4300:0000:{:04x}", node));
  put(device / "sys_image_guid", fmt::format("4d52:4300:0000:{:04x}", node));
  put(device / "fw_ver", "mrcsim");
  put(device / "hca_type", "MRC");
  put(device / "board_id", "mrcsim");
  const fs::path port = device / "ports/1";
  put(port / "link_layer", "Ethernet");
  put(port / "state", "4: ACTIVE");
  put(port / "phys_state", "5: LinkUp");
  put(port / "pkeys/0", "0xffff");
  for (int i = 0; i < kGids; ++i) {
    put(port / fmt::format("gids/{}", i), gid_text(node));
    put(port / fmt::format("gid_attrs/types/{}", i), "RoCE v2");
    put(port / fmt::format("gid_attrs/ndevs/{}", i), "mrc0");
  }
}

std::string with_before(const char* name, const std::string& value) {
  const char* before = std::getenv(name);
  return before == nullptr || *before == '\0' ? fmt::format("{}={}", name, value)
                                              : fmt::format("{}={}:{}", name, value, before);
}

fs::path make_folder() {
  std::string name = (fs::temp_directory_path() / (std::string(kFolder) + "XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
  return name;
}

/// Waits for the end of the model, which sends the process group of each program, and 0 before an orderly end.
[[noreturn]] void watch(int from_model, const fs::path& folder) {
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
  std::vector<pid_t> groups;
  bool ordered = false;
  for (pid_t group = 0; read(from_model, &group, sizeof group) == sizeof group;) {
    ordered = group == 0;
    if (group > 0) groups.push_back(group);
  }
  for (const pid_t group : groups) {
    if (!ordered) kill(-group, SIGKILL);
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (!ordered) std::fputs("mrcsim: the model was ended; the programs that it ran are ended too\n", stderr);
  _exit(0);
}

/// For programs that are started from now on; false with errno where the system does not allow it.
bool fix_addresses() {
  constexpr unsigned long only_read = 0xFFFF'FFFF;
  const int now = personality(only_read);
  return now >= 0 && personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE) >= 0;
}

}  // namespace

fs::path verbs_folder() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {here / "../verbs", here / "../lib/mrcsim/verbs", here / "../lib/mrcsim"}) {
    if (fs::exists(folder / "libmrcsim_preload.so", error)) return fs::canonical(folder, error);
  }
  return {};
}

Watcher::Watcher(const fs::path& folder) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "host: socketpair");
  }
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "host: fork");
  if (pid_ == 0) {
    close(ends[1]);
    watch(ends[0], folder);
  }
  close(ends[0]);
  socket_ = ends[1];
}

Watcher::~Watcher() {
  constexpr pid_t in_order = 0;
  add_group(in_order);
  close(socket_);
  waitpid(pid_, nullptr, 0);
}

void Watcher::add_group(pid_t group) const {
  [[maybe_unused]] const ssize_t sent = send(socket_, &group, sizeof group, MSG_NOSIGNAL);
}

namespace {

/// What a program of this node needs in its environment, as NAME=VALUE.
std::vector<std::string> environment_of(NodeId node, const fs::path& folder, const fs::path& libraries) {
  std::string preloaded = (libraries / "libmrcsim_preload.so").string();
  std::error_code none;
  if (const fs::path connections = libraries / "libmrcsim_rdmacm.so"; fs::exists(connections, none)) {
    preloaded = fmt::format("{}:{}", preloaded, connections.string());
  }
  return {with_before("LD_PRELOAD", preloaded), fmt::format("RDMAV_DRIVERS={}", (libraries / "libmrcsim").string()),
          fmt::format("SYSFS_PATH={}", (folder / fmt::format("node{}", node)).string()),
          fmt::format("MRCSIM_HOST_SOCKET={}", (folder / kSocket).string()), fmt::format("MRCSIM_HOST_NODE={}", node)};
}

std::vector<fs::path> runs_of_user() {
  std::vector<fs::path> runs;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::temp_directory_path(), ignored)) {
    struct stat what {};
    const bool is_run = entry.path().filename().string().starts_with(kFolder);
    if (is_run && ::stat((entry.path() / kSocket).c_str(), &what) == 0 && what.st_uid == getuid()) {
      runs.push_back(entry.path());
    }
  }
  std::sort(runs.begin(), runs.end());
  return runs;
}

fs::path only_run() {
  const std::vector<fs::path> runs = runs_of_user();
  if (runs.size() == 1) return runs.front();
  if (runs.empty()) {
    throw std::invalid_argument("host: no run to join; start one with a scenario: mrcsim host SCENARIO --node 0 -- …");
  }
  std::string names;
  for (const fs::path& run : runs) {
    if (!names.empty()) names += ", ";
    names += run.string();
  }
  throw std::invalid_argument(fmt::format("host: {} runs to join; choose one by --join: {}", runs.size(), names));
}

}  // namespace

void join_run(const fs::path& folder, ProgramCommand command, const fs::path& libraries) {
  const fs::path run = folder.empty() ? only_run() : folder;
  std::error_code error;
  if (!fs::exists(run / kSocket, error)) {
    throw std::invalid_argument(fmt::format("--join {}: no run of mrcsim host has this folder", run.string()));
  }
  if (!fs::exists(run / fmt::format("node{}", command.node), error)) {
    NodeId nodes = 0;
    while (fs::exists(run / fmt::format("node{}", nodes), error)) ++nodes;
    throw std::invalid_argument(fmt::format("--node {}: the run to join has nic0 to nic{}", command.node, nodes - 1));
  }
  static std::vector<std::string> settings = environment_of(command.node, run, libraries);
  settings.emplace_back("MRCSIM_HOST_JOINED=1");
  for (std::string& setting : settings) putenv(setting.data());
  fix_addresses();
  std::vector<char*> words;
  for (std::string& word : command.words) words.push_back(word.data());
  words.push_back(nullptr);
  execvp(words[0], words.data());
  throw std::system_error(errno, std::generic_category(), command.words.front());
}

Launcher::Launcher(std::uint32_t nodes, fs::path libraries)
    : folder_(make_folder()), libraries_(std::move(libraries)), watcher_(folder_) {
  for (NodeId node = 0; node < nodes; ++node) write_sysfs(folder_ / fmt::format("node{}", node), node);
}

std::vector<std::string> Launcher::environment(NodeId node) const {
  return environment_of(node, folder_, libraries_);
}

pid_t Launcher::start(const ProgramCommand& command) {
  std::vector<std::string> settings = environment(command.node);
  int told[2] = {-1, -1};
  if (pipe2(told, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "host: pipe2");
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // Addresses may influence a program: without randomization each run has the same ones.
  const int not_fixed = fix_addresses() ? 0 : errno;
  const pid_t pid = fork();
  const int not_forked = errno;
  if (pid == 0) {
    setpgid(0, 0);
    unsetenv(verbs::kRank);  // of the run itself, not of what this program starts
    for (std::string& setting : settings) putenv(setting.data());
    execvp(words[0], words.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t sent = write(told[1], &error, sizeof error);
    _exit(127);
  }
  close(told[1]);
  int error = not_forked;
  const bool failed = pid < 0 || read(told[0], &error, sizeof error) == sizeof error;
  close(told[0]);
  if (failed) throw std::system_error(error, std::generic_category(), command.words.front());
  watcher_.add_group(pid);
  if (not_fixed != 0 && !std::exchange(warned_, true)) {
    fmt::print(stderr, "mrcsim: warning: programs have random addresses, so runs may differ: personality: {}\n",
               std::strerror(not_fixed));
  }
  return pid;
}

}  // namespace mrc
