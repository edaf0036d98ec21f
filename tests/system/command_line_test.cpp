// Bad input and usage: one clear line, exit code 2, nothing half-written.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <ostream>

#include "mrcsim_process.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

struct Refusal {
  const char* name;
  const char* arguments;
  const char* message;  ///< its beginning, after "mrcsim: "
  friend void PrintTo(const Refusal& value, std::ostream* out) { *out << value.name; }
};

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, OneLineExitTwoNothingWritten) {
  const fs::path folder = test_folder();
  std::ofstream(folder / "bad_csv.toml") << "[traffic]\ntrace = \"bad.csv\"\n";
  std::ofstream(folder / "bad.csv") << "start_us,src,dst,bytes,tag\n0,0,1,10,0\n0,0,one,10,0\n";
  std::ofstream(folder / "wide.toml") << "[traffic]\ntrace = \"wide.csv\"\n";
  std::ofstream(folder / "wide.csv") << "start_us,src,dst,bytes,tag\n0,0,7,10,0\n";
  std::ofstream(folder / "syntax.toml") << "seed = 1\n[traffic\n";
  std::ofstream(folder / "key.toml") << "seed = 1\n[fabric]\nlos_rate = 0.1\n";
  std::ofstream(folder / "no_trace.toml") << "[traffic]\ntrace = \"absent.csv\"\n";
  std::ofstream(folder / "damaged.toml") << "[traffic]\ntrace = \"damaged.0.et\"\n";
  const std::string whole = read_text(fs::path(MRCSIM_SOURCE_DIR) / "traces" / "ring_all_reduce_2.0.et");
  std::ofstream(folder / "damaged.0.et", std::ios::binary) << whole.substr(0, whole.size() - 5);
  fs::create_directories(folder / "others");
  std::ofstream(folder / "others" / "thesis.txt") << "precious";
  fs::remove_all(folder / "out");

  const ProcessResult result = run_process(std::string("mrcsim ") + GetParam().arguments);
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.out, "");
  std::string expected = std::string("mrcsim: ") + GetParam().message;
  for (std::size_t at = expected.find("%D"); at != std::string::npos; at = expected.find("%D"))
    expected.replace(at, 2, folder.string());
  EXPECT_EQ(result.err.substr(0, expected.size()), expected) << result.err;
  EXPECT_FALSE(fs::exists(folder / "out"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "others"), {}), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Input, Refused,
    ::testing::Values(
        Refusal{"MissingScenario", "run %D/absent.toml --out %D/out", "%D/absent.toml: does not exist"},
        Refusal{"Syntax", "run %D/syntax.toml --out %D/out", "%D/syntax.toml:2:"},
        Refusal{"UnknownKey", "run %D/key.toml --out %D/out",
                "%D/key.toml:3: unknown key fabric.los_rate; nearest: fabric.loss_rate"},
        Refusal{"UnknownSet", "run tb/scenarios/pair.toml --set nic.prots=4 --out %D/out",
                "--set nic.prots=4: unknown key nic.prots; nearest: nic.ports"},
        Refusal{"OutOfRange", "run tb/scenarios/pair.toml --set fabric.loss_rate=1.5 --out %D/out",
                "--set fabric.loss_rate=1.5: fabric.loss_rate = 1.5 is not allowed; allowed: 0 … 1"},
        Refusal{"MissingTrace", "run %D/no_trace.toml --out %D/out", "%D/absent.csv: does not exist"},
        Refusal{"BadCsv", "run %D/bad_csv.toml --out %D/out", "%D/bad.csv:3: column dst is \"one\""},
        Refusal{"DamagedChakra", "run %D/damaged.toml --out %D/out", "%D/damaged.0.et: "},
        Refusal{"RankOutside", "run %D/wide.toml --out %D/out", "%D/wide.csv:2: rank 7 is outside the topology"},
        Refusal{"OtherFilesInTheWay", "run tb/scenarios/pair.toml --out %D/others",
                "%D/others: contains files that mrcsim did not write"},
        Refusal{"UnknownBlock", "run tb/scenarios/pair.toml --rtl srv6_enkap --out %D/out",
                "--rtl: no RTL block srv6_enkap; there are: pcie_dma, qp_scheduler, spray_scheduler, "
                "retransmit_buffer, srv6_encap, "
                "psn_tracker, ack_coalescer; nearest: srv6_encap"},
        Refusal{"UnknownNode", "run tb/scenarios/pair.toml --shadow srv6_encap@nic2 --out %D/out",
                "--shadow: unknown node nic2; allowed: nic0 … nic1"},
        Refusal{"SelectedTwice", "run tb/scenarios/pair.toml --rtl srv6_encap --shadow srv6_encap@nic1 --out %D/out",
                "--shadow: srv6_encap@nic1 is selected twice"},
        Refusal{"AllAndOne", "run tb/scenarios/pair.toml --shadow all --rtl srv6_encap@nic0 --out %D/out",
                "--shadow: srv6_encap@nic0 is selected twice"},
        Refusal{"WidthWithoutRtl",
                "run tb/scenarios/pair.toml --rtl srv6_encap --set nic.datapath_bits=256 --out %D/out",
                "nic.datapath_bits = 256: RTL of srv6_encap is built for 512, 1024 and 2048"},
        Refusal{"SweepUnknownKey", "sweep tb/scenarios/pair.toml --vary nic.prots=1,2 --db %D/out",
                "--vary nic.prots=1,2: unknown key nic.prots; nearest: nic.ports"},
        Refusal{"SweepOutOfRange", "sweep tb/scenarios/pair.toml --vary nic.ports=1..16:x2 --db %D/out",
                "--vary nic.ports=1..16:x2: nic.ports = 16 is not allowed; allowed: 1 … 8 ports"},
        Refusal{"SweepBackwards", "sweep tb/scenarios/pair.toml --vary pcie.read_tags=64..32:+8 --db %D/out",
                "--vary pcie.read_tags=64..32:+8: the lower end of a range comes first"},
        Refusal{"SweepNoStep", "sweep tb/scenarios/pair.toml --vary pcie.read_tags=32..64 --db %D/out",
                "--vary pcie.read_tags: a range without a step needs --design lhs"},
        Refusal{"SweepBadStep", "sweep tb/scenarios/pair.toml --vary pcie.read_tags=32..64:*2 --db %D/out",
                "--vary pcie.read_tags=32..64:*2: \":*2\" is not a step; expected :xF"},
        Refusal{"SweepTwice", "sweep tb/scenarios/pair.toml --vary pcie.read_tags=1 pcie.read_tags=2 --db %D/out",
                "--vary pcie.read_tags: is varied twice"},
        Refusal{"SweepNode", "sweep tb/scenarios/pair.toml --vary node.nic7.pcie.read_tags=64 --db %D/out",
                "--set node.nic7.pcie.read_tags=64: there is no nic7"},
        Refusal{"SweepPointAgainstARule",
                "sweep tb/scenarios/pair.toml --vary nic.rx_staging.bytes=512,8192 --db %D/out",
                "tb/scenarios/pair.toml: nic.rx_staging.bytes = 512 does not hold one packet"},
        Refusal{"SweepNoPoints", "sweep tb/scenarios/pair.toml --vary pcie.read_tags=1..9 --design lhs --db %D/out",
                "--design lhs: needs --points N"},
        Refusal{"SweepNoDatabase", "sweep tb/scenarios/pair.toml --vary pcie.read_tags=64 --db %D/key.toml",
                "%D/key.toml: "},
        Refusal{"SizeNoBuffer", "size tb/scenarios/pair.toml --db %D/out", "size: needs --buffer KEY or --all"},
        Refusal{"SizeUnknownKey", "size tb/scenarios/pair.toml --buffer nic.retransmit_buffer.entres --db %D/out",
                "--buffer nic.retransmit_buffer.entres: unknown key nic.retransmit_buffer.entres; nearest: "
                "nic.retransmit_buffer.entries"},
        Refusal{"SizeOfNoSize", "size tb/scenarios/pair.toml --buffer nic.port_gbps --db %D/out",
                "--buffer nic.port_gbps: is not a size (type real"},
        Refusal{"SizeBadObjective", "size tb/scenarios/pair.toml --buffer pcie.read_tags --hold fast --db %D/out",
                "--hold fast: \"fast\" is not a metric; expected goodput>=99%"},
        Refusal{"CompareNoResult", "compare %D/key.toml %D/others", "%D/key.toml: is not a result.json of mrcsim"},
        Refusal{"CompareNothing", "compare %D/others %D/others", "%D/others: holds no result"},
        Refusal{"CompareAbsent", "compare %D/absent %D/absent", "%D/absent: does not exist"},
        Refusal{"ReportAbsent", "report %D/absent -o %D/out", "%D/absent: does not exist; expected a result.json"},
        Refusal{"ReportNoResult", "report %D/key.toml -o %D/out", "%D/key.toml: is not a result.json of mrcsim"},
        Refusal{"UnknownOption", "run tb/scenarios/pair.toml --shadw x", "unknown argument --shadw; nearest: --shadow"},
        Refusal{"UnknownCommand", "rum", "unknown argument rum; nearest: run (see mrcsim --help)"},
        Refusal{"HalfACommand", "calib", "unknown argument calib; nearest: calibrate"},
        Refusal{"NegativeSeed", "run tb/scenarios/pair.toml --seed -1 --out %D/out",
                "--seed: -1 is not allowed; allowed: 0 or more"},
        Refusal{"NoTransfers", "cosim ack_coalescer --count 0 --out %D/out",
                "--count: 0 is not allowed; allowed: a number above 0"},
        Refusal{"ScenarioOfRandomVectors", "cosim ack_coalescer --set nic.ports=4 --out %D/out",
                "cosim: --scenario and --set need --vectors trace"},
        Refusal{"VectorsOfAReplay", "cosim ack_coalescer --replay %D/a.replay --keep-vectors %D/out --out %D/out",
                "cosim: --keep-vectors has no effect with --replay; give only one of them"},
        Refusal{"CalibrateNowhere", "calibrate --out %D/absent/table.md", "%D/absent/table.md: cannot be written"},
        Refusal{"RtlOfLightEndpoints", "run tb/scenarios/pair.toml --set transport=rocev2 --rtl all --out %D/out",
                "--rtl, --shadow: nic0 is a light endpoint, which has no boxes (transport = \"rocev2\""},
        Refusal{"NoScenario", "run", "SCENARIO is required"}, Refusal{"NoCommand", "", "A subcommand is required"},
        Refusal{"ExplainUnknown", "params --explain nic.prots",
                "--explain nic.prots: unknown key; nearest: nic.ports"}),
    [](const auto& instance) { return instance.param.name; });

TEST(CommandLine, HelpAndVersionAreNoErrors) {
  EXPECT_EQ(run_process("mrcsim --help").exit_code, 0);
  EXPECT_EQ(run_process("mrcsim run --help").exit_code, 0);
  const ProcessResult version = run_process("mrcsim --version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out.substr(0, 7), "mrcsim ");
}

TEST(CommandLine, ParameterDocumentationIsCurrent) {
  const ProcessResult params = run_process("mrcsim params --format markdown");
  EXPECT_EQ(params.exit_code, 0);
  EXPECT_EQ(params.out, read_text(fs::path(MRCSIM_SOURCE_DIR) / "docs" / "parameters.md"))
      << "write it again: mrcsim params --format markdown > docs/parameters.md";
  const auto json = nlohmann::json::parse(run_process("mrcsim params --format json").out);
  EXPECT_GT(json.size(), 130U);
}

TEST(CommandLine, ParametersOfAScenario) {
  std::ofstream(test_folder() / "two.toml") << read_text(fs::path(MRCSIM_SOURCE_DIR) / "tb" / "scenarios" / "ring.toml")
                                            << "\n[node.nic1.pcie]\nread_tags = 64\n";
  const std::string command = "mrcsim params %D/two.toml --set nic.ports=4 traffic.trace=none.csv";
  const ProcessResult table = run_process(command);
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("\n* nic.ports "), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("\n* node.nic1.pcie.read_tags "), std::string::npos) << table.out;
  const auto json = nlohmann::json::parse(run_process(command + " --format json").out);
  EXPECT_EQ(json["nic.ports"], "4");
  EXPECT_EQ(json["node.nic1.pcie.read_tags"], "64");
}

TEST(CommandLine, TraceCommandsWriteWhatTheRepositoryHolds) {
  const fs::path folder = test_folder();
  EXPECT_EQ(
      run_process("mrcsim trace generate flows --src 0 --dst 1 --count 1024 --bytes 1MiB --out %D/pair.csv").exit_code,
      0);
  EXPECT_EQ(read_text(folder / "pair.csv"), read_text(fs::path(MRCSIM_SOURCE_DIR) / "traces" / "pair_1GiB.csv"));
  EXPECT_EQ(run_process(
                "mrcsim trace generate ring_all_reduce --ranks 2 --bytes 64MiB --chunk 1MiB --out '%D/ring.{rank}.et'")
                .exit_code,
            0);
  for (const char* rank : {"0", "1"}) {
    EXPECT_EQ(read_text(folder / (std::string("ring.") + rank + ".et")),
              read_text(fs::path(MRCSIM_SOURCE_DIR) / "traces" / (std::string("ring_all_reduce_2.") + rank + ".et")));
  }
  const ProcessResult check = run_process("mrcsim trace check '%D/ring.{rank}.et'");
  EXPECT_EQ(check.exit_code, 0) << check.err;
}

TEST(CommandLine, FloorplanListsTheMemoriesWithoutARun) {
  const ProcessResult table = run_process("mrcsim floorplan tb/scenarios/pair.toml");
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("retransmit_buffer.records"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("PSN 24 + QP 24"), std::string::npos) << table.out;
  const ProcessResult csv = run_process("mrcsim floorplan tb/scenarios/pair.toml --qps 64 --format csv");
  EXPECT_NE(csv.out.find("retransmit_timer,1,64,"), std::string::npos) << csv.out;
  const ProcessResult wrong = run_process("mrcsim floorplan tb/scenarios/pair.toml --node nic7");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("allowed: nic0 … nic1"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace mrc
