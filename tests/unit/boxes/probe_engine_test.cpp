#include "nic/control/probe_engine.h"

#include "box_bench.h"

namespace mrc::box_test {
namespace {

constexpr TimePs kRoundTrip = 8000 * kNs;
constexpr TimePs kTimeout = 20'000 * kNs;

ScenarioConfig probe_engine_config() {
  ScenarioConfig scenario = small_nic(&NicConfig::probe_engine);
  scenario.node_default.nic.probe_engine.outstanding_probes = 1;
  scenario.cc.base_rtt_ps = kRoundTrip;
  scenario.protocol.probe_timeout_ps = kTimeout;
  scenario.protocol.ev_probe_bytes = 0;
  return scenario;
}

/// The box has no issue slot: a probe that finds no room is dropped and comes with the next turn.
struct ProbeEngineTest : testing::Test {
  Bench bench{probe_engine_config(), 1};
  Fifo<Packet*> port0 = queue<Packet*>("port0.control_fifo", 2);
  Fifo<Packet*> port1 = queue<Packet*>("port1.control_fifo", 2);
  timing::ProbeEngine box{"probe_engine", bench.wheel, bench.nic, {&port0, &port1}};

  std::size_t probes() const { return port0.size() + port1.size(); }
  void data_received(TimePs now) { box.data_received(now, bench.nic.qps[0], data, false); }

  Packet data;
};

TEST_F(ProbeEngineTest, LatencyUntilTheProbeIsAtAPort) {
  Taker<Packet*> first("first", bench.wheel, port0, kNever);
  Taker<Packet*> second("second", bench.wheel, port1, kNever);
  data_received(100 * kNs);
  ASSERT_EQ(probes(), 1U);
  EXPECT_EQ((port0.empty() ? port1 : port0).ready_at(), 107 * kNs);
  EXPECT_EQ(buffer(box, "probe_engine.outstanding").level(), 1U);
}

TEST_F(ProbeEngineTest, OneEvProbePerRoundTrip) {
  Taker<Packet*> first("first", bench.wheel, port0);
  Taker<Packet*> second("second", bench.wheel, port1);
  std::vector<std::unique_ptr<At>> received;
  for (int i = 0; i < 10; ++i) {
    received.push_back(std::make_unique<At>(fmt::format("received{}", i).c_str(), bench.wheel, i * kRoundTrip / 2,
                                            [&](TimePs now) { data_received(now); }));
  }
  bench.run_until(kTimeout);
  // One is outstanding until its timeout: the token is what holds the next ones up.
  EXPECT_EQ(first.times.size() + second.times.size(), 1U);
  bench.run_until(5 * kRoundTrip);
  EXPECT_EQ(first.times.size() + second.times.size(), 2U);
}

TEST_F(ProbeEngineTest, WithoutRoomAtThePortNothingIsSent) {
  Taker<Packet*> first("first", bench.wheel, port0, kNever);
  Taker<Packet*> second("second", bench.wheel, port1, kNever);
  for (Fifo<Packet*>* port : {&port0, &port1}) {
    while (!port->full()) port->push(0, bench.packet(Opcode::sack), 0);
  }
  data_received(100 * kNs);
  EXPECT_EQ(buffer(box, "probe_engine.outstanding").level(), 0U);
}

TEST_F(ProbeEngineTest, AnEvThatLosesIsProbed) {
  Taker<Packet*> first("first", bench.wheel, port0);
  Taker<Packet*> second("second", bench.wheel, port1);
  auto& paths = *bench.nic.qps[0].paths;
  paths.report(0, PathEvent::lost, 0);
  ASSERT_NE(paths.next_probe_time(), kNever);
  const TimePs due = paths.next_probe_time();
  box.update(0, 0);
  bench.run_until(due + 100 * kNs);
  ASSERT_EQ(first.times.size() + second.times.size(), 1U);
  EXPECT_EQ(first.times.empty() ? second.times[0] : first.times[0], due + 7 * kNs);
}

}  // namespace
}  // namespace mrc::box_test
