#include "mrcsim_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace mrc {

namespace fs = std::filesystem;

fs::path test_folder() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  for (char& c : name) c = c == '/' ? '_' : c;
  const fs::path folder = fs::path(::testing::TempDir()) / "mrcsim_system_test" / name;
  fs::create_directories(folder);
  return folder;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

nlohmann::json read_json(const fs::path& path) {
  return nlohmann::json::parse(read_text(path), nullptr, false);
}

ProcessResult run_process(const std::string& command) {
  const fs::path folder = test_folder();
  std::string text = command;
  constexpr std::string_view program = "mrcsim ";
  if (text.starts_with(program)) text.replace(0, program.size() - 1, MRCSIM_EXECUTABLE);
  for (std::size_t at = text.find("%D"); at != std::string::npos; at = text.find("%D"))
    text.replace(at, 2, folder.string());
  const std::string line = "cd '" MRCSIM_SOURCE_DIR "' && " + text + " >'" + (folder / "stdout").string() + "' 2>'" +
                           (folder / "stderr").string() + "'";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(folder / "stdout"), read_text(folder / "stderr")};
}

nlohmann::json run_flows(const std::string& flows, const std::string& scenario, const std::string& arguments,
                         const std::string& out) {
  std::ofstream(test_folder() / "flows.csv") << "start_us,src,dst,bytes,tag\n" << flows;
  std::ofstream(test_folder() / "scenario.toml") << "traffic.trace = \"flows.csv\"\n" << scenario;
  const ProcessResult process =
      run_process("mrcsim run %D/scenario.toml --yes --quiet --out %D/" + out + " " + arguments);
  EXPECT_EQ(process.exit_code, 0) << process.err;
  return result_of(out);
}

nlohmann::json result_of(const std::string& folder) {
  return read_json(test_folder() / folder / "result.json");
}

}  // namespace mrc
