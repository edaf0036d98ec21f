// The page itself is looked at in a browser (tests/browser); here: it is whole, refers to nothing, and holds the data.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "mrcsim_process.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

nlohmann::json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin), nullptr, false);
}

void expect_self_contained(const std::string& page) {
  EXPECT_FALSE(std::regex_search(page, std::regex("(src|href)\\s*=\\s*[\"']?\\s*(https?:)?//")));
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_NE(page.find("Content-Security-Policy\" content=\"default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("Chart.js"), std::string::npos) << "the chart library is in the page";
  for (const char* left : {"@DATA@", "@CSS@", "@SCRIPT@", "@CHART_LIBRARY@"})
    EXPECT_EQ(page.find(left), std::string::npos);
}

TEST(Report, OfARun) {
  ASSERT_EQ(
      run_process("mrcsim run tb/scenarios/pair.toml --quiet --set traffic.byte_scale=0.02 --out %D/out").exit_code, 0);
  const ProcessResult report = run_process("mrcsim report %D/out -o %D/run.html");
  ASSERT_EQ(report.exit_code, 0) << report.err;
  const std::string page = read_text(test_folder() / "run.html");
  expect_self_contained(page);
  const auto data = data_of(page);
  const auto result = read_json(test_folder() / "out" / "result.json");
  EXPECT_EQ(data["result"], result);
  EXPECT_EQ(data["series"], read_json(test_folder() / "out" / "series.json"));
  EXPECT_EQ(data["parameters"]["pcie.read_tags"]["default"], "512");

  const auto& quantiles = result["message_time_quantiles"];
  ASSERT_EQ(quantiles.size(), 104U);
  EXPECT_TRUE(std::is_sorted(quantiles.begin(), quantiles.end(), [](const auto& a, const auto& b) {
    return a["share"] < b["share"] || a["us"] < b["us"];
  }));
  EXPECT_EQ(quantiles[50]["us"], result["message_time_us"]["p50"]);
  EXPECT_EQ(quantiles[99]["us"], result["message_time_us"]["p99"]);
  EXPECT_EQ(quantiles.back()["us"], result["message_time_us"]["max"]);
}

TEST(Report, OfADatabase) {
  fs::remove(test_folder() / "a.sqlite");
  ASSERT_EQ(
      run_process("mrcsim sweep tb/scenarios/pair.toml --set traffic.byte_scale=0.01 --vary pcie.read_tags=16,512 "
                  "--db %D/a.sqlite --quiet")
          .exit_code,
      0);
  ASSERT_EQ(run_process("mrcsim report %D/a.sqlite -o %D/study.html").exit_code, 0);
  const std::string page = read_text(test_folder() / "study.html");
  expect_self_contained(page);
  const auto data = data_of(page);
  ASSERT_EQ(data["studies"].size(), 1U);
  EXPECT_EQ(data["studies"][0]["points"][1]["settings"]["pcie.read_tags"], 512);
  EXPECT_GT(data["studies"][0]["points"][1]["goodput_gbps"], data["studies"][0]["points"][0]["goodput_gbps"]);
}

}  // namespace
}  // namespace mrc
