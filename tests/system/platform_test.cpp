// The example platform as a user starts it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "mrcsim_process.h"
#include "platform/register_map.h"

namespace mrc {
namespace {

ProcessResult run_platform(const std::string& options) {
  return run_process("env SYSTEMC_DISABLE_COPYRIGHT_MESSAGE=1 " MRCSIM_PLATFORM_EXAMPLE " " + options);
}

std::string without_transport_details(std::string text) {
  return std::regex_replace(text, std::regex(", [0-9]+ by DMI"), "");
}

TEST(Platform, EveryByteArrivesWhateverTheTransport) {
  for (const std::string options :
       {"", "--no-dmi", "--no-dmi --waits", "--nonblocking --no-dmi", "--nonblocking", "--polling"}) {
    const ProcessResult result = run_platform(options);
    EXPECT_EQ(result.exit_code, 0) << options << result.err;
    EXPECT_NE(result.out.find("64 sent, 64 received, 2743631 B checked, 0 wrong"), std::string::npos) << result.out;
  }
}

TEST(Platform, ResultsDependNeitherOnTheQuantumNorOnDmiNorOnTheKernelMode) {
  // Memory of constant latency makes a driver's poll and a CQE's write meet at one picosecond, in the third of these
  // runs.
  for (int seed = 1; seed <= 6; ++seed) {
    const std::string loss = " --set fabric.loss_rate=0.01 --messages 24 --set seed=" + std::to_string(seed);
    const std::string reference = without_transport_details(run_platform(loss).out);
    EXPECT_NE(reference.find("24 sent, 24 received"), std::string::npos) << reference;
    for (const std::string options :
         {"--set run.quantum_ns=1", "--set run.quantum_ns=50", "--set run.kernel=methods", "--no-dmi"}) {
      EXPECT_EQ(without_transport_details(run_platform(options + loss).out), reference) << options << loss;
    }
  }
}

TEST(Platform, EveryByteArrivesThroughALossyFabric) {
  const std::string impaired =
      "--set fabric.loss_rate=0.03 --set fabric.corrupt_rate=0.01 --set fabric.trim_rate=0.05 "
      "--set fabric.duplicate_rate=0.02 --messages 40 ";
  for (const std::string options : {"", "--set nic.retransmit_buffer.store=payload", "--nonblocking"}) {
    const ProcessResult result = run_platform(impaired + options);
    EXPECT_EQ(result.exit_code, 0) << options << result.err;
    EXPECT_NE(result.out.find("40 sent, 40 received"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find(" 0 retransmitted"), std::string::npos) << result.out;
  }
}

TEST(Platform, ASpoiltByteIsFoundAndExits4) {
  const ProcessResult result = run_platform("--spoil-write 5 --no-dmi");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_NE(result.err.find("platform: 1 bytes differ: message "), std::string::npos) << result.err;
}

TEST(Platform, SlowMemoryHoldsReadTagsAndLowersGoodput) {
  const auto goodput = [](const std::string& options) {
    const std::string out = run_platform("--no-dmi " + options).out;
    std::smatch match;
    return std::regex_search(out, match, std::regex("([0-9.]+) Gb/s into")) ? std::stod(match[1]) : 0.0;
  };
  const double enough = goodput("--latency-ns 500");
  const double few = goodput("--latency-ns 500 --set pcie.read_tags=16");
  EXPECT_GT(enough, 100);
  EXPECT_LT(few, enough / 2);
}

TEST(Platform, BadInputExits2AndAStallExits3) {
  EXPECT_EQ(run_platform("--bytes 0").exit_code, 2);
  const ProcessResult unknown = run_platform("--set nic.port=8");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("unknown key nic.port"), std::string::npos) << unknown.err;
  const ProcessResult quick = run_platform("--set pcie.read_latency_mean_ns=100 --set pcie.read_latency_p99_ns=110");
  EXPECT_EQ(quick.exit_code, 2);
  EXPECT_NE(quick.err.find("shorter than the quantum"), std::string::npos) << quick.err;
  const ProcessResult stalled = run_platform("--set fabric.loss_rate=1 --limit-us 50");
  EXPECT_EQ(stalled.exit_code, 3);
  EXPECT_NE(stalled.err.find("waits for"), std::string::npos) << stalled.err;
}

TEST(Platform, TheDocumentedRegisterMapIsTheTable) {
  EXPECT_EQ(read_text(MRCSIM_SOURCE_DIR "/docs/register_map.md"), register_map_markdown())
      << "run mrcsim_register_map markdown > docs/register_map.md";
  EXPECT_EQ(read_text(MRCSIM_SOURCE_DIR "/docs/register_map.rdl"), register_map_systemrdl())
      << "run mrcsim_register_map systemrdl > docs/register_map.rdl";
}

std::string register_line(std::string_view block, std::uint32_t address, const RegisterInfo& info) {
  return fmt::format("0x{:X} {} {}.{}\n", address + info.offset, to_string(info.access), block, info.name);
}

/// MRCSIM_SYSTEMRDL names a Python that has systemrdl-compiler, which Debian does not have.
TEST(Platform, TheRegisterMapIsReadByACompilerOfSystemRdl) {
  const char* python = std::getenv("MRCSIM_SYSTEMRDL");
  if (python == nullptr) GTEST_SKIP() << "MRCSIM_SYSTEMRDL does not name a Python with systemrdl-compiler";
  std::string global;
  std::string regions[2];
  std::string qps[2];
  for (const RegisterInfo& info : register_map()) {
    if (info.block == RegisterBlock::global) global += register_line("global", 0, info);
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (info.block == RegisterBlock::memory_region)
        regions[i] += register_line(fmt::format("memory_region[{}]", i), region_register(i, 0), info);
      if (info.block == RegisterBlock::qp) qps[i] += register_line(fmt::format("qp[{}]", i), qp_register(i, 0), info);
    }
  }
  const ProcessResult result =
      run_process(std::string(python) + " " MRCSIM_SOURCE_DIR "/tests/system/systemrdl_registers.py " MRCSIM_SOURCE_DIR
                                        "/docs/register_map.rdl");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, global + regions[0] + regions[1] + qps[0] + qps[1]);
}

}  // namespace
}  // namespace mrc
