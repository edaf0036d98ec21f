// The folder that a run writes to. Only what mrcsim itself wrote is overwritten, and a file appears whole or not at
// all.
#pragma once

#include <stdexcept>
#include <string>

namespace mrc {

class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class OutputDirectory {
 public:
  /// Checks `path`, which is made when the first file is written; throws OutputError if it holds files that are not a
  /// run's results, or cannot be written.
  explicit OutputDirectory(std::string path);

  const std::string& path() const { return path_; }
  /// Writes to a temporary name and renames.
  void write(const std::string& file, const std::string& text) const;

 private:
  std::string path_;
};

/// Writes `text` to `path` by way of a temporary name beside it; throws OutputError.
void write_whole_file(const std::string& path, const std::string& text);

/// Throws the OutputError of write_whole_file() before there is anything to write.
void check_writable(const std::string& path);

}  // namespace mrc
