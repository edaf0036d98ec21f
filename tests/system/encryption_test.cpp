// Encryption of packets and links in whole runs: bytes on the wire, slow engines, keys, replay windows, tags.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <ostream>
#include <string>

#include "mrcsim_process.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

constexpr double kLineGbps = 800;
const std::string kPsp = "protocol.encryption.framing=psp fabric.trim_bytes=192 ";

/// tb/scenarios/pair.toml with `set` (key=value, separated by blanks), 64 messages of 1 MiB.
ProcessResult start_pair(const std::string& set, const std::string& out = "out", const std::string& options = "") {
  return run_process(
      fmt::format("mrcsim run tb/scenarios/pair.toml --quiet --out %D/{} {} --set host.payload=reference "
                  "traffic.rows=64 {}",
                  out, options, set));
}
Json run_pair(const std::string& set, const std::string& out = "out", const std::string& options = "") {
  const ProcessResult run = start_pair(set, out, options);
  EXPECT_EQ(run.exit_code, 0) << set << "\n" << run.err;
  return read_json(test_folder() / out / "result.json");
}

std::string first_cause(const Json& result) {
  for (const auto& limit : result["limits"]) {
    if (limit["cause"] != "framing") return limit["cause"];
  }
  return "";
}

bool has(const Json& rows, const char* key, const std::string& value) {
  for (const auto& row : rows) {
    if (row[key] == value) return true;
  }
  return false;
}

std::uint64_t bytes_at_switches(const Json& result) {
  std::uint64_t sum = 0;
  for (const auto& port : result["switch_ports"]) sum += port["bytes"].get<std::uint64_t>();
  return sum;
}
std::uint64_t packets_at_switches(const Json& result) {
  std::uint64_t sum = 0;
  for (const auto& port : result["switch_ports"]) sum += port["packets"].get<std::uint64_t>();
  return sum;
}

struct Framing {
  const char* name;
  const char* settings;
  std::uint32_t data_bytes;     ///< more per data packet
  std::uint32_t control_bytes;  ///< more per control packet
  friend void PrintTo(const Framing& value, std::ostream* out) { *out << value.name; }
};

class Framings : public ::testing::TestWithParam<Framing> {
 protected:
  static void check(const std::string& fidelity) {
    const Framing& framing = GetParam();
    const Json r = run_pair(std::string("fabric.trim_bytes=192 ") + framing.settings + fidelity);
    const double law = kLineGbps * 4096 / (4262 + framing.data_bytes);
    EXPECT_NEAR(r["framing_limit_gbps"].get<double>(), law, 0.01);
    EXPECT_LE(r["goodput_gbps"].get<double>(), law);
    EXPECT_GT(r["goodput_gbps"].get<double>(), 0.97 * law);
    EXPECT_EQ(r["packets"]["dropped"], 0);
    EXPECT_EQ(r["packets"]["retransmitted"], 0);
    // Without loss every data packet crosses one switch; it is full, and the rest is control.
    const auto data = r["packets"]["sent"].get<std::uint64_t>();
    const std::uint64_t control = packets_at_switches(r) - data;
    const Json clear = run_pair("fabric.trim_bytes=192" + fidelity, "clear");
    const auto clear_control = static_cast<double>(packets_at_switches(clear) - data);
    const double control_bytes = static_cast<double>(bytes_at_switches(clear) - data * 4262) / clear_control;
    EXPECT_NEAR(static_cast<double>(bytes_at_switches(r) - data * (4262 + framing.data_bytes)),
                static_cast<double>(control) * (control_bytes + framing.control_bytes),
                2.0 * static_cast<double>(control));
  }
};

TEST_P(Framings, BytesAreOnTheWireAndGoodputIsWhatTheyLeave) {
  check("");
}
TEST_P(Framings, LightEndpointsCarryThemToo) {
  check(" fidelity=endpoint");
}

INSTANTIATE_TEST_SUITE_P(
    Of, Framings,
    ::testing::Values(Framing{"Psp", "protocol.encryption.framing=psp", 40, 40},
                      Framing{"PspCookie", "protocol.encryption.framing=psp_cookie", 48, 48},
                      Framing{"Esp", "protocol.encryption.framing=esp", 36, 36},
                      Framing{"DataAlone", "protocol.encryption.framing=psp protocol.encryption.control=false", 40, 0},
                      Framing{"Macsec", "fabric.macsec=long_tag", 32, 32},
                      Framing{"Both", "protocol.encryption.framing=psp fabric.macsec=short_tag", 64, 64}),
    [](const auto& instance) { return instance.param.name; });

TEST(Encryption, OffNothingOfItIsThere) {
  const Json r = run_pair("");
  for (const char* box : {"encrypt", "decrypt"}) EXPECT_FALSE(has(r["ledger"], "box", box));
  EXPECT_FALSE(has(r["buffers"], "name", "encrypt.queue"));
  EXPECT_FALSE(has(r["sram"], "structure", "decrypt.replay_window"));
  EXPECT_EQ(r["encryption"]["encrypted"], 0);
}

TEST(Encryption, ResultsListTheEngines) {
  const Json r = run_pair(kPsp);
  for (const char* box : {"encrypt", "decrypt"}) EXPECT_TRUE(has(r["ledger"], "box", box));
  for (const char* name : {"encrypt.queue", "encrypt.key_cache", "port0.encrypt_fifo", "decrypt.queue"}) {
    EXPECT_TRUE(has(r["buffers"], "name", name)) << name;
  }
  for (const char* name : {"encrypt.key_cache", "decrypt.key_cache", "decrypt.replay_window", "port.encrypt_fifo"}) {
    EXPECT_TRUE(has(r["sram"], "structure", name)) << name;
  }
  const Json& counted = r["encryption"];
  EXPECT_EQ(counted["encrypted"], r["packets"]["sent"].get<int>() + r["packets"]["control"].get<int>());
  // But for the last answers, which are on their way when the work is done.
  EXPECT_NEAR(counted["decrypted"].get<double>(), counted["encrypted"].get<double>(), 8);
  for (const auto& account : r["accounts"]) {
    EXPECT_EQ(account["in"], account["out"].get<int>() + account["lost"].get<int>() + account["held"].get<int>());
  }
}

TEST(Encryption, BothKernelModesGiveTheSame) {
  const std::string set = kPsp +
                          "traffic.rows=8 fabric.loss_rate=0.01 nic.encrypt.key_cache_entries=1 "
                          "nic.decrypt.key_cache_entries=1 traffic.qps_per_peer=4";
  Json wheel = run_pair(set, "wheel");
  Json methods = run_pair(set + " run.kernel=methods", "methods");
  for (Json* r : {&wheel, &methods}) {
    r->erase("cost");
    r->erase("parameters");
  }
  EXPECT_EQ(wheel.dump(), methods.dump());
  EXPECT_GT(wheel["encryption"]["encrypt_key_misses"], 0);
  EXPECT_EQ(run_pair(set, "again")["encryption"].dump(), wheel["encryption"].dump());
}

TEST(Encryption, AnEngineBelowLineRateLimitsAndItsWidthRelievesIt) {
  const std::string slow = kPsp + "nic.encrypt.width_bits=512 ";
  const Json r = run_pair(slow);
  // 65 words of 64 B for each packet, at 1 GHz.
  EXPECT_NEAR(r["goodput_gbps"].get<double>(), 4096.0 * 8 / 65, 0.02 * 504);
  EXPECT_EQ(first_cause(r), "encrypt");
  const ProcessResult why = run_process(
      "mrcsim why tb/scenarios/pair.toml --quiet --format json --db %D/why.db --set host.payload=reference "
      "traffic.rows=32 " +
      slow);
  ASSERT_EQ(why.exit_code, 0) << why.err;
  EXPECT_NE(why.out.find("nic.encrypt.width_bits"), std::string::npos) << why.out;
}

TEST(Encryption, ASlowEngineOfTheReceiverIsNamedAsIts) {
  const Json r = run_pair(kPsp + "nic.decrypt.width_bits=512");
  EXPECT_LT(r["goodput_gbps"], 510);
  bool named = false;
  for (std::size_t i = 0; i < 4 && i < r["limits"].size(); ++i) {
    named = named || r["limits"][i]["cause"].get<std::string>().starts_with("receiver.decrypt");
  }
  EXPECT_TRUE(named) << r["limits"].dump(1);
}

TEST(Encryption, KeysThatAreNotOnTheNicCostReads) {
  const std::string many = kPsp +
                           "traffic.rows=1024 traffic.byte_scale=0.00390625 traffic.qps_per_peer=256 "
                           "traffic.outstanding_messages=64 protocol.path_table_scope=destination ";
  const Json all = run_pair(many, "all");
  EXPECT_EQ(all["encryption"]["encrypt_key_misses"], 0);
  EXPECT_EQ(all["encryption"]["decrypt_key_misses"], 0);
  const Json few = run_pair(many + "nic.encrypt.key_cache_entries=16 nic.decrypt.key_cache_entries=16", "few");
  // Each message is on another QP, whose key was evicted since its last one.
  EXPECT_GE(few["encryption"]["encrypt_key_misses"], 1000);
  EXPECT_GE(few["encryption"]["decrypt_key_misses"], 1000);
  EXPECT_GT(few["message_time_us"]["p50"].get<double>(), all["message_time_us"]["p50"].get<double>() + 0.5);
  // A key for all QPs to a peer is never missing.
  const Json peer = run_pair(many + "nic.encrypt.key_cache_entries=16 protocol.encryption.association=peer", "peer");
  EXPECT_EQ(peer["encryption"]["encrypt_key_misses"], 0);
}

TEST(Encryption, AReplayWindowBelowTheSpreadOfThePlanesDropsAndALargerOneDoesNot) {
  // 2 x 4 us more on a plane, one way 4 us: 800 Gb/s send 93 packets of 4,302 B meanwhile.
  const std::string skew = kPsp + "fabric.cable_delays_ns=plane3=2150 ";
  const Json small = run_pair(skew + "protocol.encryption.replay_window=64", "small");
  EXPECT_GT(small["encryption"]["too_old"], 100);
  EXPECT_GT(small["packets"]["retransmitted"], 100);
  EXPECT_EQ(small["bytes"]["delivered"], small["bytes"]["offered"]);
  const Json large = run_pair(skew + "protocol.encryption.replay_window=256", "large");
  EXPECT_EQ(large["encryption"]["too_old"], 0);
  EXPECT_EQ(large["packets"]["retransmitted"], 0);
  EXPECT_GT(large["goodput_gbps"].get<double>(), small["goodput_gbps"].get<double>());
  bool named = false;
  for (const auto& limit : small["limits"]) named = named || limit["cause"] == "receiver.decrypt.replay_window";
  EXPECT_TRUE(named) << small["limits"].dump(1);
  // Light endpoints have the window too.
  const Json light = run_pair(skew + "protocol.encryption.replay_window=64 fidelity=endpoint", "light");
  EXPECT_GT(light["encryption"]["too_old"], 100);
}

TEST(Encryption, CorruptedPacketsFailTheirTag) {
  for (const char* fidelity : {"detailed", "endpoint"}) {
    const Json r = run_pair(kPsp + "traffic.rows=8 fabric.corrupt_rate=0.01 fidelity=" + fidelity);
    EXPECT_GT(r["packets"]["corrupted"], 10);
    EXPECT_EQ(r["encryption"]["tag_failures"], r["packets"]["corrupted"]) << fidelity;
    EXPECT_EQ(r["bytes"]["delivered"], r["bytes"]["offered"]);
  }
}

TEST(Encryption, WhatArrivesTwiceIsAReplay) {
  const Json r = run_pair(kPsp + "traffic.rows=8 fabric.duplicate_rate=0.01");
  EXPECT_GT(r["encryption"]["replayed"], 10);
  EXPECT_EQ(r["packets"]["duplicate"], 0);
  const Json unchecked =
      run_pair(kPsp + "traffic.rows=8 fabric.duplicate_rate=0.01 protocol.encryption.replay_window=0");
  EXPECT_EQ(unchecked["encryption"]["replayed"], 0);
  EXPECT_GT(unchecked["packets"]["duplicate"], 10);
}

TEST(Encryption, TrimmedPacketsAreAnsweredOrLost) {
  const std::string set = kPsp + "traffic.rows=8 fabric.trim_rate=0.01 ";
  const Json answered = run_pair(set, "answered");
  EXPECT_GT(answered["packets"]["nacks"], 10);
  EXPECT_EQ(answered["encryption"]["unverified"], 0);
  const Json lost = run_pair(set + "protocol.encryption.trimmed=drop", "lost");
  EXPECT_EQ(lost["packets"]["nacks"], 0);
  EXPECT_EQ(lost["encryption"]["unverified"], lost["packets"]["trimmed"]);
  EXPECT_EQ(lost["bytes"]["delivered"], lost["bytes"]["offered"]);
}

TEST(Encryption, DetailedAndLightNodesUnderstandEachOther) {
  const Json r = run_pair(kPsp + "traffic.rows=8 fabric.loss_rate=0.01 node.nic1.fidelity=endpoint");
  EXPECT_EQ(r["bytes"]["delivered"], r["bytes"]["offered"]);
  EXPECT_EQ(r["encryption"]["unknown"], 0);
  EXPECT_EQ(r["encryption"]["replayed"], 0);
}

TEST(Encryption, WrongSettingsEndWithOneLine) {
  const auto refused = [](const std::string& set) {
    const ProcessResult run = start_pair(set);
    EXPECT_EQ(run.exit_code, 2) << set;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    return run.err;
  };
  EXPECT_NE(refused("protocol.encryption.framing=psp")
                .find("fabric.trim_bytes = 128 cuts inside BTH, which ends at byte 138"),
            std::string::npos);
  EXPECT_NE(refused(kPsp + "protocol.encryption.replay_window=100").find("a multiple of 64"), std::string::npos);
  EXPECT_NE(refused("protocol.encryption.framing=wireguard").find("psp_cookie"), std::string::npos);
}

TEST(Encryption, SettingsThatNobodyReadsAreSaid) {
  const auto said = [](const std::string& set) {
    return run_process("mrcsim run tb/scenarios/pair.toml --out %D/out --set host.payload=reference traffic.rows=1 " +
                       set)
        .err;
  };
  EXPECT_NE(said("nic.encrypt.width_bits=512").find("nic.encrypt.width_bits has no effect"), std::string::npos);
  EXPECT_NE(said("fabric.macsec_latency_ns=10").find("fabric.macsec_latency_ns has no effect"), std::string::npos);
  EXPECT_NE(said(kPsp + "transport=rocev2").find("protocol.encryption.framing has no effect"), std::string::npos);
}

}  // namespace
}  // namespace mrc
