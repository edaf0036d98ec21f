// All buffers of the registry: each is in the table of halving_test.cpp, and each takes a quarter of its default to
// four times it.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <set>

#include "mrcsim_process.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

/// Queues, credits, tags, pools and caches of the registry, by what they are counted in.
bool is_buffer(const Json& parameter) {
  static const std::set<std::string> units{"entries", "WQEs", "banks", "probes", "tags", "credits"};
  static const std::set<std::string> stores{"nic.retransmit_buffer.bytes", "nic.port.tx_fifo_bytes",
                                            "nic.rx_staging.bytes", "pcie.completion_buffer_bytes"};
  const auto name = parameter["name"].get<std::string>();
  if (!name.starts_with("nic.") && !name.starts_with("pcie.")) return false;
  return stores.contains(name) || units.contains(parameter["unit"].get<std::string>());
}

Json buffers() {
  const ProcessResult params = run_process("mrcsim params --format json");
  Json all = Json::array();
  for (const auto& parameter : Json::parse(params.out)) {
    if (is_buffer(parameter)) all.push_back(parameter);
  }
  return all;
}

TEST(Buffers, EachIsInTheTable) {
  const Json table = read_json(MRCSIM_SOURCE_DIR "/tests/system/buffer_limits.json");
  std::set<std::string> known;
  for (const char* list : {"rows", "never", "elsewhere"}) {
    if (!table.contains(list)) continue;
    for (const auto& row : table[list]) known.insert(row["key"]);
  }
  const Json all = buffers();
  EXPECT_GE(all.size(), 25U);
  for (const auto& parameter : all) {
    EXPECT_TRUE(known.contains(parameter["name"]))
        << parameter["name"] << ": add it to rows (with the run in which it is needed), never (with the reason) or "
        << "elsewhere (with the test) in tests/system/buffer_limits.json, and run tests/system/smallest_buffers.py";
  }
}

/// A quarter of the default to four times: complete and intact, or refused with a reason.
TEST(Buffers, TakeAQuarterToFourTimesTheirDefault) {
  const Json all = buffers();
  for (const auto& parameter : all) {
    const auto value = std::stoull(parameter["default"].get<std::string>());
    for (const std::uint64_t changed : {value / 4, value * 4}) {
      const auto name = parameter["name"].get<std::string>();
      const std::string setting = fmt::format("{}={}", name, changed);
      const ProcessResult run = run_process(
          fmt::format("mrcsim run tb/scenarios/ring.toml --quiet --out %D/out --set traffic.byte_scale=0.05 --set "
                      "fabric.loss_rate=0.001 --set {}",
                      setting));
      if (run.exit_code == 2) {
        EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << setting << ": " << run.err;
        EXPECT_NE(run.err.find(name), std::string::npos) << run.err;
        continue;
      }
      ASSERT_EQ(run.exit_code, 0) << setting << ": " << run.err;
      const Json r = read_json(test_folder() / "out" / "result.json");
      EXPECT_EQ(r["bytes"]["delivered"], r["bytes"]["offered"]) << setting;
      EXPECT_EQ(r["bytes"]["corrupted"], 0) << setting;
    }
  }
}

}  // namespace
}  // namespace mrc
