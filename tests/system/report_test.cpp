// The page itself is looked at in a browser (tests/browser); here: it is whole, refers to nothing, and holds the data.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>

#include <fmt/format.h>

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

/// What is in the page is in the file; what is not was always 0.
void expect_curves_of(const nlohmann::json& shown, const nlohmann::json& series) {
  EXPECT_EQ(shown["plane_goodput_gbps"], series["plane_goodput_gbps"]);
  EXPECT_EQ(shown["ev_states"], series["ev_states"]);
  std::size_t curves = 0;
  for (const char* part : {"buffer_occupancy", "queue_bytes"}) {
    for (const auto& [name, curve] : series[part].items()) {
      const bool moves = std::any_of(curve.begin(), curve.end(), [](const auto& value) { return value != 0; });
      EXPECT_EQ(shown[part].contains(name), moves) << name;
      if (moves) {
        EXPECT_EQ(shown[part][name], curve) << name;
      }
      curves += moves ? 1 : 0;
    }
  }
  EXPECT_GT(curves, 10U);
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
  for (const auto& [part, value] : data["result"].items()) EXPECT_EQ(value, result[part]) << part;
  for (const char* part : {"limits", "buffers", "ledger", "switch_ports", "parameters", "events"})
    EXPECT_TRUE(data["result"].contains(part)) << part;
  expect_curves_of(data["series"], read_json(test_folder() / "out" / "series.json"));
  const auto run = data["run"];
  EXPECT_EQ(run["command"].get<std::string>().find("mrcsim run tb/scenarios/pair.toml --quiet --set"), 0U) << run;
  EXPECT_EQ(run["version"], data["written"]["version"]);
  EXPECT_TRUE(std::regex_match(run["time"].get<std::string>(), std::regex("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC")))
      << run;
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

/// However long a run is, its page stays small, and the curves keep their mean.
TEST(Report, OfALongRunIsSmall) {
  std::ofstream(test_folder() / "flows.csv") << "start_us,src,dst,bytes,tag\n";
  std::ofstream flows(test_folder() / "flows.csv", std::ios::app);
  for (int i = 0; i < 120; ++i) flows << 25 * i << "," << i % 4 << ",4,256KiB," << i << "\n";
  flows.close();
  std::ofstream(test_folder() / "incast.toml")
      << "[traffic]\ntrace = \"flows.csv\"\n[fabric]\nnics = 8\nloss_rate = 0.001\n";
  ASSERT_EQ(run_process("mrcsim run %D/incast.toml --quiet --out %D/out").exit_code, 0);
  ASSERT_EQ(run_process("mrcsim report %D/out -o %D/run.html").exit_code, 0);
  const std::string page = read_text(test_folder() / "run.html");
  EXPECT_LT(page.size(), 2'000'000U);
  const auto shown = data_of(page)["series"];
  const auto series = read_json(test_folder() / "out" / "series.json");
  const auto mean = [](const nlohmann::json& curve) {
    double sum = 0;
    for (const auto& value : curve) sum += value.get<double>();
    return sum / static_cast<double>(curve.size());
  };
  ASSERT_GT(series["plane_goodput_gbps"][0].size(), 1'400U);
  EXPECT_LE(shown["plane_goodput_gbps"][0].size(), 500U);
  EXPECT_NEAR(mean(shown["plane_goodput_gbps"][0]), mean(series["plane_goodput_gbps"][0]), 0.5);
  const double length_us =
      series["step_us"].get<double>() * static_cast<double>(series["plane_goodput_gbps"][0].size());
  EXPECT_NEAR(shown["step_us"].get<double>() * static_cast<double>(shown["plane_goodput_gbps"][0].size()), length_us,
              shown["step_us"].get<double>());
}

/// The remedies of `mrcsim why` are in the page of the run that they are of, and of no other.
TEST(Report, OfARunWithItsRemedies) {
  fs::remove(test_folder() / "why.sqlite");
  const std::string settings = "--set traffic.rows=8 host.payload=reference nic.retransmit_buffer.entries=64";
  ASSERT_EQ(run_process("mrcsim why tb/scenarios/pair.toml --seeds 1 --quiet --db %D/why.sqlite " + settings).exit_code,
            0);
  ASSERT_EQ(run_process("mrcsim run tb/scenarios/pair.toml --seed 7 --quiet --out %D/out " + settings).exit_code, 0);
  ASSERT_EQ(run_process("mrcsim report %D/out --why %D/why.sqlite -o %D/run.html").exit_code, 0);
  const auto why = data_of(read_text(test_folder() / "run.html"))["why"];
  ASSERT_FALSE(why["answer"]["remedies"].empty());
  EXPECT_TRUE(why["answer"]["remedies"][0]["settings"].contains("nic.retransmit_buffer.entries")) << why;
  ASSERT_EQ(run_process("mrcsim report %D/why.sqlite -o %D/study.html").exit_code, 0);
  const auto study = data_of(read_text(test_folder() / "study.html"))["studies"][0];
  EXPECT_EQ(study["kind"], "why");
  EXPECT_EQ(study["answer"], why["answer"]);
  EXPECT_EQ(study["points"][0]["settings"].size(), 0U);

  ASSERT_EQ(run_process("mrcsim run tb/scenarios/pair.toml --set traffic.rows=8 --quiet --out %D/other").exit_code, 0);
  const ProcessResult other = run_process("mrcsim report %D/other --why %D/why.sqlite -o %D/other.html");
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("holds no answer of mrcsim why"), std::string::npos) << other.err;
  EXPECT_EQ(run_process("mrcsim report %D/why.sqlite --why %D/why.sqlite -o %D/other.html").exit_code, 2);
  EXPECT_EQ(run_process("mrcsim report %D/out --why %D/absent.sqlite -o %D/other.html").exit_code, 2);
}

/// Neither of the two changes does alone what the pair does, and the answer says what each does.
TEST(Why, OfAPairEachChangeIsListedAlone) {
  fs::remove(test_folder() / "pair.sqlite");
  const std::string command =
      "mrcsim why tb/scenarios/pair.toml --seeds 2 --quiet --db %D/pair.sqlite --set host.payload=reference "
      "traffic.rows=16 pcie.read_tags=96 nic.retransmit_buffer.entries=64";
  const ProcessResult text = run_process(command);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  const auto answer = nlohmann::json::parse(run_process(command + " --format json").out);
  const auto& pair = answer["remedies"][0];
  ASSERT_EQ(pair["settings"].size(), 2U) << answer.dump(1);
  ASSERT_EQ(pair["alone"].size(), 2U) << pair;
  for (const auto& change : pair["alone"]) {
    const auto setting = change["settings"].items().begin();
    EXPECT_EQ(pair["settings"][setting.key()], setting.value());
    EXPECT_TRUE(change["completes"]) << change;
    EXPECT_LT(change["gain_gbps"].get<double>(), 0.9 * pair["gain_gbps"].get<double>());
    const std::string line =
        fmt::format("alone: gain {:.1f} ({:.1f} … {:.1f}) with {}={}\n", change["gain_gbps"].get<double>(),
                    change["gain_gbps_low"].get<double>(), change["gain_gbps_high"].get<double>(), setting.key(),
                    setting.value().get<std::string>());
    EXPECT_NE(text.out.find(line), std::string::npos) << line << text.out;
  }
  for (std::size_t i = 1; i < answer["remedies"].size(); ++i) EXPECT_FALSE(answer["remedies"][i].contains("alone"));
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
