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
  const std::string pair = path("pair.csv");
  EXPECT_EQ(run("trace generate flows --src 0 --dst 1 --count 1024 --bytes 1MiB --out " + pair),
            pair + ": 1024 flows, 1073741824 B\n");
  EXPECT_EQ(content(pair), content(traces + "pair_1GiB.csv"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 3) << "no temporary file stays";
}

TEST_F(TraceCommand, SizesHaveSuffixes) {
  const auto bytes_of = [&](const std::string& size) {
    run("trace generate flows --bytes " + size + " --out " + path("sized.csv"));
    const std::string text = content(path("sized.csv"));
    return text.substr(text.rfind("1,") + 2, text.rfind(',') - text.rfind("1,") - 2);
  };
  EXPECT_EQ(bytes_of("5000"), "5000");
  EXPECT_EQ(bytes_of("3KiB"), "3072");
  EXPECT_EQ(bytes_of("2MiB"), "2097152");
  EXPECT_EQ(bytes_of("7GiB"), "7516192768");
  EXPECT_EQ(run("trace generate flows --bytes 3XiB --out " + path("x.csv")).substr(0, 7), "usage: ");
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
            path("x.et") + ": is no pattern: a file a rank needs {rank} in its name");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(TraceCommand, InfoAndCheck) {
  const std::string file = write_text("f.csv", "start_us,src,dst,bytes,tag\n0,0,3,10,0\n1,0,3,10,0\n2,3,0,7,0\n");
  EXPECT_EQ(run("trace check --strict " + file), file + ": sound, 4 ranks, 3 sends, 27 B, 0 collectives\n");
  EXPECT_EQ(run("trace info " + file),
            file +
                " (flow_csv)\n  ranks         4\n  nodes         3\n  sends         3\n"
                "  receives      0\n  bytes sent    27\n  collectives   0, 0 B\n  computations  0, 0 us in all\n"
                "  message sizes\n                 7 B  x 1\n                10 B  x 2\n");
  const std::string bad = write_text("bad.csv", "start_us,src,dst,bytes,tag\n0,0,3,x,0\n");
  const std::string error = bad + ":2: column bytes is \"x\"; allowed: an integer 1 … 1099511627776";
  EXPECT_EQ(run("trace check " + bad), error);
  EXPECT_EQ(run("trace info " + bad), error);
}

}  // namespace
}  // namespace mrc
