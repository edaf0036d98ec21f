// mrcsim pcie: its tables, its errors, and the host's parts in a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

using Json = nlohmann::json;

Json points_of(const std::string& arguments) {
  const ProcessResult result = run_process("mrcsim pcie " + arguments + " --format json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out)["points"];
}

TEST(PcieCommand, TableHasAHeadForEachKindOfTest) {
  const ProcessResult result = run_process("mrcsim pcie --bytes 64,256 --transfers 1000");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("median"), std::string::npos);
  EXPECT_NE(result.out.find("closed form"), std::string::npos);
  EXPECT_NE(result.out.find("bound by"), std::string::npos);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 2 + 3 * 2);
  EXPECT_TRUE(result.err.empty()) << result.err;
}

TEST(PcieCommand, EachPointOfEachListIsMeasured) {
  const Json points = points_of(
      "--set host.cache.bytes=1310720 --test read_latency,write_latency,write_read_latency,read_bandwidth,"
      "write_bandwidth,mixed_bandwidth --bytes 64,100 --offset 0,13 --window 8KiB,1MiB --pattern sequential,random "
      "--cache warm,cold --node local,remote --transfers 4000");
  EXPECT_EQ(points.size(), 6u * 2 * 2 * 2 * 2 * 2 * 2);
  for (const Json& point : points) {
    if (point.contains("gbps")) {
      EXPECT_GT(point["gbps"].get<double>(), 0);
      EXPECT_LE(point["gbps"].get<double>(), 1.03 * point["closed_form_gbps"].get<double>()) << point;
    } else {
      const Json& distribution = point["distribution_ns"];
      EXPECT_GT(distribution.front()["ns"].get<double>(), 0);
      const auto earlier = [](const Json& a, const Json& b) { return a["ns"] < b["ns"]; };
      EXPECT_TRUE(std::is_sorted(distribution.begin(), distribution.end(), earlier));
      EXPECT_EQ(distribution.back()["share"], 1.0);
    }
  }
}

TEST(PcieCommand, CsvAndJsonHaveTheSameNumbers) {
  const std::string arguments =
      "--set pcie.generation=3 --set pcie.lanes=8 --set pcie.read_tags=256 --test read_bandwidth --bytes 64,512";
  const Json points = points_of(arguments);
  const ProcessResult csv = run_process("mrcsim pcie " + arguments + " --format csv");
  std::istringstream lines(csv.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_TRUE(line.starts_with("test,pattern,cache,node,window_bytes,offset_bytes,bytes,transfers,gbps,")) << line;
  const auto columns = std::count(line.begin(), line.end(), ',');
  for (const Json& point : points) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), columns);
    EXPECT_NE(
        line.find(fmt::format(",{:.4f},{:.4f},", point["gbps"].get<double>(), point["closed_form_gbps"].get<double>())),
        std::string::npos)
        << line;
  }
}

TEST(PcieCommand, Gen3x8IsThePublishedClosedForm) {
  const Json points = points_of(
      "--set pcie.generation=3 --set pcie.lanes=8 --set pcie.read_tags=256 --set pcie.completion_buffer_bytes=8MiB "
      "--set pcie.non_posted_header_credits=4096 --set pcie.posted_header_credits=4096 "
      "--set pcie.posted_data_credits=65536 --test read_bandwidth,write_bandwidth,mixed_bandwidth --bytes 64,256,512");
  // The study prints 57.88 Gb/s for the link, and what its model file has for these sizes.
  const std::vector<double> published{44.10, 53.69, 53.69, 42.10, 52.92, 52.92, 33.08, 48.75, 50.75};
  ASSERT_EQ(points.size(), published.size());
  for (std::size_t i = 0; i < published.size(); ++i) {
    EXPECT_NEAR(points[i]["link_gbps"].get<double>(), published[i], 0.01) << points[i];
    EXPECT_NEAR(points[i]["gbps"].get<double>() / published[i], 1, 0.01) << points[i];
  }
}

TEST(PcieCommand, TheSameRunGivesTheSameText) {
  const std::string command =
      "mrcsim pcie --set host.iommu.iotlb_entries=64 --window 4MiB --transfers 2000 --format csv";
  const ProcessResult first = run_process(command);
  EXPECT_EQ(first.out, run_process(command).out);
  EXPECT_EQ(first.out, run_process(command + " --set run.kernel=methods").out);
}

TEST(PcieCommand, WrongInputIsOneLine) {
  const std::map<std::string, std::string> wrong{
      {"--window 32 --bytes 64", "--window 32: holds no transfer of 64 bytes at offset 0; allowed: 64 or more"},
      {"--bytes 0", "--bytes 0: is not allowed; allowed: 1 … 65535 bytes"},
      {"--offset 4096", "--offset 4096: is not allowed; allowed: 0 … 4095 bytes"},
      {"--cache warm", "--cache warm: needs a cache: host.cache.bytes is 0"},
      {"--set host.iommu.iotlb_entries=64 --set host.iommu.iotlb_ways=7",
       "host.iommu.iotlb_entries = 64 is not a multiple of host.iommu.iotlb_ways = 7"},
      {"--set host.cache.bytes=1000",
       "host.cache.bytes = 1000 is not a multiple of 64 B in each of host.cache.ways = 20"},
      {"--set host.cache.ddio_ways=21", "host.cache.ddio_ways = 21 is more than host.cache.ways = 20"},
      {"--set host.memory.gbps=10 --set host.memory.other_load_gbps=10",
       "host.memory.other_load_gbps = 10 leaves nothing of host.memory.gbps = 10"},
      {"--test bandwidth", "--test"},
      {"nowhere.toml", "nowhere.toml"}};
  for (const auto& [arguments, message] : wrong) {
    const ProcessResult result = run_process("mrcsim pcie " + arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    EXPECT_NE(result.err.find(message), std::string::npos) << arguments << ": " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
  }
}

TEST(PcieCommand, PlotsHaveALinePerTestAndTheClosedForm) {
  const std::string command =
      "mrcsim pcie --test read_bandwidth,write_bandwidth,read_latency --bytes 64,256,1024 --transfers 500 "
      "--plot %D/pcie.svg";
  for (int time = 0; time < 2; ++time) EXPECT_EQ(run_process(command).exit_code, 0);
  const std::string rates = read_text(test_folder() / "pcie.svg");
  for (const char* name :
       {">read bandwidth<", ">write bandwidth<", ">closed form: read bandwidth<", ">Gb/s<", ">64 B<"}) {
    EXPECT_NE(rates.find(name), std::string::npos) << name;
  }
  const std::string latencies = read_text(test_folder() / "pcie-2.svg");
  EXPECT_NE(latencies.find(">read latency<"), std::string::npos);
  EXPECT_EQ(latencies.find("bandwidth"), std::string::npos);
}

TEST(PcieCommand, ClosedFormsOfATestThatDifferAreNamedApart) {
  const std::string command =
      "mrcsim pcie tb/hosts/bdw_xeon_e5_2630v4.toml --test read_bandwidth --offset 0,17 --bytes 64,256 "
      "--transfers 500 --plot %D/pcie.svg";
  EXPECT_EQ(run_process(command).exit_code, 0);
  const std::string plot = read_text(test_folder() / "pcie.svg");
  const std::size_t first = plot.find(">closed form: read bandwidth, ");
  ASSERT_NE(first, std::string::npos) << plot;
  const std::size_t second = plot.find(">closed form: read bandwidth, ", first + 1);
  ASSERT_NE(second, std::string::npos) << plot;
  const auto name_at = [&](std::size_t at) { return plot.substr(at, plot.find('<', at) - at); };
  EXPECT_NE(name_at(first), name_at(second));
}

TEST(PcieCommand, APlotReplacesNoOtherFile) {
  const auto path = test_folder() / "pcie.svg";
  std::ofstream(path) << "mine";
  const ProcessResult refused = run_process("mrcsim pcie --bytes 64 --transfers 500 --plot %D/pcie.svg");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(std::count(refused.err.begin(), refused.err.end(), '\n'), 1) << refused.err;
  EXPECT_EQ(read_text(path), "mine");
}

TEST(PcieCommand, IsInHelpManPageAndCompletion) {
  EXPECT_NE(run_process("mrcsim --help").out.find("pcie"), std::string::npos);
  EXPECT_NE(run_process("mrcsim help --format man").out.find("mrcsim pcie"), std::string::npos);
  EXPECT_NE(run_process("mrcsim help --format bash").out.find("read_latency write_latency"), std::string::npos);
}

constexpr const char* kPair =
    "mrcsim run tb/scenarios/pair.toml --quiet --set host.payload=reference --set traffic.byte_scale=0.02 ";

Json run_pair(const std::string& name, const std::string& settings) {
  const std::string folder = (test_folder() / name).string();
  const ProcessResult result = run_process(kPair + settings + " --out " + folder);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return read_json(folder + "/result.json");
}

TEST(HostInARun, PayloadArrivesWithAllPartsOn) {
  const std::string settings =
      "--set host.payload=bytes --set host.iommu.iotlb_entries=64 --set host.cache.bytes=2621440 "
      "--set host.memory.gbps=2000 --set host.memory.refresh_ns=300 --set host.numa.remote_share=0.5 "
      "--set host.root_complex.outstanding_reads=400 ";
  const Json train = run_pair("train", settings);
  const Json methods = run_pair("methods", settings + "--set run.kernel=methods");
  EXPECT_EQ(train["goodput_gbps"], methods["goodput_gbps"]);
  const Json warm = run_pair("warm", settings + "--set host.cache.state=warm");
  EXPECT_EQ(warm["status"], train["status"]);
}

}  // namespace
}  // namespace mrc
