#include "pcie/pcie_dma.h"

#include "neighbours.h"

namespace mrc::box_test {
namespace {

ScenarioConfig pcie_dma_config() {
  ScenarioConfig scenario = small_nic();
  scenario.node_default.pcie.request_cycles = 2;
  scenario.node_default.pcie.report_cycles = 3;
  answer_reads_after(scenario, 1000);
  return scenario;
}

/// Reads once at each of some times, and writes down when the data are there.
class Reader : public Box, public ReadClient {
 public:
  Reader(const char* name, WheelModule& owner, PcieDma& pcie, std::uint32_t reads, std::uint32_t bytes)
      : Box(name, owner), pcie_(pcie), left_(reads), bytes_(bytes) {
    wake_at(0);
  }
  void step(TimePs now) override {
    for (; left_ > 0 && pcie_.can_read(); --left_) {
      asked.push_back(now);
      pcie_.read(now, std::uint64_t{left_} * 8192, bytes_, *this, left_, true);
    }
    if (left_ > 0) pcie_.wait_read_room(now, *this);
  }
  void read_done(std::uint64_t, TimePs now, TimePs done_at) override {
    done.push_back(done_at);
    pcie_.release_completion_buffer(now, bytes_);
  }
  std::vector<TimePs> asked;
  std::vector<TimePs> done;

 private:
  PcieDma& pcie_;
  std::uint32_t left_;
  std::uint32_t bytes_;
};

struct PcieDmaTest : testing::Test {
  explicit PcieDmaTest(const ScenarioConfig& scenario = pcie_dma_config()) : bench(scenario) {
    bench.nic.tx_work.begin(0);
  }

  Bench bench;
  std::unique_ptr<PcieDma> box = make_pcie(bench, bench.wheel);
};

TEST_F(PcieDmaTest, LatencyOfARead) {
  Reader reader("reader", bench.wheel, *box, 1, 64);
  bench.run_until(2000 * kNs);
  ASSERT_EQ(reader.done.size(), 1U);
  // 2 cycles until the request, 1,000 ns at the host, 3 cycles until the report, and both on the line.
  EXPECT_GE(reader.done[0], 1005 * kNs);
  EXPECT_LE(reader.done[0], 1010 * kNs);
}

TEST_F(PcieDmaTest, ReadsComeAtTheRateOfTheLine) {
  Reader reader("reader", bench.wheel, *box, 100, 4096);
  bench.run_until(20'000 * kNs);
  ASSERT_EQ(reader.done.size(), 100U);
  const TimePs interval = (reader.done[99] - reader.done[50]) / 49;
  // Gen6 x16: 4 KiB in completions of 256 B.
  EXPECT_GT(interval, 32 * kNs);
  EXPECT_LT(interval, 40 * kNs);
}

TEST_F(PcieDmaTest, TheReadQueueHoldsTheCallerUp) {
  Reader reader("reader", bench.wheel, *box, 12, 4096);
  bench.run_until(1);
  EXPECT_EQ(reader.asked.size(), 8U);
  bench.run_until(5000 * kNs);
  EXPECT_EQ(reader.asked.size(), 12U);
  EXPECT_GT(reader.asked[8], 0U);
}

struct OneTag : PcieDmaTest {
  OneTag() : PcieDmaTest(with_one_tag()) {}
  static ScenarioConfig with_one_tag() {
    ScenarioConfig scenario = pcie_dma_config();
    scenario.node_default.pcie.read_tags = 1;
    return scenario;
  }
};

TEST_F(OneTag, WithoutATagTheNextRequestWaitsAndIsChargedToTheTags) {
  // Two requests of 512 B, one after the other.
  Reader reader("reader", bench.wheel, *box, 1, 1024);
  bench.run_until(5000 * kNs);
  ASSERT_EQ(reader.done.size(), 1U);
  EXPECT_GT(reader.done[0], 2000 * kNs);
  box->settle(5000 * kNs);
  box->read_issue_slot().finish(5000 * kNs);
  EXPECT_GT(bench.blocked_ps(box->read_issue_slot(), "pcie.read_tags"), 990 * kNs);
}

}  // namespace
}  // namespace mrc::box_test
