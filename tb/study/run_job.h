// One run of a study as a process of its own: what it is started with, where it writes, how it ended.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/study_database.h"

namespace mrc {

struct RunJob {
  std::string digest;
  std::vector<std::string> arguments;  ///< of mrcsim, from the subcommand on
  std::filesystem::path folder;        ///< its results; beside it <folder>.log and, on a cluster, <folder>.exit
};

/// This program's file, which stays the same while it runs even if a new one is built in its place.
const char* own_executable();
/// Digest of that file.
const std::string& own_build();

std::filesystem::path log_of(const RunJob& job);
std::filesystem::path exit_file_of(const RunJob& job);
/// Takes away what an earlier attempt left.
void clear(const RunJob& job);
/// What a process that ended with `exit_code` left behind.
RunOutcome outcome_of(const RunJob& job, int exit_code, double wall_seconds);
/// A whole result that nobody has fetched yet: of a study that was killed, or of a task on a cluster.
std::optional<RunOutcome> left_behind(const RunJob& job);

}  // namespace mrc
