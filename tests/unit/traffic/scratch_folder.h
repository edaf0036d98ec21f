// A folder for one test's files, empty at its start and gone at its end; processes do not share one.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace mrc {

class ScratchFolder : public ::testing::Test {
 protected:
  ScratchFolder() { std::filesystem::create_directories(folder_); }
  ~ScratchFolder() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write_text(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  static std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ("mrcsim_traffic_test_" + std::to_string(::getpid()));
};

}  // namespace mrc
