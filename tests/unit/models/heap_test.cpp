// In steady state a packet allocates nothing: operator new is counted, and read at the steps of the run's series, once
// pools, rings and queues have their sizes. Building the model and writing results are outside.
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <ostream>

#include "bench/counted_heap.h"
#include "simulation/simulation.h"

namespace mrc {
namespace {

struct Reading {
  double share = 0;
  std::uint64_t allocations = 0;
};

struct Case {
  const char* name;
  void (*set)(ScenarioConfig&);
  std::uint32_t nics;
  std::uint32_t messages;  ///< of a NIC, 1 MiB each, to the NIC half of them further
  friend void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }
};

Workload shifted(const Case& of) {
  Workload workload;
  workload.ranks = of.nics;
  workload.source = "test";
  for (std::uint32_t i = 0; i < of.messages * of.nics; ++i) {
    WorkNode node;
    node.kind = WorkKind::send;
    node.rank = i % of.nics;
    node.peer = (node.rank + of.nics / 2) % of.nics;
    node.bytes = 1 << 20;
    node.origin = i;
    workload.nodes.push_back(node);
  }
  return workload;
}

class Heap : public ::testing::TestWithParam<Case> {};

TEST_P(Heap, IsNotAskedForAnythingByAPacketInSteadyState) {
  ScenarioConfig scenario;
  scenario.name = "test";
  scenario.fabric.nics = GetParam().nics;
  GetParam().set(scenario);
  std::vector<NodeId> nics;
  for (NodeId id = 0; id < GetParam().nics; ++id) nics.push_back(id);
  std::vector<Reading> readings;
  readings.reserve(100'000);
  SimulationOptions options;
  options.progress = [&](const Progress& progress) { readings.push_back({progress.share, heap_allocations()}); };
  const Workload workload = shifted(GetParam());
  Simulation simulation(scenario, workload, nics, std::move(options));
  const std::atomic<bool> interrupted{false};
  const RunResult result = simulation.run(interrupted);
  ASSERT_EQ(result.status, RunStatus::complete) << (result.details.empty() ? "" : result.details.front());
  // Vectors of the series, a value a step, double when the steps are a power of two: no packet's doing.
  double share = 0;
  std::uint64_t asked = 0;
  std::uint64_t steps = 0;
  std::uint64_t steps_with_any = 0;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    if (readings[i - 1].share < 0.7 || readings[i].share > 0.98 || std::has_single_bit(i)) continue;
    const std::uint64_t in_step = readings[i].allocations - readings[i - 1].allocations;
    share += readings[i].share - readings[i - 1].share;
    asked += in_step;
    ++steps;
    steps_with_any += in_step > 0 ? 1 : 0;
  }
  const double packets = share * static_cast<double>(result.packets.sent);
  ASSERT_GT(packets, 5'000);
  ASSERT_GT(steps, 50U);
  // What is kept of each message doubles now and then, and a list may still find its largest size. What every hundredth
  // packet asked for would be five times as much.
  EXPECT_LE(static_cast<double>(asked), packets / 500) << "in " << packets << " packets";
  EXPECT_LE(steps_with_any, steps / 3);
}

void detailed(ScenarioConfig&) {}
void by_reference(ScenarioConfig& scenario) {
  scenario.node_default.host.payload = PayloadMode::reference;
}
void light(ScenarioConfig& scenario) {
  scenario.node_default.fidelity = Fidelity::endpoint;
  scenario.fabric.nics_per_t0 = 4;
  scenario.fabric.t1s_per_plane = 4;
}
void lossy(ScenarioConfig& scenario) {
  light(scenario);
  scenario.fabric.trim_rate = 0.01;
  scenario.fabric.ecn_rate = 0.02;
}

INSTANTIATE_TEST_SUITE_P(In, Heap,
                         ::testing::Values(Case{"Detailed", detailed, 2, 64},
                                           Case{"DetailedByReference", by_reference, 2, 64},
                                           Case{"Light", light, 16, 64}, Case{"LightWithTrimsAndMarks", lossy, 16, 64}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace mrc
