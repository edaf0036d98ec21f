// Waves and timelines of whole runs: they say what result.json says, in every format alike, and change nothing of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kPsPerUs = 1e6;
/// Loss, trimming and marks, so that every kind of event occurs.
const std::string kRun =
    "mrcsim run tb/scenarios/pair.toml --quiet --set traffic.byte_scale=0.004 --set fabric.loss_rate=0.005 --set "
    "fabric.trim_rate=0.005 --set fabric.ecn_rate=0.01";

struct Wave {
  using Changes = std::vector<std::pair<std::uint64_t, std::string>>;
  std::map<std::string, Changes> signals;  ///< by path without range
  std::string timescale;
};

/// Values without leading zeros, as writers differ in padding.
std::string plain(std::string value) {
  const std::size_t one = value.find_first_not_of('0');
  return one == std::string::npos ? "0" : value.substr(one);
}

Wave read_vcd(const fs::path& path) {
  Wave wave;
  std::ifstream file(path);
  std::multimap<std::string, std::string> paths;
  std::vector<std::string> scopes;
  std::uint64_t time = 0;
  for (std::string word; file >> word;) {
    if (word == "$scope") {
      std::string type, name;
      file >> type >> name;
      scopes.push_back(name);
    } else if (word == "$upscope") {
      scopes.pop_back();
    } else if (word == "$timescale") {
      for (file >> word; word != "$end"; file >> word) wave.timescale += word;
    } else if (word == "$var") {
      std::string type, width, code, name;
      file >> type >> width >> code >> name;
      std::string full;
      for (const std::string& scope : scopes) full += scope + ".";
      paths.emplace(code, full + name);
      wave.signals[full + name];
    } else if (word[0] == '#') {
      time = std::stoull(word.substr(1));
    } else if (word[0] == 'b' || word[0] == 's') {
      std::string code;
      file >> code;
      const std::string value = word[0] == 'b' ? plain(word.substr(1)) : word.substr(1);
      const auto [first, last] = paths.equal_range(code);
      for (auto it = first; it != last; ++it) wave.signals[it->second].emplace_back(time, value);
    } else if (word[0] == '0' || word[0] == '1') {
      const auto [first, last] = paths.equal_range(word.substr(1));
      for (auto it = first; it != last; ++it) wave.signals[it->second].emplace_back(time, word.substr(0, 1));
    }
  }
  return wave;
}

double number(const std::string& bits) {
  return static_cast<double>(std::stoull(bits, nullptr, 2));
}

/// Calls `use(value, duration)` for each stretch before `end`.
template <typename Use>
void for_stretches(const Wave::Changes& changes, std::uint64_t end, Use use) {
  for (std::size_t i = 0; i < changes.size() && changes[i].first < end; ++i) {
    const std::uint64_t until = i + 1 < changes.size() ? std::min(end, changes[i + 1].first) : end;
    use(changes[i].second, static_cast<double>(until - changes[i].first));
  }
}

std::string buffer_path(const json& buffer) {
  const std::string name = buffer["name"];
  return buffer["node"].get<std::string>() + "." + name + (name.find('.') == std::string::npos ? ".occupancy" : "");
}

std::string slot_path(const json& slot) {
  const std::string name = slot["box"];
  return slot["node"].get<std::string>() + "." + name + (name.find('.') == std::string::npos ? ".state" : "_state");
}

bool have(const char* program) {
  return run_process(fmt::format("command -v {}", program)).exit_code == 0;
}

TEST(Waves, ChangeNothingOfTheRun) {
  ASSERT_EQ(run_process(kRun + " --out %D/plain").exit_code, 0);
  ASSERT_EQ(run_process(kRun + " --out %D/watched --waves %D/run.vcd --perfetto %D/run.json").exit_code, 0);
  for (const char* file : {"result.json", "series.json"}) {
    EXPECT_EQ(read_text(test_folder() / "plain" / file), read_text(test_folder() / "watched" / file)) << file;
  }
}

TEST(Waves, AreTheSameEachTime) {
  for (const char* name : {"a", "b"}) {
    const std::string files = fmt::format(" --out %D/{0} --waves %D/{0}.fst --perfetto %D/{0}.json", name);
    ASSERT_EQ(run_process(kRun + files).exit_code, 0);
  }
  for (const char* ending : {".fst", ".json"}) {
    EXPECT_TRUE(read_text(test_folder() / (std::string("a") + ending)) ==
                read_text(test_folder() / (std::string("b") + ending)))
        << ending;
  }
}

/// What the signals say over time adds up to what the run's result says.
TEST(Waves, AgreeWithBuffersAndLedger) {
  ASSERT_EQ(run_process(kRun + " --out %D/out --waves %D/run.vcd --wave-nodes nic0,nic1").exit_code, 0);
  const Wave wave = read_vcd(test_folder() / "run.vcd");
  EXPECT_EQ(wave.timescale, "1ps");
  const json result = read_json(test_folder() / "out" / "result.json");
  const auto end = static_cast<std::uint64_t>(result["simulated_time_us"].get<double>() * kPsPerUs + 0.5);
  std::size_t moving = 0;
  for (const json& buffer : result["buffers"]) {
    const std::string path = buffer_path(buffer);
    ASSERT_TRUE(wave.signals.contains(path)) << path;
    double high = 0;
    double sum = 0;
    for_stretches(wave.signals.at(path), end, [&](const std::string& value, double duration) {
      high = std::max(high, number(value));
      sum += number(value) * duration;
    });
    // A level that rises and falls within one picosecond is a change in the result only.
    EXPECT_LE(high, buffer["high_water"].get<double>()) << path;
    const double capacity = buffer["capacity"];
    EXPECT_NEAR(sum / static_cast<double>(end), buffer["mean"].get<double>(), 1e-4 * capacity) << path;
    moving += high > 0 ? 1 : 0;
  }
  EXPECT_GT(moving, 30U);
  for (const json& slot : result["ledger"]) {
    const std::string path = slot_path(slot);
    ASSERT_TRUE(wave.signals.contains(path)) << path;
    std::map<std::string, double> share;
    for_stretches(wave.signals.at(path), end, [&](const std::string& value, double duration) {
      share[value] += duration / static_cast<double>(end);
    });
    for (const char* state : {"busy", "starved", "idle"}) {
      EXPECT_NEAR(share[state], slot[state].get<double>(), 2e-3) << path << " " << state;
    }
    const json& blocked = slot["blocked"];
    for (const auto& [cause, part] : blocked.items()) {
      EXPECT_NEAR(share["blocked_by_" + cause], part.get<double>(), 2e-3) << path << " " << cause;
    }
  }
  for (const char* path : {"nic0.congestion.to_nic1.cwnd_bytes", "nic0.congestion.to_nic1.inflight_bytes",
                           "nic0.path_table.ev_skip", "nic1.port0.receive", "nic0.segmenter.queue_push_psn"}) {
    ASSERT_TRUE(wave.signals.contains(path)) << path;
    EXPECT_GT(wave.signals.at(path).size(), 10U) << path;
  }
}

TEST(Waves, FstAndVcdHoldTheSame) {
  if (!have("fst2vcd") || !have("vcd2fst")) GTEST_SKIP() << "fst2vcd and vcd2fst are missing (Debian: gtkwave)";
  ASSERT_EQ(run_process(kRun + " --out %D/a --waves %D/a.vcd").exit_code, 0);
  ASSERT_EQ(run_process(kRun + " --out %D/b --waves %D/b.fst").exit_code, 0);
  const std::string folder = test_folder().string();
  ASSERT_EQ(run_process(fmt::format("fst2vcd -f {0}/b.fst -o {0}/b.vcd", folder)).exit_code, 0);
  ASSERT_EQ(run_process(fmt::format("vcd2fst {0}/a.vcd {0}/a.fst", folder)).exit_code, 0);
  ASSERT_EQ(run_process(fmt::format("fst2vcd -f {0}/a.fst -o {0}/a_again.vcd", folder)).exit_code, 0);
  const Wave vcd = read_vcd(test_folder() / "a.vcd");
  const Wave fst = read_vcd(test_folder() / "b.vcd");
  const Wave again = read_vcd(test_folder() / "a_again.vcd");
  EXPECT_GT(vcd.signals.size(), 200U);
  ASSERT_EQ(vcd.signals.size(), fst.signals.size());
  for (const auto& [path, changes] : vcd.signals) {
    ASSERT_TRUE(fst.signals.contains(path)) << path;
    EXPECT_TRUE(changes == fst.signals.at(path)) << path;
    EXPECT_TRUE(changes == again.signals.at(path)) << path << " after vcd2fst";
  }
}

TEST(Waves, WindowHoldsItsTimeOnly) {
  ASSERT_EQ(run_process(kRun + " --out %D/all --waves %D/all.vcd").exit_code, 0);
  ASSERT_EQ(run_process(kRun + " --out %D/part --waves %D/part.vcd --wave-window 20..30.5").exit_code, 0);
  const Wave all = read_vcd(test_folder() / "all.vcd");
  const Wave part = read_vcd(test_folder() / "part.vcd");
  constexpr std::uint64_t from = 20'000'000;
  constexpr std::uint64_t to = 30'500'000;
  for (const auto& [path, changes] : all.signals) {
    Wave::Changes expected{{from, ""}};
    for (const auto& change : changes) {
      if (change.first <= from) expected.front().second = change.second;
      if (change.first > from && change.first <= to) expected.push_back(change);
    }
    EXPECT_TRUE(expected == part.signals.at(path)) << path;
  }
}

TEST(Waves, ViewNamesSignalsOfTheFile) {
  ASSERT_EQ(run_process(kRun + " --out %D/out --waves %D/run.vcd").exit_code, 0);
  const Wave wave = read_vcd(test_folder() / "run.vcd");
  std::istringstream view(read_text(test_folder() / "run.gtkw"));
  std::size_t rows = 0;
  for (std::string line; std::getline(view, line);) {
    if (!line.starts_with("+{")) continue;
    const std::string name = line.substr(line.find("} ") + 2);
    EXPECT_TRUE(wave.signals.contains(name.substr(0, name.find('[')))) << name;
    ++rows;
  }
  EXPECT_GT(rows, 80U);
}

TEST(Waves, RunThatIsCutShortLeavesWholeFiles) {
  const ProcessResult run =
      run_process(kRun + " --set run.max_time_us=20 --out %D/out --waves %D/run.vcd --perfetto %D/run.json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(read_json(test_folder() / "out" / "result.json")["status"], "partial");
  EXPECT_GT(read_vcd(test_folder() / "run.vcd").signals.size(), 200U);
  const json timeline = read_json(test_folder() / "run.json");
  EXPECT_GT(timeline["traceEvents"].size(), 1000U);
}

TEST(Waves, BadOptionsAreToldBeforeAnythingIsWritten) {
  const std::map<std::string, std::string> cases{
      {"--waves %D/absent/run.fst", "absent/run.fst: cannot be written"},
      {"--waves %D/absent/run.vcd", "absent/run.vcd: cannot be written"},
      {"--waves %D/run.txt", "ends in .fst or .vcd"},
      {"--waves %D/run.fst --wave-nodes nix0", "nearest: nic0"},
      {"--waves %D/run.fst --wave-window 5", "FROM..TO"},
      {"--waves %D/run.fst --wave-window 5..x", "\"x\" is not a time"},
      {"--waves %D/run.fst --wave-window 9..5", "ends before it begins"},
      {"--wave-nodes nic0", "--wave-nodes and --wave-window need --waves FILE"},
      {"--perfetto %D/absent/run.json", "absent/run.json: cannot be written"},
      {"--perfetto-packets 1/8", "--perfetto-packets needs --perfetto FILE"},
      {"--perfetto %D/run.json --perfetto-packets 1/0", "expected 1/N"},
  };
  fs::remove_all(test_folder());
  for (const auto& [options, message] : cases) {
    const ProcessResult run = run_process(kRun + " --out %D/out " + options);
    EXPECT_EQ(run.exit_code, 2) << options;
    EXPECT_NE(run.err.find(message), std::string::npos) << options << ": " << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    for (const auto& entry : fs::directory_iterator(test_folder())) {
      const std::string name = entry.path().filename().string();
      EXPECT_TRUE(name == "stdout" || name == "stderr") << options << " leaves " << name;
    }
  }
}

class Perfetto : public ::testing::Test {
 protected:
  struct Slice {
    double end;
    std::string track;
    std::string name;
  };
  using Row = std::pair<int, int>;

  void run(const std::string& options) {
    ASSERT_EQ(run_process(kRun + " --out %D/out --perfetto %D/run.json " + options).exit_code, 0);
    result = read_json(test_folder() / "out" / "result.json");
    events = read_json(test_folder() / "run.json")["traceEvents"];
    for (const json& event : events) {
      if (event["ph"] != "X") continue;
      rows[{event["pid"], event["tid"]}][event["ts"]] = {event["ts"].get<double>() + event["dur"].get<double>(),
                                                         event["cat"], event["name"]};
    }
  }
  std::size_t count_instants(const std::string& beginning) const {
    return static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [&](const json& event) {
      return event["ph"] == "i" && event["name"].get<std::string>().starts_with(beginning);
    }));
  }

  json result;
  json events;
  std::map<Row, std::map<double, Slice>> rows;
};

TEST_F(Perfetto, SlicesOfARowNeverOverlapAndRowsHaveNames) {
  run("");
  std::set<Row> named;
  for (const json& event : events) {
    if (event["ph"] == "M" && event["name"] == "thread_name")
      named.insert(Row(event["pid"].get<int>(), event["tid"].get<int>()));
    if (event["ph"] == "B" || event["ph"] == "E") ADD_FAILURE() << "slices are written whole";
  }
  constexpr double rounding_us = 1e-6;
  std::size_t slices = 0;
  for (const auto& [row, of_row] : rows) {
    EXPECT_TRUE(named.contains(row));
    double free_at = 0;
    for (const auto& [begin, slice] : of_row) {
      EXPECT_GE(begin + rounding_us, free_at) << slice.track << " " << slice.name;
      free_at = slice.end;
      ++slices;
    }
  }
  const auto written =
      std::count_if(events.begin(), events.end(), [](const json& event) { return event["ph"] == "X"; });
  EXPECT_EQ(slices, static_cast<std::size_t>(written)) << "two slices begin at one time in one row";
}

TEST_F(Perfetto, RowsHaveNamesOfTheirOwnAndSayWhichRunItIs) {
  run("");
  std::map<int, std::set<std::string>> names;
  std::map<int, std::string> processes;
  for (const json& event : events) {
    if (event["ph"] != "M") continue;
    if (event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["name"] != "thread_name") continue;
    const std::string name = event["args"]["name"];
    EXPECT_TRUE(names[event["pid"]].insert(name).second) << name << " is the name of two rows";
  }
  EXPECT_TRUE(names[1].contains("payload_fetch") && names[1].contains("payload_fetch (2)"));
  EXPECT_EQ(processes[1], "nic0");
  EXPECT_EQ(processes.rbegin()->second, "pair, seed 1");
  for (const json& event : events) {
    if (event["ph"] != "X" || event["cat"] != "run") continue;
    EXPECT_EQ(event["pid"], processes.rbegin()->first);
    EXPECT_EQ(event["args"]["scenario"], "pair");
    EXPECT_EQ(event["args"]["seed"], 1);
    EXPECT_NEAR(event["dur"].get<double>(), result["simulated_time_us"].get<double>(), 1.0);
    return;
  }
  ADD_FAILURE() << "no row names the run";
}

/// The rows "… blocked" add up to the ledger, cause by cause.
TEST_F(Perfetto, BlockedRowsAgreeWithTheLedger) {
  run("--set nic.retransmit_buffer.entries=64 --perfetto-packets 1/1000");
  std::map<int, std::string> processes;
  std::map<std::string, double> shown_us;
  for (const json& event : events) {
    if (event["ph"] == "M" && event["name"] == "process_name") processes[event["pid"]] = event["args"]["name"];
    if (event["ph"] != "X" || !event["name"].get<std::string>().starts_with("blocked by ")) continue;
    shown_us[processes.at(event["pid"]) + "." + event["cat"].get<std::string>() + " " +
             event["name"].get<std::string>().substr(8)] += event["dur"].get<double>();
    if (event["name"] == "blocked by retransmit_buffer.entries") {
      EXPECT_EQ(event["args"]["relieved_by"], "nic.retransmit_buffer.entries");
    }
  }
  const double whole_us = result["simulated_time_us"];
  std::size_t compared = 0;
  for (const json& slot : result["ledger"]) {
    const std::string row = slot["node"].get<std::string>() + "." + slot["box"].get<std::string>() + " blocked";
    for (const auto& [cause, share] : slot["blocked"].items()) {
      const std::string name = row + " by " + cause;
      EXPECT_NEAR(shown_us[name] / whole_us, share.get<double>(), 2e-3) << name;
      compared += share.get<double>() > 0.01 ? 1 : 0;
      shown_us.erase(name);
    }
  }
  EXPECT_GE(compared, 1U);
  for (const auto& [name, us] : shown_us) EXPECT_LT(us / whole_us, 2e-3) << name << " is not in the ledger";
}

/// A packet's flow begins at the sender's segmenter, never goes back in time, and ends where it is acknowledged.
TEST_F(Perfetto, FlowsPairUpAndCrossNodes) {
  run("");
  struct Flow {
    std::string phases;
    std::vector<std::string> tracks;
    std::set<int> nodes;
    double last = 0;
  };
  std::map<std::uint64_t, Flow> flows;
  for (const json& event : events) {
    const std::string phase = event["ph"];
    if (phase != "s" && phase != "t" && phase != "f") continue;
    Flow& flow = flows[event["id"]];
    flow.phases += phase;
    const double at = event["ts"];
    EXPECT_GE(at, flow.last);
    flow.last = at;
    const auto& row = rows.at({event["pid"], event["tid"]});
    ASSERT_TRUE(row.contains(at)) << "a flow's step has no slice";
    flow.tracks.push_back(row.at(at).track);
    flow.nodes.insert(event["pid"].get<int>());
  }
  std::size_t acknowledged = 0;
  for (const auto& [id, flow] : flows) {
    EXPECT_EQ(flow.phases, "s" + std::string(flow.phases.size() - 2, 't') + "f") << id;
    if (flow.tracks.front() != "segmenter" || flow.tracks.back() != "sack_processor") continue;
    ++acknowledged;
    EXPECT_EQ(flow.nodes.size(), 3U) << "sender, fabric, receiver";
    for (const char* track : {"payload_fetch", "spray_scheduler", "srv6_encap", "psn_tracker", "dma_write"}) {
      EXPECT_NE(std::find(flow.tracks.begin(), flow.tracks.end(), track), flow.tracks.end()) << track;
    }
  }
  const auto& packets = result["packets"];
  const std::uint64_t first_sent = packets["sent"].get<std::uint64_t>() - packets["retransmitted"].get<std::uint64_t>();
  // What the last acknowledgements cover is on its way when the run ends.
  EXPECT_GE(acknowledged, first_sent * 95 / 100);
  EXPECT_LE(acknowledged, first_sent);
}

TEST_F(Perfetto, EventsAreThoseOfTheResult) {
  run("");
  const auto& packets = result["packets"];
  EXPECT_EQ(count_instants("dropped"), packets["dropped"].get<std::size_t>());
  EXPECT_EQ(count_instants("retransmission"), packets["retransmitted"].get<std::size_t>());
  EXPECT_LE(count_instants("trimmed"), packets["trimmed"].get<std::size_t>());
  EXPECT_GT(count_instants("trimmed"), 0U);
  EXPECT_GT(count_instants("NACK TRIMMED"), 0U);
  EXPECT_GT(count_instants("EV "), 10U);
  std::size_t messages = 0;
  std::map<std::pair<int, std::string>, double> counter_at;
  for (const json& event : events) {
    if (event["ph"] == "X" && event["cat"].get<std::string>().starts_with("messages")) ++messages;
    if (event["ph"] != "C") continue;
    double& last = counter_at[{event["pid"], event["name"]}];
    EXPECT_GE(event["ts"].get<double>(), last) << event["name"];
    last = event["ts"];
  }
  EXPECT_GE(messages, result["messages"]["completed"].get<std::size_t>());
  EXPECT_TRUE(counter_at.contains({1, "congestion.to_nic1.cwnd_bytes"}));
  EXPECT_TRUE(counter_at.contains({2, "rx_staging.occupancy"}));
}

TEST_F(Perfetto, SamplingShowsOnePacketInN) {
  run("--perfetto-packets 1/16");
  std::set<std::uint64_t> psns;
  for (const json& event : events) {
    if (event["ph"] == "X" && event["args"].contains("psn")) psns.insert(event["args"]["psn"].get<std::uint64_t>());
  }
  EXPECT_GT(psns.size(), 20U);
  for (const std::uint64_t psn : psns) EXPECT_EQ(psn % 16, 0U);
  EXPECT_EQ(count_instants("retransmission"), result["packets"]["retransmitted"].get<std::size_t>());
}

}  // namespace
}  // namespace mrc
