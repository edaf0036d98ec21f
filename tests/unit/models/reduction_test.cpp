// All-reduces in switches without a trace: trees of every topology, and runs whose bytes and times are closed forms. A
// run each test: the SystemC kernel is elaborated once a process.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "fabric/reduction_tree.h"
#include "fabric/switch_reduction.h"
#include "parameters/scenario.h"
#include "simulation/simulation.h"

namespace mrc {
namespace {

/// `nics` light endpoints with `planes` ports of 100 Gb/s, without latencies of hosts.
ScenarioConfig light(std::uint32_t nics, std::uint32_t nics_per_t0, std::uint32_t planes = 2) {
  ScenarioConfig scenario;
  scenario.name = "test";
  scenario.node_default.fidelity = Fidelity::endpoint;
  scenario.node_default.nic.ports = planes;
  scenario.fabric.nics = nics;
  scenario.fabric.nics_per_t0 = nics_per_t0;
  scenario.traffic.collective.all_reduce = AllReduceAlgorithm::in_network;
  return scenario;
}

/// `count` all-reduces of all ranks, which wait for nothing.
Workload all_reduces(std::uint32_t ranks, std::uint64_t bytes, std::uint32_t count = 1) {
  Workload workload;
  workload.ranks = ranks;
  workload.source = "test";
  workload.groups.emplace_back();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) workload.groups[0].ranks.push_back(rank);
  for (std::uint32_t i = 0; i < count; ++i) {
    workload.reductions.push_back({bytes, 0, 0});
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      WorkNode node;
      node.kind = WorkKind::reduction;
      node.rank = rank;
      node.bytes = bytes;
      node.match = i;
      workload.nodes.push_back(node);
    }
  }
  return workload;
}

RunResult play(const ScenarioConfig& scenario, const Workload& workload) {
  std::vector<NodeId> nics(workload.ranks);
  for (NodeId id = 0; id < nics.size(); ++id) nics[id] = id;
  Simulation simulation(scenario, workload, nics, {});
  const std::atomic<bool> interrupted{false};
  return simulation.run(interrupted);
}

void expect_complete(const RunResult& result, const Workload& workload) {
  EXPECT_EQ(result.status, RunStatus::complete) << (result.details.empty() ? "" : result.details.front());
  EXPECT_EQ(result.messages.completed, workload.nodes.size());
  EXPECT_EQ(result.bytes.delivered, workload.bytes());
  EXPECT_EQ(result.bytes.corrupted, 0U);
  for (const AccountResult& account : result.accounts)
    EXPECT_EQ(account.in, account.out + account.lost + account.held) << account.part;
}

RunResult play_to_end(const ScenarioConfig& scenario, const Workload& workload) {
  RunResult result = play(scenario, workload);
  expect_complete(result, workload);
  return result;
}

std::string refusal(const ScenarioConfig& scenario, const Workload& workload) {
  try {
    play(scenario, workload);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(ReductionTree, HasEachNicOnceAndOneRoot) {
  for (const std::uint32_t pods : {1U, 4U}) {
    ScenarioConfig scenario = light(64, 4);
    scenario.fabric.pods = pods;
    if (pods > 1) scenario.fabric.routing = FabricRouting::ecmp;
    const Topology topology(scenario);
    for (std::uint32_t number = 0; number < 9; ++number) {
      for (const auto& nics :
           {std::vector<NodeId>{0, 1, 2}, std::vector<NodeId>{3, 9, 17, 63}, std::vector<NodeId>{0, 5, 7}}) {
        const auto tree = make_reduction_tree(topology, nics, 1, number);
        std::set<NodeId> found;
        std::set<std::uint32_t> parents;
        for (const ReductionTreeSwitch& here : tree) {
          ASSERT_EQ(here.from_children.size(), here.to_children.size());
          for (std::size_t i = 0; i < here.from_children.size(); ++i) {
            const LinkInfo& up = topology.links()[here.from_children[i]];
            const LinkInfo& down = topology.links()[here.to_children[i]];
            EXPECT_EQ(up.to, here.at);
            EXPECT_EQ(down.from, here.at);
            EXPECT_EQ(up.plane, 1);
            if (up.first_hop()) {
              EXPECT_EQ(up.node, down.node);
              EXPECT_TRUE(found.insert(up.node).second);
            } else {
              EXPECT_EQ(up.from, down.to);
              EXPECT_TRUE(parents.insert(up.from).second) << "a switch with two parents";
            }
          }
        }
        EXPECT_EQ(found, std::set<NodeId>(nics.begin(), nics.end()));
        EXPECT_EQ(parents.size() + 1, tree.size()) << "all but the root have a parent";
        EXPECT_EQ(tree.back().up, Topology::kNoLink);
      }
    }
  }
}

TEST(ReductionTree, GroupsOfAPlaneHaveDifferentT1s) {
  const Topology topology(light(32, 8, 8));
  for (std::uint32_t plane = 0; plane < 8; ++plane) {
    std::set<std::uint32_t> roots;
    for (std::uint32_t group = 0; group < 4; ++group)
      roots.insert(make_reduction_tree(topology, {group, group + 8}, plane, group + plane).back().at);
    EXPECT_EQ(roots.size(), 4U) << "plane " << plane;
  }
}

TEST(ReductionTree, GroupsOverPodsTakeAllT1sAndTheT2sOfEach) {
  ScenarioConfig scenario = light(64, 4, 1);
  scenario.fabric.pods = 4;
  scenario.fabric.routing = FabricRouting::ecmp;
  const Topology topology(scenario);
  std::set<std::uint32_t> roots;
  std::set<std::uint32_t> t1s;
  for (std::uint32_t number = 0; number < 16; ++number) {
    const auto tree = make_reduction_tree(topology, {0, 16}, 0, number);
    ASSERT_EQ(tree.size(), 5U) << "two T0s, two T1s and a T2";
    roots.insert(tree.back().at);
    for (std::size_t i = 2; i < 4; ++i) t1s.insert(tree[i].at);
  }
  EXPECT_EQ(t1s.size(), 2U * 4);
  EXPECT_EQ(roots.size(), 16U) << "each of four T1s has four T2s of its own";
}

TEST(Reduction, TreesOfGroupsAreOnDifferentT1s) {
  const ScenarioConfig scenario = light(16, 4, 4);
  Workload workload = all_reduces(16, 1 << 18);
  // Three more groups of the same ranks, as of other jobs.
  for (std::uint32_t group = 1; group < 4; ++group) {
    workload.groups.push_back(workload.groups[0]);
    workload.reductions.push_back({1 << 18, group, 0});
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      workload.nodes.push_back(workload.nodes[rank]);
      workload.nodes.back().match = group;
    }
  }
  const RunResult result = play_to_end(scenario, workload);
  EXPECT_EQ(result.reduction.switches, 4U * (4 + 4)) << "all four T1s of each plane";
}

TEST(Reduction, MovesTheBufferOverEachLinkOfTheTreeOnceUpAndOnceDown) {
  constexpr std::uint64_t bytes = 1 << 20;
  const ScenarioConfig scenario = light(32, 8);
  const Workload workload = all_reduces(32, bytes);
  const RunResult result = play_to_end(scenario, workload);
  EXPECT_EQ(result.packets.sent, 32 * bytes / 4096);
  EXPECT_EQ(result.packets.retransmitted, 0U);
  EXPECT_EQ(result.reduction.switches, 2U * 5) << "four T0s and a T1 in each plane";
  EXPECT_EQ(result.reduction.added, (32 + 4) * bytes / 4096) << "NICs at T0s, T0s at the T1";
  EXPECT_EQ(result.reduction.duplicates, 0U);
  // 128 packets of 4,096 B and 166 B of headers in each plane.
  constexpr std::uint64_t link_bytes = 128 * 4262;
  std::size_t ports = 0;
  for (const SwitchPortResult& port : result.switch_ports) {
    EXPECT_EQ(port.bytes, link_bytes) << port.port;
    ++ports;
  }
  EXPECT_EQ(ports, 2U * (32 + 4 + 4)) << "down to NICs, up to the T1, down from it";
}

/// Of a packet from a NIC to the root of one T0 and back without a queue, with what is done at both ends.
double round_trip_us(const ScenarioConfig& scenario, std::uint32_t packet_bytes) {
  const double serialization_ns = packet_bytes * 8.0 / scenario.node_default.nic.port_gbps;
  const double mac_ns = scenario.node_default.nic.port.mac_fec_latency_ns;
  // The switch adds when the last bit is there; the result is serialized once more.
  const double way_ns = scenario.fabric.cable_delay_ns + mac_ns + serialization_ns;
  return (2 * way_ns + scenario.fabric.switch_latency_ns + scenario.fabric.reduction.adder_latency_ns) / 1000;
}

double host_us(const ScenarioConfig& scenario) {
  const NodeConfig& node = scenario.node_default;
  return (node.host.post_ns + node.host.doorbell_ns + 2 * node.pcie.read_latency_mean_ns + node.pcie.write_latency_ns +
          node.host.poll_ns + node.host.residual_ns) /
         1000;
}

TEST(Reduction, TakesItsBytesAtLineRateAndOneRoundTrip) {
  constexpr std::uint64_t bytes = 4 << 20;
  const ScenarioConfig scenario = light(8, 8);
  const Workload workload = all_reduces(8, bytes);
  const RunResult result = play_to_end(scenario, workload);
  const double packets_a_plane = bytes / 4096 / 2;
  const double line_us = (packets_a_plane - 1) * 4262 * 8 / 100e3;
  const double expected = host_us(scenario) + line_us + round_trip_us(scenario, 4262);
  EXPECT_NEAR(result.simulated_time_us, expected, 0.001 * expected);
}

class FewSlots : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(FewSlots, BoundTheRateToTheirBytesInARoundTrip) {
  constexpr std::uint64_t bytes = 4 << 20;
  const std::uint32_t slots = GetParam();
  ScenarioConfig scenario = light(8, 8);
  scenario.fabric.reduction.slots = slots;
  const Workload workload = all_reduces(8, bytes);
  const RunResult result = play_to_end(scenario, workload);
  // In each of two planes a window of packets is sent one behind the other, and the first of the next follows the
  // first result.
  const double windows = static_cast<double>(bytes) / 4096 / 2 / slots;
  const double expected = host_us(scenario) + windows * round_trip_us(scenario, 4262) + (slots - 1) * 4262 * 8 / 100e3;
  EXPECT_NEAR(result.simulated_time_us, expected, 0.001 * expected);
  EXPECT_EQ(result.reduction.memory_bytes, slots * 2 * 4096U);
  EXPECT_LE(result.reduction.most_slots_adding, slots);
  ASSERT_FALSE(result.limits.empty());
  EXPECT_EQ(result.limits.front().cause, "reduction.slots");
  EXPECT_EQ(result.limits.front().relieved_by.front(), "fabric.reduction.slots");
}

INSTANTIATE_TEST_SUITE_P(Reduction, FewSlots, ::testing::Values(1U, 2U, 4U));

TEST(Reduction, ASlowAdderIsTheServerThatLimits) {
  constexpr std::uint64_t bytes = 4 << 20;
  ScenarioConfig scenario = light(8, 8);
  scenario.fabric.reduction.adder_gbps = 400;   // eight children bring 800 Gb/s in each plane
  scenario.fabric.reduction.timeout_us = 1000;  // 256 slots of eight packets wait for it for 168 us
  const Workload workload = all_reduces(8, bytes);
  const RunResult result = play_to_end(scenario, workload);
  const double adding_us = 8.0 * bytes / 2 * 8 / 400e3;
  EXPECT_NEAR(result.simulated_time_us, adding_us, 0.03 * adding_us);
  EXPECT_GT(result.reduction.busiest_adder_share, 0.95);
  ASSERT_FALSE(result.limits.empty());
  EXPECT_EQ(result.limits.front().cause, "reduction.adder");
  EXPECT_EQ(result.limits.front().relieved_by.front(), "fabric.reduction.adder_gbps");
}

class BesideASend : public ::testing::TestWithParam<std::tuple<std::string, std::uint32_t>> {};

TEST_P(BesideASend, EachHasHalfOfTheNicsPorts) {
  constexpr std::uint64_t bytes = 8 << 20;
  const auto& [transport, planes] = GetParam();
  ScenarioConfig scenario = light(8, 8, planes);
  scenario.node_default.transport = transport;
  scenario.rocev2.pfc = false;
  Workload workload = all_reduces(4, bytes);
  // NIC 0 also sends to NIC 4, which has no part in the all-reduce.
  workload.ranks = 5;
  WorkNode& send = workload.nodes.emplace_back();
  send.kind = WorkKind::send;
  send.rank = 0;
  send.peer = 4;
  send.bytes = bytes;
  const RunResult result = play_to_end(scenario, workload);
  ASSERT_EQ(result.all_messages.size(), 5U);
  const double line_us = static_cast<double>(bytes) / 4096 * 4262 * 8 / (100e3 * planes);
  for (const MessageRecord& message : result.all_messages) {
    const double time_us = static_cast<double>(message.completed - message.posted) / kPsPerUs;
    EXPECT_NEAR(time_us, 2 * line_us, 0.05 * 2 * line_us) << "nic" << message.from << " to nic" << message.to;
  }
}

INSTANTIATE_TEST_SUITE_P(Reduction, BesideASend,
                         ::testing::Values(std::tuple("mrc", 1), std::tuple("mrc", 4), std::tuple("uet", 4),
                                           std::tuple("rocev2", 1)));

TEST(Reduction, IsExactUnderLossCorruptionAndRepetition) {
  ScenarioConfig scenario = light(24, 8);
  scenario.fabric.loss_rate = 0.02;
  scenario.fabric.corrupt_rate = 0.01;
  scenario.fabric.duplicate_rate = 0.02;
  scenario.fabric.bit_error_rate = 1e-7;  // on every link, both ways
  scenario.fabric.reduction.timeout_us = 20;
  const Workload workload = all_reduces(24, 300'001, 4);
  const RunResult result = play_to_end(scenario, workload);
  EXPECT_GT(result.packets.retransmitted, 100U);
  EXPECT_EQ(result.reduction.timeouts, result.packets.retransmitted);
  EXPECT_GT(result.reduction.duplicates, 100U);
  EXPECT_GT(result.reduction.retransmitted_results, 0U);
  EXPECT_GT(result.reduction.retransmitted_sums, 0U);
  // Each packet of each child once, whatever was sent: 74 packets for each of 4 reductions.
  EXPECT_EQ(result.reduction.added, 4U * 74 * (24 + 3));
}

/// Eight NICs below two T0s; `link` is down from 20 us on.
ScenarioConfig with_link_down(const char* link, double for_us) {
  ScenarioConfig scenario = light(8, 4);
  FaultConfig& fault = scenario.faults.emplace_back();
  fault.where = link;
  fault.at_us = 20;
  fault.for_us = for_us;
  return scenario;
}

TEST(Reduction, OutlastsALinkThatIsDownForAWhile) {
  const RunResult result = play_to_end(with_link_down("plane0.t0.0.up0", 300), all_reduces(8, 4 << 20));
  EXPECT_GT(result.simulated_time_us, 320);
  EXPECT_GT(result.packets.retransmitted, 0U);
}

TEST(Reduction, AFaultsFirstLossIsFoundAgain) {
  const ScenarioConfig scenario = with_link_down("plane1.t0.0.up1", 50);
  const RunResult result = play_to_end(scenario, all_reduces(8, 4 << 20));
  std::size_t found = 0;
  for (const EventResult& event : result.events) {
    if (event.what != "retransmission.first") continue;
    ++found;
    // The first packet that is lost was sent about a microsecond before the fault, where its timeout begins.
    EXPECT_NEAR(event.time_us, 20 + scenario.fabric.reduction.timeout_us, 2) << event.effect;
  }
  EXPECT_EQ(found, 1U);
}

TEST(Reduction, CountsAmongTheMessagesOfItsTenantAndClass) {
  ScenarioConfig scenario = light(4, 4);
  scenario.traffic.tenants.separate = true;
  scenario.traffic.classes.count = 2;
  const Workload workload = all_reduces(4, 1 << 20, 3);
  const RunResult result = play_to_end(scenario, workload);
  EXPECT_EQ(result.all_messages.size(), 12U);
  ASSERT_EQ(result.tenants.size(), 1U);
  ASSERT_EQ(result.classes.size(), 1U);
  for (const ShareResult& share : {result.tenants.front(), result.classes.front()}) {
    EXPECT_EQ(share.number, 0U);
    EXPECT_EQ(share.messages, 12U);
    EXPECT_EQ(share.completed_bytes, 12U << 20);
  }
}

TEST(Reduction, EndsEarlyOnceItsRateIsKnown) {
  ScenarioConfig scenario = light(4, 4);
  scenario.run.stop_within_percent = 1;
  const RunResult result = play(scenario, all_reduces(4, 64 << 20));
  EXPECT_EQ(result.status, RunStatus::known);
  EXPECT_LT(result.early_stop.bytes_share, 0.7);
  EXPECT_NEAR(result.early_stop.goodput_gbps, 200.0 * 4096 / 4262, 2);
}

TEST(Reduction, RefusesWhatItDoesNotKnow) {
  const Workload workload = all_reduces(4, 1 << 20);
  ScenarioConfig detailed = light(4, 4);
  detailed.node_override[2] = detailed.node_default;
  detailed.node_override[2].fidelity = Fidelity::detailed;
  EXPECT_NE(refusal(detailed, workload).find("nic2 is a detailed NIC"), std::string::npos);
}

TEST(Reduction, RefusesMoreTreesThanSlots) {
  ScenarioConfig scenario = light(4, 4);
  scenario.fabric.reduction.slots = 1;
  Workload workload = all_reduces(4, 1 << 20);
  // Another group of the same ranks, as of another job.
  workload.groups.push_back(workload.groups[0]);
  workload.reductions.push_back({1 << 20, 1, 0});
  EXPECT_NE(
      refusal(scenario, workload)
          .find("fabric.reduction.slots = 1: 2 trees of all-reduces lead through plane0.t0.0; allowed: 2 or more"),
      std::string::npos);
}

}  // namespace
}  // namespace mrc
