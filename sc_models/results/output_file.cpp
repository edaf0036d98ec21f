#include "results/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "results/output_directory.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".mrcsim-";
constexpr std::string_view kSuffix = ".tmp";
/// GTKWave's FST writer keeps the hierarchy in a file beside its own until it is closed.
constexpr std::string_view kHierarchySuffix = ".tmp.hier";

bool is_in_own_folder(const FileKind& kind) {
  return kind.what.empty();
}

std::string folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(FileKind::kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

/// A file that is there must be one that may go. An empty one holds nothing to lose.
void require_replaceable(const std::string& path, const FileKind& kind) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw OutputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw OutputError(path + ": cannot be written: it is a folder");
  if (!S_ISREG(status.st_mode)) throw OutputError(path + ": is not a regular file; nothing is written to it");
  if (is_in_own_folder(kind) || kind.contains.empty() || status.st_size == 0) return;
  if (head_of(path).find(kind.contains) != std::string::npos) return;
  throw OutputError(
      fmt::format("{}: exists and is not {} that mrcsim wrote; choose another name, or remove it", path, kind.what));
}

/// An exclusive lock, or false where a living process has it.
bool lock(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

void remove_with_hierarchy(const std::string& temporary) {
  unlink(temporary.c_str());
  unlink((temporary + ".hier").c_str());
}

/// A new file with a lock on it, or -1 with errno. Between creation and lock another process can take the file for a
/// stray one and remove it; then a new name is tried.
int create_locked(const std::string& folder, std::string& name) {
  for (;;) {
    name = fmt::format("{}/{}XXXXXX{}", folder, kPrefix, kSuffix);
    const int descriptor = mkostemps(name.data(), static_cast<int>(kSuffix.size()), O_CLOEXEC);
    if (descriptor < 0) return -1;
    struct stat status {};
    if (lock(descriptor) && fstat(descriptor, &status) == 0 && status.st_nlink > 0) return descriptor;
    close(descriptor);
  }
}

}  // namespace

bool is_temporary_name(std::string_view file) {
  return file.starts_with(kPrefix) && (file.ends_with(kSuffix) || file.ends_with(kHierarchySuffix));
}

void remove_stale_temporaries(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!is_temporary_name(name) || !name.ends_with(kSuffix)) continue;
    const int descriptor = open(entry.path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (lock(descriptor)) remove_with_hierarchy(entry.path().string());
    close(descriptor);
  }
}

OutputFile::OutputFile(std::string path, const FileKind& kind) : path_(std::move(path)) {
  require_replaceable(path_, kind);
  remove_stale_temporaries(folder_of(path_));
  descriptor_ = create_locked(folder_of(path_), temporary_);
  if (descriptor_ < 0) throw OutputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  // As any new file of this user, not as mkstemp() makes them.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor_, 0666 & ~mask);
  stream_.open(fmt::format("/proc/self/fd/{}", descriptor_), std::ios::binary | std::ios::trunc);
  if (stream_) return;
  discard();
  throw OutputError(path_ + ": cannot be written");
}

void OutputFile::lock_again() {
  const int descriptor = open(temporary_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0 || !lock(descriptor)) {
    if (descriptor >= 0) close(descriptor);
    throw OutputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
  close(descriptor_);
  descriptor_ = descriptor;
}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::commit(bool intact) {
  stream_.close();
  if (!stream_ || !intact) {
    discard();
    throw OutputError(path_ + ": cannot be written whole: the disk is full, or a limit on file sizes is reached");
  }
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    discard();
    throw OutputError(fmt::format("{}: cannot be written: {}", path_, std::strerror(error)));
  }
  close(descriptor_);
  descriptor_ = -1;
}

void OutputFile::discard() {
  if (descriptor_ < 0) return;
  stream_.close();
  remove_with_hierarchy(temporary_);
  close(descriptor_);
  descriptor_ = -1;
}

void check_writable(const std::string& path, const FileKind& kind) {
  OutputFile(path, kind).discard();
}

void write_whole_file(const std::string& path, const std::string& text, const FileKind& kind) {
  if (!is_in_own_folder(kind) && kind.contains.empty() && fs::is_regular_file(path) && fs::file_size(path) > 0) {
    std::ifstream file(path, std::ios::binary);
    const std::string there{std::istreambuf_iterator<char>(file), {}};
    if (there == text) return;
    throw OutputError(fmt::format("{}: exists and holds something else; choose another name, or remove it", path));
  }
  OutputFile file(path, kind);
  file.stream() << text;
  file.commit();
}

}  // namespace mrc
