// What must not happen whatever the input and the environment: endless runs, truncated or replaced files, raw control
// characters, an "internal error" for what is the user's or the system's.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "mrcsim_process.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

const std::string kMrcsim = MRCSIM_EXECUTABLE;
/// Ends what does not end by itself: exit code 124.
const std::string kWithin = "timeout 60 " + kMrcsim + " ";
const std::string kPair = "run tb/scenarios/pair.toml --quiet --set traffic.byte_scale=0.004 --out %D/out ";

void expect_refused(const ProcessResult& result, const std::string& message) {
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

class Robustness : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(test_folder());
    fs::create_directories(test_folder());
  }
  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(test_folder() / name, std::ios::binary) << text;
    return test_folder() / name;
  }
  void write_scenario(const std::string& trace, const std::string& more = "") {
    write("scenario.toml", more + "[traffic]\ntrace = \"" + trace + "\"\n");
  }
};

// Nothing endless

TEST_F(Robustness, ALinkWhoseRateChangesUnderRocev2Ends) {
  write("flows.csv",
        "start_us,src,dst,bytes,tag\n0,0,1,65536,0\n0,0,2,300000,0\n5,0,3,65536,0\n0,1,0,300000,0\n5,1,2,1000,0\n"
        "1,1,3,1000,0\n1,2,0,1000,0\n1,2,1,1000,0\n0,2,3,65536,0\n0,3,0,300000,0\n5,3,1,65536,0\n0,3,2,300000,0\n");
  for (const std::string qps : {"1", "4"}) {
    write("scenario.toml", "transport = \"rocev2\"\ntraffic.trace = \"flows.csv\"\ntraffic.qps_per_peer = " + qps +
                               "\nfabric.nics = 4\nfabric.nics_per_t0 = 8\nrun.max_time_us = 3000\n[[fault]]\nat_us = "
                               "1\nkind = \"link_rate\"\nwhere = \"nic2.port5\"\nshare = 0.01\nfor_us = 10\n");
    const ProcessResult result =
        run_process("ulimit -v 4000000; " + kWithin + "run %D/scenario.toml --quiet --out %D/out");
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
}

TEST_F(Robustness, ATimeLimitBetweenTwoPicosecondsIsReached) {
  const ProcessResult result =
      run_process(kWithin + kPair + "--set run.max_time_us=33.333333333333336 --set traffic.byte_scale=1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = read_json(test_folder() / "out" / "result.json");
  EXPECT_EQ(json["status"], "partial");
  EXPECT_NEAR(json["simulated_time_us"].get<double>(), 33.333333, 1e-9);
}

TEST_F(Robustness, PipesAndDevicesAreNoInput) {
  ASSERT_EQ(mkfifo((test_folder() / "pipe").c_str(), 0600), 0);
  for (const std::string trace : {"pipe", "/dev/zero", "/dev/full"}) {
    write_scenario(trace);
    expect_refused(run_process(kWithin + "run %D/scenario.toml --quiet --out %D/out"), "is not a regular file");
    const std::string place = trace == "pipe" ? "%D/pipe" : trace;
    for (const std::string command :
         {"run ", "trace info ", "report -o %D/page.html ", "sweep tb/scenarios/pair.toml --vary nic.ports=1 --db "}) {
      expect_refused(run_process(kWithin + command + place), "is not a regular file");
    }
  }
}

TEST_F(Robustness, AStudyOfMoreRunsThanEverEndIsRefusedAtOnce) {
  const std::string sweep = "timeout 10 " + kMrcsim + " sweep tb/scenarios/pair.toml --db %D/s.sqlite --design lhs ";
  expect_refused(run_process(sweep + "--vary nic.port_gbps=50..400 --points 1000000"), "--points");
  expect_refused(run_process(sweep + "--vary nic.port_gbps=50..400 --points 100000 --seeds 100"),
                 "more than 200000 runs");
  EXPECT_FALSE(fs::exists(test_folder() / "s.sqlite"));
}

TEST_F(Robustness, ACollectiveOfTooManyMessagesIsRefusedAtOnce) {
  write("world.txt", "DATA\n1\nlayer -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 1048576 1\n");
  for (const std::string algorithm : {"ring", "hierarchical"}) {
    const ProcessResult result = run_process(
        "timeout 15 " + kMrcsim +
        " run tb/scenarios/pair.toml --quiet --out %D/out --set traffic.trace=%D/world.txt "
        "traffic.ranks=131072 traffic.nics_per_rank=1 fabric.nics=131072 fabric.nics_per_t0=512 fidelity=endpoint "
        "traffic.placement=rails traffic.collective.all_reduce=" +
        algorithm + " traffic.background=%D/world.txt");
    EXPECT_EQ(result.exit_code, 2) << algorithm << ": " << result.err;
  }
}

TEST_F(Robustness, TooLittleMemoryIsSaid) {
  write_scenario("flows.csv");
  write("flows.csv", "start_us,src,dst,bytes,tag\n0,0,1,65536,0\n");
  const ProcessResult result = run_process("ulimit -v 400000; " + kWithin +
                                           "run %D/scenario.toml --quiet --out %D/out --set fabric.nics=131072 "
                                           "fidelity=endpoint traffic.qps_per_peer=16");
  expect_refused(result, "mrcsim: out of memory");
}

// Nothing cut, nothing overwritten

TEST_F(Robustness, WavesUnderALimitOnFileSizesAreWholeOrGone) {
  // dash counts in 512 bytes.
  for (const std::string option :
       {"--waves %D/waves.fst", "--waves %D/waves.vcd", "--perfetto %D/timeline.json", "--pcap %D/capture.pcapng"}) {
    const ProcessResult whole = run_process(kWithin + kPair + option);
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    const std::string name = option.substr(option.find("%D/") + 3);
    const auto blocks = fs::file_size(test_folder() / name) / 512;
    ASSERT_GT(blocks, 8U);
    for (const auto limit : {blocks - 1, blocks / 2, std::uintmax_t{8}}) {
      fs::remove(test_folder() / name);
      const ProcessResult cut = run_process("ulimit -f " + std::to_string(limit) + "; " + kWithin + kPair + option);
      EXPECT_EQ(cut.exit_code, 2) << option << " " << limit << ": " << cut.err;
      EXPECT_FALSE(fs::exists(test_folder() / name)) << option << " " << limit;
      for (const auto& entry : fs::directory_iterator(test_folder())) {
        EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
      }
    }
  }
}

TEST_F(Robustness, OutputsAreNeverInputsOrFilesOfOthers) {
  write_scenario("flows.csv", "# for mrcsim\n");
  write("flows.csv", "start_us,src,dst,bytes,tag\n0,0,1,65536,0\n");
  const std::string scenario = read_text(test_folder() / "scenario.toml");
  const std::string run = kWithin + "run %D/scenario.toml --quiet --out %D/out ";
  for (const std::string option : {"--pcap", "--perfetto", "--waves"}) {
    if (option == "--waves") {
      fs::copy_file(test_folder() / "scenario.toml", test_folder() / "scenario.fst");
      expect_refused(run_process(run + "--waves %D/scenario.fst"), "choose another name");
      continue;
    }
    expect_refused(run_process(run + option + " %D/scenario.toml"), "choose another name");
    expect_refused(run_process(run + option + " %D/flows.csv"), "choose another name");
    expect_refused(run_process(run + option + " /dev/null"), "is not a regular file");
  }
  EXPECT_EQ(read_text(test_folder() / "scenario.toml"), scenario);
  ASSERT_EQ(run_process(kWithin + "run %D/scenario.toml --quiet --out %D/out").exit_code, 0);
  const std::string result = read_text(test_folder() / "out" / "result.json");
  expect_refused(run_process(kWithin + "report %D/out -o %D/out/result.json"), "choose another name");
  EXPECT_EQ(read_text(test_folder() / "out" / "result.json"), result);
  expect_refused(run_process(kWithin + "trace generate flows --bytes 1KiB --out %D/scenario.toml"),
                 "exists and holds something else");
}

TEST_F(Robustness, OtherSettingsAreAnotherFolder) {
  const std::string here =
      "cd %D && " + kMrcsim + " run " MRCSIM_SOURCE_DIR "/tb/scenarios/pair.toml --set traffic.byte_scale=";
  ASSERT_EQ(run_process(here + "0.004 --quiet").exit_code, 0);
  ASSERT_EQ(run_process(here + "0.002 --quiet").exit_code, 0);
  EXPECT_EQ(entries(test_folder() / "out"), 2U);
  ASSERT_EQ(run_process(here + "0.002 --quiet").exit_code, 0);
  EXPECT_EQ(entries(test_folder() / "out"), 2U);
}

TEST_F(Robustness, OneOfTwoRunsIntoAFolderIsRefused) {
  const std::string run = kWithin + "run tb/scenarios/pair.toml --quiet --out %D/out --set traffic.byte_scale=1";
  const ProcessResult result =
      run_process("sh -c '" + run + " & first=$!; while [ ! -d %D/out ]; do sleep 0.01; done; " + run +
                  " 2>%D/second; second=$?; wait $first; echo $? $second'");
  EXPECT_EQ(result.out, "0 2\n") << result.err;
  EXPECT_NE(read_text(test_folder() / "second").find("another run is writing to it"), std::string::npos);
}

// Nothing foreign loaded

TEST_F(Robustness, NoLibraryIsLookedForWhereTheProgramIsStarted) {
  std::vector<fs::path> programs{kMrcsim};
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(kMrcsim).parent_path())) {
    if (entry.path().extension() == ".so") programs.push_back(entry.path());
  }
  for (const fs::path& program : programs) {
    const ProcessResult header = run_process("readelf -d '" + program.string() + "'");
    ASSERT_EQ(header.exit_code, 0) << header.err;
    for (std::size_t at = header.out.find("PATH)"); at != std::string::npos; at = header.out.find("PATH)", at + 1)) {
      const std::size_t begin = header.out.find('[', at) + 1;
      const std::string folders = ":" + header.out.substr(begin, header.out.find(']', begin) - begin) + ":";
      for (std::size_t i = 0; i + 1 < folders.size(); ++i) {
        // Beside the executable, wherever that is, or a folder that is named whole.
        const bool named = folders[i + 1] == '/' || folders.compare(i + 1, 8, "$ORIGIN/") == 0;
        EXPECT_TRUE(folders[i] != ':' || named) << program << ": " << folders;
      }
    }
  }
}

// Damaged input, an unusable environment

TEST_F(Robustness, KeysNestedTooDeepAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 10'000; ++i) key += ".a";
  write("deep.toml", key + " = 1\n");
  expect_refused(run_process(kWithin + "run %D/deep.toml --quiet --out %D/out"),
                 "deep.toml:1: a key has more than 32 parts");
  write("deep.toml", "[" + key + "]\nb = 1\n");
  expect_refused(run_process(kWithin + "run %D/deep.toml --quiet --out %D/out"),
                 "deep.toml:1: a key has more than 32 parts");
}

TEST_F(Robustness, ANulInANameIsRefused) {
  write("nul.toml", "[traffic]\ntrace = \"flows.csv\\u0000.et\"\n");
  write("flows.csv", "start_us,src,dst,bytes,tag\n0,0,1,65536,0\n");
  expect_refused(run_process(kWithin + "run %D/nul.toml --quiet --out %D/out"), "has a control character");
}

TEST_F(Robustness, ControlCharactersOfNamesAreNotPrintedRaw) {
  const ProcessResult result = run_process(kWithin + "run \"%D/$(printf '\\033[31mred')\" --out %D/out");
  expect_refused(result, "\\x1b[31mred: does not exist");
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST_F(Robustness, ADamagedDatabaseIsRefusedByAll) {
  const std::string sweep = kWithin +
                            "sweep tb/scenarios/pair.toml --vary nic.ports=4,8 --set traffic.byte_scale=0.001 "
                            "host.payload=reference --quiet --db %D/study.sqlite";
  ASSERT_EQ(run_process(sweep).exit_code, 0);
  const std::string whole = read_text(test_folder() / "study.sqlite");
  const auto expect_all_refuse = [&](const std::string& damaged) {
    write("study.sqlite", damaged);
    for (const std::string& command : {sweep, kWithin + "report %D/study.sqlite -o %D/page.html",
                                       kWithin + "compare %D/study.sqlite:1.1 %D/study.sqlite:1.2"}) {
      const ProcessResult result = run_process(command);
      EXPECT_EQ(result.exit_code, 2) << command << ": " << result.err;
      EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
    }
  };
  std::string version = whole;
  version[63] = 9;  // user_version, big-endian, at byte 60
  expect_all_refuse(version);
  std::string page = whole;  // the header of the second page
  constexpr std::size_t page_bytes = 4096;
  for (std::size_t i = 0; i < 12; ++i) page[page_bytes + i] = static_cast<char>(0xFF);
  expect_all_refuse(page);
  std::string result = whole;
  const std::size_t at = result.find("\"mrcsim_version\"");
  ASSERT_NE(at, std::string::npos);
  result[at] = '~';
  expect_all_refuse(result);
}

TEST_F(Robustness, AnObjectiveIsAFiniteNumber) {
  for (const std::string number : {"nan%", "inf", "nan", "-1%"}) {
    expect_refused(
        run_process(kWithin + "size tb/scenarios/pair.toml --buffer pcie.read_tags --db %D/s.sqlite --hold 'goodput>=" +
                    number + "'"),
        "no number above 0");
  }
}

TEST_F(Robustness, WhatTheSystemRefusesIsNoInternalError) {
  const std::string long_name(5'000, 'n');
  for (const std::string& command :
       {"run /tmp/" + long_name, "run tb/scenarios/pair.toml --out /tmp/" + long_name,
        "run tb/scenarios/pair.toml --quiet --out %D/out --pcap /tmp/" + long_name,
        "sweep tb/scenarios/pair.toml --vary nic.ports=1 --db /tmp/" + long_name, "report /tmp/" + long_name,
        "compare /tmp/" + long_name + " /tmp/" + long_name, "trace info /tmp/" + long_name,
        std::string("run tb/scenarios/pair.toml --quiet --out /proc/none"), std::string("trace info /proc/self/mem")}) {
    const ProcessResult result = run_process(kWithin + command);
    EXPECT_EQ(result.exit_code, 2) << command.substr(0, 80) << ": " << result.err.substr(0, 200);
    EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err.substr(0, 200);
  }
}

TEST_F(Robustness, AFullStandardOutputIsAnError) {
  const ProcessResult result = run_process("sh -c '" + kWithin + "params >/dev/full'");
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
}

TEST_F(Robustness, CommandsInADatabaseCanBePastedIntoAShell) {
  write("my scenario.toml", "traffic.trace = \"flows.csv\"\n");
  write("flows.csv", "start_us,src,dst,bytes,tag\n0,0,1,65536,0\n");
  ASSERT_EQ(run_process(kWithin + "sweep '%D/my scenario.toml' --vary nic.ports=8 --quiet --db %D/s.sqlite").exit_code,
            0);
  ASSERT_EQ(run_process(kWithin + "report %D/s.sqlite -o %D/page.html").exit_code, 0);
  EXPECT_NE(read_text(test_folder() / "page.html").find("my scenario.toml' --vary nic.ports=8"), std::string::npos);
}

// Said and done

TEST_F(Robustness, SettingsThatNothingReadsAreNamed) {
  const std::string run =
      kMrcsim + " run tb/scenarios/pair.toml --quiet --set traffic.byte_scale=0.001 --out %D/out --set ";
  const auto warnings = [&](const std::string& set) { return run_process(run + set).err; };
  EXPECT_EQ(
      warnings("fidelity=endpoint nic.retransmit_buffer.entries=64 node.nic1.pcie.read_tags=64 nic.ports=8"),
      "mrcsim: warning: nic.retransmit_buffer.entries has no effect: light endpoints (fidelity = \"endpoint\") do "
      "not read it\n"
      "mrcsim: warning: node.nic1.pcie.read_tags has no effect: light endpoints (fidelity = \"endpoint\") do not "
      "read it\n");
  EXPECT_EQ(warnings("transport=ideal fabric.loss_rate=0.1"),
            "mrcsim: warning: fabric.loss_rate has no effect: transport = \"ideal\" does not read it\n");
  EXPECT_EQ(warnings("nic.sack_processor.latency_cycles=16"),
            "mrcsim: warning: nic.sack_processor.latency_cycles has no effect: the box does not model it yet\n");
  EXPECT_EQ(warnings("rocev2.dcqcn=false"),
            "mrcsim: warning: rocev2.dcqcn has no effect: transport = \"mrc\" does not read it\n");
  EXPECT_EQ(warnings("fidelity=endpoint node.nic0.fidelity=detailed nic.retransmit_buffer.entries=64"), "");
}

TEST_F(Robustness, ALightEndpointReadsOnlyWhatIsNotWarnedOf) {
  const std::string run =
      kMrcsim + " run tb/scenarios/pair.toml --quiet --set traffic.byte_scale=0.001 fidelity=endpoint --out %D/";
  ASSERT_EQ(run_process(run + "a").exit_code, 0);
  // One key of each box that light endpoints do not have.
  const std::string set =
      " --set nic.doorbell.latency_cycles=77 nic.segmenter.latency_cycles=50 "
      "nic.payload_fetch.latency_cycles=50 nic.retransmit_buffer.entries=64 nic.rx_staging.bytes=16384 "
      "nic.parser.latency_cycles=40 pcie.read_tags=8 pcie.generation=3 pcie.lanes=4";
  const ProcessResult other = run_process(run + "b" + set);
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(read_json(test_folder() / "a" / "result.json")["simulated_time_us"],
            read_json(test_folder() / "b" / "result.json")["simulated_time_us"]);
}

TEST_F(Robustness, LatencyRefusesWhatItHasNoTermsFor) {
  const std::string latency = kMrcsim + " latency tb/scenarios/ping_pong.toml ";
  expect_refused(run_process(latency + "--set transport=rocev2"), "the terms are those of the MRC NIC");
  expect_refused(run_process(latency + "--bytes 4097"), "--bytes 4097: is not one packet; allowed: 1 … 4096");
  EXPECT_EQ(run_process(latency + "--bytes 4096").exit_code, 0);
}

TEST_F(Robustness, OneRankOfSeveralIsInformation) {
  const ProcessResult info = run_process(kMrcsim + " trace info traces/ring_all_reduce_2.0.et");
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_NE(info.out.find("critical path not computed"), std::string::npos) << info.out;
}

TEST_F(Robustness, AByteOrderMarkIsNoPartOfATrace) {
  write("flows.csv", "\xEF\xBB\xBFstart_us,src,dst,bytes,tag\n0,0,1,65536,0\n");
  const ProcessResult info = run_process(kMrcsim + " trace info %D/flows.csv");
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_NE(info.out.find("flow_csv"), std::string::npos) << info.out;
}

TEST_F(Robustness, EveryParameterIsExplained) {
  const auto all = nlohmann::json::parse(run_process(kMrcsim + " params --format json").out);
  std::string names;
  for (const auto& row : all) names += " " + row["name"].get<std::string>();
  const ProcessResult explained = run_process(kMrcsim + " params --explain" + names);
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  std::size_t at = 0;
  for (const auto& row : all) {
    const auto name = row["name"].get<std::string>();
    at = explained.out.find(name + "\n", at);
    ASSERT_NE(at, std::string::npos) << name;
    at = explained.out.find("read on  ", at);
    ASSERT_NE(at, std::string::npos) << name;
    const std::string document = explained.out.substr(at + 9, explained.out.find('\n', at) - at - 9);
    EXPECT_TRUE(fs::exists(fs::path(MRCSIM_SOURCE_DIR) / document)) << name << ": " << document;
  }
  const std::string records = run_process(kMrcsim + " params --explain nic.retransmit_buffer.entries").out;
  EXPECT_NE(records.find("a row retransmit_buffer.entries in limits"), std::string::npos) << records;
}

TEST_F(Robustness, BenchmarksThatAreNotBuiltAreAnError) {
  const ProcessResult result = run_process("tests/bench/run.sh --build-dir %D");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("is not built"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace mrc
