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
  /// Makes the folder where there is none, and holds it: a second run that writes to it is refused. Throws OutputError
  /// if it holds files that are not a run's results, is held by another process, or cannot be written.
  explicit OutputDirectory(std::string path);
  /// A folder that was made here and is still empty goes.
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// The file appears whole or not at all.
  void write(const std::string& file, const std::string& text) const;

 private:
  std::string path_;
  bool made_ = false;  ///< there was no folder before
  int lock_ = -1;      ///< descriptor of the folder
};

}  // namespace mrc
