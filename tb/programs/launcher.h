// Starts programs as they are on disk, with what makes them find the modelled NIC: a tree in the place of sysfs, the
// provider, the preload and the socket of the model. All that it makes lies in one temporary folder, which goes with
// it, however it ends: a small process outlives the model for that.
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

/// Folder of libmrcsim_preload.so and libmrcsim-rdmav34.so, beside the executable or installed; empty where they are
/// not built.
std::filesystem::path verbs_folder();

class Launcher {
 public:
  /// Throws std::runtime_error where the folder cannot be made.
  Launcher(std::uint32_t nodes, std::filesystem::path libraries);
  ~Launcher();
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  std::filesystem::path socket() const { return folder_ / "model"; }
  const std::filesystem::path& folder() const { return folder_; }
  /// What a program of this node needs in its environment, as NAME=VALUE.
  std::vector<std::string> environment(NodeId node) const;
  /// In a process group of its own. Throws std::runtime_error where it cannot be started.
  pid_t start(const ProgramCommand& command) const;

 private:
  void start_warden();

  std::filesystem::path folder_;
  std::filesystem::path libraries_;
  pid_t warden_ = 0;
  int to_warden_ = -1;
};

}  // namespace mrc
