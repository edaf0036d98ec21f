// Little's law on every buffer: the mean level that the buffer itself integrates over time against arrivals times mean
// sojourn, taken from the times at which each piece came and went.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <ostream>

#include "simulation/simulation.h"

namespace mrc {
namespace {

/// Follows each piece through a buffer, oldest out first. Which piece leaves does not matter to the mean sojourn.
class SojournMeter : public LevelObserver {
 public:
  SojournMeter(std::string node, const Occupancy& buffer) : name_(node + "." + buffer.name()), buffer_(buffer) {}

  void entered(TimePs at, std::uint64_t amount) override {
    arrived_ += amount;
    last_ = std::max(last_, at);
    inside_.push_back({at, amount});
  }
  void left(TimePs at, std::uint64_t amount) override {
    last_ = std::max(last_, at);
    while (amount > 0) {
      ASSERT_FALSE(inside_.empty()) << name_ << ": more left than came";
      const std::uint64_t piece = std::min(amount, inside_.front().amount);
      sojourn_ += static_cast<double>(piece) * (static_cast<double>(at) - static_cast<double>(inside_.front().since));
      inside_.front().amount -= piece;
      amount -= piece;
      if (inside_.front().amount == 0) inside_.pop_front();
    }
  }
  /// Arrivals per time, times mean sojourn, up to the time until which the buffer's own mean reaches.
  double expected_mean(TimePs end) const {
    const double until = static_cast<double>(std::max(end, last_));
    double sum = sojourn_;
    for (const Piece& piece : inside_)
      sum += static_cast<double>(piece.amount) * (until - static_cast<double>(piece.since));
    const double rate = static_cast<double>(arrived_) / until;
    return arrived_ == 0 ? 0 : rate * (sum / static_cast<double>(arrived_));
  }
  std::uint64_t arrived() const { return arrived_; }
  std::uint64_t inside() const {
    std::uint64_t sum = 0;
    for (const Piece& piece : inside_) sum += piece.amount;
    return sum;
  }
  const std::string& name() const { return name_; }
  const Occupancy& buffer() const { return buffer_; }

 private:
  struct Piece {
    TimePs since;
    std::uint64_t amount;
  };
  std::string name_;
  const Occupancy& buffer_;
  std::deque<Piece> inside_;
  std::uint64_t arrived_ = 0;
  double sojourn_ = 0;  ///< of what has left: amount times time
  TimePs last_ = 0;
};

struct Case {
  const char* name;
  void (*set)(ScenarioConfig&);
  std::uint32_t messages;
  std::uint64_t bytes;
  bool both_ways;
  friend void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }
};
class Little : public ::testing::TestWithParam<Case> {};

TEST_P(Little, MeanIsArrivalRateTimesSojournInEveryBuffer) {
  ScenarioConfig scenario;
  scenario.name = "test";
  GetParam().set(scenario);
  Workload workload;
  workload.ranks = 2;
  workload.source = "test";
  for (std::uint32_t i = 0; i < GetParam().messages; ++i) {
    WorkNode node;
    node.kind = WorkKind::send;
    node.rank = GetParam().both_ways ? i % 2 : 0;
    node.peer = 1 - node.rank;
    node.bytes = GetParam().bytes;
    workload.nodes.push_back(node);
  }
  std::vector<std::unique_ptr<SojournMeter>> meters;
  SimulationOptions options;
  options.observe_buffer = [&](const std::string& node, const Occupancy& buffer) {
    meters.push_back(std::make_unique<SojournMeter>(node, buffer));
    return meters.back().get();
  };
  Simulation simulation(scenario, workload, {0, 1}, std::move(options));
  const std::atomic<bool> interrupted{false};
  const RunResult result = simulation.run(interrupted);
  ASSERT_TRUE(result.status == RunStatus::complete || result.status == RunStatus::partial) << result.details.front();
  const auto end = static_cast<TimePs>(result.simulated_time_us * 1e6 + 0.5);
  std::size_t used = 0;
  ASSERT_EQ(meters.size(), result.buffers.size());
  for (std::size_t i = 0; i < meters.size(); ++i) {
    const SojournMeter& meter = *meters[i];
    const double mean = result.buffers[i].mean;
    ASSERT_EQ(meter.name(), result.buffers[i].node + "." + result.buffers[i].name);
    EXPECT_EQ(meter.inside(), meter.buffer().level()) << meter.name();
    EXPECT_NEAR(mean, meter.expected_mean(end), 0.01 * meter.expected_mean(end) + 1e-9)
        << meter.name() << " after " << meter.arrived() << " arrivals";
    used += meter.arrived() > 0 ? 1 : 0;
  }
  EXPECT_GE(used, 24U) << "buffers that saw anything";
}

INSTANTIATE_TEST_SUITE_P(In, Little,
                         ::testing::Values(Case{"Saturated", [](ScenarioConfig&) {}, 16, 1 << 20, false},
                                           Case{"BothWays", [](ScenarioConfig&) {}, 32, 1 << 20, true},
                                           Case{"StoppedInTheMiddle",
                                                [](ScenarioConfig& s) { s.run.max_time_us = 37.3; }, 16, 1 << 20, true},
                                           Case{"Lossy",
                                                [](ScenarioConfig& s) {
                                                  s.fabric.loss_rate = 0.02;
                                                  s.fabric.trim_rate = 0.05;
                                                  s.fabric.corrupt_rate = 0.01;
                                                  s.fabric.duplicate_rate = 0.02;
                                                },
                                                16, 1 << 20, true},
                                           Case{"PayloadStore",
                                                [](ScenarioConfig& s) {
                                                  s.node_default.nic.retransmit_buffer.store = RetransmitStore::payload;
                                                  s.fabric.loss_rate = 0.01;
                                                },
                                                16, 1 << 20, false},
                                           Case{"ManyQps",
                                                [](ScenarioConfig& s) {
                                                  s.traffic.qps_per_peer = 256;
                                                  s.traffic.outstanding_messages = 128;
                                                  s.node_default.nic.qp_scheduler.context_cache_entries = 64;
                                                },
                                                1024, 5'000, true},
                                           Case{"TinyBuffers",
                                                [](ScenarioConfig& s) {
                                                  NicConfig& nic = s.node_default.nic;
                                                  nic.segmenter.queue_entries = nic.spray_scheduler.queue_entries = 1;
                                                  nic.retransmit_buffer.queue_entries = nic.completion.queue_entries =
                                                      1;
                                                  nic.payload_fetch.queue_entries = nic.psn_tracker.queue_entries = 4;
                                                  nic.retransmit_buffer.entries = 32;
                                                  nic.parser.queue_entries = 8;
                                                  nic.rx_staging.bytes = 12'288;
                                                  nic.dma_write.queue_entries = nic.control_queue.entries =
                                                      nic.sack_processor.queue_entries = 2;
                                                  nic.ack_coalescer.queue_entries = 3;
                                                  nic.port.tx_fifo_bytes = 4'400;
                                                  nic.port.control_fifo_entries = 1;
                                                  s.node_default.pcie.read_tags = 24;
                                                  s.node_default.pcie.posted_header_credits = 24;
                                                  s.node_default.pcie.completion_buffer_bytes = 16'384;
                                                },
                                                16, 1 << 18, true}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace mrc
