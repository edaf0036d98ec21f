// Traces that nobody of this project wrote, played to their end: whole on the ideal transport, on mrc as large as
// minutes allow.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

fs::path samples() {
  const char* given = std::getenv("MRCSIM_SAMPLES");
  return given != nullptr ? fs::path(given) : fs::path(MRCSIM_SOURCE_DIR) / ".." / "shared" / "samples";
}

struct Sample {
  const char* name;
  const char* trace;
  int ranks;              ///< of the whole trace
  const char* ideal_cut;  ///< a trace of one rank that represents all needs their number
  const char* mrc_cut;
  int mrc_ranks;
};
void PrintTo(const Sample& sample, std::ostream* out) {
  *out << sample.name;
}

class PublicSamples : public ::testing::TestWithParam<Sample> {
 protected:
  void SetUp() override {
    if (!fs::exists(samples())) GTEST_SKIP() << "no folder of public samples (MRCSIM_SAMPLES)";
    std::string trace = fs::absolute(samples() / GetParam().trace).string();
    if (std::string(GetParam().name) == "PyTorch") {
      const std::string archive = (samples() / "chakra" / "feeder_tests_trace.tar.gz").string();
      ASSERT_EQ(std::system(("tar xzf " + archive + " -C " + test_folder().string()).c_str()), 0);
      trace = (test_folder() / GetParam().trace).string();
    }
    std::ofstream(test_folder() / "s.toml") << fmt::format(
        "[traffic]\ntrace = \"{}\"\n[fabric]\nnics = 32\n[host]\npayload = \"reference\"\n[run]\nmax_time_us = 1e9\n",
        trace);
  }
  nlohmann::json run(const std::string& settings) {
    const ProcessResult result = run_process("mrcsim run %D/s.toml --out %D/out --set " + settings);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    summary_ = result.out;
    auto json = read_json(test_folder() / "out" / "result.json");
    EXPECT_EQ(json["status"], "complete");
    EXPECT_EQ(json["bytes"]["delivered"], json["bytes"]["offered"]);
    EXPECT_GT(json["messages"]["completed"], 0);
    return json;
  }

  std::string summary_;
};

TEST_P(PublicSamples, AreCompleteOnTheIdealTransport) {
  const auto result = run(std::string("transport=ideal ") + GetParam().ideal_cut);
  EXPECT_EQ(result["job"]["ranks"], GetParam().ranks);
}

TEST_P(PublicSamples, AreCompleteOnMrcCutToSize) {
  const auto result = run(std::string("transport=mrc ") + GetParam().mrc_cut);
  EXPECT_EQ(result["job"]["ranks"], GetParam().mrc_ranks);
  EXPECT_NE(summary_.find(" data packets; "), std::string::npos) << "what it expects";
  for (const auto& cut : result["job"]["cut"]) {
    EXPECT_NE(summary_.find("cut        " + cut.get<std::string>()), std::string::npos) << summary_;
  }
  EXPECT_EQ(result["job"]["cut"].empty(), *GetParam().mrc_cut == '\0');
}

INSTANTIATE_TEST_SUITE_P(All, PublicSamples,
                         ::testing::Values(Sample{"PyTorch", "tests/data/chakra.0.et", 8, "traffic.ranks=8",
                                                  "traffic.ranks=8 traffic.byte_scale=0.1", 8},
                                           Sample{"AstraSim", "astra-sim/custom_allreduce.{rank}.et", 8, "", "", 8},
                                           Sample{"SimAi", "simai/workload_analytical.txt", 9216, "",
                                                  "traffic.ranks=16 traffic.rows=20 traffic.byte_scale=0.002", 16},
                                           Sample{"Goal", "goal/binary_tree_32.goal", 32, "", "", 32}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace mrc
