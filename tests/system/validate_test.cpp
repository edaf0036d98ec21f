// `mrcsim validate`: what it runs, what it compares, what it writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

/// An experiment of its own beside a base scenario: one message from nic0 to nic1.
void write_experiment(const std::string& check, const std::string& set = "\"fabric.nics\" = 2") {
  std::filesystem::create_directories(test_folder() / "experiments");
  std::ofstream(test_folder() / "experiments" / "base.toml") << "seed = 1\nfidelity = \"endpoint\"\n";
  std::ofstream(test_folder() / "experiments" / "E1.toml")
      << "title = \"one message\"\nsource = \"test\"\npublished = \"so much\"\ndepends_on = \"nothing\"\n"
      << "[[case]]\nname = \"run\"\nset = { " << set << " }\n"
      << "[[case.flow]]\nsrc = 0\ndst = 1\nbytes = 1048576\ncount = 4\n"
      << "[[check]]\nwhat = \"delivered\"\ncase = \"run\"\nmetric = \"/bytes/delivered\"\n"
      << check;
}

ProcessResult validate(const std::string& options) {
  return run_process("mrcsim validate --experiments %D/experiments --work %D/work --out %D/validation.md " + options);
}

TEST(Validate, AgreementAndDisagreementStandInTheTable) {
  write_experiment("published = 4194304\n");
  EXPECT_EQ(validate("--strict").exit_code, 0);
  EXPECT_NE(read_text(test_folder() / "validation.md")
                .find("| E1 | one message | test | so much | - | delivered: 4194304.0 | "
                      "+0.0 % | agrees | nothing |"),
            std::string::npos)
      << read_text(test_folder() / "validation.md");
  write_experiment("published = 1000000\n");
  EXPECT_EQ(validate("").exit_code, 0);
  EXPECT_EQ(validate("--strict").exit_code, 1);
  EXPECT_NE(read_text(test_folder() / "validation.md").find("+319.4 % | disagrees |"), std::string::npos);
}

TEST(Validate, ACheckWithoutALimitOnlyShowsItsValue) {
  write_experiment("published = 4194304\n[[check]]\nwhat = \"again\"\ncase = \"run\"\nmetric = \"/bytes/delivered\"\n");
  EXPECT_EQ(validate("--strict").exit_code, 0);
  const std::string table = read_text(test_folder() / "validation.md");
  EXPECT_NE(table.find("again: 4194304.0 | +0.0 %<br>no limit | agrees |"), std::string::npos) << table;
  write_experiment("");
  const ProcessResult refused = validate("");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("needs a check with published, at_least or at_most"), std::string::npos) << refused.err;
}

TEST(Validate, SeveralSeedsAreShownAsMeanAndRange) {
  write_experiment("published = 100\n", "\"fabric.nics\" = 2, \"fabric.loss_rate\" = 0.01");
  {
    std::ofstream more(test_folder() / "experiments" / "E1.toml", std::ios::app);
    more << "[[check]]\nwhat = \"time\"\ncase = \"run\"\nmetric = \"/simulated_time_us\"\nat_least = 1\n";
  }
  const std::string text = read_text(test_folder() / "experiments" / "E1.toml");
  std::ofstream(test_folder() / "experiments" / "E1.toml") << "seeds = 3\n" << text;
  EXPECT_EQ(validate("").exit_code, 0);
  const std::string table = read_text(test_folder() / "validation.md");
  EXPECT_NE(table.find("3 seeds: mean (least … most)"), std::string::npos) << table;
  EXPECT_NE(table.find("delivered: 4194304.0 (4194304.0 … 4194304.0)"), std::string::npos) << table;
  double sum = 0;
  for (const std::string run : {"E1.run", "E1.run.seed2", "E1.run.seed3"}) {
    const auto result = read_json(test_folder() / "work" / run / "result.json");
    sum += result["simulated_time_us"].get<double>();
  }
  EXPECT_NE(table.find(fmt::format("time: {:.1f} (", sum / 3)), std::string::npos) << table;
}

TEST(Validate, AnEventsTimeIsAMetric) {
  write_experiment(
      "published = 4194304\n[[check]]\nwhat = \"seen\"\ncase = \"run\"\n"
      "metric = \"event:fault.link_rate\"\nfrom_us = 10\npublished = 5\nwithin = 0\n");
  const std::string text = read_text(test_folder() / "experiments" / "E1.toml");
  const auto at = text.find("[[check]]");
  std::ofstream(test_folder() / "experiments" / "E1.toml")
      << text.substr(0, at) << "[[case.fault]]\nat_us = 15\nkind = \"link_rate\"\nwhere = \"nic0.port0\"\nshare = 0.5\n"
      << text.substr(at);
  EXPECT_EQ(validate("--strict").exit_code, 0) << read_text(test_folder() / "validation.md");
}

TEST(Validate, WhatCapacityAloneGivesIsNotPredictedByTheModel) {
  write_experiment("published = 4194304\ncapacity = 4194304\n");
  EXPECT_EQ(validate("--strict").exit_code, 0);
  std::string text = read_text(test_folder() / "validation.md");
  EXPECT_NE(text.find("| so much | 4194304.0 | delivered: 4194304.0 | +0.0 % | agrees, as capacity alone does |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("0 rows agree and are predicted by the model, 1 agree as capacity alone does, 0 disagree"),
            std::string::npos)
      << text;
  write_experiment("published = 4194304\ncapacity = 1\n");
  EXPECT_EQ(validate("--strict").exit_code, 0);
  text = read_text(test_folder() / "validation.md");
  EXPECT_NE(text.find("| 1.00 (no) |"), std::string::npos) << text;
  EXPECT_NE(text.find("1 rows agree and are predicted by the model, 0 agree as capacity"), std::string::npos) << text;
}

TEST(Validate, WithoutAPublicFactARowIsOpen) {
  write_experiment("published = 1\n");
  const std::filesystem::path file = test_folder() / "experiments" / "E1.toml";
  const std::string text = read_text(file);
  std::ofstream(file) << "open = \"the size of it\"\n" << text;
  EXPECT_EQ(validate("--strict").exit_code, 0);
  const std::string table = read_text(test_folder() / "validation.md");
  EXPECT_NE(table.find("| open: the size of it |"), std::string::npos) << table;
  EXPECT_NE(table.find("0 disagree, 1 are open"), std::string::npos) << table;
}

/// A transport with losses, whose time a seed decides.
TEST(Validate, ADrawAgreesInTheMiddleHalfOfTheSeeds) {
  const auto row = [](double published) {
    write_experiment(
        "published = 4194304\n[[check]]\nwhat = \"time\"\ncase = \"run\"\nmetric = "
        "\"/simulated_time_us\"\ndraw = true\npublished = " +
            fmt::format("{}", published) + "\n",
        "\"fabric.nics\" = 2, \"fabric.loss_rate\" = 0.01");
    const std::filesystem::path file = test_folder() / "experiments" / "E1.toml";
    const std::string text = read_text(file);
    std::ofstream(file) << "seeds = 5\n" << text;
    return validate("--strict").exit_code;
  };
  EXPECT_EQ(row(1), 1);
  std::vector<double> times;
  for (const std::string run : {"E1.run", "E1.run.seed2", "E1.run.seed3", "E1.run.seed4", "E1.run.seed5"}) {
    times.push_back(read_json(test_folder() / "work" / run / "result.json")["simulated_time_us"].get<double>());
  }
  std::sort(times.begin(), times.end());
  ASSERT_LT(times[0], times[1]);
  EXPECT_EQ(row(times[2]), 0) << read_text(test_folder() / "validation.md");
  EXPECT_NE(read_text(test_folder() / "validation.md").find(" is in the middle half of the seeds, "),
            std::string::npos);
  EXPECT_EQ(row(times[0]), 1);
  EXPECT_NE(read_text(test_folder() / "validation.md").find(" is outside the middle half"), std::string::npos);
}

TEST(Validate, ACaseMayHoldItsTraceAndAPlotARatio) {
  write_experiment(
      "published = 4194304\n[[plot]]\ntitle = \"ratio\"\nx = \"bytes\"\ny = \"-\"\n[[plot.line]]\nname = "
      "\"half\"\nmetric = "
      "\"/bytes/delivered\"\n[[plot.line.point]]\nx = 1\ncase = \"short\"\nover = \"run\"\n[[plot.line.point]]\nx = "
      "2\ncase = \"run\"\nover = \"run\"\n");
  {
    std::ofstream more(test_folder() / "experiments" / "E1.toml", std::ios::app);
    more << "[[case]]\nname = \"short\"\nset = { \"fabric.nics\" = 2 }\n"
            "trace = \"start_us,src,dst,bytes,tag\\n0,0,1,2097152,0\\n\"\n"
            "[[check]]\nwhat = \"short\"\ncase = \"short\"\nmetric = \"/bytes/delivered\"\npublished = 2097152\n";
  }
  EXPECT_EQ(validate("--strict").exit_code, 0) << read_text(test_folder() / "validation.md");
  const std::string plot = read_text(test_folder() / "validation" / "E1.svg");
  EXPECT_NE(plot.find(">half</text>"), std::string::npos);
  EXPECT_NE(plot.find(">0.2</text>"), std::string::npos) << plot;  // an axis of shares, not of bytes
}

TEST(Validate, APlotIsAPictureBesideThePage) {
  write_experiment(
      "published = 4194304\n[[plot]]\ntitle = \"rate\"\nx = \"us\"\ny = \"Gb/s\"\n[[plot.line]]\nname = \"here\"\n"
      "case = \"run\"\nmetric = \"series\"\n[[plot]]\ntitle = \"time\"\nx = \"bytes\"\ny = \"us\"\nsizes = true\n"
      "[[plot.line]]\nname = \"sizes\"\nmetric = \"/simulated_time_us\"\n[[plot.line.point]]\nx = 4194304\n"
      "case = \"run\"\n[[plot.line]]\nname = \"published\"\n[[plot.line.point]]\nx = 1024\ny = 3.5\n");
  EXPECT_EQ(validate("").exit_code, 0);
  const std::string page = read_text(test_folder() / "validation.md");
  EXPECT_NE(page.find("![rate](validation/E1.svg)"), std::string::npos) << page;
  EXPECT_NE(page.find("![time](validation/E1-2.svg)"), std::string::npos) << page;
  EXPECT_NE(read_text(test_folder() / "validation" / "E1.svg").find(">here</text>"), std::string::npos);
  EXPECT_NE(read_text(test_folder() / "validation" / "E1-2.svg").find("stroke-dasharray"), std::string::npos);
  EXPECT_EQ(validate("").exit_code, 0);
  EXPECT_EQ(read_text(test_folder() / "validation.md"), page);
}

/// nic0 sends twice what nic1 sends in the same time.
TEST(Validate, FairnessIsThatOfCompletedMessages) {
  write_experiment(
      "published = 12582912\n"
      "[[check]]\nwhat = \"slowest\"\ncase = \"run\"\nmetric = \"slowest:0-1\"\nto_us = 200\nwindow_us = 200\n"
      "published = 0.5\nwithin = 0.02\n"
      "[[check]]\nwhat = \"Jain\"\ncase = \"run\"\nmetric = \"jain:0-1\"\nto_us = 200\nwindow_us = 200\n"
      "published = 0.9\nwithin = 0.01\n",
      "\"fabric.nics\" = 4");
  const std::filesystem::path file = test_folder() / "experiments" / "E1.toml";
  std::string text = read_text(file);
  const std::string flow = "[[case.flow]]\nsrc = 0\ndst = 1\nbytes = 1048576\ncount = 4\n";
  text.replace(text.find(flow), flow.size(),
               "[[case.flow]]\nsrc = 0\ndst = 2\nbytes = 1048576\ncount = 8\n"
               "[[case.flow]]\nsrc = 1\ndst = 3\nbytes = 1048576\ncount = 4\n");
  std::ofstream(file) << text;
  EXPECT_EQ(validate("--strict").exit_code, 0) << read_text(test_folder() / "validation.md");
}

/// An experiment with a ring all-reduce instead of the flow; its ranks send `bytes` each in a ring of two.
void write_ring(const std::string& bytes, const std::string& option = "--bytes") {
  write_experiment("published = 1\n");
  const std::filesystem::path file = test_folder() / "experiments" / "E1.toml";
  std::string text = read_text(file);
  const std::string flow = "[[case.flow]]\nsrc = 0\ndst = 1\nbytes = 1048576\ncount = 4\n";
  text.replace(text.find(flow), flow.size(), "");
  const std::string name = "[[case]]\n";
  text.replace(text.find(name), name.size(),
               name + "generate = [\"ring_all_reduce\", \"--ranks\", \"2\", \"" + option + "\", \"" + bytes + "\"]\n");
  std::ofstream(file) << text;
}

TEST(Validate, AChangedTraceIsGeneratedAnew) {
  write_ring("1MiB");
  EXPECT_EQ(validate("").exit_code, 0);
  EXPECT_NE(read_text(test_folder() / "validation.md").find("delivered: 2097152.0"), std::string::npos);
  write_ring("2MiB");
  EXPECT_EQ(validate("").exit_code, 0);
  EXPECT_NE(read_text(test_folder() / "validation.md").find("delivered: 4194304.0"), std::string::npos)
      << read_text(test_folder() / "validation.md");
}

TEST(Validate, ATraceThatCannotBeGeneratedIsAnError) {
  write_ring("1MiB", "--no-such-option");
  const ProcessResult result = validate("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("mrcsim trace generate"), std::string::npos) << result.err;
}

TEST(Validate, WhatIsNotChosenKeepsItsRow) {
  write_experiment("at_most = 1\n");
  std::ofstream(test_folder() / "experiments" / "E2.toml")
      << "title = \"never\"\nsource = \"test\"\npublished = \"-\"\ndepends_on = \"-\"\nnot_run = \"too large\"\n";
  std::ofstream(test_folder() / "validation.md") << "# Mine\n\n| # |\n|---|\n| E1 | as it was |\n\nafter\n";
  EXPECT_EQ(validate("--only E2").exit_code, 0);
  const std::string text = read_text(test_folder() / "validation.md");
  EXPECT_TRUE(text.starts_with("# Mine")) << text;
  EXPECT_NE(text.find("| E1 | as it was |"), std::string::npos) << text;
  EXPECT_NE(text.find("too large"), std::string::npos) << text;
  EXPECT_NE(text.find("after"), std::string::npos) << text;
}

TEST(Validate, ADocumentWithoutItsTableIsLeftAlone) {
  write_experiment("published = 1\n");
  std::ofstream(test_folder() / "validation.md") << "my notes\n";
  const ProcessResult result = validate("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("has no table that mrcsim validate wrote"), std::string::npos) << result.err;
  EXPECT_EQ(read_text(test_folder() / "validation.md"), "my notes\n");
}

TEST(Validate, WithoutOutTheTableIsAmongTheResults) {
  write_experiment("published = 4194304\n");
  EXPECT_EQ(run_process("mrcsim validate --experiments %D/experiments --work %D/work").exit_code, 0);
  EXPECT_NE(read_text(test_folder() / "work" / "validation.md").find("| E1 |"), std::string::npos);
}

TEST(Validate, OnlyTopologyTrafficAndFaultsDiffer) {
  write_experiment("published = 1\n", "\"cc.base_rtt_ns\" = 9000");
  const ProcessResult result = validate("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("E1.toml:7: cc.base_rtt_ns belongs in the base scenario"), std::string::npos) << result.err;
}

TEST(Validate, ACaseMayChangeWhatTheBaseScenarioSays) {
  write_experiment("published = 4194304\n", "\"fabric.nics\" = 2, fidelity = \"detailed\"");
  const ProcessResult changed = validate("--strict");
  EXPECT_EQ(changed.exit_code, 0) << changed.out << changed.err;
}

TEST(Validate, AQuestionMaySetAnything) {
  write_experiment("published = 4194304\n", "\"cc.base_rtt_ns\" = 9000");
  const std::string text = read_text(test_folder() / "experiments" / "E1.toml");
  std::ofstream(test_folder() / "experiments" / "E1.toml") << "any_setting = true\nseeds = 2\n" << text;
  EXPECT_EQ(validate("--strict").exit_code, 0);
  const auto values = read_json(test_folder() / "work" / "values.json");
  EXPECT_EQ(values[0]["id"], "E1");
  EXPECT_EQ(values[0]["checks"][0]["what"], "delivered");
  EXPECT_EQ(values[0]["checks"][0]["values"], (std::vector<double>{4194304, 4194304}));
  EXPECT_TRUE(values[0]["checks"][0]["agrees"]);
}

TEST(Validate, AMetricThatDoesNotExistIsRefused) {
  write_experiment(
      "published = 1\n[[check]]\nwhat = \"fair\"\ncase = \"run\"\nmetric = \"fairness:0-1\"\npublished = 1\n");
  const ProcessResult result = validate("");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("metric = \"fairness:0-1\"; allowed: series"), std::string::npos) << result.err;
}

TEST(Validate, UnknownExperimentIsRefused) {
  write_experiment("published = 1\n");
  const ProcessResult result = validate("--only E9");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("unknown experiment E9; nearest: E1"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(test_folder() / "validation.md"));
}

TEST(Validate, AllPublishedExperimentsAreDescribed) {
  const std::filesystem::path folder = std::filesystem::path(MRCSIM_SOURCE_DIR) / "tb" / "validation";
  for (int i = 1; i <= 24; ++i) EXPECT_TRUE(std::filesystem::exists(folder / ("E" + std::to_string(i) + ".toml"))) << i;
  EXPECT_TRUE(std::filesystem::exists(folder / "E15b.toml"));
}

}  // namespace
}  // namespace mrc
