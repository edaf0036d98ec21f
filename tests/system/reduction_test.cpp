// All-reduces in switches against those over MRC, as a user runs them: bytes and times, loss, beside messages, both
// kernel modes, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr double kBufferBytes = 1 << 20;

std::string command_of(const std::string& set, const std::string& out) {
  return "mrcsim run tb/scenarios/in_network_all_reduce.toml --yes --quiet --out %D/" + out + " " + set;
}

nlohmann::json run(const std::string& set, const std::string& out = "out") {
  const ProcessResult process = run_process(command_of(set, out));
  EXPECT_EQ(process.exit_code, 0) << process.err;
  EXPECT_EQ(process.err, "");
  return read_json(test_folder() / out / "result.json");
}

double time_us(const nlohmann::json& result) {
  return result["job"]["collectives"][0]["time_us"]["mean"].get<double>();
}

/// Bytes on the ports of switches whose names have all of these parts.
double bytes_on_ports(const nlohmann::json& result, const std::vector<std::string>& parts) {
  double sum = 0;
  for (const auto& port : result["switch_ports"]) {
    const std::string name = port["port"];
    bool has_all = true;
    for (const std::string& part : parts) has_all = has_all && name.find(part) != std::string::npos;
    if (has_all) sum += port["bytes"].get<double>();
  }
  return sum;
}

TEST(InNetworkReduction, SendsTheBufferOnceWhereARingSendsItNearlyTwice) {
  const auto switches = run("", "switches");
  const auto ring = run("--set traffic.collective.all_reduce=ring --set traffic.collective.chunk_bytes=4096", "ring");
  const auto halving = run("--set traffic.collective.all_reduce=halving_doubling", "halving");
  EXPECT_EQ(switches["job"]["collectives"][0]["algorithm"], "in_network");
  const auto sent = [](const nlohmann::json& result) { return result["bytes"]["delivered"].get<double>() / 64; };
  EXPECT_DOUBLE_EQ(sent(switches), kBufferBytes);
  EXPECT_DOUBLE_EQ(sent(ring), 2.0 * 63 / 64 * kBufferBytes);
  EXPECT_DOUBLE_EQ(sent(halving), 2.0 * 63 / 64 * kBufferBytes);
  EXPECT_LT(time_us(switches), 0.5 * time_us(halving));
  EXPECT_LT(time_us(switches), 0.2 * time_us(ring)) << "126 steps";
  EXPECT_FALSE(ring.contains("reduction"));
  EXPECT_EQ(switches["reduction"]["memory_bytes"], 256 * 2 * 4096);
  EXPECT_EQ(switches["reduction"]["switches"], 8 * (4 + 1));
  const ProcessResult compared = run_process("mrcsim compare --format json %D/ring %D/switches");
  EXPECT_NE(compared.out.find("\"reduction.memory_bytes\""), std::string::npos) << compared.out;
}

TEST(InNetworkReduction, LeavesOneOf24BytesAboveT0sOfHalvingAndDoubling) {
  // One plane, so that all ports are in the result.
  const std::string plane = "--set nic.ports=1 --set nic.port_gbps=800 ";
  const auto switches = run(plane, "switches");
  const auto halving = run(plane + "--set traffic.collective.all_reduce=halving_doubling", "halving");
  const double in_switches = bytes_on_ports(switches, {".t0.", ".up"});
  EXPECT_DOUBLE_EQ(in_switches, 4 * 256 * 4262.0) << "each T0 sends the buffer once, with headers";
  // Of each NIC, the exchanges over a distance of 32 and 16 NICs, in both phases: 2 (1/2 + 1/4) of the buffer.
  const double halving_packets = 64 * 1.5 * 256;
  EXPECT_GE(bytes_on_ports(halving, {".t0.", ".up"}), halving_packets * 4262);
  EXPECT_LT(bytes_on_ports(halving, {".t0.", ".up"}), 1.1 * halving_packets * 4262) << "answers and marks beside it";
  EXPECT_LT(in_switches, 0.1 * bytes_on_ports(halving, {".t0.", ".up"})) << "more than 90 % less";
  // Down to the NICs each gets the result once.
  EXPECT_DOUBLE_EQ(bytes_on_ports(switches, {".t0.", ".down"}), 64 * 256 * 4262.0);
}

TEST(InNetworkReduction, IsExactUnderLoss) {
  const auto result = run("--set fabric.loss_rate=0.01 --set fabric.reduction.timeout_us=30");
  EXPECT_EQ(result["bytes"]["delivered"], 64 * (1 << 20));
  EXPECT_EQ(result["bytes"]["corrupted"], 0);
  EXPECT_GT(result["reduction"]["timeouts"], 100);
  EXPECT_EQ(result["reduction"]["added"], (64 + 4) * 256) << "each packet of each child once";
}

TEST(InNetworkReduction, RunsBesideMessagesOfTheSameJobAndAnother) {
  const auto result =
      run("--set traffic.trace=../../traces/dense_step_4.{rank}.et --set traffic.ranks=0 --set fabric.nics=8 "
          "--set traffic.background=../../traces/ring_all_reduce_2.{rank}.et@0 --set traffic.byte_scale=0.1 --set "
          "fabric.nics_per_t0=2");
  EXPECT_EQ(result["status"], "complete");
  EXPECT_EQ(result["messages"]["completed"], result["messages"]["count"]);
  EXPECT_EQ(result["bytes"]["delivered"], result["bytes"]["offered"]);
  EXPECT_EQ(result["reduction"]["trees"], 2 * 8) << "two groups of tensor parallel ranks";
  for (const auto& account : result["accounts"]) {
    EXPECT_EQ(account["in"].get<double>(),
              account["out"].get<double>() + account["lost"].get<double>() + account["held"].get<double>())
        << account["part"];
  }
}

TEST(InNetworkReduction, ChannelsTakeTheNicsOfARankInTurn) {
  const auto result = run(
      "--set traffic.ranks=16 --set traffic.nics_per_rank=4 --set traffic.collective.channels=4 --set fabric.nics=64");
  EXPECT_EQ(result["bytes"]["delivered"], 16 * (1 << 20));
  EXPECT_EQ(result["reduction"]["trees"], 4 * 8);
  EXPECT_EQ(result["reduction"]["least_window"], 64) << "four trees share the slots of a switch";
  for (const auto& node : result["nodes"]) {
    EXPECT_DOUBLE_EQ(node["tx_gbps"].get<double>(), result["nodes"][0]["tx_gbps"].get<double>());
  }
}

TEST(InNetworkReduction, IsTheSameInBothKernelModes) {
  const std::string set = "--set fabric.loss_rate=0.01 ";
  auto wheel = run(set, "wheel");
  auto methods = run(set + "--set run.kernel=methods", "methods");
  for (nlohmann::json* result : {&wheel, &methods}) {
    result->erase("cost");
    (*result)["parameters"].erase("run.kernel");
  }
  EXPECT_EQ(wheel, methods);
}

TEST(InNetworkReduction, ALinkOfATreeThatStaysDownIsNamed) {
  const ProcessResult process =
      run_process(command_of("--set 'fault.tree={kind=\"link_down\", where=\"plane3.t0.1.up3\", at_us=8}'", "out"));
  EXPECT_EQ(process.exit_code, 3) << process.err;
  const auto result = read_json(test_folder() / "out" / "result.json");
  EXPECT_NE(result["details"].dump().find("plane 3 has no result for packet"), std::string::npos) << result["details"];
}

TEST(InNetworkReduction, WhatItDoesNotKnowIsRefusedInOneLine) {
  const std::vector<std::pair<std::string, std::string>> refused{
      {"--set fidelity=detailed", "nic0 is a detailed NIC"},
      {"--set transport=ideal", "transport = \"ideal\" has no switches"},
      {"--set protocol.encryption.framing=psp --set fabric.trim_bytes=192", "cannot add what is encrypted"},
      {"--set fabric.reduction.slot_bytes=8192", "fabric.reduction.slot_bytes = 8192 is more than protocol.mtu_bytes"},
      {"--set traffic.ranks_per_nic=2", "two ranks of a group are on nic0"},
      {"--set traffic.nics_per_rank=2 --set traffic.ranks=32 --set traffic.nic_choice=stripe", "traffic.nic_choice"},
      {"--set transport=rocev2 --set rocev2.pfc=true", "rocev2.pfc = false"},
      {"--pcap %D/out.pcapng", "--pcap"},
      {"--set fabric.reduction.slots=0", "allowed: 1 … 1048576"},
      {"--set traffic.collective.all_reduce=in_switches", "in_network"},
  };
  for (const auto& [set, what] : refused) {
    const ProcessResult process = run_process(command_of(set, "refused"));
    EXPECT_EQ(process.exit_code, 2) << set << ": " << process.err;
    EXPECT_NE(process.err.find(what), std::string::npos) << set << ": " << process.err;
  }
}

TEST(InNetworkReduction, ItsSettingsHaveNoEffectWithoutIt) {
  const ProcessResult process = run_process(
      command_of("--set traffic.collective.all_reduce=halving_doubling --set fabric.reduction.slots=128", "out"));
  EXPECT_EQ(process.exit_code, 0);
  EXPECT_NE(process.err.find("fabric.reduction.slots has no effect"), std::string::npos) << process.err;
}

}  // namespace
}  // namespace mrc
