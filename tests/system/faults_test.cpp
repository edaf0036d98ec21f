// Faults on a timeline: what a user writes into a scenario, and what the result says the NICs did about it.
#include <gtest/gtest.h>

#include <fstream>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

/// A scenario of four NICs in 8 planes, two below each T0, that plays 1 MiB writes from nic0 to nic2 and back.
std::string write_scenario(const std::string& faults, int writes = 48, const std::string& more = "") {
  const std::filesystem::path folder = test_folder();
  std::ofstream csv(folder / "flows.csv");
  csv << "start_us,src,dst,bytes,tag\n";
  for (int i = 0; i < writes; ++i) csv << "0,0,2,1048576,0\n0,2,0,1048576,1\n";
  std::ofstream(folder / "case.toml") << "seed = 3\n[traffic]\ntrace = \"flows.csv\"\n[fabric]\nnics = 4\n"
                                         "nics_per_t0 = 2\nt1s_per_plane = 8\n"
                                      << more << faults;
  return (folder / "case.toml").string();
}

std::string fault(double at_us, double for_us, const std::string& kind, const std::string& where,
                  const std::string& more = "") {
  std::string text =
      fmt::format("[[fault]]\nat_us = {}\nkind = \"{}\"\nwhere = \"{}\"\n{}\n", at_us, kind, where, more);
  if (for_us > 0) text += fmt::format("for_us = {}\n", for_us);
  return text;
}

nlohmann::json run(const std::string& scenario, const std::string& settings = "", int exit_code = 0) {
  const ProcessResult result = run_process(fmt::format("mrcsim run {} --quiet --out %D/out {}", scenario, settings));
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  return read_json(test_folder() / "out" / "result.json");
}

void expect_whole_and_intact(const nlohmann::json& r) {
  EXPECT_EQ(r["status"], "complete");
  EXPECT_EQ(r["messages"]["completed"], r["messages"]["count"]);
  EXPECT_EQ(r["bytes"]["delivered"], r["bytes"]["offered"]);
  EXPECT_EQ(r["bytes"]["corrupted"], 0);
  for (const auto& a : r["accounts"]) {
    EXPECT_EQ(a["in"].get<std::uint64_t>(),
              a["out"].get<std::uint64_t>() + a["lost"].get<std::uint64_t>() + a["held"].get<std::uint64_t>())
        << a;
  }
}

/// Time of the first row with this `what`; negative without one.
double time_of(const nlohmann::json& r, const std::string& what) {
  for (const auto& event : r["events"]) {
    if (event["what"] == what) return event["time_us"].get<double>();
  }
  return -1;
}

TEST(Faults, AFaultAfterTheEndOfTheRunIsNamed) {
  const std::string scenario =
      write_scenario(fault(5, 10, "link_down", "nic0.port2") + fault(1e6, 10, "link_down", "nic0.port3") +
                         fault(10, 5, "link_flap", "nic2.port1", "period_us = 100000\ncount = 9\n"),
                     2);
  const ProcessResult ran = run_process(fmt::format("mrcsim run {} --out %D/out", scenario));
  const nlohmann::json r = read_json(test_folder() / "out" / "result.json");
  const std::string line = fmt::format(
      "the run ended at {:.1f} us; never happened: link_down of nic0.port3 at 1000000 us, 8 of 9 outages of "
      "link_flap of nic2.port1",
      r["simulated_time_us"].get<double>());
  EXPECT_EQ(r["notes"], nlohmann::json::array({line}));
  EXPECT_NE(ran.out.find("\n  note       " + line + "\n"), std::string::npos) << ran.out;
  EXPECT_FALSE(run(write_scenario(fault(5, 10, "link_down", "nic0.port2"), 2)).contains("notes"));
}

TEST(Faults, AFailedLinkUnderFullLoadCostsNoMessageAndIsBypassed) {
  const double undisturbed = run(write_scenario(""))["goodput_gbps"].get<double>();
  const std::string scenario = write_scenario(fault(200, 0, "link_down", "plane3.t0.0.up1"));
  const auto r = run(scenario);
  expect_whole_and_intact(r);
  EXPECT_EQ(time_of(r, "fault.link_down"), 200.0);
  // Published: a failed path is bypassed within a few tens of microseconds.
  EXPECT_GT(time_of(r, "ev.assumed_bad"), 200.0);
  EXPECT_LT(time_of(r, "ev.assumed_bad"), 240.0);
  EXPECT_GT(time_of(r, "retransmission.first"), time_of(r, "loss.first"));
  EXPECT_LT(time_of(r, "retransmission.first"), 240.0);
  // Each EV for itself, and all of them: backups that cross the same link are tried and left in turn.
  const auto time_in = [&](const std::string& before) {
    for (const auto& event : r["events"]) {
      const auto effect = event["effect"].get<std::string>();
      const auto at = effect.find(before);
      if (at != std::string::npos) return std::stod(effect.substr(at + before.size()));
    }
    return -1.0;
  };
  EXPECT_GT(time_in("an EV was out of use at most "), 0.0) << r["events"];
  EXPECT_LT(time_in("an EV was out of use at most "), 40.0) << r["events"];
  EXPECT_GT(time_in("last data packet into an outage, at most "), 0.0) << r["events"];
  EXPECT_LT(time_in("last data packet into an outage, at most "), 60.0) << r["events"];
  // 8 of the profile's 256 EVs cross one of 8 uplinks in one of 8 planes, as everywhere: 4 active, 4 in reserve.
  for (const auto& event : r["events"]) {
    if (event["what"] != "ev.assumed_bad") continue;
    EXPECT_LE(std::stoi(event["effect"].get<std::string>()), 8) << event;
  }
  EXPECT_GT(r["packets"]["dropped"], 0);
  EXPECT_GT(r["goodput_gbps"].get<double>(), 0.9 * undisturbed);
  const auto series = read_json(test_folder() / "out" / "series.json");
  double most_bad = 0;
  for (const auto& value : series["ev_states"]["nic0"]["assumed_bad"])
    most_bad = std::max(most_bad, value.get<double>());
  EXPECT_GT(most_bad, 0);
}

TEST(Faults, ALostPortIsLeftRemappedAndToldToThePeer) {
  const std::string port =
      "[nic.port]\ndown_detect_us = 5\nremap_time_us = 20\nremap_cycles_per_qp = 1000\nup_detect_us = 30\n";
  const auto r = run(write_scenario(fault(100, 300, "nic_port_loss", "nic0.port5"), 96, port));
  expect_whole_and_intact(r);
  EXPECT_DOUBLE_EQ(time_of(r, "port.down"), 105.0);
  // One QP, 1,000 cycles of 1 ns.
  EXPECT_DOUBLE_EQ(time_of(r, "port.down.remapped"), 126.0);
  EXPECT_DOUBLE_EQ(time_of(r, "port_status.down.announced"), 126.0);
  // One way across three switches takes 2.5 us and more.
  EXPECT_GT(time_of(r, "port_status.down.received"), 128.0);
  EXPECT_LT(time_of(r, "port_status.down.received"), 135.0);
  EXPECT_GT(time_of(r, "port_status.down.answered"), time_of(r, "port_status.down.received"));
  EXPECT_LT(time_of(r, "bypassed"), time_of(r, "port_status.down.received") + 5);
  EXPECT_DOUBLE_EQ(time_of(r, "port.up"), 430.0);
  EXPECT_GT(time_of(r, "port_status.up.received"), 450.0);
  EXPECT_GT(time_of(r, "back_in_use"), 430.0);
  const auto series = read_json(test_folder() / "out" / "series.json");
  const double step = series["step_us"].get<double>();
  const auto rate = [&](double at) {
    return series["plane_goodput_gbps"][5][static_cast<std::size_t>(at / step)].get<double>();
  };
  EXPECT_GT(rate(80), 50);
  for (double at = 130; at < 420; at += 10) EXPECT_EQ(rate(at), 0) << at;
  double dark = 0;
  for (const auto& limit : r["limits"]) {
    if (limit["cause"] == "port.link_down") dark = limit["gbps"].get<double>();
  }
  // 325 us of one port's 100 Gb/s.
  EXPECT_NEAR(dark, 100.0 * 325 / r["simulated_time_us"].get<double>(), 3.0);
}

TEST(Faults, AShortFlickerIsNotSeenAsALostPort) {
  const auto r = run(write_scenario(fault(100, 3, "link_down", "nic0.port5")));
  expect_whole_and_intact(r);
  EXPECT_EQ(time_of(r, "port.down"), -1);
  EXPECT_GT(time_of(r, "retransmission.first"), 100.0);
}

TEST(Faults, LinkUpEndsAnOutage) {
  const auto r = run(
      write_scenario(fault(100, 0, "link_down", "plane0.t0.0.up0") + fault(250, 0, "link_up", "plane0.t1.0.down0")));
  expect_whole_and_intact(r);
  EXPECT_EQ(time_of(r, "fault.link_down.end"), 250.0);
}

TEST(Faults, OnlyWhatTheFilterNamesIsLost) {
  const auto lost = [](const nlohmann::json& r) {
    for (const auto& event : r["events"]) {
      if (event["what"] == "fault.loss") return event["effect"].get<std::string>();
    }
    return std::string();
  };
  const auto control = run(write_scenario(fault(50, 300, "loss", "nic2", "probability = 0.3\npackets = \"control\"")));
  expect_whole_and_intact(control);
  EXPECT_NE(lost(control).find(" 0 data and "), std::string::npos) << lost(control);
  EXPECT_EQ(lost(control).find(" 0 control"), std::string::npos) << lost(control);
  const auto ev =
      run(write_scenario(fault(50, 300, "loss", "nic0", "probability = 0.2\nev_index = 5\npackets = \"data\"")));
  expect_whole_and_intact(ev);
  // One EV loses, it leaves after its first loss, and its port's other EVs carry on.
  const std::size_t number = lost(ev).find("; ") + 2;
  EXPECT_GE(std::stoi(lost(ev).substr(number)), 1) << lost(ev);
  EXPECT_LE(std::stoi(lost(ev).substr(number)), 10) << lost(ev);
  EXPECT_GT(time_of(ev, "ev.assumed_bad"), 50.0);
}

TEST(Faults, ADegradedLinkIsNamedAmongTheLimits) {
  const auto r = run(write_scenario(fault(0, 0, "link_rate", "nic0.port1", "share = 0.25")));
  expect_whole_and_intact(r);
  double slow = 0;
  for (const auto& limit : r["limits"]) {
    if (limit["cause"] == "port1.slow") slow = limit["gbps"].get<double>();
  }
  EXPECT_GT(slow, 50.0);
  // The content of the slow port's FIFO when the last message completes (16 KiB at 25 Gb/s) counts in full.
  const double run_us = r["simulated_time_us"].get<double>();
  EXPECT_LT(slow, 75.0 * (1 + 5.3 / run_us));
}

// A SACK waits behind a packet that a slow port sends; the port is fast again before the SACK's turn comes.
TEST(Faults, LimitsAddUpWhereAPortOfALightEndpointRecoversWhilePacketsWait) {
  const std::filesystem::path folder = test_folder();
  std::ofstream(folder / "flows.csv")
      << "start_us,src,dst,bytes,tag\n0,0,1,2246,0\n0,0,1,29,4\n0,1,0,16,5\n0,1,0,235,6\n";
  std::ofstream(folder / "case.toml") << "seed = 440\nfidelity = \"endpoint\"\ntraffic.trace = \"flows.csv\"\n"
                                         "fabric.nics = 2\n"
                                      << fault(0, 10, "link_rate", "nic0.port0", "share = 0.001");
  const auto r = run((folder / "case.toml").string());
  ASSERT_FALSE(r["limits"].empty());
  for (const auto& limit : r["limits"]) {
    if (limit["cause"] != "unattributed") continue;
    EXPECT_LT(std::abs(limit["gbps"].get<double>()), 0.005 * r["line_rate_gbps"].get<double>());
  }
}

struct Kind {
  const char* name;
  const char* text;
  friend void PrintTo(const Kind& value, std::ostream* out) { *out << value.name; }
};
class EveryKind : public ::testing::TestWithParam<std::tuple<Kind, const char*>> {};
TEST_P(EveryKind, CostsNoMessage) {
  const auto& [kind, fidelity] = GetParam();
  if (std::string(kind.name) == "PcieStall" && std::string(fidelity) == "endpoint") GTEST_SKIP() << "has no PCIe";
  const auto r = run(write_scenario(kind.text, 24), fmt::format("--set fidelity={}", fidelity));
  expect_whole_and_intact(r);
  EXPECT_FALSE(r["events"].empty());
}
INSTANTIATE_TEST_SUITE_P(
    All, EveryKind,
    ::testing::Combine(
        ::testing::Values(
            Kind{"Down", "[[fault]]\nat_us = 50\nfor_us = 200\nkind = \"link_down\"\nwhere = \"plane1.t0.1.up2\"\n"},
            Kind{"Flap",
                 "[[fault]]\nat_us = 20\nkind = \"link_flap\"\nwhere = \"nic2.port1\"\nperiod_us = 40\nfor_us = "
                 "12\njitter = 0.5\ncount = 5\n"},
            Kind{"Rate",
                 "[[fault]]\nat_us = 20\nfor_us = 150\nkind = \"link_rate\"\nwhere = \"plane0.t1.3.down1\"\nshare "
                 "= 0.1\n"},
            Kind{"Loss",
                 "[[fault]]\nat_us = 20\nfor_us = 150\nkind = \"loss\"\nwhere = \"plane0.t0.0.up3\"\nprobability = "
                 "0.05\n"},
            Kind{"Corruption",
                 "[[fault]]\nat_us = 20\nfor_us = 150\nkind = \"corruption\"\nwhere = "
                 "\"plane0.t0.1.down0\"\nprobability = 0.05\n"},
            Kind{"RebootT0",
                 "[[fault]]\nat_us = 30\nfor_us = 100\nkind = \"switch_reboot\"\nwhere = \"plane2.t0.0\"\n"},
            Kind{"RebootT0Lit",
                 "[[fault]]\nat_us = 30\nfor_us = 100\nkind = \"switch_reboot\"\nwhere = "
                 "\"plane2.t0.0\"\nlight = true\n"},
            Kind{"RebootT1",
                 "[[fault]]\nat_us = 30\nfor_us = 100\nkind = \"switch_reboot\"\nwhere = \"plane2.t1.1\"\n"},
            Kind{"Plane", "[[fault]]\nat_us = 30\nfor_us = 200\nkind = \"plane_loss\"\nwhere = \"plane7\"\n"},
            Kind{"Port", "[[fault]]\nat_us = 30\nfor_us = 200\nkind = \"nic_port_loss\"\nwhere = \"nic2.port0\"\n"},
            Kind{"Drain", "[[fault]]\nat_us = 30\nfor_us = 100\nkind = \"drain\"\nwhere = \"plane2\"\n"},
            Kind{"PcieStall", "[[fault]]\nat_us = 30\nfor_us = 20\nkind = \"pcie_stall\"\nwhere = \"nic2\"\n"}),
        ::testing::Values("detailed", "endpoint")));

class Drained : public ::testing::TestWithParam<const char*> {};
TEST_P(Drained, ASwitchIsRebootedWithoutALossOfData) {
  const std::string reboot = fault(80, 60, "switch_reboot", "plane2.t1.1", "light = true");
  const std::string fidelity = fmt::format("--set fidelity={}", GetParam());
  const auto lost = [](const nlohmann::json& r) {
    for (const auto& event : r["events"]) {
      if (event["what"] == "fault.switch_reboot") return event["effect"].get<std::string>();
    }
    return std::string("no reboot");
  };
  EXPECT_EQ(lost(run(write_scenario(reboot), fidelity)).find("; 0 data"), std::string::npos);
  const auto r = run(write_scenario(fault(50, 100, "drain", "plane2.t1.1") + reboot), fidelity);
  expect_whole_and_intact(r);
  EXPECT_NE(lost(r).find("; 0 data"), std::string::npos) << lost(r);
  EXPECT_DOUBLE_EQ(time_of(r, "ev.denied"), 50);
  EXPECT_DOUBLE_EQ(time_of(r, "ev.allowed"), 150);
}
INSTANTIATE_TEST_SUITE_P(Fidelity, Drained, ::testing::Values("detailed", "endpoint"));

TEST(Faults, EvsThatTwoDrainsDenyComeBackWithTheLater) {
  const auto r = run(write_scenario(fault(30, 60, "drain", "plane2.t1.1") + fault(50, 100, "drain", "plane2")));
  std::vector<std::string> rows;
  for (const auto& event : r["events"]) {
    if (event["what"] == "ev.denied" || event["what"] == "ev.allowed")
      rows.push_back(fmt::format("{} {}", event["what"].get<std::string>(), event["time_us"].get<double>()));
  }
  // What the first denied is denied by the second, too, so that its end allows none.
  EXPECT_EQ(rows, (std::vector<std::string>{"ev.denied 30", "ev.denied 50", "ev.allowed 150"}));
}

/// Messages of one to four packets on some QPs, both ways, and losses.
std::string write_scenario_of_resets() {
  const std::filesystem::path folder = test_folder();
  std::ofstream csv(folder / "flows.csv");
  csv << "start_us,src,dst,bytes,tag\n";
  for (int i = 0; i < 400; ++i)
    csv << fmt::format("{},{},{},{},{}\n", i, i % 3 == 0 ? 2 : 0, i % 3 == 0 ? 0 : 2, 100 + 37 * i, i);
  std::ofstream(folder / "case.toml")
      << "seed = 3\n[traffic]\ntrace = \"flows.csv\"\nqps_per_peer = 4\n[fabric]\nnics = 4\nnics_per_t0 = 2\n"
         "loss_rate = 0.01\nduplicate_rate = 0.02\n"
      << fault(60, 0, "qp_reset", "nic0") << fault(220, 0, "qp_reset", "nic2");
  return (folder / "case.toml").string();
}

TEST(Faults, QpsAreConnectedAnewAndNoMessageIsLost) {
  const std::string scenario = write_scenario_of_resets();
  const auto r = run(scenario);
  expect_whole_and_intact(r);
  std::vector<std::string> rows;
  for (const auto& event : r["events"]) {
    const auto effect = event["effect"].get<std::string>();
    if (event["what"] == "qp.connected") rows.push_back(effect.substr(0, effect.find(',')));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"8 x end of a QP connected anew", "8 x end of a QP connected anew"}));
  EXPECT_GE(time_of(r, "qp.connected"), 60.0 + 50.0);
  // Who waits longer for its QPs is up later.
  const auto later = run(scenario, "--set traffic.qp_reset_us=100");
  expect_whole_and_intact(later);
  EXPECT_GE(time_of(later, "qp.connected"), 60.0 + 100.0);
  EXPECT_NE(time_of(later, "qp.connected"), time_of(r, "qp.connected"));
}

TEST(Faults, QpsAreConnectedAnewAtTheSameTimeInEitherKernelMode) {
  const std::string scenario = write_scenario_of_resets();
  const auto wheel = run(scenario);
  const auto methods = run(scenario, "--set run.kernel=methods");
  for (const char* key : {"status", "messages", "bytes", "simulated_time_us", "message_time_us", "events"}) {
    EXPECT_EQ(wheel[key], methods[key]) << key;
  }
}

TEST(Faults, QpsAreConnectedAnewInRtl) {
  const std::string scenario = write_scenario_of_resets();
  const auto systemc = run(scenario);
  for (const char* mode : {"shadow", "rtl"}) {
    const auto r = run(scenario, fmt::format("--{} all", mode));
    expect_whole_and_intact(r);
    EXPECT_GT(time_of(r, "qp.connected"), 0) << mode;
    for (const auto& row : r["rtl"]) EXPECT_EQ(row["mismatches"], 0) << mode << " " << row["block"];
    if (mode == std::string("shadow")) {
      EXPECT_EQ(r["packets"], systemc["packets"]);
    }
  }
  const ProcessResult pins =
      run_process(fmt::format("mrcsim run {} --quiet --rtl all --rtl-timing pins --out %D/pins", scenario));
  EXPECT_EQ(pins.exit_code, 2);
  EXPECT_NE(pins.err.find("--rtl-timing pins: QPs are connected anew"), std::string::npos) << pins.err;
}

TEST(Faults, TheSameBytesTwiceAndInEitherKernelMode) {
  const std::string scenario = write_scenario(
      fault(30, 40, "nic_port_loss", "nic0.port1") + fault(50, 100, "switch_reboot", "plane2.t0.1") +
          fault(20, 90, "link_rate", "nic2.port4", "share = 0.5") +
          fault(10, 0, "link_flap", "plane5.t0.0.up1", "period_us = 20\njitter = 1\ncount = 4") +
          fault(40, 50, "corruption", "nic2", "probability = 0.02") + fault(35, 40, "drain", "plane6.t1.3"),
      8);
  const std::string common = fmt::format("mrcsim run {} --quiet ", scenario);
  ASSERT_EQ(run_process(common + "--out %D/first").exit_code, 0);
  ASSERT_EQ(run_process(common + "--out %D/second").exit_code, 0);
  ASSERT_EQ(run_process(common + "--out %D/methods --set run.kernel=methods").exit_code, 0);
  EXPECT_EQ(read_text(test_folder() / "first" / "result.json"), read_text(test_folder() / "second" / "result.json"));
  EXPECT_EQ(read_text(test_folder() / "first" / "series.json"), read_text(test_folder() / "second" / "series.json"));
  auto wheel = read_json(test_folder() / "first" / "result.json");
  auto methods = read_json(test_folder() / "methods" / "result.json");
  // A wheel is ahead of the kernel when the run is stopped, so that probes after the last completion count in one only.
  for (const char* key : {"status", "messages", "bytes", "goodput_gbps", "simulated_time_us", "message_time_us",
                          "one_way_us", "events"}) {
    EXPECT_EQ(wheel[key], methods[key]) << key;
  }
}

class CutOff : public ::testing::TestWithParam<const char*> {};
TEST_P(CutOff, AQpThatCannotReachItsPeerEndsInTheErrorThatTheProtocolAsksFor) {
  std::string all;
  for (int plane = 0; plane < 8; ++plane) all += fault(40, 0, "plane_loss", fmt::format("plane{}", plane));
  const auto r = run(write_scenario(all, 4, "[protocol]\nlinear_retries = 2\nexponential_retries = 2\n"),
                     fmt::format("--set fidelity={}", GetParam()), 5);
  EXPECT_EQ(r["status"], "failed");
  EXPECT_NE(r["details"][0].get<std::string>().find("retry counter exceeded"), std::string::npos) << r["details"];
  EXPECT_EQ(r["bytes"]["corrupted"], 0);
}

INSTANTIATE_TEST_SUITE_P(Fidelity, CutOff, ::testing::Values("detailed", "endpoint"));

struct Refusal {
  const char* text;
  const char* message;
};
class RefusedFault : public ::testing::TestWithParam<Refusal> {};
TEST_P(RefusedFault, NamesTheLineAndWhatIsAllowed) {
  const std::string scenario = write_scenario(GetParam().text, 1);
  const ProcessResult result = run_process(fmt::format("mrcsim run {} --quiet --out %D/refused", scenario));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find(GetParam().message), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("case.toml:"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(test_folder() / "refused"));
}
INSTANTIATE_TEST_SUITE_P(
    Each, RefusedFault,
    ::testing::Values(
        Refusal{"[[fault]]\nat_us = 1\nkind = \"link_dwn\"\nwhere = \"nic0.port0\"\n", "nearest: link_down"},
        Refusal{"[[fault]]\nat_us = -1\nkind = \"link_down\"\nwhere = \"nic0.port0\"\n", "fault.at_us = -1 is outside"},
        Refusal{"[[fault]]\nat_us = 1\nfor_us = 0\nkind = \"link_down\"\nwhere = \"nic0.port0\"\n", "fault.for_us = 0"},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"link_down\"\nwhere = \"nic0.prt0\"\n", "nearest: nic0.port0"},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"switch_reboot\"\nwhere = \"plane0.t1.8\"\n", "nearest: plane0.t1."},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"nic_port_loss\"\nwhere = \"plane0.t0.0.up0\"\n",
                "needs a port of a NIC"},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"link_down\"\nwhere = \"nic0.port0\"\nshare = 0.5\n",
                "fault.share is not a key of kind = \"link_down\""},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"link_flap\"\nwhere = \"nic0.port0\"\nperiod_us = 5\nfor_us = "
                "6\ncount = 1\n",
                "must be below fault.period_us = 5"},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"link_up\"\nwhere = \"nic0.port0\"\n", "has nothing to end"},
        Refusal{"[[fault]]\nkind = \"link_down\"\nwhere = \"nic0.port0\"\n", "at_us is missing"},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"loss\"\nwhere = \"plane0.t0.0.up0\"\nev_index = 3\n",
                "counts in a NIC's own EV profile"},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"loss\"\nwhere = \"nic0\"\npackets = \"date\"\n", "nearest: data"},
        Refusal{
            "[node.nic1]\nfidelity = \"endpoint\"\n[[fault]]\nat_us = 1\nfor_us = 1\nkind = \"pcie_stall\"\nwhere = "
            "\"nic1\"\n",
            "has no PCIe to stall"},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"drain\"\nwhere = \"nic1\"\n",
                "drain needs a switch, a plane or a port"},
        Refusal{"[[fault]]\nat_us = 1\nkind = \"qp_reset\"\nwhere = \"nic0.port1\"\n", "qp_reset needs a NIC"},
        Refusal{"[[fault]]\nat_us = 1\nfor_us = 1\nkind = \"qp_reset\"\nwhere = \"nic0\"\n",
                "fault.for_us is not a key of kind = \"qp_reset\""},
        Refusal{"[node.nic2]\nfidelity = \"endpoint\"\n[[fault]]\nat_us = 1\nkind = \"qp_reset\"\nwhere = \"nic0\"\n",
                "nic2 is a light endpoint"},
        Refusal{
            "cable_delay_ns = 20000\n[cc]\nbase_rtt_ns = 100000\n[[fault]]\nat_us = 1\nkind = \"qp_reset\"\nwhere = "
            "\"nic0\"\n",
            "takes at least 16 delays of a cable"},
        Refusal{"[fault]\nat_us = 1\n", "expected [[fault]] tables"}));

TEST(Faults, ADrainNeedsATransportWithEvs) {
  const std::string scenario = write_scenario(fault(1, 0, "drain", "plane3"), 1);
  const ProcessResult result =
      run_process(fmt::format("mrcsim run {} --quiet --set transport=rocev2 --out %D/refused", scenario));
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("transport = \"rocev2\" has no EVs that a controller denies; drain needs \"mrc\""),
            std::string::npos)
      << result.err;
  const std::string reset = write_scenario(fault(1, 0, "qp_reset", "nic0"), 1);
  const ProcessResult stays =
      run_process(fmt::format("mrcsim run {} --quiet --set transport=rocev2 --out %D/refused", reset));
  EXPECT_EQ(stays.exit_code, 2);
  EXPECT_NE(stays.err.find("qp_reset needs \"mrc\""), std::string::npos) << stays.err;
}

/// A duplicate arrives while the write of the first copy waits for a stalled PCIe link: the transport ACK that
/// is repeated does not count the message, whose data is not in memory.
TEST(Faults, ARepeatedTransportAckCountsNoMessageThatPcieStillHolds) {
  std::filesystem::create_directories(test_folder());
  std::ofstream(test_folder() / "flow.csv") << "start_us,src,dst,bytes,tag\n37.285,1,0,3289,1\n";
  std::ofstream(test_folder() / "scenario.toml")
      << "fidelity = \"detailed\"\ntraffic.trace = \"flow.csv\"\nfabric.nics = 2\nrun.stall_us = 2000\n"
         "pcie.stepping = \"tlp\"\n[[fault]]\nkind = \"pcie_stall\"\nwhere = \"nic0\"\nat_us = 20\nfor_us = 385\n";
  const ProcessResult process = run_process("mrcsim run %D/scenario.toml --yes --quiet --out %D/out");
  EXPECT_EQ(process.exit_code, 0) << process.err;
  const auto result = read_json(test_folder() / "out" / "result.json");
  EXPECT_GT(result["packets"]["retransmitted"], 0);
  EXPECT_GT(result["simulated_time_us"], 405) << "the end of the stall";
}

}  // namespace
}  // namespace mrc
