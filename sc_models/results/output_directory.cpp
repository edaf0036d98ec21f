#include "results/output_directory.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mrc {
namespace {

std::string temporary_name(const std::string& path) {
  return fmt::format("{}.{}.tmp", path, getpid());
}

}  // namespace
namespace {

namespace fs = std::filesystem;

bool is_result_of_ours(const fs::path& folder) {
  std::ifstream file(folder / "result.json");
  if (!file) return false;
  const auto json = nlohmann::json::parse(file, nullptr, false);
  return json.is_object() && json.contains("mrcsim_version");
}

}  // namespace

OutputDirectory::OutputDirectory(std::string path) : path_(std::move(path)) {
  if (fs::exists(path_) && !fs::is_directory(path_)) throw OutputError(path_ + ": is a file; --out takes a folder");
  if (fs::is_directory(path_) && !fs::is_empty(path_) && !is_result_of_ours(path_)) {
    throw OutputError(path_ + ": contains files that mrcsim did not write; choose another folder with --out");
  }
  if (fs::is_directory(path_) && access(path_.c_str(), W_OK) != 0) throw OutputError(path_ + ": cannot be written to");
}

void OutputDirectory::write(const std::string& file, const std::string& text) const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) throw OutputError(fmt::format("{}: cannot be created: {}", path_, error.message()));
  write_whole_file((fs::path(path_) / file).string(), text);
}

void check_writable(const std::string& path) {
  if (fs::is_directory(path)) throw OutputError(path + ": cannot be written: it is a folder");
  const std::string temporary = temporary_name(path);
  const bool opens = std::ofstream(temporary, std::ios::binary | std::ios::trunc).is_open();
  std::remove(temporary.c_str());
  if (!opens) throw OutputError(path + ": cannot be written");
}

void write_whole_file(const std::string& path, const std::string& text) {
  const std::string temporary = temporary_name(path);
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) {
      std::remove(temporary.c_str());
      throw OutputError(path + ": cannot be written");
    }
  }
  std::error_code error;
  fs::rename(temporary, path, error);
  if (!error) return;
  std::remove(temporary.c_str());
  throw OutputError(fmt::format("{}: cannot be written: {}", path, error.message()));
}

}  // namespace mrc
