// Linked into every test: ::testing::TempDir() is a folder of the process's own, so that tests beside each other never
// meet in one. It goes with a test that passed and stays, named, with one that failed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace {

namespace fs = std::filesystem;

class OwnTempFolder : public ::testing::Environment {
 public:
  void SetUp() override {
    std::string pattern = (fs::path(::testing::TempDir()) / "mrcsim_test_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr) << "no folder can be made at " << pattern;
    folder_ = pattern;
    setenv("TEST_TMPDIR", pattern.c_str(), 1);
  }
  void TearDown() override {
    if (folder_.empty()) return;
    if (::testing::UnitTest::GetInstance()->Failed()) {
      std::cout << "The test's files are in " << folder_.string() << '\n';
      return;
    }
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

 private:
  fs::path folder_;
};

[[maybe_unused]] const auto* const own_temp_folder = ::testing::AddGlobalTestEnvironment(new OwnTempFolder);

}  // namespace
