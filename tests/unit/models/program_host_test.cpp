// Software that drives nodes without processes: detailed NICs, light endpoints, and one of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "programs/programs.h"
#include "simulation/simulation.h"

namespace mrc {
namespace {

constexpr std::uint32_t kKey = 7;
constexpr std::uint32_t kPieceBytes = 10'000;
constexpr std::uint32_t kPieces = 64;
constexpr std::uint64_t kBytes = std::uint64_t{kPieceBytes} * kPieces;
/// The QPs are connected while time passes.
constexpr TimePs kConnectAt = 50 * kPsPerUs;

class Memory : public OtherMemory {
 public:
  const std::byte* read(std::uint64_t address, std::uint64_t length) override {
    EXPECT_LE(address + length, kBytes);
    return bytes.data() + address;
  }
  void write(TimePs, std::uint64_t address, const std::byte* source, std::uint64_t length) override {
    ASSERT_LE(address + length, kBytes);
    std::copy_n(source, length, bytes.data() + address);
  }
  std::vector<std::byte> bytes = std::vector<std::byte>(kBytes);
};

std::byte byte_at(std::uint64_t i) {
  return static_cast<std::byte>(i * 31 + (i >> 8) * 7 + 1);
}

/// nic0 writes all pieces to nic1, and overwrites each as soon as its WRITE is complete.
class Writer : public Programs {
 public:
  explicit Writer(std::uint32_t key) : key_(key) {
    for (std::uint64_t i = 0; i < kBytes; ++i) memories_[0].bytes[i] = byte_at(i);
  }

  OtherMemory& memory_of(NodeId node) override { return memories_[node]; }
  void attach(const std::vector<ProgramHost*>& hosts) override { hosts_ = hosts; }
  TimePs run(TimePs now) override {
    if (now < kConnectAt) return kConnectAt;
    if (posted_ == 0) begin(now);
    while (hosts_[0]->next_completion() <= now) complete(hosts_[0]->take_completion(now));
    return kNever;
  }
  TimePs next_visible() const override { return hosts_[0]->next_completion(); }
  bool over() const override { return statuses_.size() == kPieces; }
  std::uint64_t progress() const override { return statuses_.size(); }
  std::uint64_t messages_offered() const override { return posted_; }
  std::uint64_t bytes_offered() const override { return kBytes; }
  std::vector<std::string> failures() const override { return {}; }
  std::vector<std::string> describe_waits() const override { return {}; }
  std::vector<std::string> notes() const override { return {}; }

  const std::vector<std::byte>& received() const { return memories_[1].bytes; }
  const std::vector<CompletionStatus>& statuses() const { return statuses_; }

 private:
  void begin(TimePs now) {
    for (NodeId node = 0; node < 2; ++node) hosts_[node]->connect(0, {1 - node, hosts_[1 - node]->qp(0).number, 0});
    hosts_[0]->start_sending(0, 0, 0);
    hosts_[1]->allow({.va = 0, .bytes = kBytes, .rkey = kKey, .domain = NodeTransport::kDomain});
    for (; posted_ < kPieces; ++posted_) {
      const std::uint64_t at = std::uint64_t{posted_} * kPieceBytes;
      hosts_[0]->post_request(
          now, 0, {.id = posted_, .local_address = at, .remote_address = at, .rkey = key_, .bytes = kPieceBytes});
    }
  }
  void complete(const Cqe& cqe) {
    statuses_.push_back(cqe.status);
    const auto begin = memories_[0].bytes.begin() + static_cast<std::ptrdiff_t>(cqe.id * kPieceBytes);
    std::fill_n(begin, kPieceBytes, std::byte{0xFF});
  }

  std::uint32_t key_;
  std::array<Memory, 2> memories_;
  std::vector<ProgramHost*> hosts_;
  std::uint32_t posted_ = 0;
  std::vector<CompletionStatus> statuses_;
};

RunResult play(Writer& writer, Fidelity first, Fidelity second, double loss_rate) {
  ScenarioConfig scenario;
  scenario.name = "test";
  scenario.node_default.fidelity = first;
  scenario.node_override[1] = scenario.node_default;
  scenario.node_override[1].fidelity = second;
  scenario.fabric.loss_rate = loss_rate;
  Workload workload;
  workload.ranks = 2;
  SimulationOptions options;
  options.programs = &writer;
  Simulation simulation(scenario, workload, {0, 1}, std::move(options));
  const std::atomic<bool> interrupted{false};
  return simulation.run(interrupted);
}

void expect_bytes(Fidelity first, Fidelity second) {
  Writer writer(kKey);
  const RunResult result = play(writer, first, second, 0.02);
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.messages.completed, kPieces);
  EXPECT_EQ(result.bytes.delivered, kBytes);
  EXPECT_GT(result.packets.retransmitted, 0U);
  for (std::uint64_t i = 0; i < kBytes; ++i) ASSERT_EQ(writer.received()[i], byte_at(i)) << i;
}

void expect_refusal(Fidelity first, Fidelity second) {
  Writer writer(kKey + 1);
  const RunResult result = play(writer, first, second, 0);
  EXPECT_EQ(result.messages.failed, kPieces);
  EXPECT_EQ(writer.statuses().front(), CompletionStatus::remote_operation_error);
  EXPECT_EQ(std::count(writer.statuses().begin(), writer.statuses().end(), CompletionStatus::flushed), kPieces - 1);
  EXPECT_EQ(writer.received(), std::vector<std::byte>(kBytes));
}

/// Fidelity of the two nodes.
class ProgramHostPair : public testing::TestWithParam<std::pair<Fidelity, Fidelity>> {};

TEST_P(ProgramHostPair, MovesBytes) {
  expect_bytes(GetParam().first, GetParam().second);
}
INSTANTIATE_TEST_SUITE_P(Of, ProgramHostPair,
                         testing::Values(std::pair{Fidelity::endpoint, Fidelity::endpoint},
                                         std::pair{Fidelity::detailed, Fidelity::endpoint},
                                         std::pair{Fidelity::endpoint, Fidelity::detailed},
                                         std::pair{Fidelity::detailed, Fidelity::detailed}));

TEST(ProgramHost, ALightEndpointRefusesAWrongKey) {
  expect_refusal(Fidelity::endpoint, Fidelity::endpoint);
}
TEST(ProgramHost, ADetailedNicRefusesAWrongKey) {
  expect_refusal(Fidelity::detailed, Fidelity::detailed);
}

}  // namespace
}  // namespace mrc
