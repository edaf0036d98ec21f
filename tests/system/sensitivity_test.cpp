// The ranking of assumptions: every one of them is tried, the largest change comes first, and what must move the answer
// does, in the direction that it must.
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "mrcsim_process.h"
#include "study/sensitivity.h"
#include "study/sqlite.h"

namespace mrc {
namespace {

constexpr const char* kSize =
    "mrcsim size tb/scenarios/pair.toml --set traffic.byte_scale=0.005 --set host.payload=reference --buffer "
    "pcie.read_tags --seeds 1 -j 2 --sensitivity --db %D/a.sqlite";

double change(const nlohmann::json& row, double base) {
  if (row["answer"].is_null()) return std::numeric_limits<double>::infinity();
  return std::abs(std::log2(row["answer"].get<double>() / base));
}

TEST(Sensitivity, RanksEveryAssumption) {
  std::filesystem::remove_all(test_folder());
  const ProcessResult size = run_process(kSize);
  ASSERT_EQ(size.exit_code, 0) << size.err;
  EXPECT_NE(size.out.find("Sensitivity of the answer "), std::string::npos) << size.out;
  Sqlite sqlite((test_folder() / "a.sqlite").string(), true);
  SqliteStatement statement(sqlite, "SELECT answer FROM study WHERE kind = 'sensitivity'");
  ASSERT_TRUE(statement.step());
  const auto answer = nlohmann::json::parse(statement.text(0));
  const double base = answer["answer"];
  std::set<std::string> tried;
  std::map<std::pair<std::string, std::string>, nlohmann::json> rows;
  double before = std::numeric_limits<double>::infinity();
  for (const auto& row : answer["rows"]) {
    tried.insert(row["parameter"]);
    rows[{row["parameter"], row["value"]}] = row;
    EXPECT_NE(row["usual"], row["value"]);
    EXPECT_LE(change(row, base), before) << row.dump();
    before = change(row, base);
  }
  std::set<std::string> missing;
  for (const Parameter* parameter : assumptions("pcie.read_tags")) {
    if (!tried.contains(parameter->name)) missing.insert(parameter->name);
  }
  // Only a parameter that the scenario's rules pin to its value may have no other level.
  EXPECT_LT(missing.size(), 8U) << *missing.begin();
  EXPECT_GT(tried.size(), 80U);

  // A read that takes longer needs more tags, requests of more bytes need fewer.
  int longer = 0;
  for (const auto& [key, row] : rows) {
    if (key.first != "pcie.read_latency_mean_ns" || std::stod(key.second) <= std::stod(row["usual"].get<std::string>()))
      continue;
    ++longer;
    EXPECT_GT(row["answer"], base) << row.dump();
  }
  EXPECT_GE(longer, 1);
  // What no packet meets changes nothing.
  int untouched = 0;
  for (const auto& [key, row] : rows) {
    if (key.first != "accelerator.scale_up_gbps") continue;
    ++untouched;
    EXPECT_EQ(row["answer"], base) << row.dump();
  }
  EXPECT_GE(untouched, 2);
}

}  // namespace
}  // namespace mrc
