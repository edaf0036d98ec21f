// The network of a scenario, as a user prints and runs it.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

TEST(FabricCommand, PrintsNumbersAndChecksEveryPath) {
  const ProcessResult run = run_process("mrcsim fabric tb/scenarios/clos_8x100g.toml");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("8 per plane, 64 in total, 16 NICs below each"), std::string::npos) << run.out;
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

/// Data, SACKs, and the EV probes of the side that only receives: an EV whose fields are wrong would lose its packet.
class FieldsOfEvs : public ::testing::TestWithParam<const char*> {};
TEST_P(FieldsOfEvs, LeadEveryPacketAcrossT1s) {
  const ProcessResult run = run_process(
      fmt::format("mrcsim run tb/scenarios/clos_4x200g.toml --quiet --out %D/out {} --set traffic.byte_scale=0.05 "
                  "fabric.t1s_per_plane=4 protocol.ev_layout.kind=fields",
                  GetParam()));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto r = read_json(test_folder() / "out" / "result.json");
  EXPECT_EQ(r["messages"]["completed"], 128);
  EXPECT_GT(r["packets"]["control"], 100);
  EXPECT_EQ(r["packets"]["dropped"], 0);
  EXPECT_EQ(r["packets"]["retransmitted"], 0);
}
INSTANTIATE_TEST_SUITE_P(Nodes, FieldsOfEvs, ::testing::Values("", "--set fidelity=endpoint"));

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
  // What a heat map of the queues shows: the port that all send to is full, and no sample is above what its port saw.
  std::map<std::string, double> longest;
  for (const auto& port : r["switch_ports"]) longest[port["port"]] = port["most_queued_bytes"].get<double>();
  for (const auto& [port, samples] : series["queue_bytes"].items()) {
    double most = 0;
    for (const auto& sample : samples) most = std::max(most, sample.get<double>());
    EXPECT_LE(most, longest[port]) << port << ": a port that no packet passed has no row and no queue";
    if (port == "plane0.t0.0.down0") {
      EXPECT_GT(most, 0.5 * longest[port]);
    } else if (port == "plane0.t0.0.down1") {
      EXPECT_LT(most, 0.1 * longest["plane0.t0.0.down0"]) << "only control goes there";
    }
  }
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

/// A permutation of `nodes` NICs in which each sends to the one half the fabric away.
std::string permutation(const std::filesystem::path& folder, int nodes, int bytes) {
  std::ofstream csv(folder / "permutation.csv");
  csv << "start_us,src,dst,bytes,tag\n";
  for (int i = 0; i < nodes; ++i) csv << fmt::format("0,{},{},{},0\n", i, (i + nodes / 2) % nodes, bytes);
  return (folder / "permutation.csv").string();
}

TEST(LightEndpoints, APermutationCompletesWithEveryBytePlacedOnceAndTwiceAlike) {
  const std::filesystem::path folder = test_folder();
  const std::string common =
      fmt::format("mrcsim run tb/scenarios/clos_8x100g.toml --quiet --set fidelity=endpoint traffic.trace={} ",
                  permutation(folder, 128, 2 << 20));
  ASSERT_EQ(run_process(common + "--out %D/first").exit_code, 0);
  ASSERT_EQ(run_process(common + "--out %D/second").exit_code, 0);
  EXPECT_EQ(read_text(folder / "first" / "result.json"), read_text(folder / "second" / "result.json"));
  const auto r = read_json(folder / "first" / "result.json");
  EXPECT_EQ(r["messages"]["completed"], 128);
  EXPECT_EQ(r["bytes"]["corrupted"], 0);
  EXPECT_GE(r["packets"]["delivered"], 128 * 512);
}

TEST(LightEndpoints, SurviveLossTrimsAndCorruptionOnEveryLink) {
  const std::filesystem::path folder = test_folder();
  const ProcessResult run = run_process(fmt::format(
      "mrcsim run tb/scenarios/clos_8x100g.toml --quiet --out %D/out --set fidelity=endpoint traffic.trace={} "
      "fabric.loss_rate=0.01 fabric.trim_rate=0.01 fabric.corrupt_rate=0.005 fabric.duplicate_rate=0.01 "
      "fabric.ecn_rate=0.02 fabric.nics=32 fabric.nics_per_t0=8",
      permutation(folder, 32, 1 << 20)));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto r = read_json(folder / "out" / "result.json");
  EXPECT_EQ(r["messages"]["completed"], 32);
  EXPECT_EQ(r["bytes"]["corrupted"], 0);
  EXPECT_GT(r["packets"]["retransmitted"], 100);
}

TEST(LightEndpoints, OneDetailedNicInAFabricOfLightEndpoints) {
  const std::filesystem::path folder = test_folder();
  const ProcessResult run =
      run_process(fmt::format("mrcsim run tb/scenarios/clos_8x100g.toml --quiet --out %D/out --set fidelity=endpoint "
                              "node.nic0.fidelity=detailed traffic.trace={}",
                              permutation(folder, 128, 1 << 20)));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto r = read_json(folder / "out" / "result.json");
  EXPECT_EQ(r["messages"]["completed"], 128);
  EXPECT_GT(r["limits"].size(), 0U);
  for (const auto& row : r["ledger"]) EXPECT_EQ(row["node"], "nic0");
}

TEST(LightEndpoints, AnAllToAllOfManyQpsEnds) {
  const std::filesystem::path folder = test_folder();
  std::ofstream csv(folder / "all_to_all.csv");
  csv << "start_us,src,dst,bytes,tag\n";
  for (int i = 0; i < 32; ++i) {
    for (int j = 1; j < 32; ++j) csv << fmt::format("0,{},{},65536,0\n", i, (i + j) % 32);
  }
  csv.close();
  const ProcessResult run = run_process(fmt::format(
      "mrcsim run tb/scenarios/clos_8x100g.toml --quiet --out %D/out --set fidelity=endpoint traffic.trace={} "
      "fabric.nics=32 fabric.nics_per_t0=8 fabric.t1s_per_plane=8 fabric.loss_rate=0.002 "
      "nic.probe_engine.outstanding_probes=8",
      (folder / "all_to_all.csv").string()));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto r = read_json(folder / "out" / "result.json");
  EXPECT_EQ(r["messages"]["completed"], 32 * 31);
  // Probes that find no room wait for their turn and do not spin.
  EXPECT_LT(r["cost"]["box_steps"], 100 * r["packets"]["sent"].get<std::uint64_t>());
}

TEST(LightEndpoints, HaveNoRtl) {
  const ProcessResult run =
      run_process("mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --set fidelity=endpoint --rtl srv6_encap");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("which has no boxes"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace mrc
