// A file that mrcsim writes: it appears under its name whole or not at all, and replaces nothing but an earlier file of
// its own kind.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace mrc {

/// How an earlier file that mrcsim wrote is told from anybody else's.
struct FileKind {
  std::string_view what;      ///< for messages: "a capture"
  std::string_view contains;  ///< within its first kHeadBytes; empty: only a file of the very same content is replaced
  static constexpr std::size_t kHeadBytes = 1024;
};
/// Text in a folder that is known to be mrcsim's own: whatever regular file is there is replaced.
inline constexpr FileKind kInOwnFolder{"", ""};

class OutputFile {
 public:
  /// Creates a temporary file beside `path`, exclusively, under a name that cannot be guessed, and removes those that
  /// processes left that are gone. Throws OutputError where `path` is not a regular file, is a file of another kind, or
  /// cannot be written.
  OutputFile(std::string path, const FileKind& kind);
  /// Without commit() nothing is left behind.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// The temporary file, for who opens it by name.
  const std::string& temporary() const { return temporary_; }
  std::ofstream& stream() { return stream_; }
  /// Takes the lock on what lies under temporary() now, where a writer has made that file anew. Throws OutputError.
  void lock_again();
  bool is_open() const { return descriptor_ >= 0; }
  /// Closes stream() and renames. Throws OutputError, with the file gone, where anything was written short. `intact`:
  /// false where who wrote by name saw an error.
  void commit(bool intact = true);
  /// Removes the temporary file; further calls do nothing.
  void discard();

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;  ///< holds the lock by which others see that it is in use
  std::ofstream stream_;
};

/// Writes `text` to `path` by way of a temporary name beside it; throws OutputError. With a kind that has no mark an
/// existing file of other content is refused.
void write_whole_file(const std::string& path, const std::string& text, const FileKind& kind);

/// Throws the OutputError of write_whole_file() before there is anything to write.
void check_writable(const std::string& path, const FileKind& kind);

/// Removes the temporary files in `folder` that no living process holds.
void remove_stale_temporaries(const std::string& folder);
/// A temporary file of this program, by its name.
bool is_temporary_name(std::string_view file);

}  // namespace mrc
