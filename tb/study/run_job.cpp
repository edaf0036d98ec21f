#include "study/run_job.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "study/digest.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The last line that begins like an error of ours, else the last line at all.
std::string error_in(const fs::path& log) {
  std::istringstream lines(read_file(log));
  std::string last;
  std::string ours;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) last = line;
    if (line.starts_with("mrcsim: ") && !line.starts_with("mrcsim: warning")) ours = line.substr(8);
  }
  return ours.empty() ? last : ours;
}

std::string why(int exit_code, const std::string& said) {
  if (exit_code == 0 || !said.empty()) return said;
  return exit_code > 128 ? fmt::format("ended by signal {}", exit_code - 128) : fmt::format("exit code {}", exit_code);
}

int exit_code_of(const std::string& status) {
  if (status == "stalled") return 3;
  if (status == "mismatch") return 4;
  return status == "failed" ? 5 : 0;
}

}  // namespace

const char* own_executable() {
  return "/proc/self/exe";
}

const std::string& own_build() {
  static const std::string build = Digest().add_file(own_executable()).hex();
  return build;
}

fs::path log_of(const RunJob& job) {
  return job.folder.string() + ".log";
}

fs::path exit_file_of(const RunJob& job) {
  return job.folder.string() + ".exit";
}

void clear(const RunJob& job) {
  std::error_code ignored;
  fs::remove_all(job.folder, ignored);
  fs::remove(log_of(job), ignored);
  fs::remove(exit_file_of(job), ignored);
}

RunOutcome outcome_of(const RunJob& job, int exit_code, double wall_seconds) {
  constexpr int told_to_stop = 130;
  if (exit_code == told_to_stop) return {exit_code, "interrupted", wall_seconds, ""};
  return {.exit_code = exit_code,
          .error = why(exit_code, exit_code == 0 ? "" : error_in(log_of(job))),
          .wall_seconds = wall_seconds,
          .result_json = read_file(job.folder / "result.json")};
}

std::optional<RunOutcome> left_behind(const RunJob& job) {
  const auto result = nlohmann::json::parse(read_file(job.folder / "result.json"), nullptr, false);
  if (!result.is_object()) return std::nullopt;
  // What a Ctrl-C cut short is not done.
  if (result.value("details", nlohmann::json::array()) == nlohmann::json::array({"interrupted"})) return std::nullopt;
  return outcome_of(job, exit_code_of(result.value("status", "")), 0);
}

}  // namespace mrc
