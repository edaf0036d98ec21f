#include "results/output_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "results/output_file.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

/// Whether there is a member `name` in the JSON of `file`; nothing behind its line is read.
bool has_member(std::istream& file, const char* name) {
  const std::string key = fmt::format("\"{}\":", name);
  std::string line;
  while (std::getline(file, line)) {
    if (line.find(key) != std::string::npos) return true;
  }
  return false;
}

/// Of `mrcsim run`, or of `mrcsim cosim`.
bool is_result_of_ours(const fs::path& folder) {
  for (const auto& [name, member] :
       {std::pair("result.json", "mrcsim_version"), {"cosim.json", "functional_coverage"}}) {
    std::ifstream file(folder / name);
    if (file && has_member(file, member)) return true;
  }
  return false;
}

/// What a run that was killed has left is nobody's work.
bool holds_nothing_else_than_temporaries(const fs::path& folder) {
  return std::all_of(fs::directory_iterator(folder), fs::directory_iterator(), [](const fs::directory_entry& entry) {
    return is_temporary_name(entry.path().filename().string());
  });
}

}  // namespace

OutputDirectory::OutputDirectory(std::string path) : path_(std::move(path)) {
  std::error_code error;
  if (fs::exists(path_, error) && !fs::is_directory(path_, error))
    throw OutputError(path_ + ": is a file; --out takes a folder");
  made_ = fs::create_directories(path_, error);
  if (error) throw OutputError(fmt::format("{}: cannot be created: {}", path_, error.message()));
  if (access(path_.c_str(), R_OK | W_OK | X_OK) != 0) throw OutputError(path_ + ": cannot be written to");
  if (!holds_nothing_else_than_temporaries(path_) && !is_result_of_ours(path_)) {
    throw OutputError(path_ + ": contains files that mrcsim did not write; choose another folder with --out");
  }
  lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) == 0) {
    remove_stale_temporaries(path_);
    return;
  }
  if (lock_ >= 0) close(lock_);
  throw OutputError(path_ + ": another run is writing to it; choose another folder with --out");
}

OutputDirectory::~OutputDirectory() {
  if (lock_ < 0) return;
  if (made_) rmdir(path_.c_str());  // refuses a folder that holds something
  close(lock_);
}

void OutputDirectory::write(const std::string& file, const std::string& text) const {
  write_whole_file((fs::path(path_) / file).string(), text, kInOwnFolder);
}

}  // namespace mrc
