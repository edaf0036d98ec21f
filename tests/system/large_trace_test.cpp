// Traces of more than 100 MB: counted, and played cut to size, in memory that has nothing to do with the file's length.
#include <sys/resource.h>

#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <google/protobuf/util/delimited_message_util.h>

#include "chakra.pb.h"
#include "mrcsim_process.h"

namespace mrc {
namespace {

namespace fs = std::filesystem;
namespace pb = ::mrcsim::chakra;

constexpr std::uintmax_t kLongFile = 105'000'000;
/// A run of eight detailed NICs takes about 30 MB without its trace.
constexpr long kMostKiB = 64 * 1024;

/// The most that any process of this test has had; each test is a process of its own.
long most_memory_kib() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_maxrss;
}

void write_scenario(const std::string& trace) {
  std::ofstream(test_folder() / "long.toml")
      << fmt::format("[traffic]\ntrace = \"{}\"\n[fabric]\nnics = 8\n[host]\npayload = \"reference\"\n", trace);
}

void expect_small(const std::string& trace, const std::string& cut) {
  ASSERT_GT(fs::file_size(test_folder() / trace), kLongFile);
  const ProcessResult info = run_process(fmt::format("mrcsim trace info %D/{}", trace));
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_LT(most_memory_kib(), kMostKiB);
  write_scenario(trace);
  const ProcessResult run = run_process("mrcsim run %D/long.toml --quiet --out %D/out " + cut);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(most_memory_kib(), kMostKiB);
  EXPECT_EQ(read_json(test_folder() / "out" / "result.json")["status"], "complete");
  fs::remove(test_folder() / trace);
}

TEST(LargeTrace, ChakraOfOneRank) {
  {
    std::ofstream out(test_folder() / "long.et", std::ios::binary);
    pb::GlobalMetadata metadata;
    metadata.set_version("0.0.4");
    google::protobuf::util::SerializeDelimitedToOstream(metadata, &out);
    for (std::uint64_t i = 0; static_cast<std::uintmax_t>(out.tellp()) <= kLongFile; ++i) {
      pb::Node node;
      node.set_id(i);
      node.set_name(fmt::format("aten::a_kernel_with_a_name_as_long_as_recorded_ones_{}", i));
      node.set_type(i % 50 == 49 ? pb::COMM_COLL_NODE : pb::COMP_NODE);
      node.set_duration_micros(3);
      if (i > 0) node.add_data_deps(i - 1);
      for (const auto& [name, value] : {std::pair{"comm_type", 0}, std::pair{"comm_size", 100'000}}) {
        pb::Attribute& attribute = *node.add_attr();
        attribute.set_name(name);
        attribute.set_int64_value(value);
      }
      google::protobuf::util::SerializeDelimitedToOstream(node, &out);
    }
  }
  expect_small("long.et", "--set traffic.ranks=8 traffic.rows=500");
}

TEST(LargeTrace, FlowCsv) {
  {
    std::ofstream out(test_folder() / "long.csv");
    out << "start_us,src,dst,bytes,tag\n";
    for (std::uint64_t i = 0; static_cast<std::uintmax_t>(out.tellp()) <= kLongFile; ++i)
      out << fmt::format("{},{},{},65536,{}\n", 0.5 * static_cast<double>(i), i % 8, (i + 3) % 8, i);
  }
  expect_small("long.csv", "--set traffic.rows=2000");
}

TEST(LargeTrace, ConnectionMatrix) {
  {
    constexpr std::uint64_t connections = 2'600'000;
    std::ofstream out(test_folder() / "long.cm");
    out << fmt::format("Nodes 8\nConnections {}\n", connections);
    for (std::uint64_t i = 0; i < connections; ++i)
      out << fmt::format("{}->{} id {} start {} size 65536\n", i % 8, (i + 3) % 8, i + 1, i * 500'000);
  }
  expect_small("long.cm", "--set traffic.rows=2000");
}

TEST(LargeTrace, AstraText) {
  {
    constexpr std::uint64_t layers = 1'000'000;
    std::ofstream out(test_folder() / "long.txt");
    out << fmt::format("DATA all_gpus: 8\n{}\n", layers);
    for (std::uint64_t i = 0; i < layers; ++i)
      out << fmt::format(
          "a_layer_with_a_name_as_long_as_generated_ones_are_{} -1 1000 NONE 0 2000 NONE 0 1500 ALLREDUCE "
          "100000 100\n",
          i);
  }
  expect_small("long.txt", "--set traffic.ranks=8 traffic.rows=50");
}

/// Its operations wait for one another, so nothing cuts it; it is counted in little memory.
TEST(LargeTrace, GoalIsCounted) {
  {
    std::ofstream out(test_folder() / "long.goal");
    out << "num_ranks 2\n";
    for (int rank = 0; rank < 2; ++rank) {
      out << fmt::format("rank {} {{\n", rank);
      for (int i = 0; i < 950'000; ++i) {
        out << fmt::format("l{}: send 1024b to {} tag {}\nl{}: recv 1024b from {} tag {}\n", 2 * i, 1 - rank, i % 1000,
                           2 * i + 1, 1 - rank, i % 1000);
      }
      out << "}\n";
    }
  }
  ASSERT_GT(fs::file_size(test_folder() / "long.goal"), kLongFile);
  const ProcessResult info = run_process("mrcsim trace info %D/long.goal");
  EXPECT_EQ(info.exit_code, 0) << info.err;
  EXPECT_LT(most_memory_kib(), kMostKiB);
  fs::remove(test_folder() / "long.goal");
}

/// A step of 256 expert parallel ranks, 8 of them on NICs with boxes, 248 on light endpoints.
TEST(LargeJob, MoeStepOn256RanksWith8DetailedNics) {
  ASSERT_EQ(run_process("mrcsim trace generate training_step --model moe_671b --layers 1 --sequence-tokens 256 "
                        "--tensor-parallel 1 --data-parallel 256 --expert-parallel 256 --micro-batches 1 "
                        "--out %D/moe.{rank}.et")
                .exit_code,
            0);
  {
    std::ofstream scenario(test_folder() / "moe.toml");
    scenario << "fidelity = \"endpoint\"\n[traffic]\ntrace = \"moe.{rank}.et\"\nbyte_scale = 0.02\n[fabric]\nnics = "
                "256\nnics_per_t0 = 16\n[host]\npayload = \"reference\"\n";
    for (int nic = 0; nic < 8; ++nic) scenario << fmt::format("[node.nic{}]\nfidelity = \"detailed\"\n", nic);
  }
  const ProcessResult run = run_process("mrcsim run %D/moe.toml --quiet --out %D/mrc");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run_process("mrcsim run %D/moe.toml --quiet --set transport=ideal --out %D/ideal").exit_code, 0);
  const auto mrc = read_json(test_folder() / "mrc" / "result.json");
  const auto ideal = read_json(test_folder() / "ideal" / "result.json");
  EXPECT_EQ(mrc["status"], "complete");
  EXPECT_EQ(mrc["messages"]["completed"], 391'680);
  EXPECT_EQ(mrc["bytes"]["delivered"], mrc["bytes"]["offered"]);
  EXPECT_EQ(mrc["job"]["ranks"], 256);
  std::set<std::string> detailed;
  for (const auto& row : mrc["ledger"]) detailed.insert(row["node"]);
  EXPECT_EQ(detailed.size(), 8U);
  const double step = mrc["job"]["step_time_us"];
  EXPECT_GT(step, ideal["job"]["step_time_us"]);
  EXPECT_LT(step, 1.1 * ideal["job"]["step_time_us"].get<double>());
}

}  // namespace
}  // namespace mrc
