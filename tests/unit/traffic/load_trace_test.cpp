#include "traffic/load_trace.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "scratch_folder.h"
#include "traffic/chakra_reader.h"
#include "traffic/ring_all_reduce.h"
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
    check_ranks(load_trace(request).workload, nodes);
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
            noise + ": is no trace that mrcsim knows; known: chakra (MLCommons execution trace), flow_csv");
  const std::string text = write_text("text.csv", "hello\n");
  EXPECT_EQ(refusal({.path = text}), text + ":1: expected the header line start_us,src,dst,bytes,tag");
}

TEST_F(LoadTrace, MissingFiles) {
  EXPECT_EQ(refusal({.path = "/no/such.csv"}), "/no/such.csv: does not exist");
  EXPECT_EQ(refusal({.path = "/no/such.{rank}.et"}), "/no/such.{rank}.et: there is no file for rank 0");
  EXPECT_EQ(refusal({.path = write_text("empty.csv", "")}), path("empty.csv") + ": is empty");
}

TEST_F(LoadTrace, FormatsAndFolders) {
  const std::string csv = write_text("named.csv", "start_us,src,dst,bytes,tag\n0,0,1,10,0\n");
  EXPECT_EQ(refusal({.path = csv, .format = "goal"}),
            csv + ": format goal is not known; known: auto, chakra, flow_csv");
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
  const std::string text = describe(pair);
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
            pattern + ": rank 0, node 0: rank 1 is outside the topology: fabric.nics = 1, ranks 0 … 0");
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
  const ChakraContents contents = chakra_contents({file});
  EXPECT_EQ(contents.nodes, 3'664U);
  ASSERT_EQ(contents.collectives.size(), 2U);
  const CollectiveTotal all_reduces = contents.collectives.at("all-reduce");
  const CollectiveTotal broadcasts = contents.collectives.at("broadcast");
  EXPECT_EQ(all_reduces.count + broadcasts.count, 7U);
  EXPECT_EQ(all_reduces.bytes + broadcasts.bytes, 102'441'032U);
  EXPECT_NE(describe_collectives({.path = file}).find("3664 nodes"), std::string::npos);
  EXPECT_EQ(refusal({.path = file}),
            file + ": holds collectives of one rank; traffic.ranks says over how many ranks they run");
  const LoadedTrace trace = load_trace({.path = file, .ranks = 2});
  EXPECT_EQ(trace.workload.bytes(), 2 * all_reduces.bytes + broadcasts.bytes);
  EXPECT_EQ(trace.warnings.size(), 1U) << "its control dependencies are not sound";
  EXPECT_EQ(trace.workload.ranks, 2U);
  const std::uint64_t rings = 5 * ring_all_reduce_nodes(2, 1);
  const std::uint64_t chains = 2 * 2;
  EXPECT_EQ(trace.workload.nodes.size(), 2 * 3'664U + rings + chains) << "every node of the file is there once a rank";
  EXPECT_THROW(load_trace({.path = file, .ranks = 2, .strict = true}), TraceError);
}

}  // namespace
}  // namespace mrc
