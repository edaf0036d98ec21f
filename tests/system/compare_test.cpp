// Results side by side: what was changed, what it did, and whether seeds explain it.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

class Compare : public ::testing::Test {
 protected:
  static void run(const std::string& out, int seed, const std::string& more) {
    const ProcessResult result = run_process(fmt::format(
        "mrcsim run tb/scenarios/pair.toml --quiet --set traffic.byte_scale=0.02 --set host.payload=reference "
        "--set fabric.loss_rate=0.0001 --seed {} --out %D/{} {}",
        seed, out, more));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  static nlohmann::json compare(const std::string& places) {
    const ProcessResult result = run_process("mrcsim compare --format json " + places);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out, nullptr, false);
  }
  static nlohmann::json metric(const nlohmann::json& metrics, const std::string& name) {
    for (const auto& row : metrics) {
      if (row["name"] == name) return row;
    }
    return nlohmann::json();
  }
};

TEST_F(Compare, TellsWhatWasChangedAndWhatItDid) {
  for (int seed = 1; seed <= 3; ++seed) {
    run(fmt::format("usual/{}", seed), seed, "");
    run(fmt::format("small/{}", seed), seed, "--set nic.retransmit_buffer.entries=16");
    run(fmt::format("same/{}", seed), seed + 10, "");
  }
  const auto json = compare("%D/usual %D/small %D/same");
  EXPECT_TRUE(json["noise_known"].get<bool>());
  EXPECT_EQ(json["parameters"].dump(), R"({"nic.retransmit_buffer.entries":["4096","16","4096"]})");
  const auto goodput = metric(json["metrics"], "goodput_gbps");
  EXPECT_EQ(goodput["beyond_noise"].dump(), "[false,true,false]") << goodput.dump();
  double mean = 0;
  for (int seed = 1; seed <= 3; ++seed)
    mean += read_json(test_folder() / "usual" / std::to_string(seed) / "result.json")["goodput_gbps"].get<double>() / 3;
  EXPECT_NEAR(goodput["mean"][0].get<double>(), mean, 1e-9);
  EXPECT_EQ(json["limits"][0]["name"], "retransmit_buffer.entries");
  EXPECT_GT(json["limits"][0]["mean"][1].get<double>(), 100);
  EXPECT_EQ(metric(json["sram"], "retransmit_buffer.records")["mean"].dump(), "[745472.0,2912.0,745472.0]");
  ASSERT_FALSE(json["ledger"].empty());
  const auto change = [](const nlohmann::json& row) {
    return std::max(std::abs(row["mean"][1].get<double>() - row["mean"][0].get<double>()),
                    std::abs(row["mean"][2].get<double>() - row["mean"][0].get<double>()));
  };
  EXPECT_GE(change(json["ledger"][0]), change(json["ledger"].back()));

  const ProcessResult table = run_process("mrcsim compare %D/usual %D/small");
  const std::size_t parameters = table.out.find("nic.retransmit_buffer.entries");
  const std::size_t metrics = table.out.find("goodput_gbps");
  const std::size_t ledger = table.out.find("ledger, share of time");
  EXPECT_LT(parameters, metrics);
  EXPECT_LT(metrics, ledger);
  EXPECT_NE(ledger, std::string::npos) << table.out;

  const auto single = compare("%D/usual/1/result.json %D/small/1");
  EXPECT_FALSE(single["noise_known"].get<bool>());
}

TEST_F(Compare, TellsFaultsAndRtlApart) {
  std::ofstream(test_folder() / "loss.toml") << fmt::format(
      "[traffic]\ntrace = \"{}/traces/pair_1GiB.csv\"\nbyte_scale = 0.01\n[fabric]\nnics = 2\n"
      "[[fault]]\nat_us = 1\nkind = \"loss\"\nwhere = \"nic0.port3\"\nprobability = 0.01\n",
      MRCSIM_SOURCE_DIR);
  ASSERT_EQ(run_process("mrcsim run %D/loss.toml --quiet --out %D/loss").exit_code, 0);
  run("rtl", 1, "--rtl ack_coalescer@nic1");
  const auto json = compare("%D/rtl %D/loss");
  EXPECT_EQ(json["parameters"]["rtl of nic1"].dump(), R"x(["ack_coalescer (rtl)","-"])x") << json["parameters"].dump(2);
  EXPECT_EQ(json["parameters"]["fault.loss at 1.0 us"].dump(), R"(["-","nic0.port3"])") << json["parameters"].dump(2);
}

TEST_F(Compare, TransportsWithWhatTheyCount) {
  for (const std::string transport : {"mrc", "uet", "rocev2"}) {
    const ProcessResult result = run_process(
        fmt::format("mrcsim run tb/scenarios/pair.toml --quiet --set traffic.byte_scale=0.02 host.payload=reference "
                    "fidelity=endpoint fabric.loss_rate=0.005 transport={0}{1} --out %D/{0}",
                    transport, transport == "uet" ? " uet.congestion=both" : ""));
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  const auto json = compare("%D/mrc %D/uet %D/rocev2");
  for (const auto& [name, group] : {std::pair{"uet.timeouts", 1}, {"uet.grants", 1}, {"rocev2.naks", 2}}) {
    const auto counted = metric(json["metrics"], name);
    ASSERT_TRUE(counted.is_object()) << name;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(counted["mean"][i].get<double>() > 0, i == group) << name << ", group " << i;
  }
  // nic1 sends nothing, and no switch pauses.
  EXPECT_TRUE(metric(json["metrics"], "nic0.tx_gbps").is_object());
  EXPECT_FALSE(metric(json["metrics"], "nic1.tx_gbps").is_object());
  EXPECT_FALSE(metric(json["metrics"], "rocev2.pauses").is_object());
}

TEST_F(Compare, NodesInARowThatDifferAlikeAreOneRow) {
  const auto run_fabric = [](const std::string& out, const std::string& nodes) {
    std::ofstream(test_folder() / (out + ".toml")) << fmt::format(
        "fidelity = \"endpoint\"\n[traffic]\ntrace = \"{}/traces/pair_1GiB.csv\"\nbyte_scale = 0.001\n"
        "[fabric]\nnics = 16\n[rocev2]\npfc = false\n{}",
        MRCSIM_SOURCE_DIR, nodes);
    const ProcessResult result = run_process("mrcsim run %D/" + out + ".toml --quiet --out %D/" + out);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  };
  run_fabric("all", "");
  run_fabric("some", "[node.nic2-11]\ntransport = \"rocev2\"\n[node.nic13]\ntransport = \"uet\"\n");
  const auto json = compare("%D/all %D/some");
  EXPECT_EQ(json["parameters"].dump(),
            R"({"node.nic13.transport":["-","uet"],"node.nic2-11.transport":["-","rocev2"]})");
}

TEST_F(Compare, PointsOfAStudy) {
  std::filesystem::remove(test_folder() / "a.sqlite");
  ASSERT_EQ(
      run_process("mrcsim sweep tb/scenarios/pair.toml --set traffic.byte_scale=0.01 --vary pcie.read_tags=64,512 "
                  "--seeds 2 --db %D/a.sqlite --quiet")
          .exit_code,
      0);
  const auto json = compare("%D/a.sqlite:1.0 %D/a.sqlite:1.1");
  EXPECT_EQ(json["parameters"].dump(), R"({"pcie.read_tags":["64","512"]})");
  EXPECT_EQ(json["groups"][0]["seeds"], 2);
}

}  // namespace
}  // namespace mrc
