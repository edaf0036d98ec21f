#include "node/port_status_agent.h"

#include "box_bench.h"

namespace mrc::box_test {
namespace {

constexpr TimePs kUs = 1000 * kNs;
constexpr std::uint32_t kQps = 40;
constexpr TimePs kTimeout = 20 * kUs;

ScenarioConfig port_status_agent_config() {
  ScenarioConfig scenario = small_nic();
  auto& port = scenario.node_default.nic.port;
  port.down_detect_us = 10;
  port.remap_time_us = 5;
  port.remap_cycles_per_qp = 16;
  scenario.protocol.probe_timeout_ps = kTimeout;
  return scenario;
}

/// Not a box: whoever has a timer drives it. It has no queue; a request that finds no room at a port is repeated.
struct PortStatusAgentTest : testing::Test {
  Bench bench{port_status_agent_config(), kQps};
  PortStatusAgent agent{bench.nic};
  std::vector<TimePs> requests;

  void SetUp() override { agent.set_darkness({{.port = 1, .span = {100 * kUs, kNever}}}); }
  void run(TimePs end) {
    while (agent.next() < end) {
      const TimePs now = agent.next();
      agent.due(now, [&](Qp&, const Packet& packet) {
        EXPECT_EQ(packet.endpoint.port_status_mask, 0b01U);
        requests.push_back(now);
      });
    }
  }
};

TEST_F(PortStatusAgentTest, APortIsSeenDownWhenItWasDarkForLongEnough) {
  run(110 * kUs);
  EXPECT_EQ(bench.nic.ports_up & 0b11U, 0b11U);
  run(110 * kUs + 1);
  EXPECT_EQ(bench.nic.ports_up & 0b11U, 0b01U);
}

TEST_F(PortStatusAgentTest, TheWalkTakesCyclesPerQpBeforePeersAreTold) {
  run(115 * kUs);
  EXPECT_TRUE(bench.nic.qps[0].paths->has_good(0b10));
  run(115 * kUs + 1);
  // The first 32 QPs are one step of the walk.
  EXPECT_FALSE(bench.nic.qps[31].paths->has_good(0b10));
  EXPECT_TRUE(bench.nic.qps[32].paths->has_good(0b10));
  EXPECT_TRUE(requests.empty());
  run(120 * kUs);
  EXPECT_FALSE(bench.nic.qps[kQps - 1].paths->has_good(0b10));
  EXPECT_EQ(requests, std::vector<TimePs>{115 * kUs + kQps * 16 * kNs});
}

TEST_F(PortStatusAgentTest, ARequestIsSentAgainUntilItIsAnswered) {
  run(160 * kUs);
  EXPECT_EQ(requests, times(115 * kUs + kQps * 16 * kNs, kTimeout, 3));
  Packet answer;
  answer.source_node = 1;
  answer.endpoint = {.port_status_mask = 0b01, .request_id = 0, .op = EndpointOp::port_status_update};
  agent.update_answered(160 * kUs, answer);
  EXPECT_EQ(agent.next(), kNever);
}

}  // namespace
}  // namespace mrc::box_test
