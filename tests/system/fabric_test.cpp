// The network of a scenario, as a user prints and runs it.
#include <gtest/gtest.h>

#include <fstream>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

TEST(FabricCommand, PrintsNumbersAndChecksEveryPath) {
  const ProcessResult run = run_process("mrcsim fabric tb/scenarios/clos_8x100g.toml");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("8 a plane, 64 in all, 16 NICs below each"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("all 1850368 paths between all NICs arrive"), std::string::npos) << run.out;
}

TEST(FabricCommand, RoutesAreTheSameInTextAndJson) {
  const std::string small =
      " tb/scenarios/pair.toml --set fabric.nics=12 fabric.nics_per_t0=4 fabric.t1s_per_plane=2 --routes";
  const ProcessResult text = run_process("mrcsim fabric" + small);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  const ProcessResult json = run_process("mrcsim fabric --format json" + small);
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const auto j = nlohmann::json::parse(json.out);
  EXPECT_EQ(j["planes"], 8);
  std::size_t entries = 0;
  for (const auto& at : j["switches"]) {
    EXPECT_NE(text.out.find(fmt::format("{} uSID {}", at["switch"].get<std::string>(), at["usid"].get<std::string>())),
              std::string::npos);
    entries += at["table"].size();
  }
  // A plane: 3 T0s with 4 NICs and 2 T1s, 2 T1s with 3 T0s.
  EXPECT_EQ(entries, 8U * (3 * (4 + 2) + 2 * 3));
}

TEST(FabricCommand, ImpossibleNumbersAreRefused) {
  const ProcessResult run = run_process(
      "mrcsim fabric tb/scenarios/pair.toml --set fabric.nics=100 fabric.nics_per_t0=4 "
      "fabric.t0s_per_plane=3");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("has room for 12 NICs"), std::string::npos) << run.err;
}

class Across : public ::testing::TestWithParam<const char*> {};
TEST_P(Across, TwoDetailedNicsBelowDifferentT0sKeepLineRate) {
  const ProcessResult run = run_process(fmt::format(
      "mrcsim run tb/scenarios/{}.toml --quiet --out %D/out --set traffic.byte_scale=0.25 host.payload=reference",
      GetParam()));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto r = read_json(test_folder() / "out" / "result.json");
  EXPECT_EQ(r["status"], "complete");
  EXPECT_EQ(r["messages"]["completed"], 128);
  EXPECT_EQ(r["packets"]["dropped"], 0);
}
INSTANTIATE_TEST_SUITE_P(Presets, Across,
                         ::testing::Values("clos_8x100g", "clos_4x200g", "clos_1x800g", "three_tier_ecmp"));

TEST(Fabric, IncastOfDetailedNicsIsTrimmedAndEveryByteArrives) {
  const std::filesystem::path folder = test_folder();
  std::ofstream csv(folder / "incast.csv");
  csv << "start_us,src,dst,bytes,tag\n";
  for (int from = 1; from < 8; ++from) csv << "0," << from << ",0,2097152,0\n";
  csv.close();
  const ProcessResult run = run_process(
      fmt::format("mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --set traffic.trace={} fabric.nics=8 "
                  "fabric.nics_per_t0=2 fabric.t1s_per_plane=2 run.node_under_test=nic1",
                  (folder / "incast.csv").string()));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto r = read_json(folder / "out" / "result.json");
  EXPECT_EQ(r["messages"]["completed"], 7);
  EXPECT_EQ(r["bytes"]["corrupted"], 0);
  EXPECT_GT(r["packets"]["trimmed"], 0);
  const auto series = read_json(folder / "out" / "series.json");
  EXPECT_TRUE(series["queue_bytes"].contains("plane0.t0.0.down0"));
}

TEST(Fabric, MethodsAndWheelAgreeAcrossTiers) {
  const std::string common =
      "mrcsim run tb/scenarios/ring.toml --quiet --set traffic.byte_scale=0.05 fabric.nics_per_t0=1 "
      "fabric.t1s_per_plane=4 ";
  ASSERT_EQ(run_process(common + "--out %D/wheel").exit_code, 0);
  ASSERT_EQ(run_process(common + "run.kernel=methods --out %D/methods").exit_code, 0);
  auto wheel = read_json(test_folder() / "wheel" / "result.json");
  auto methods = read_json(test_folder() / "methods" / "result.json");
  for (auto* r : {&wheel, &methods}) {
    r->erase("cost");
    r->erase("parameters");
  }
  EXPECT_EQ(wheel, methods);
}

}  // namespace
}  // namespace mrc
