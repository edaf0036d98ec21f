// Work that comes while a run goes on, against the same work known before the run.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "host/live_work.h"
#include "simulation/simulation.h"

namespace mrc {
namespace {

constexpr std::uint32_t kRanks = 2;
constexpr std::uint32_t kTurns = 6;
constexpr std::uint64_t kBytes = 40'000;
constexpr TimePs kPause = 700'000;

ScenarioConfig scenario_of(Fidelity fidelity) {
  ScenarioConfig scenario;
  scenario.name = "test";
  scenario.node_default.fidelity = fidelity;
  return scenario;
}

Workload no_work() {
  Workload workload;
  workload.ranks = kRanks;
  workload.source = "test";
  return workload;
}

RunResult play(const ScenarioConfig& scenario, const Workload& workload) {
  Simulation simulation(scenario, workload, {0, 1}, {});
  const std::atomic<bool> interrupted{false};
  return simulation.run(interrupted);
}

/// Rank 0 begins, and each answers kPause after it has got a message. Receivers name the messages of even turns first,
/// senders the others.
class PingPong : public LiveSoftware {
 public:
  explicit PingPong(Workload& workload) : workload_(workload), live_(workload, *this) {}

  RunResult run(const ScenarioConfig& scenario) {
    SimulationOptions options;
    options.live = &live_;
    Simulation simulation(scenario, workload_, {0, 1}, std::move(options));
    live_.call_at(1, 0, 0);
    live_.call_at(0, kPause, 0);
    const std::atomic<bool> interrupted{false};
    return simulation.run(interrupted);
  }

  void called(TimePs now, std::uint32_t turn) override {
    if (now == 0) return ask_for(now, turn);
    live_.begin(now, message(turn));
    if (turn + 1 < kTurns) ask_for(now, turn + 1);
  }

  void done(TimePs now, std::uint32_t work) override {
    const WorkNode node = workload_.nodes[work];
    if (node.kind == WorkKind::receive && node.tag + 1 < kTurns) {
      live_.call_at(node.rank, now + kPause, node.tag + 1);
    }
    if (++done_[node.rank] == kTurns) live_.close(now, node.rank);
  }

 private:
  void ask_for(TimePs now, std::uint32_t turn) { live_.begin(now, message(turn) + 1); }
  std::uint32_t message(std::uint32_t turn) {
    if (turn == messages_.size()) {
      messages_.push_back(live_.add({.from = turn % kRanks, .to = 1 - turn % kRanks, .bytes = kBytes, .tag = turn}));
    }
    return messages_[turn];
  }

  Workload& workload_;
  LiveWork live_;
  std::vector<std::uint32_t> messages_;  ///< by turn, their sends
  std::array<std::uint32_t, kRanks> done_{};
};

/// Node `turn` * 3: the pause before the message; then its send and its receive.
Workload known_ping_pong() {
  Workload workload = no_work();
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
    WorkNode pause;
    pause.kind = WorkKind::compute;
    pause.duration = kPause;
    pause.rank = turn % kRanks;
    pause.dependencies = turn > 0 ? 1 : 0;
    pause.dependents = 1;
    WorkNode send;
    send.kind = WorkKind::send;
    send.rank = pause.rank;
    send.peer = 1 - pause.rank;
    send.bytes = kBytes;
    send.match = 3 * turn + 2;
    send.dependencies = 1;
    WorkNode receive = send;
    receive.kind = WorkKind::receive;
    std::swap(receive.rank, receive.peer);
    receive.match = 3 * turn + 1;
    receive.dependencies = 0;
    receive.dependents = turn + 1 < kTurns ? 1 : 0;
    pause.first_dependent = 2 * turn;
    receive.first_dependent = 2 * turn + 1;
    workload.dependents.insert(workload.dependents.end(), {3 * turn + 1, 3 * turn + 3});
    workload.nodes.insert(workload.nodes.end(), {pause, send, receive});
  }
  return workload;
}

/// In a process of its own: the SystemC kernel is elaborated once a process.
double end_of_known_run_us(Fidelity fidelity) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const double end = play(scenario_of(fidelity), known_ping_pong()).simulated_time_us;
    _exit(write(ends[1], &end, sizeof end) == sizeof end ? 0 : 1);
  }
  double end = 0;
  EXPECT_EQ(read(ends[0], &end, sizeof end), static_cast<ssize_t>(sizeof end));
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return end;
}

void expect_the_end_of_known_work(Fidelity fidelity) {
  const double known_us = end_of_known_run_us(fidelity);
  Workload workload = no_work();
  PingPong software(workload);
  const RunResult result = software.run(scenario_of(fidelity));
  EXPECT_EQ(result.status, RunStatus::complete) << (result.details.empty() ? "" : result.details.front());
  EXPECT_EQ(result.messages.count, kTurns);
  EXPECT_EQ(result.messages.completed, kTurns);
  EXPECT_EQ(result.bytes.delivered, kTurns * kBytes);
  EXPECT_EQ(result.bytes.corrupted, 0U);
  EXPECT_GT(known_us, 6 * 0.7);
  EXPECT_DOUBLE_EQ(result.simulated_time_us, known_us);
}

TEST(LiveWork, EndsWhenKnownWorkDoesOnDetailedNics) {
  expect_the_end_of_known_work(Fidelity::detailed);
}

TEST(LiveWork, EndsWhenKnownWorkDoesOnLightEndpoints) {
  expect_the_end_of_known_work(Fidelity::endpoint);
}

TEST(LiveWork, ARankThatWaitsForeverStallsTheRun) {
  /// Asks for a message that nobody sends.
  class Waits : public LiveSoftware {
   public:
    explicit Waits(Workload& workload) : live(workload, *this) {}
    void called(TimePs now, std::uint32_t rank) override {
      if (rank == 0) return live.close(now, rank);
      live.begin(now, live.add({.from = 0, .to = 1, .bytes = kBytes, .tag = 7}) + 1);
    }
    void done(TimePs, std::uint32_t) override {}
    LiveWork live;
  };
  Workload workload = no_work();
  Waits software(workload);
  SimulationOptions options;
  options.live = &software.live;
  const ScenarioConfig scenario = scenario_of(Fidelity::endpoint);
  Simulation simulation(scenario, workload, {0, 1}, std::move(options));
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) software.live.call_at(rank, 0, rank);
  const std::atomic<bool> interrupted{false};
  const RunResult result = simulation.run(interrupted);
  EXPECT_EQ(result.status, RunStatus::stalled);
  bool named = false;
  for (const std::string& line : result.details)
    named |= line.find("receive of 40000 B from rank 0") != std::string::npos;
  EXPECT_TRUE(named);
}

}  // namespace
}  // namespace mrc
