// Runs the executable and keeps what it printed.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace mrc {

struct ProcessResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// `command` goes to a shell in the repository's root; "mrcsim" at its beginning is replaced by the executable's path.
ProcessResult run_process(const std::string& command);

/// A new folder of the running test's own; commands name it with %D.
std::filesystem::path test_folder();

std::string read_text(const std::filesystem::path& path);
nlohmann::json read_json(const std::filesystem::path& path);

}  // namespace mrc
