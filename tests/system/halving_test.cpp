// Every buffer, credit and pool of the NIC and its PCIe: the smallest value that holds 99 % of what an unlimited one
// reaches does so, half of it makes that buffer the first cause of the loss, and those that never limit do not at their
// smallest. Values and runs are in buffer_limits.json; smallest_buffers.py finds them. ranges_test.cpp sees to
// it that no buffer is missing.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <ostream>

#include "mrcsim_process.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

const Json& table() {
  static const Json json = read_json(MRCSIM_SOURCE_DIR "/tests/system/buffer_limits.json");
  return json;
}

/// A row of the table, by place, so that a test's name can be made before GoogleTest runs.
struct Row {
  const char* list;
  std::size_t index;
  const Json& json() const { return table()[list][index]; }
  friend void PrintTo(const Row& row, std::ostream* out) { *out << row.json()["key"]; }
};

std::vector<Row> rows(const char* list) {
  std::vector<Row> all;
  for (std::size_t i = 0; i < table()[list].size(); ++i) all.push_back({list, i});
  return all;
}

std::string name_of(const ::testing::TestParamInfo<Row>& info) {
  const Json& row = info.param.json();
  std::string name = row["key"].get<std::string>() + "_" + row["node"].get<std::string>();
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
}

Json run_with(const Json& row, std::uint64_t value) {
  const Json& scenario = table()["scenarios"][row["scenario"].get<std::string>()];
  const auto trace = test_folder() / "flows.csv";
  EXPECT_EQ(run_process(
                fmt::format("mrcsim trace generate flows {} --out %D/flows.csv", scenario["flows"].get<std::string>()))
                .exit_code,
            0);
  std::string command =
      "mrcsim run tb/scenarios/pair.toml --quiet --out %D/out --set host.payload=reference --set "
      "traffic.trace=%D/flows.csv";
  for (const Json* settings : {&scenario["settings"], &row["settings"]}) {
    for (const auto& setting : *settings) command += " --set " + setting.get<std::string>();
  }
  command += fmt::format(" --set node.{}.{}={}", row["node"].get<std::string>(), row["key"].get<std::string>(), value);
  const ProcessResult run = run_process(command);
  EXPECT_EQ(run.exit_code, 0) << command << "\n" << run.err;
  return read_json(test_folder() / "out" / "result.json");
}

std::map<std::string, double> losses(const Json& r) {
  std::map<std::string, double> lost;
  for (const auto& limit : r["limits"]) {
    if (limit["cause"] != "framing") lost[limit["cause"]] = limit["gbps"];
  }
  return lost;
}

/// The cause that costs most, or whose cost has grown most since `before`.
std::string top(const std::map<std::string, double>& lost, const std::map<std::string, double>& before) {
  std::string first;
  double most = -1;
  for (const auto& [cause, gbps] : lost) {
    const auto was = before.find(cause);
    const double cost = gbps - (was == before.end() ? 0 : was->second);
    if (cost <= most) continue;
    first = cause;
    most = cost;
  }
  return first;
}

class Halving : public ::testing::TestWithParam<Row> {};

TEST_P(Halving, OfTheNeedMakesItTheFirstCause) {
  const Json& row = GetParam().json();
  const auto smallest = row["smallest"].get<std::uint64_t>();
  const double reference = run_with(row, row["unlimited"].get<std::uint64_t>())["goodput_gbps"];
  const Json enough = run_with(row, smallest);
  const Json half = run_with(row, smallest / 2);
  EXPECT_GE(enough["goodput_gbps"].get<double>(), 0.99 * reference);
  EXPECT_LT(half["goodput_gbps"].get<double>(), 0.98 * reference) << "nothing is missing";
  const bool by_growth = row.value("by", "") == "growth";
  EXPECT_EQ(top(losses(half), by_growth ? losses(enough) : std::map<std::string, double>()),
            row.at("cause").get<std::string>())
      << half["limits"].dump();
  EXPECT_LT(std::abs(losses(half)["unattributed"]), 0.005 * half["line_rate_gbps"].get<double>());
}
INSTANTIATE_TEST_SUITE_P(Of, Halving, ::testing::ValuesIn(rows("rows")), name_of);

class NeverTheLimit : public ::testing::TestWithParam<Row> {};

TEST_P(NeverTheLimit, HoldsAtItsSmallest) {
  const Json& row = GetParam().json();
  const double reference = run_with(row, row["unlimited"].get<std::uint64_t>())["goodput_gbps"];
  EXPECT_GE(run_with(row, row["value"].get<std::uint64_t>())["goodput_gbps"].get<double>(), 0.99 * reference);
}
INSTANTIATE_TEST_SUITE_P(Of, NeverTheLimit, ::testing::ValuesIn(rows("never")), name_of);

struct Impossible {
  const char* name;
  const char* settings;
  const char* says;
  friend void PrintTo(const Impossible& value, std::ostream* out) { *out << value.name; }
};
class ImpossibleSet : public ::testing::TestWithParam<Impossible> {};

TEST_P(ImpossibleSet, IsRefusedWithTheReason) {
  const ProcessResult run =
      run_process(fmt::format("mrcsim run tb/scenarios/pair.toml --out %D/out {}", GetParam().settings));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find(GetParam().says), std::string::npos) << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_FALSE(std::filesystem::exists(test_folder() / "out" / "result.json"));
}
INSTANTIATE_TEST_SUITE_P(
    Of, ImpossibleSet,
    ::testing::Values(
        Impossible{"StagingBelowOneMtu", "--set nic.rx_staging.bytes=4095", "does not hold one packet"},
        Impossible{"PortFifoBelowOnePacket", "--set nic.port.tx_fifo_bytes=4096", "does not hold one packet"},
        Impossible{"CompletionBufferBelowOnePacket", "--set pcie.completion_buffer_bytes=4096",
                   "does not hold one packet"},
        Impossible{"NoTags", "--set pcie.read_tags=0", "pcie.read_tags = 0 is not allowed"},
        Impossible{"ReadRequestAboveTheLimit", "--set pcie.mrrs_bytes=8192", "pcie.mrrs_bytes = 8192 is not allowed"},
        Impossible{"CreditsBelowOneTlp", "--set pcie.posted_data_credits=8", "do not cover one TLP"},
        Impossible{"ParserQueueBelowThePorts", "--set nic.parser.queue_entries=7",
                   "a packet may arrive on each port at once"},
        Impossible{"PayloadStoreBelowOneMtu",
                   "--set nic.retransmit_buffer.store=payload --set nic.retransmit_buffer.bytes=16384 "
                   "--set protocol.mtu_bytes=16385",
                   "protocol.mtu_bytes = 16385 is not allowed"}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace mrc
