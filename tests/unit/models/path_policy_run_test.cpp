// Path policies in runs: one flow over the uplinks of its T0, one of which is slow or fails.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "mrc/control/path_policy_registry.h"
#include "two_nics.h"

namespace mrc {
namespace {

/// What a run reports, as a child process hands it over.
struct Figures {
  RunStatus status = RunStatus::failed;
  double goodput_gbps = 0;
  RunResult::Packets packets;
};

/// The SystemC kernel can be elaborated once per process, and a case compares several runs.
Figures run_in_child(const ScenarioConfig& scenario, const Workload& workload) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const RunResult result = run(scenario, workload);
    const Figures figures{result.status, result.goodput_gbps, result.packets};
    const bool written = write(ends[1], &figures, sizeof figures) == sizeof figures;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Figures figures;
  const bool complete = read(ends[0], &figures, sizeof figures) == sizeof figures;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return complete ? figures : Figures{};
}

class PathPolicyRun : public testing::TestWithParam<std::uint64_t> {
 protected:
  /// One flow over 2 planes of 4 uplinks: 25 Gb/s for each uplink. Loss is known from trims and timers alone, so that a
  /// slow path is not taken for a dead one, and each packet has its SACK, so that each path is heard of.
  PathPolicyRun() {
    scenario = pair();
    scenario.seed = GetParam();
    scenario.fabric.nics = 2;
    scenario.fabric.nics_per_t0 = 1;
    scenario.fabric.t1s_per_plane = 4;
    scenario.node_default.fidelity = Fidelity::endpoint;
    scenario.node_default.nic.ports = 2;
    scenario.cc.base_rtt_ps = 10 * kPsPerUs;
    scenario.protocol.ev_count = 64;
    scenario.protocol.ev_active = 32;
    scenario.protocol.sack_threshold_bytes = 0;
    scenario.protocol.gap_min_packets = 32'640;
    scenario.protocol.timeout_exponent = 10;
  }
  void fault_of_one_uplink(FaultKind kind, double share = 1) {
    scenario.faults = {{.place = "test", .kind = kind, .where = "plane0.t0.0.up1", .at_us = 20, .share = share}};
  }
  Figures with(const std::string& policy) {
    ScenarioConfig one = scenario;
    one.protocol.path_policy = policy;
    const Figures figures = run_in_child(one, writes(64, 1 << 20));
    EXPECT_EQ(figures.status, RunStatus::complete) << policy;
    return figures;
  }
  ScenarioConfig scenario;
};

TEST_P(PathPolicyRun, OnAHealthyFabricAllFillTheirPorts) {
  for (const std::string& policy : path_policy_names()) {
    const double gbps = with(policy).goodput_gbps;
    if (policy == "single_path") {
      EXPECT_NEAR(gbps, 96, 1) << "one port";
    } else {
      EXPECT_NEAR(gbps, 191.5, 1) << policy;
    }
  }
}

TEST_P(PathPolicyRun, WithASlowUplinkThoseThatHearOfMarksKeepTheirGoodput) {
  fault_of_one_uplink(FaultKind::link_rate, 0.1);
  const Figures random = with("random"), round_robin = with("round_robin"), rotation = with("rotation"),
                ecn_bitmap = with("ecn_bitmap"), reps = with("reps");
  // An eighth of what is sent crosses 10 Gb/s, whatever is heard: 80 Gb/s, and what is trimmed goes again elsewhere.
  EXPECT_GT(random.goodput_gbps, 80);
  EXPECT_LT(random.goodput_gbps, 120);
  EXPECT_NEAR(round_robin.goodput_gbps, random.goodput_gbps, 0.1 * random.goodput_gbps);
  // A mark of the rotation lasts until its end, one of the bitmap for a turn and a trim for four.
  EXPECT_GT(rotation.goodput_gbps, 1.1 * random.goodput_gbps);
  EXPECT_GT(ecn_bitmap.goodput_gbps, 1.5 * random.goodput_gbps);
  EXPECT_LT(ecn_bitmap.packets.trimmed, random.packets.trimmed / 2);
  // What returns late or marked is not used again.
  EXPECT_GT(reps.goodput_gbps, 185);
  EXPECT_LT(reps.packets.trimmed, random.packets.trimmed / 10);
}

TEST_P(PathPolicyRun, WithADeadUplinkEvStatesBoundTheLossesOfAllAndRepsLosesLess) {
  fault_of_one_uplink(FaultKind::link_down);
  const Figures random = with("random"), rotation = with("rotation"), reps = with("reps");
  for (const char* policy : {"round_robin", "ecn_bitmap"}) {
    EXPECT_NEAR(with(policy).packets.dropped, random.packets.dropped, 0.2 * random.packets.dropped) << policy;
  }
  EXPECT_NEAR(rotation.packets.dropped, random.packets.dropped, 0.2 * random.packets.dropped)
      << "a dead path sends no marks";
  // It knows of no EV on the dead uplink that was acknowledged.
  EXPECT_LT(reps.packets.dropped, random.packets.dropped / 2);
  EXPECT_LT(reps.packets.retransmitted, random.packets.retransmitted / 2);
  EXPECT_GT(reps.goodput_gbps, 1.2 * random.goodput_gbps);
}

TEST_P(PathPolicyRun, ALongerTimeoutSendsFewerProbesIntoADeadPath) {
  fault_of_one_uplink(FaultKind::link_down);
  scenario.protocol.probe_interval_ps = kPsPerUs;
  scenario.protocol.unanswered_probes = 1;
  scenario.protocol.probe_timeout_ps = 5 * kPsPerUs;
  const std::uint64_t often = with("rotation").packets.control;
  scenario.protocol.probe_timeout_ps = 500 * kPsPerUs;
  EXPECT_GT(often, with("rotation").packets.control + 200);
}

INSTANTIATE_TEST_SUITE_P(Seeds, PathPolicyRun, testing::Values(1, 2));

}  // namespace
}  // namespace mrc
