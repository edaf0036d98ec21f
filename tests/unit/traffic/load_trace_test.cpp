#include "traffic/load_trace.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "scratch_folder.h"
#include "traffic/expand_collectives.h"
#include "traffic/trace_error.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;

fs::path samples() {
  const char* given = std::getenv("MRCSIM_SAMPLES");
  return given != nullptr ? fs::path(given) : fs::path(MRCSIM_SOURCE_DIR) / ".." / "shared" / "samples";
}

std::string refusal(const TraceRequest& request, std::uint32_t nodes = 1'000'000) {
  try {
    check_ranks(load_trace(request).workload, nodes, nodes);
  } catch (const TraceError& error) {
    return error.what();
  }
  return "accepted";
}

class LoadTrace : public ScratchFolder {};
class PublicSamples : public ScratchFolder {};

TEST_F(LoadTrace, RecognisesByContentNotByName) {
  const std::string csv = write_text("flows.et", "start_us,src,dst,bytes,tag\n0,0,1,10,0\n");
  EXPECT_EQ(load_trace({.path = csv}).workload.format, "flow_csv");
  EXPECT_EQ(load_trace({.path = MRCSIM_SOURCE_DIR "/traces/ring_all_reduce_2.{rank}.et"}).workload.format, "chakra");
  const std::string noise = write_text("noise.csv", std::string("\x07\x01\x02\xff\xfe\x00\x11", 7));
  EXPECT_EQ(refusal({.path = noise}),
            noise +
                ": is not a trace that mrcsim knows; known: chakra (MLCommons execution trace), goal (begins with "
                "num_ranks), goal_binary (its compiled form), "
                "astra_text (begins with a kind of parallelism), htsim_cm (begins with Nodes), flow_csv (begins with "
                "start_us,src,dst,bytes,tag)");
  const std::string text = write_text("text.csv", "hello\n");
  EXPECT_TRUE(refusal({.path = text}).starts_with(text + ": is not a trace that mrcsim knows"))
      << refusal({.path = text});
  const std::string goal = write_text(
      "a.csv", "/* of\n nobody */ num_ranks 2\nrank 0 {\nl: send 8b to 1\n}\nrank 1 {\nl: recv 8b from 0\n}\n");
  EXPECT_EQ(load_trace({.path = goal}).workload.format, "goal");
  const std::string matrix = write_text("b.et", "# made by hand\nNodes 2\nConnections 1\n0->1 id 1 start 0 size 5\n");
  EXPECT_EQ(load_trace({.path = matrix}).workload.format, "htsim_cm");
  const std::string rows = write_text("c.goal", "DATA all_gpus: 4\n1\nlayer -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 400 1\n");
  EXPECT_EQ(load_trace({.path = rows}).workload.format, "astra_text");
  EXPECT_EQ(refusal({.path = write_text("d.et", "\x1f\x8b\x08")}),
            path("d.et") + ": is compressed (gzip); unpack it first");
}

TEST_F(LoadTrace, MissingFiles) {
  EXPECT_EQ(refusal({.path = "/no/such.csv"}), "/no/such.csv: does not exist");
  EXPECT_EQ(refusal({.path = "/no/such.{rank}.et"}), "/no/such.{rank}.et: there is no file for rank 0");
  EXPECT_EQ(refusal({.path = write_text("empty.csv", "")}), path("empty.csv") + ": is empty");
}

TEST_F(LoadTrace, FormatsAndFolders) {
  const std::string csv = write_text("named.csv", "start_us,src,dst,bytes,tag\n0,0,1,10,0\n");
  EXPECT_EQ(
      refusal({.path = csv, .format = "netrace"}),
      csv + ": format netrace is not known; known: auto, chakra, goal, goal_binary, astra_text, htsim_cm, flow_csv");
  EXPECT_EQ(refusal({.path = csv, .format = "goal"}),
            csv + ":1: expected num_ranks, found \"start_us,src,dst,bytes,tag\"");
  EXPECT_EQ(refusal({.path = csv, .ranks = 4}),
            csv +
                ": traffic.ranks = 4, but the file says which ranks it has; it cuts traces that stand for all ranks "
                "(astra_text, one Chakra file)");
  EXPECT_EQ(refusal({.path = csv, .format = "chakra"}), csv + ": does not begin with a Chakra GlobalMetadata message");
  const fs::path folder = folder_ / "traces";
  fs::create_directories(folder);
  EXPECT_EQ(refusal({.path = folder.string()}), folder.string() + ": the folder holds no file name.<rank>.et");
  const std::string traces = MRCSIM_SOURCE_DIR "/traces/ring_all_reduce_2.";
  fs::copy_file(traces + "1.et", folder / "a.1.et");
  EXPECT_EQ(refusal({.path = folder.string()}), folder.string() + ": there is a file for rank 1, but none for rank 0");
  fs::copy_file(traces + "0.et", folder / "a.0.et");
  EXPECT_EQ(load_trace({.path = folder.string()}).workload.ranks, 2U);
  fs::copy_file(traces + "0.et", folder / "b.0.et");
  EXPECT_NE(refusal({.path = folder.string()}).find("two files for rank 0: "), std::string::npos);
}

TEST_F(LoadTrace, OurOwnTracesHoldWhatTheirDescriptionSays) {
  const Workload ring = load_trace({.path = MRCSIM_SOURCE_DIR "/traces/ring_all_reduce_2.{rank}.et"}).workload;
  EXPECT_EQ(ring.ranks, 2U);
  EXPECT_EQ(ring.bytes(), 2ULL * 64 << 20);
  const Workload pair = load_trace({.path = MRCSIM_SOURCE_DIR "/traces/pair_1GiB.csv"}).workload;
  EXPECT_EQ(pair.ranks, 2U);
  EXPECT_EQ(pair.sends(), 1024U);
  EXPECT_EQ(pair.bytes(), 1ULL << 30);
  EXPECT_EQ(pair.nodes[1023].tag, 1023U);
  const TraceRequest request{.path = MRCSIM_SOURCE_DIR "/traces/pair_1GiB.csv"};
  const std::string text = describe(request, count_trace(request));
  EXPECT_NE(text.find("bytes sent    1073741824\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1048576 B  x 1024\n"), std::string::npos) << text;
}

TEST_F(LoadTrace, RanksOutsideTheTopology) {
  const std::string csv = write_text("wide.csv", "start_us,src,dst,bytes,tag\n0,0,1,10,0\n0,1,5,10,0\n");
  EXPECT_EQ(refusal({.path = csv}, 2), csv + ":3: rank 5 is outside the topology: fabric.nics = 2, ranks 0 … 1");
  EXPECT_EQ(refusal({.path = csv}, 6), "accepted");
}

TEST_F(LoadTrace, ByteScale) {
  const std::string csv = write_text("scale.csv", "start_us,src,dst,bytes,tag\n0,0,1,1000,0\n0,0,1,1,0\n");
  const Workload w = load_trace({.path = csv, .byte_scale = 0.25}).workload;
  EXPECT_EQ(w.nodes[0].bytes, 250U);
  EXPECT_EQ(w.nodes[1].bytes, 1U);
}

TEST_F(LoadTrace, ChakraRanksOutsideTheTopology) {
  const std::string pattern = MRCSIM_SOURCE_DIR "/traces/ring_all_reduce_2.{rank}.et";
  EXPECT_EQ(refusal({.path = pattern}, 1),
            pattern + ": rank 0, node 2: rank 1 is outside the topology: fabric.nics = 1, ranks 0 … 0");
  EXPECT_EQ(refusal({.path = pattern}, 2), "accepted");
}

TEST_F(PublicSamples, AstraSimRingAllReduce) {
  const fs::path folder = samples() / "astra-sim";
  if (!fs::exists(folder)) GTEST_SKIP() << "no folder of public samples (MRCSIM_SAMPLES)";
  const Workload w = load_trace({.path = folder.string()}).workload;
  EXPECT_EQ(w.ranks, 8U);
  EXPECT_EQ(w.sends(), 112U);
  EXPECT_EQ(w.bytes(), 14'680'064U);
}

TEST_F(PublicSamples, PyTorchStep) {
  const fs::path archive = samples() / "chakra" / "feeder_tests_trace.tar.gz";
  if (!fs::exists(archive)) GTEST_SKIP() << "no folder of public samples (MRCSIM_SAMPLES)";
  ASSERT_EQ(std::system(("tar xzf " + archive.string() + " -C " + folder_.string()).c_str()), 0);
  const std::string file = path("tests/data/chakra.0.et");
  const TraceContents contents = count_trace({.path = file});
  EXPECT_EQ(contents.totals.nodes, 3'664U);
  EXPECT_EQ(contents.totals.collective_nodes(), 7U);
  EXPECT_EQ(contents.totals.collective_bytes(), 102'441'032U);
  EXPECT_THROW(expand_collectives(load_trace({.path = file}).workload, {}), TraceError) << "over how many ranks?";
  const LoadedTrace trace = load_trace({.path = file, .ranks = 2});
  EXPECT_EQ(trace.warnings.size(), 1U) << "its control dependencies are not sound";
  const Workload expanded = expand_collectives(trace.workload, {});
  EXPECT_EQ(expanded.ranks, 2U);
  EXPECT_EQ(expanded.bytes(), 2 * (102'441'032U - 424U - 212'480U) + 424U + 212'480U)
      << "rings, and broadcasts' chains";
  EXPECT_EQ(expanded.spans.size(), 14U);
  EXPECT_THROW(load_trace({.path = file, .ranks = 2, .strict = true}), TraceError);
}

TEST_F(PublicSamples, GoalBinaryTree) {
  const fs::path file = samples() / "goal" / "binary_tree_32.goal";
  if (!fs::exists(file)) GTEST_SKIP() << "no folder of public samples (MRCSIM_SAMPLES)";
  const Workload w = load_trace({.path = file.string()}).workload;
  EXPECT_EQ(w.ranks, 32U);
  EXPECT_EQ(w.sends(), 31U);
  EXPECT_EQ(w.bytes(), 31U);
  EXPECT_EQ(w.nodes.size(), 62U);
}

TEST_F(PublicSamples, SimAiMoeStep) {
  const fs::path file = samples() / "simai" / "workload_analytical.txt";
  if (!fs::exists(file)) GTEST_SKIP() << "no folder of public samples (MRCSIM_SAMPLES)";
  const TraceContents contents = count_trace({.path = file.string()});
  EXPECT_EQ(contents.ranks, 9'216U);
  EXPECT_TRUE(contents.same_on_all_ranks);
  EXPECT_EQ(contents.totals.collective_nodes(), 3'324U);
  EXPECT_EQ(contents.totals.collective_bytes(), 349'722'230'800U);
  const LoadedTrace cut = load_trace({.path = file.string(), .ranks = 8, .rows = 20, .byte_scale = 1e-6});
  const Workload w = expand_collectives(cut.workload, {});
  EXPECT_EQ(w.ranks, 8U);
  EXPECT_GT(w.sends(), 0U);
}

TEST_F(LoadTrace, CountingReadsWhatLoadingReads) {
  for (const char* text :
       {"start_us,src,dst,bytes,tag\n0,0,1,10,0\n1,1,0,20,0\n",
        "num_ranks 2\nrank 0 {\nl1: calc 5\nl2: send 8b to 1\nl2 requires l1\n}\nrank 1 {\nl: recv 8b from 0\n}\n",
        "Nodes 2\nConnections 2\n0->1 id 1 start 0 size 5\n1->0 id 2 start 9 size 6\n"}) {
    const std::string file = write_text("counted", text);
    const TraceTotals totals = count_trace({.path = file}).totals;
    const Workload w = load_trace({.path = file}).workload;
    EXPECT_EQ(totals.nodes, w.nodes.size());
    EXPECT_EQ(totals.sends, w.sends());
    EXPECT_EQ(totals.bytes, w.bytes());
  }
}

}  // namespace
}  // namespace mrc
