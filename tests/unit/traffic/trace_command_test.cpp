#include "mrcsim/trace_command.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <string>

#include "scratch_folder.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

class TraceCommand : public ScratchFolder {
 protected:
  /// Standard output of `mrcsim <arguments>`, and then the error it ends with, if any.
  static std::string run(const std::string& arguments) {
    int exit_code = 0;
    CLI::App app;
    add_trace_command(app, exit_code);
    ::testing::internal::CaptureStdout();
    std::string error;
    try {
      app.parse(arguments);
    } catch (const TraceError& e) {
      error = e.what();
    } catch (const CLI::ParseError& e) {
      error = std::string("usage: ") + e.what();
    }
    return ::testing::internal::GetCapturedStdout() + error;
  }
};

TEST_F(TraceCommand, WritesTheTracesOfTheRepositoryAgain) {
  const std::string traces = MRCSIM_SOURCE_DIR "/traces/";
  const std::string ring = path("ring.{rank}.et");
  EXPECT_EQ(run("trace generate ring_all_reduce --ranks 2 --bytes 64MiB --chunk 1MiB --out " + ring),
            ring + ": 2 ranks, 128 sends, 134217728 B\n");
  EXPECT_EQ(content(path("ring.0.et")), content(traces + "ring_all_reduce_2.0.et"));
  EXPECT_EQ(content(path("ring.1.et")), content(traces + "ring_all_reduce_2.1.et"));
  run("trace generate training_step --model moe_47b --layers 1 --sequence-tokens 512 --data-parallel 4 "
      "--expert-parallel 4 "
      "--out " +
      path("moe.{rank}.et"));
  run("trace generate training_step --model dense_8b --layers 2 --sequence-tokens 512 --tensor-parallel 2 "
      "--pipeline-parallel 2 --micro-batches 2 --out " +
      path("dense.{rank}.et"));
  for (const char* rank : {"0", "1", "2", "3"}) {
    const std::string end = std::string(".") + rank + ".et";
    EXPECT_EQ(content(path("moe" + end)), content(traces + "moe_step_4" + end));
    EXPECT_EQ(content(path("dense" + end)), content(traces + "dense_step_4" + end));
  }
  const std::string pair = path("pair.csv");
  EXPECT_EQ(run("trace generate flows --src 0 --dst 1 --count 1024 --bytes 1MiB --out " + pair),
            pair + ": 1024 flows, 1073741824 B\n");
  EXPECT_EQ(content(pair), content(traces + "pair_1GiB.csv"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 11) << "no temporary file stays";
}

TEST_F(TraceCommand, SizesHaveSuffixes) {
  const auto bytes_of = [&](const std::string& size) {
    // A trace of other content is not replaced, so each has a file of its own.
    const std::string file = path("sized" + size + ".csv");
    run("trace generate flows --bytes " + size + " --out " + file);
    const std::string text = content(file);
    return text.substr(text.rfind("1,") + 2, text.rfind(',') - text.rfind("1,") - 2);
  };
  EXPECT_EQ(bytes_of("5000"), "5000");
  EXPECT_EQ(bytes_of("3KiB"), "3072");
  EXPECT_EQ(bytes_of("2MiB"), "2097152");
  EXPECT_EQ(bytes_of("7GiB"), "7516192768");
  EXPECT_EQ(bytes_of("3KB"), "3000");
  for (const char* unclear : {"3XiB", "3k", "3kb", "3Mb", "MiB", "-3", "3 MiB", "99999999999999"})
    EXPECT_EQ(run(std::string("trace generate flows --bytes ") + unclear + " --out " + path("x.csv")).substr(0, 7),
              "usage: ")
        << unclear;
}

TEST_F(TraceCommand, WritesNothingThatTheReaderRefuses) {
  const std::string out = path("x.csv");
  EXPECT_EQ(run("trace generate flows --src 1 --dst 1 --out " + out),
            out + ":2: src and dst are both 1; a flow needs two ranks");
  EXPECT_EQ(run("trace generate flows --bytes 0 --out " + out),
            out + ":2: column bytes is \"0\"; allowed: an integer 1 … 1099511627776");
  EXPECT_EQ(run("trace generate ring_all_reduce --bytes 0 --out " + path("x.{rank}.et")),
            "ring_all_reduce: 0 bytes; allowed: 1 … 1099511627776");
  EXPECT_EQ(run("trace generate ring_all_reduce --out " + path("x.et")),
            path("x.et") + ": is not a pattern: one file per rank needs {rank} in its name");
  EXPECT_EQ(run("trace generate all_to_all --bytes 0 --out " + path("x.{rank}.et")),
            "all_to_all: 0 bytes; allowed: 1 … 1099511627776");
  EXPECT_EQ(run("trace generate incast --ranks 4 --dst 4 --out " + out),
            "incast: the receiver is rank 4; allowed: 0 … 3");
  EXPECT_TRUE(run("trace generate permutation --ranks 1 --out " + out).starts_with("usage: "));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(TraceCommand, CollectivesOverAllRanksAreReadAgain) {
  for (const char* kind : {"all_to_all", "all_gather", "reduce_scatter"}) {
    const std::string out = path(std::string(kind) + ".{rank}.et");
    EXPECT_EQ(run(std::string("trace generate ") + kind + " --ranks 4 --bytes 6MiB --count 2 --out " + out),
              out + ": 4 ranks, 2 collectives\n");
    EXPECT_EQ(run("trace check --strict " + out), out + ": sound, 4 ranks, 0 sends, 0 B, 2 collectives\n");
    EXPECT_NE(run("trace info " + out).find(std::string(kind)), std::string::npos);
    // Each rank sends to each other one: directly, or around the ring in three steps. It keeps its own share.
    const std::string messages = path(std::string(kind) + ".csv");
    EXPECT_EQ(run("trace convert " + out + " --to flow_csv --out " + messages),
              messages + ": 4 ranks, 24 sends, 37748736 B, 0 collectives\n");
  }
}

TEST_F(TraceCommand, PermutationAndIncastAreReadAgain) {
  const std::string permutation = path("permutation.csv");
  EXPECT_EQ(run("trace generate permutation --ranks 64 --bytes 1KiB --count 3 --seed 7 --out " + permutation),
            permutation + ": 192 flows, 196608 B\n");
  EXPECT_EQ(run("trace check --strict " + permutation),
            permutation + ": sound, 64 ranks, 192 sends, 196608 B, 0 collectives\n");
  const std::string incast = path("incast.csv");
  EXPECT_EQ(run("trace generate incast --ranks 4 --bytes 5 --dst 2 --out " + incast), incast + ": 3 flows, 15 B\n");
  EXPECT_EQ(content(incast), "start_us,src,dst,bytes,tag\n0.000000,0,2,5,0\n0.000000,1,2,5,1\n0.000000,3,2,5,2\n");
}

TEST_F(TraceCommand, InfoAndCheck) {
  const std::string file = write_text("f.csv", "start_us,src,dst,bytes,tag\n0,0,3,10,0\n1,0,3,10,0\n2,3,0,7,0\n");
  EXPECT_EQ(run("trace check --strict " + file), file + ": sound, 4 ranks, 3 sends, 27 B, 0 collectives\n");
  EXPECT_EQ(run("trace info " + file), file +
                                           " (flow_csv)\n  ranks         4\n  nodes         3\n  sends         3\n"
                                           "  receives      0\n  bytes sent    27\n  collectives   0 calls by ranks, 0 "
                                           "B\n  computations  0, 0 us in all\n"
                                           "  message sizes\n                 7 B  x 1\n                10 B  x 2\n"
                                           "  critical path 2 us of computation, 1 consecutive communications\n");
  const std::string bad = write_text("bad.csv", "start_us,src,dst,bytes,tag\n0,0,3,x,0\n");
  const std::string error = bad + ":2: column bytes is \"x\"; allowed: an integer 1 … 1099511627776";
  EXPECT_EQ(run("trace check " + bad), error);
  EXPECT_EQ(run("trace info " + bad), error);
}

TEST_F(TraceCommand, ATrainingStepIsSoundAndReadAgain) {
  const std::string out = path("step.{rank}.et");
  const std::string made =
      run("trace generate training_step --model moe_47b --layers 2 --sequence-tokens 256 "
          "--tensor-parallel 2 --pipeline-parallel 2 --data-parallel 4 --expert-parallel 2 "
          "--micro-batches 3 --out " +
          out);
  EXPECT_TRUE(made.starts_with(out + ": 16 ranks, 48 sends, ")) << made;
  EXPECT_TRUE(run("trace check --strict " + out).starts_with(out + ": sound, 16 ranks, 48 sends, "));
  const std::string info = run("trace info " + out);
  for (const char* kind : {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"})
    EXPECT_NE(info.find(kind), std::string::npos) << kind << info;
  EXPECT_EQ(run("trace generate training_step --layers 3 --pipeline-parallel 2 --out " + out),
            "training_step: 3 layers are not a multiple of 2 pipeline stages");
  EXPECT_EQ(run("trace generate training_step --out " + out), "training_step: 1 ranks; allowed: 2 … 131071");
  EXPECT_EQ(run("trace generate training_step --data-parallel 2 --expert-parallel 2 --out " + out),
            "training_step: expert parallelism needs a model with experts");
}

TEST_F(TraceCommand, Converts) {
  const std::string goal = write_text("t.goal",
                                      "num_ranks 2\nrank 0 {\na: calc 5000\nb: send 8b to 1 tag 3\nb requires a\n}\n"
                                      "rank 1 {\na: recv 8b from 0 tag 3\n}\n");
  const std::string et = path("t.{rank}.et");
  EXPECT_EQ(run("trace convert " + goal + " --out " + et), et + ": 2 ranks, 1 sends, 8 B, 0 collectives\n");
  EXPECT_TRUE(run("trace check --strict " + et).find("sound, 2 ranks, 1 sends, 8 B") != std::string::npos);
  const std::string csv = path("t.csv");
  EXPECT_EQ(run("trace convert " + goal + " --to flow_csv --out " + csv),
            csv + ": 2 ranks, 1 sends, 8 B, 0 collectives\n");
  EXPECT_EQ(content(csv), "start_us,src,dst,bytes,tag\n5.000000,0,1,8,3\n");
  const std::string rows = write_text("rows.txt", "DATA all_gpus: 4\n1\na -1 1 NONE 0 1 NONE 0 1000 ALLREDUCE 400 1\n");
  const std::string four = path("four.{rank}.et");
  EXPECT_EQ(run("trace convert " + rows + " --out " + four), four + ": 4 ranks, 0 sends, 0 B, 1 collectives\n");
  EXPECT_TRUE(run("trace check --strict " + four).find("sound, 4 ranks, 0 sends, 0 B, 1 collectives") !=
              std::string::npos);
  EXPECT_EQ(run("trace convert " + rows + " --as-messages --out " + path("messages.{rank}.et")),
            path("messages.{rank}.et") + ": 4 ranks, 24 sends, 2400 B, 0 collectives\n");
}

}  // namespace
}  // namespace mrc
