// Starts programs as they are on disk, with what makes them find the modelled NIC: a tree in the place of sysfs, the
// provider, the preload and the socket of the model. All files are in one temporary folder. A watcher process removes
// it even if the model is killed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "mrc/types.h"

namespace mrc {

/// One program: its words as given, and the node it runs on.
struct ProgramCommand {
  NodeId node = 0;
  std::vector<std::string> words;
};

/// Folder of libmrcsim_preload.so and the provider, beside the executable or installed; empty where they are
/// not built.
std::filesystem::path verbs_folder();

/// A process that outlives the model: it removes the folder, and ends the programs if the model did not end in order.
class Watcher {
 public:
  /// Throws std::system_error where it cannot be started.
  explicit Watcher(const std::filesystem::path& folder);
  /// The orderly end: returns when the folder is gone.
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  void add_group(pid_t group) const;

 private:
  pid_t pid_ = 0;
  int socket_ = -1;
};

/// Becomes a program of a run that another `mrcsim host` of this user has started: of the only one there is, or of that
/// with this folder. Throws std::invalid_argument where there is none, or its scenario has no such node.
[[noreturn]] void join_run(const std::filesystem::path& folder, ProgramCommand command,
                           const std::filesystem::path& libraries);

class Launcher {
 public:
  /// Throws std::system_error where the folder or the watcher cannot be made.
  Launcher(std::uint32_t nodes, std::filesystem::path libraries);

  std::filesystem::path socket() const { return folder_ / "model"; }
  const std::filesystem::path& folder() const { return folder_; }
  /// What a program of this node needs in its environment, as NAME=VALUE.
  std::vector<std::string> environment(NodeId node) const;
  /// In a process group of its own. Throws std::system_error where it cannot be started.
  pid_t start(const ProgramCommand& command);

 private:
  std::filesystem::path folder_;
  std::filesystem::path libraries_;
  Watcher watcher_;
  bool warned_ = false;  ///< that addresses are random
};

}  // namespace mrc
