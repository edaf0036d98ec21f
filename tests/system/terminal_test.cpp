// What a person at a terminal sees: progress with the time left, nothing of it in a pipe, and a clean end by Ctrl-C.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <regex>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "mrcsim/expected_time.h"
#include "mrcsim_process.h"

namespace mrc {
namespace {

using Clock = std::chrono::steady_clock;

struct TerminalResult {
  int exit_code = -1;
  std::string screen;  ///< all that was written to the terminal
};

/// Runs the command with a terminal for all three streams. Where `interrupt_at`, a regular expression, appears, Ctrl-C
/// is typed.
TerminalResult run_in_terminal(std::string command, const std::string& interrupt_at = "") {
  for (std::size_t at = command.find("%D"); at != std::string::npos; at = command.find("%D"))
    command.replace(at, 2, test_folder().string());
  command = "cd '" MRCSIM_SOURCE_DIR "' && exec " MRCSIM_EXECUTABLE " " + command;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  TerminalResult result;
  bool typed = interrupt_at.empty();
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(terminal, buffer.data(), buffer.size())) > 0;) {
    result.screen.append(buffer.data(), static_cast<std::size_t>(got));
    if (typed || !std::regex_search(result.screen, std::regex(interrupt_at))) continue;
    typed = true;
    EXPECT_EQ(write(terminal, "\x03", 1), 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  EXPECT_TRUE(typed) << "the moment of Ctrl-C never came: " << result.screen;
  return result;
}

/// The bar was there with a share and the time left, and the last of it was taken off the screen.
void expect_progress(const std::string& screen, const std::string& text) {
  const std::size_t bar = screen.find("\r\033[K[");
  EXPECT_NE(bar, std::string::npos) << screen;
  EXPECT_NE(screen.find(" %  "), std::string::npos) << screen;
  EXPECT_NE(screen.find(text), std::string::npos) << screen;
  EXPECT_NE(screen.find(" s left"), std::string::npos) << screen;
  const std::size_t last = screen.rfind("\r\033[K");
  EXPECT_NE(screen[std::min(last + 4, screen.size() - 1)], '[') << "the line is left on the screen";
}

void expect_quiet_in_a_pipe(const std::string& command) {
  const ProcessResult piped = run_process("mrcsim " + command);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_EQ((piped.out + piped.err).find('\r'), std::string::npos) << piped.err;
}

constexpr const char* kPair = "run tb/scenarios/pair.toml --set traffic.byte_scale=0.5 --out %D/out";
constexpr const char* kStudy =
    "tb/scenarios/pair.toml --set traffic.byte_scale=0.03 --set host.payload=reference -j 2 "
    "--db %D/a.sqlite";

class Terminal : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(test_folder());
    std::filesystem::create_directories(test_folder());
  }
};

TEST_F(Terminal, ARunShowsSimulatedTimeShareAndTimeLeft) {
  const TerminalResult run = run_in_terminal(kPair);
  EXPECT_EQ(run.exit_code, 0) << run.screen;
  expect_progress(run.screen, " us simulated, ");
  expect_quiet_in_a_pipe(kPair);
}

TEST_F(Terminal, CtrlCEndsARunWithAPartialResult) {
  const TerminalResult run = run_in_terminal(kPair, " us simulated");
  EXPECT_EQ(run.exit_code, 130) << run.screen;
  EXPECT_NE(run.screen.find("partial: interrupted"), std::string::npos) << run.screen;
  const auto result = read_json(test_folder() / "out" / "result.json");
  EXPECT_EQ(result["status"], "partial");
  EXPECT_GT(result["bytes"]["delivered"], 0);
  EXPECT_LT(result["bytes"]["delivered"], result["bytes"]["offered"]);
  EXPECT_TRUE(std::filesystem::exists(test_folder() / "out" / "series.json"));
}

class IdealInTerminal : public Terminal {
 protected:
  /// So many messages that a fast machine, too, takes some tenths of a second to read and to play them.
  void SetUp() override {
    Terminal::SetUp();
    std::ofstream flows(test_folder() / "flows.csv");
    flows << "start_us,src,dst,bytes,tag\n";
    for (int i = 0; i < 3'000'000; ++i) flows << fmt::format("{},{},{},4096,{}\n", 0.05 * i, i % 8, (i + 1) % 8, i);
    std::ofstream(test_folder() / "s.toml")
        << "transport = \"ideal\"\n[traffic]\ntrace = \"flows.csv\"\n[fabric]\nnics = 8\n";
  }
};

TEST_F(IdealInTerminal, ReadingAndPlayingShowProgress) {
  const TerminalResult run = run_in_terminal("run %D/s.toml --out %D/out");
  EXPECT_EQ(run.exit_code, 0) << run.screen;
  expect_progress(run.screen, "of the trace read");
  expect_progress(run.screen, " us simulated, ");
  const TerminalResult info = run_in_terminal("trace info %D/flows.csv");
  EXPECT_EQ(info.exit_code, 0);
  expect_progress(info.screen, "of the trace counted");
  expect_quiet_in_a_pipe("trace info %D/flows.csv");
}

TEST_F(IdealInTerminal, CtrlCEndsWithAPartialResult) {
  const TerminalResult run = run_in_terminal("run %D/s.toml --out %D/out", " us simulated");
  EXPECT_EQ(run.exit_code, 130) << run.screen;
  EXPECT_EQ(read_json(test_folder() / "out" / "result.json")["status"], "partial");
}

TEST_F(Terminal, ASweepShowsItsRunsAndEndsByCtrlC) {
  const std::string sweep =
      "sweep tb/scenarios/pair.toml --set traffic.byte_scale=0.6 --set host.payload=reference -j 2 --db %D/a.sqlite "
      "--vary pcie.read_tags=64..512:x2 --seeds 4";
  const TerminalResult cut = run_in_terminal(sweep, "[4-9] of 16 runs");
  EXPECT_EQ(cut.exit_code, 130) << cut.screen;
  EXPECT_NE(cut.screen.find("the same command continues from there"), std::string::npos) << cut.screen;
  const TerminalResult rest = run_in_terminal(sweep);
  EXPECT_EQ(rest.exit_code, 0) << rest.screen;
  expect_progress(rest.screen, " runs done, 2 running");
  EXPECT_EQ(rest.screen.find(" 16 executed"), std::string::npos) << "what was done is not done again";
}

TEST_F(Terminal, ValidateShowsItsRuns) {
  const std::string validate = "validate --only E2,E5 --out %D/validation.md --work %D/work";
  const TerminalResult seen = run_in_terminal(validate);
  EXPECT_EQ(seen.exit_code, 0) << seen.screen;
  expect_progress(seen.screen, " of 3 runs done, ");
  expect_quiet_in_a_pipe(validate);
}

TEST_F(Terminal, SizingShowsProgressAndIsQuietInAPipe) {
  const std::string size = fmt::format("size {} --buffer nic.retransmit_buffer.entries --seeds 2", kStudy);
  const TerminalResult seen = run_in_terminal(size);
  EXPECT_EQ(seen.exit_code, 0) << seen.screen;
  EXPECT_NE(seen.screen.find("\r\033[K["), std::string::npos) << seen.screen;
  EXPECT_NE(seen.screen.find(" runs done, "), std::string::npos) << seen.screen;
  expect_quiet_in_a_pipe(size);
}

TEST(ExpectedTime, IsOfTheRunsOwnFirstSeconds) {
  const auto start = ExpectedTime::Clock::now();
  const auto after = [&](double seconds) {
    return start + std::chrono::duration_cast<ExpectedTime::Clock::duration>(std::chrono::duration<double>(seconds));
  };
  ExpectedTime expected(start);
  EXPECT_FALSE(expected.seconds_left(0.1, after(1))) << "start-up";
  EXPECT_FALSE(expected.seconds_left(0, after(3.5))) << "nothing is done that could be measured";
  const auto left = expected.seconds_left(0.1, after(4));
  ASSERT_TRUE(left);
  EXPECT_NEAR(*left, 36, 1e-6);
  EXPECT_FALSE(expected.seconds_left(0.2, after(5))) << "said once";
}

/// Nothing is said of the machine before the run has begun.
TEST(ExpectedTime, IsNotAConstant) {
  const ProcessResult run =
      run_process("mrcsim run tb/scenarios/pair.toml --set host.payload=reference traffic.rows=8 --out %D/expected");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("  expects    2048 data packets; the wall time is estimated after 3 s\n"), std::string::npos)
      << run.out;
  EXPECT_EQ(run.out.find("assumed"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace mrc
