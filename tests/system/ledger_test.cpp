// The ledger names what limits a NIC: the limits name just the rate or window that is made too small (buffers:
// halving_test.cpp).
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fstream>
#include <ostream>

#include "mrcsim_process.h"

namespace mrc {
namespace {

struct TooSmall {
  const char* name;
  const char* settings;
  const char* cause;
  friend void PrintTo(const TooSmall& value, std::ostream* out) { *out << value.name; }
};
class Limit : public ::testing::TestWithParam<TooSmall> {};

TEST_P(Limit, IsNamed) {
  const ProcessResult run =
      run_process(fmt::format("mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --set traffic.byte_scale=0.25 "
                              "--set host.payload=reference {}",
                              GetParam().settings));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto r = read_json(test_folder() / "out" / "result.json");
  EXPECT_LT(r["goodput_gbps"].get<double>(), 0.98 * r["framing_limit_gbps"].get<double>()) << "nothing is missing";
  std::string top;
  double sum = r["goodput_gbps"].get<double>();
  for (const auto& limit : r["limits"]) {
    sum += limit["gbps"].get<double>();
    if (limit["cause"] == "unattributed") {
      EXPECT_LT(std::abs(limit["gbps"].get<double>()), 0.005 * r["line_rate_gbps"].get<double>());
      continue;
    }
    if (top.empty() && limit["cause"] != "framing") top = limit["cause"];
  }
  EXPECT_EQ(top, GetParam().cause) << r["limits"].dump();
  EXPECT_NEAR(sum, r["line_rate_gbps"].get<double>(), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Of, Limit,
    ::testing::Values(
        TooSmall{"Window", "--set cc.max_cwnd_bytes=300000", "cwnd"},
        TooSmall{"Mpr", "--set protocol.mpr_units=1 --set fabric.switch_latency_ns=3000 --set cc.base_rtt_ns=12000",
                 "mpr"},
        TooSmall{"OutstandingMessages", "--set traffic.outstanding_messages=1", "host.outstanding_messages"},
        TooSmall{"CoreClock", "--set nic.core_clock_ghz=0.5", "srv6_encap"},
        TooSmall{"Pcie5", "--set pcie.generation=5", "pcie.line"}),
    [](const auto& instance) { return instance.param.name; });

// Two messages of 18 us with a millisecond between them: what lies between is neither's.
TEST(Limits, TimeBetweenMessagesIsNobodysButTheTraces) {
  std::ofstream(test_folder() / "gap.csv") << "start_us,src,dst,bytes,tag\n0,0,1,1048576,0\n1000,0,1,1048576,1\n";
  ASSERT_EQ(
      run_process("mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --set traffic.trace=%D/gap.csv").exit_code,
      0);
  const auto r = read_json(test_folder() / "out" / "result.json");
  const double line_rate = r["line_rate_gbps"];
  std::map<std::string, double> limits;
  for (const auto& limit : r["limits"]) limits[limit["cause"]] = limit["gbps"];
  EXPECT_GT(limits["no_work"], 0.95 * line_rate) << r["limits"].dump();
  EXPECT_LT(limits["acknowledgement"], 0.01 * line_rate) << r["limits"].dump();
}

/// The slowest is named, and with it relieved the next.
TEST(Limits, OneSixTerabitNamesPcieAndThenTheCore) {
  const auto first_at = [](const std::string& more) {
    EXPECT_EQ(run_process("mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --set nic.port_gbps=200 "
                          "--set host.payload=reference" +
                          more)
                  .exit_code,
              0);
    return read_json(test_folder() / "out" / "result.json")["limits"][0]["cause"].get<std::string>();
  };
  EXPECT_EQ(first_at(""), "pcie.line");
  EXPECT_EQ(first_at(" --set pcie.links=2"), "srv6_encap") << "a 1,024 bit core at 1 GHz carries 1,024 Gb/s";
}

struct SteadyState {
  const char* name;
  const char* arguments;
  double limit_gbps;  ///< framing, and two-way the acknowledgements of the other direction
  friend void PrintTo(const SteadyState& value, std::ostream* out) { *out << value.name; }
};
class LineRate : public ::testing::TestWithParam<SteadyState> {};

TEST_P(LineRate, NinetyNinePercentOfTheLimit) {
  ASSERT_EQ(
      run_process(fmt::format("mrcsim run {} --quiet --out %D/out --set host.payload=reference", GetParam().arguments))
          .exit_code,
      0);
  const auto r = read_json(test_folder() / "out" / "result.json");
  EXPECT_GE(r["goodput_gbps"].get<double>(), 0.99 * GetParam().limit_gbps);
  EXPECT_LE(r["goodput_gbps"].get<double>(), 1.001 * GetParam().limit_gbps);
}

INSTANTIATE_TEST_SUITE_P(
    SteadyState, LineRate,
    ::testing::Values(SteadyState{"OneWayAligned", "tb/scenarios/pair.toml", 768.8},
                      SteadyState{"OneWayOffset", "tb/scenarios/pair.toml --set traffic.offset_bytes=64", 768.8},
                      SteadyState{"TwoWayAligned", "tb/scenarios/ring.toml --set traffic.byte_scale=4", 762.4},
                      SteadyState{"TwoWayOffset",
                                  "tb/scenarios/ring.toml --set traffic.byte_scale=4 --set traffic.offset_bytes=64",
                                  762.4}),
    [](const auto& instance) { return instance.param.name; });

/// Smaller messages mean more transport ACKs in the other direction.
TEST(LineRateOfSmallMessages, BothWaysIn32KiBMessages) {
  ASSERT_EQ(run_process("mrcsim trace generate ring_all_reduce --ranks 2 --bytes 128MiB --chunk 32KiB --out "
                        "%D/ring.{rank}.et")
                .exit_code,
            0);
  ASSERT_EQ(run_process("mrcsim run tb/scenarios/ring.toml --quiet --out %D/out --set host.payload=reference --set "
                        "traffic.trace=%D/ring.{rank}.et --set traffic.outstanding_messages=256")
                .exit_code,
            0);
  const auto r = read_json(test_folder() / "out" / "result.json");
  EXPECT_GE(r["goodput_gbps"].get<double>(), 0.99 * 759.3);
  EXPECT_LE(r["goodput_gbps"].get<double>(), 1.001 * 759.3);
}

}  // namespace
}  // namespace mrc
