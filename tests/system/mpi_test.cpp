// A run on several ranks against the same run in one process: the same bytes, the same errors.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include <fmt/format.h>

#include "mrcsim_process.h"

namespace mrc {
namespace {

constexpr const char* kHead = "start_us,src,dst,bytes,tag\n";

/// Writes a scenario that plays `flows` over `fabric`, more lines after it.
std::string scenario_of(const std::string& flows, const std::string& fabric, const std::string& more = "") {
  std::ofstream(test_folder() / "flows.csv") << kHead << flows;
  std::ofstream(test_folder() / "case.toml")
      << "seed = 3\nfidelity = \"endpoint\"\n[traffic]\ntrace = \"flows.csv\"\n[fabric]\n"
      << fabric << more;
  return (test_folder() / "case.toml").string();
}

std::string permutation(int nics, int shift, std::uint64_t bytes) {
  std::string flows;
  for (int i = 0; i < nics; ++i) flows += fmt::format("0,{},{},{},0\n", i, (i + shift) % nics, bytes);
  return flows;
}

ProcessResult run_on_ranks(int ranks, const std::string& arguments) {
  // As many ranks as the test says, on whatever there is, also as root.
  return run_process(
      fmt::format("env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
                  "OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_base_warn_component_unused=0 "
                  "OMPI_MCA_hwloc_base_binding_policy=none "
                  // Open MPI 5 leaves slots and binding to PRRTE.
                  "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none "
                  "OMPI_MCA_odls_base_sigkill_timeout=0 {} -n {} {} {}",
                  MRCSIM_MPIRUN, ranks, MRCSIM_EXECUTABLE, arguments));
}

enum class Limits : std::uint8_t { same, not_compared };

/// The file's text. Without `limits`, it is written anew, and without how often the kernel called the NICs' wheels.
std::string text_to_compare(const std::filesystem::path& file, Limits limits) {
  if (limits == Limits::same || file.filename() != "result.json") return read_text(file);
  nlohmann::json result = read_json(file);
  result.erase("limits");
  result["cost"].erase("kernel_activations");
  return result.dump();
}

/// Runs both ways and compares; returns the one result.
nlohmann::json same_on_ranks(int ranks, const std::string& arguments, int exit_code = 0, Limits limits = Limits::same) {
  const ProcessResult one = run_process("mrcsim run " + arguments + " --quiet --out %D/one");
  const ProcessResult several = run_on_ranks(ranks, "run " + arguments + " --quiet --out %D/several");
  EXPECT_EQ(one.exit_code, exit_code) << one.err;
  EXPECT_EQ(several.exit_code, exit_code) << several.err;
  for (const char* file : {"result.json", "series.json"}) {
    const std::string expected = text_to_compare(test_folder() / "one" / file, limits);
    EXPECT_FALSE(expected.empty()) << file;
    EXPECT_TRUE(expected == text_to_compare(test_folder() / "several" / file, limits)) << file << " differs";
  }
  EXPECT_NE(several.err.find(one.err), std::string::npos) << one.err << several.err;
  return read_json(test_folder() / "one" / "result.json");
}

TEST(Ranks, APermutationIsTheSameOnTwoAndThree) {
  const std::string scenario =
      scenario_of(permutation(32, 13, 262144), "nics = 32\nnics_per_t0 = 8\nt1s_per_plane = 4\n");
  const auto r = same_on_ranks(2, scenario);
  EXPECT_EQ(r["status"], "complete");
  EXPECT_EQ(r["messages"]["completed"], 32);
  EXPECT_GT(r["packets"]["ce_marked"].get<int>() + r["packets"]["trimmed"].get<int>(), 0);
  same_on_ranks(3, scenario);
}

TEST(Ranks, AllToAllIsTheSame) {
  std::string flows;
  for (int from = 0; from < 12; ++from) {
    for (int to = 0; to < 12; ++to) {
      if (from != to) flows += fmt::format("{},{},{},65536,0\n", from % 3, from, to);
    }
  }
  const auto r = same_on_ranks(2, scenario_of(flows, "nics = 12\nnics_per_t0 = 4\nt1s_per_plane = 4\n"));
  EXPECT_EQ(r["messages"]["completed"], 132);
}

TEST(Ranks, ARingAllReduceWithLossIsTheSame) {
  ASSERT_EQ(run_process("mrcsim trace generate ring_all_reduce --ranks 8 --bytes 4194304 --out '%D/ring.{rank}.et'")
                .exit_code,
            0);
  std::ofstream(test_folder() / "case.toml")
      << "seed = 5\nfidelity = \"endpoint\"\n[traffic]\ntrace = \"ring.{rank}.et\"\n"
         "[fabric]\nnics = 8\nnics_per_t0 = 2\nt1s_per_plane = 2\nloss_rate = 0.002\nduplicate_rate = 0.001\n";
  const auto r = same_on_ranks(2, "%D/case.toml");
  EXPECT_EQ(r["status"], "complete");
  EXPECT_GT(r["packets"]["dropped"], 0);
  EXPECT_GT(r["packets"]["retransmitted"], 0);
}

TEST(Ranks, AFaultTimelineIsTheSame) {
  const std::string faults =
      "[[fault]]\nat_us = 20\nkind = \"link_down\"\nwhere = \"plane0.t0.0.up1\"\nfor_us = 60\n"
      "[[fault]]\nat_us = 30\nkind = \"switch_reboot\"\nwhere = \"plane1.t1.1\"\nfor_us = 50\n"
      "[[fault]]\nat_us = 40\nkind = \"loss\"\nwhere = \"plane2.t1.0.down1\"\nprobability = 0.1\nfor_us = 40\n"
      "[[fault]]\nat_us = 40\nkind = \"corruption\"\nwhere = \"plane2.t0.1.up0\"\nprobability = 0.1\nfor_us = 40\n"
      "[[fault]]\nat_us = 45\nkind = \"link_rate\"\nwhere = \"plane3.t0.0.up0\"\nshare = 0.5\nfor_us = 30\n"
      "[[fault]]\nat_us = 50\nkind = \"nic_port_loss\"\nwhere = \"nic1.port2\"\nfor_us = 40\n"
      "[[fault]]\nat_us = 60\nkind = \"plane_loss\"\nwhere = \"plane3\"\nfor_us = 30\n";
  const auto r =
      same_on_ranks(2, scenario_of(permutation(8, 3, 4 << 20), "nics = 8\nnics_per_t0 = 2\nt1s_per_plane = 2\n",
                                   "[nic]\nports = 4\nport_gbps = 200\n" + faults));
  EXPECT_EQ(r["status"], "complete");
  int bypassed = 0;
  for (const auto& event : r["events"]) {
    const std::string what = event["what"];
    bypassed += what == "bypassed" || what == "retransmission.first" || what == "port_status.down.received" ? 1 : 0;
  }
  EXPECT_GT(bypassed, 2) << r["events"];
}

TEST(Ranks, OneT0APlaneIsCutByPlanes) {
  const auto r = same_on_ranks(2, scenario_of(permutation(8, 3, 1 << 20), "nics = 8\nnics_per_t0 = 8\n"));
  EXPECT_EQ(r["messages"]["completed"], 8);
}

TEST(Ranks, TheBaselineWithPausesIsTheSame) {
  std::string flows;
  for (int from = 0; from < 7; ++from) flows += fmt::format("0,{},7,1048576,0\n", from);
  const std::string scenario = scenario_of(flows, "nics = 8\nnics_per_t0 = 2\nt1s_per_plane = 2\n",
                                           "[nic]\nports = 1\n[rocev2]\ndcqcn = false\n");
  const auto r = same_on_ranks(2, scenario + " --set transport=rocev2");
  EXPECT_GT(r["rocev2"]["pauses"], 0);
}

TEST(Ranks, ThreeTiersAreTheSame) {
  const auto r =
      same_on_ranks(2, scenario_of(permutation(16, 9, 262144),
                                   "nics = 16\nnics_per_t0 = 2\nt1s_per_plane = 4\npods = 4\nrouting = \"ecmp\"\n",
                                   "[nic]\nports = 2\n"));
  EXPECT_EQ(r["messages"]["completed"], 16);
}

TEST(Ranks, DetailedNicsStayOnRankZeroWithTheirRtl) {
  const std::string scenario =
      scenario_of("0,0,2,1048576,0\n0,2,0,524288,0\n0,1,0,524288,0\n0,0,5,524288,0\n0,6,3,1048576,0\n",
                  "nics = 8\nnics_per_t0 = 2\nt1s_per_plane = 4\n",
                  "[node.nic0]\nfidelity = \"detailed\"\n[node.nic2]\nfidelity = \"detailed\"\n");
  // The critical path is followed in one process only.
  const auto r = same_on_ranks(2, scenario + " --shadow srv6_encap@nic0", 0, Limits::not_compared);
  EXPECT_EQ(r["messages"]["completed"], 5);
  EXPECT_GT(r["rtl"].at(0)["transactions"], 0);
  EXPECT_GT(r["buffers"].size(), 0U);
}

/// By reference detailed NICs are on all ranks: with bytes the same fabric cannot be divided (BadInputIsOneLineAndTwo).
std::string detailed_by_reference(const std::string& flows, const std::string& more = "") {
  return scenario_of(flows, "nics = 8\nnics_per_t0 = 2\nt1s_per_plane = 4\nloss_rate = 0.002\n",
                     "[host]\npayload = \"reference\"\n" + more) +
         " --set fidelity=detailed";
}

TEST(Ranks, DetailedNicsByReferenceAreOnAllRanks) {
  const std::string faults =
      "[[fault]]\nat_us = 20\nkind = \"link_down\"\nwhere = \"plane0.t0.2.up1\"\nfor_us = 60\n"
      "[[fault]]\nat_us = 25\nkind = \"pcie_stall\"\nwhere = \"nic5\"\nfor_us = 8\n"
      "[[fault]]\nat_us = 30\nkind = \"nic_port_loss\"\nwhere = \"nic6.port2\"\nfor_us = 40\n";
  const std::string scenario = detailed_by_reference(permutation(8, 3, 2 << 20), faults);
  for (const int ranks : {2, 4}) {
    const auto r = same_on_ranks(ranks, scenario + " --shadow srv6_encap@nic0", 0, Limits::not_compared);
    EXPECT_EQ(r["status"], "complete");
    EXPECT_EQ(r["messages"]["completed"], 8);
    EXPECT_GT(r["packets"]["retransmitted"], 0);
    std::set<std::string> nodes;
    for (const auto& buffer : r["buffers"]) nodes.insert(buffer["node"].get<std::string>());
    EXPECT_EQ(nodes.size(), 8U);
  }
}

TEST(Ranks, DetailedNicsAndLightEndpointsAreOnAllRanks) {
  const std::string scenario = detailed_by_reference(permutation(8, 3, 1 << 20) + permutation(8, 5, 1 << 18)) +
                               " --set node.nic1.fidelity=endpoint node.nic7.fidelity=endpoint";
  const auto r = same_on_ranks(2, scenario, 0, Limits::not_compared);
  EXPECT_EQ(r["messages"]["completed"], 16);
}

TEST(Ranks, PacketsOnCablesAtTheEndAreCounted) {
  const auto r = same_on_ranks(2,
                               "tb/scenarios/many_qps.toml --yes --set host.payload=reference fabric.nics_per_t0=1 "
                               "fabric.t1s_per_plane=4 traffic.byte_scale=0.02",
                               0, Limits::not_compared);
  EXPECT_GT(r["accounts"].back()["held"], 0) << r["accounts"].back();
}

TEST(Ranks, AStallOfADetailedNicElsewhereIsTold) {
  const std::string scenario =
      detailed_by_reference("0,6,1,1048576,0\n0,7,6,1048576,0\n",
                            "[nic]\nports = 2\n[protocol]\nexponential_retries = 25\n[run]\nstall_us = 300\n"
                            "[[fault]]\nat_us = 5\nkind = \"plane_loss\"\nwhere = \"plane0\"\n"
                            "[[fault]]\nat_us = 5\nkind = \"plane_loss\"\nwhere = \"plane1\"\n");
  const auto r = same_on_ranks(2, scenario, 3, Limits::not_compared);
  EXPECT_EQ(r["status"], "stalled");
  EXPECT_GT(r["details"].size(), 0U);
}

TEST(Ranks, AStallAndAnErrorEndAllRanksWithTheirCode) {
  const std::string scenario =
      scenario_of(permutation(8, 3, 1 << 20), "nics = 8\nnics_per_t0 = 2\nt1s_per_plane = 2\n",
                  "[nic]\nports = 2\n[protocol]\nexponential_retries = 25\n[run]\nstall_us = 300\n"
                  "[[fault]]\nat_us = 5\nkind = \"plane_loss\"\nwhere = \"plane0\"\n"
                  "[[fault]]\nat_us = 5\nkind = \"plane_loss\"\nwhere = \"plane1\"\n");
  const auto stalled = same_on_ranks(2, scenario, 3);
  EXPECT_EQ(stalled["status"], "stalled");
  EXPECT_GT(stalled["details"].size(), 8U);
  const auto failed = same_on_ranks(2, scenario + " --set protocol.linear_retries=1 protocol.exponential_retries=1", 5);
  EXPECT_EQ(failed["status"], "failed");
}

TEST(Ranks, BadInputIsOneLineAndTwo) {
  const std::string scenario = scenario_of(permutation(8, 3, 4096), "nics = 8\nnics_per_t0 = 2\nt1s_per_plane = 2\n");
  const auto lines_of_ours = [](const std::string& text) {
    std::size_t lines = 0;
    for (std::size_t at = text.find("mrcsim: "); at != std::string::npos; at = text.find("mrcsim: ", at + 1)) ++lines;
    return lines;
  };
  const struct {
    std::string arguments;
    std::string says;
  } cases[] = {
      {"run " + scenario + " --out %D/out --set fabric.nisc=4", "nearest"},
      {"run " + scenario + " --out %D/out --pcap %D/x.pcapng", "--pcap: not supported on several ranks (2 here)"},
      {"run " + scenario + " --out %D/out --waves %D/x.fst", "--waves: not supported on several ranks"},
      {"run " + scenario + " --out %D/out --set transport=ideal", "\"ideal\": not supported on several ranks"},
      {"run " + scenario + " --out %D/out --set run.message_causes=true",
       "run.message_causes: not supported on several"},
      {"run " + scenario + " --out %D/out --set fidelity=detailed",
       "cannot be divided into this many parts: 8 detailed NICs stay on rank 0"},
      {"run " + scenario + " --out %D/out --set fidelity=detailed host.payload=reference fabric.nics_per_t0=8",
       "allowed: up to 1 (T0s per plane; fabric.nics_per_t0 makes more)"},
      {"run " + scenario + " --out %D/out --nonsense", "unknown argument"},
      {"fabric " + scenario, "but only run supports several processes"},
  };
  for (const auto& bad : cases) {
    const ProcessResult run = run_on_ranks(2, bad.arguments);
    EXPECT_EQ(run.exit_code, 2) << bad.arguments << run.err;
    EXPECT_NE(run.err.find(bad.says), std::string::npos) << bad.arguments << "\n" << run.err;
    EXPECT_EQ(lines_of_ours(run.err), 1U) << run.err;
    EXPECT_FALSE(std::filesystem::exists(test_folder() / "out")) << bad.arguments;
  }
}

TEST(Ranks, MoreRanksThanPartsAreRefused) {
  const std::string scenario =
      scenario_of(permutation(8, 3, 4096), "nics = 8\nnics_per_t0 = 4\nt1s_per_plane = 2\n", "[nic]\nports = 2\n");
  const ProcessResult run = run_on_ranks(3, "run " + scenario + " --quiet --out %D/out");
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_NE(run.err.find("3 ranks: the fabric cannot be divided into this many parts; allowed: up to 2"),
            std::string::npos)
      << run.err;
}

}  // namespace
}  // namespace mrc
