#include "parameters/scenario.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace mrc {
namespace {

class Scenario : public ::testing::Test {
 protected:
  std::string write(const std::string& text) {
    const auto folder = std::filesystem::path(::testing::TempDir()) / "scenario_test";
    std::filesystem::create_directories(folder);
    // Cases run at the same time in processes of their own.
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder / test);
    path_ = (folder / test / "case.toml").string();
    std::ofstream(path_) << text;
    return path_;
  }
  std::string refusal(const std::string& text, const std::vector<std::string>& set = {}) {
    try {
      load_scenario(write(text), {set, {}});
    } catch (const ParameterError& error) {
      std::string message = error.what();
      if (message.starts_with(path_)) message.replace(0, path_.size(), "FILE");
      return message;
    }
    return "accepted";
  }
  std::string path_;
};

constexpr const char* kTrace = "[traffic]\ntrace = \"t.csv\"\n";

TEST_F(Scenario, ReadsTablesOverridesAndResolvesPaths) {
  const ScenarioConfig s = load_scenario(
      write(
          "seed = 7\n[traffic]\ntrace = \"../t.csv\"\nbuffer_bytes = \"1MiB\"\n[nic]\nports = 4\n"
          "[nic.retransmit_buffer]\nentries = 512\n[node.nic1.pcie]\nmrrs_bytes = 4096\n[cc]\nbase_rtt_ns = 5000.5\n"),
      {{"nic.port_gbps=200", "node.nic1.nic.rx_staging.bytes=64KiB"}, {}});
  EXPECT_EQ(s.name, "case");
  EXPECT_EQ(s.seed, 7U);
  EXPECT_EQ(s.traffic.trace, (std::filesystem::path(path_).parent_path().parent_path() / "t.csv").string());
  EXPECT_EQ(s.traffic.buffer_bytes, 1U << 20);
  EXPECT_EQ(s.node(0).nic.ports, 4U);
  EXPECT_EQ(s.node(0).pcie.mrrs_bytes, 512U);
  EXPECT_EQ(s.node(0).nic.retransmit_buffer.entries, 512U);
  EXPECT_EQ(s.node(1).pcie.mrrs_bytes, 4096U);
  EXPECT_EQ(s.node(1).nic.rx_staging.bytes, 65'536U);
  EXPECT_EQ(s.node(1).nic.port_gbps, 200.0) << "what holds for all nodes reaches overridden ones";
  EXPECT_EQ(s.cc.base_rtt_ps, 5'000'500U);
}

TEST_F(Scenario, AMeasuredReadLatencyCountsInsteadOfMeanAndP99) {
  const std::string text = std::string(kTrace) + "[node.nic1.pcie]\nread_latency_histogram = \"times.csv\"\n";
  EXPECT_NE(refusal(text).find("times.csv: "), std::string::npos) << refusal(text);
  std::ofstream(std::filesystem::path(write(text)).parent_path() / "times.csv") << "ns,count\n700,3\n900,1\n";
  const ScenarioConfig s = load_scenario(path_, {{"pcie.read_latency_p99_ns=1200"}, {}});
  EXPECT_EQ(s.node(0).pcie.read_latency_p99_ns, 1200);
  EXPECT_EQ(s.node(1).pcie.read_latency_mean_ns, 750);
  EXPECT_EQ(s.node(1).pcie.read_latency_p99_ns, 900);
}

TEST_F(Scenario, CommandLineWinsOverTheFile) {
  const ScenarioConfig s =
      load_scenario(write(std::string("seed = 1\n") + kTrace + "[nic]\nports = 4\n"), {{"nic.ports=2", "seed=5"}, 9});
  EXPECT_EQ(s.node_default.nic.ports, 2U);
  EXPECT_EQ(s.seed, 9U);
}

TEST_F(Scenario, FaultsOfTheCommandLineFollowThoseOfTheFile) {
  const std::string text = std::string(kTrace) + "[[fault]]\nkind = \"plane_loss\"\nwhere = \"plane1\"\nat_us = 3\n";
  const std::string stall = R"({kind = "pcie_stall", where = "nic1", at_us = 5, for_us = )";
  const ScenarioConfig s = load_scenario(write(text), {{"fault.a=" + stall + "1}", "fault.b=" + stall + "2}",
                                                        "fault.a=" + stall + "7.5}", "fault=" + stall + "4}"},
                                                       {}});
  ASSERT_EQ(s.faults.size(), 4U);
  EXPECT_EQ(s.faults[0].kind, FaultKind::plane_loss);
  EXPECT_EQ(s.faults[1].for_us, 7.5) << "the later one of the same key";
  EXPECT_EQ(s.faults[2].for_us, 2);
  EXPECT_EQ(s.faults[3].for_us, 4);
  EXPECT_EQ(
      refusal(kTrace, {"fault.a={kind = \"los\", where = \"nic0\", at_us = 1}"})
          .find("--set fault.a={kind = \"los\", where = \"nic0\", at_us = 1}: fault.kind = \"los\" is not allowed"),
      0U);
  for (const char* bad : {"fault=1", "fault=", "fault={}\nseed = 3", "fault={kind = \"loss\"", "faults={}"})
    EXPECT_NE(refusal(kTrace, {bad}), "accepted") << bad;
}

TEST_F(Scenario, EveryRefusalNamesItsPlace) {
  EXPECT_EQ(refusal("seed = 1\n[nic\n").substr(0, 21), "FILE:2:5: TOML syntax");
  EXPECT_EQ(refusal("[nic]\nports = 4\nport_gpbs = 100\n"),
            "FILE:3: unknown key nic.port_gpbs; nearest: nic.port_gbps");
  EXPECT_EQ(refusal("\n[nic]\nports = 12\n"), "FILE:3: nic.ports = 12 is not allowed; allowed: 1 … 8 ports");
  EXPECT_EQ(refusal("[nic]\nports = \"four\"\n"),
            "FILE:2: nic.ports = \"four\" is not of type integer; allowed: 1 … 8 ports");
  EXPECT_EQ(refusal("[nic]\nports = [1]\n"), "FILE:2: nic.ports: expected a number, text, true or false");
  EXPECT_EQ(refusal("[[fault]]\nat_us = 1\n"), "FILE:1: fault: kind is missing");
  EXPECT_EQ(refusal("[node.nic5.nic]\nport_gbps = 100\n"), "FILE:2: there is no nic5: fabric.nics = 2, nic0 … nic1");
  EXPECT_EQ(refusal("[node.card0.nic]\nport_gbps = 100\n"),
            "FILE:2: node.card0.nic.port_gbps: expected node.nic<number>.<parameter>");
  EXPECT_EQ(refusal("[node.nic0.fabric]\nloss_rate = 0.5\n"),
            "FILE:2: fabric.loss_rate is the same for all nodes; [node.…] takes fidelity, nic, pcie and host keys");
  EXPECT_EQ(refusal("seed = 1\n"), "FILE: traffic.trace is missing: a scenario needs a trace");
  EXPECT_EQ(refusal(kTrace, {"nic.ports"}), "--set nic.ports: expected key=value");
}

TEST_F(Scenario, RulesBetweenParameters) {
  EXPECT_EQ(refusal(kTrace, {"protocol.ev_active=512"}),
            "FILE: protocol.ev_active = 512 is more than protocol.ev_count = 256");
  EXPECT_EQ(refusal(kTrace, {"nic.ports=3"}),
            "FILE: protocol.ev_active = 128 and protocol.ev_count = 256 must be multiples of nic.ports = 3, so that "
            "all planes have the same number");
  EXPECT_EQ(refusal(kTrace, {"node.nic1.nic.ports=4"}),
            "FILE: nic1: nic.ports must be the same on all nodes: each port is a plane");
  EXPECT_EQ(refusal(kTrace, {"nic.port.tx_fifo_bytes=4096"}),
            "FILE: nic.port.tx_fifo_bytes = 4096 does not hold one packet of 4266 B");
  EXPECT_EQ(refusal(kTrace, {"pcie.completion_buffer_bytes=4096"}),
            "FILE: pcie.completion_buffer_bytes = 4096 does not hold one packet of protocol.mtu_bytes = 4096 and "
            "another read of pcie.mrrs_bytes = 512");
  EXPECT_EQ(refusal(kTrace, {"pcie.generation=3"}),
            "FILE: pcie.read_tags = 512 is more than the 256 that pcie.generation = 3 has on 1 link(s)");
  EXPECT_EQ(refusal(kTrace, {"pcie.posted_data_credits=8"}),
            "FILE: pcie.posted_data_credits = 8 (16 B each) do not cover one TLP of pcie.mps_bytes = 256");
  EXPECT_EQ(refusal(kTrace, {"pcie.read_latency_p99_ns=900"}),
            "FILE: pcie.read_latency_p99_ns = 900 is below pcie.read_latency_mean_ns = 1000");
  EXPECT_EQ(refusal(kTrace, {"pcie.read_latency_p99_ns=5000"}),
            "FILE: pcie.read_latency_p99_ns = 5000 is too far above pcie.read_latency_mean_ns = 1000: the shortest "
            "latency would be negative; at most 4605");
  EXPECT_EQ(refusal(kTrace, {"pcie.generation=5", "pcie.ack_interval_bytes=10"}),
            "FILE: pcie.ack_interval_bytes = 10 and pcie.fc_update_interval_bytes = 0 leave 15 % of the link for TLPs; "
            "at least half is needed");
  EXPECT_EQ(
      refusal(kTrace, {"cc.base_rtt_ns=1000"}),
      "FILE: cc.base_rtt_ns = 1000 is below the round trip of the fabric, 1750 ns: every packet would appear delayed");
  EXPECT_EQ(refusal(kTrace, {"run.node_under_test=nic7"}),
            "FILE: run.node_under_test = \"nic7\" is not a node; allowed: nic0 … nic1");
  EXPECT_EQ(refusal(kTrace, {"run.quantum_ns=200"}),
            "FILE: run.quantum_ns = 200 is more than the shortest link delay, fabric.cable_delay_ns = 150");
}

TEST_F(Scenario, AFabricHasAsManyLinksAsItsEventsCanName) {
  const auto refused = [&](std::vector<std::string> set) {
    set.insert(set.begin(), {"fabric.nics=131072", "fidelity=endpoint", "nic.ports=8", "nic.port_gbps=100"});
    return refusal(kTrace, set);
  };
  EXPECT_EQ(refused({}), "accepted");
  EXPECT_EQ(refused({"fabric.nics_per_t0=128", "fabric.t1s_per_plane=896"}), "accepted");
  EXPECT_EQ(refused({"fabric.nics_per_t0=128", "fabric.t1s_per_plane=897"}),
            "FILE: 131072 NICs, 1024 T0s and 897 T1s per plane in 8 planes (nic.ports) have 16793600 links, more than "
            "16777216");
}

TEST_F(Scenario, FieldsOfEvsMustHoldWhatTheyName) {
  const auto refused = [&](std::vector<std::string> set) {
    set.insert(set.begin(), {"protocol.ev_layout.kind=fields", "nic.ports=4"});
    return refusal(kTrace, set);
  };
  EXPECT_EQ(refused({}), "accepted");
  EXPECT_EQ(refused({"nic.ports=8"}),
            "FILE: protocol.ev_layout.port_bits = 2 names 4 of 8 ports (nic.ports); allowed: 3 or more");
  EXPECT_EQ(refused({"protocol.ev_layout.plane_bits=1"}),
            "FILE: protocol.ev_layout.plane_bits = 1 names 2 of 4 planes (nic.ports); allowed: 2 or more");
  EXPECT_EQ(refused({"fabric.nics_per_t0=1", "fabric.t1s_per_plane=5"}),
            "FILE: protocol.ev_layout.uplink_bits = 2 names 4 of 5 uplinks of a T0 (fabric.t1s_per_plane); allowed: "
            "3 or more");
  EXPECT_EQ(refused({"protocol.ev_layout.uplink_bits=3"}),
            "FILE: protocol.ev_layout.t1_plane_bit = 7 with 3 bits overlaps uplink_bit = 5 with 3");
  EXPECT_EQ(refused({"protocol.ev_layout.source_plane_bit=30"}),
            "FILE: protocol.ev_layout.source_plane_bit = 30 and 3 bits end beyond bit 31");
  EXPECT_EQ(refused({"fabric.routing=ecmp"}),
            "FILE: protocol.ev_layout.kind = \"fields\" needs fabric.routing = \"usid\": other routing does not read "
            "fields of an EV");
  EXPECT_EQ(refused({"protocol.ev_layout.uplink_bit=14", "protocol.ev_layout.uplink_bits=11",
                     "protocol.ev_layout.source_plane_bit=25", "protocol.ev_layout.t1_plane_bit=28",
                     "protocol.ev_layout.port_bits=2", "protocol.ev_count=4096"}),
            "accepted");
  EXPECT_EQ(refused({"protocol.ev_layout.uplink_bit=14", "protocol.ev_layout.uplink_bits=11",
                     "protocol.ev_layout.source_plane_bit=25", "protocol.ev_layout.t1_plane_bit=28",
                     "protocol.ev_layout.port_bits=3", "nic.ports=1", "protocol.ev_layout.destination_plane_bit=3",
                     "protocol.ev_count=4096"}),
            "FILE: protocol.ev_layout leaves 9 free bits, which distinguish 512 EVs on one path; "
            "protocol.ev_count = 4096 needs 4096");
  EXPECT_EQ(refusal(kTrace, {"protocol.ev_layout.uplink_bits=7"}), "accepted") << "not read by the layout modulo";
}

TEST_F(Scenario, MissingFileAndFolder) {
  try {
    load_scenario("/no/such/scenario.toml", {});
    FAIL();
  } catch (const ParameterError& error) {
    EXPECT_STREQ(error.what(), "/no/such/scenario.toml: does not exist");
  }
  try {
    load_scenario(::testing::TempDir(), {});
    FAIL();
  } catch (const ParameterError& error) {
    EXPECT_EQ(error.what(), ::testing::TempDir() + ": is a folder, not a file");
  }
}

TEST(Scenarios, OfTheRepositoryAreSound) {
  std::uint32_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MRCSIM_SOURCE_DIR "/tb/scenarios")) {
    EXPECT_NO_THROW(load_scenario(entry.path().string(), {})) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 2U);
}

}  // namespace
}  // namespace mrc
