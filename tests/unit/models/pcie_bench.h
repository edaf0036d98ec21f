// Loads for a PcieDma alone: one that keeps its read queue full, one that writes without a pause. All benches of a
// process are built before run() starts the kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "pcie/pcie_dma.h"

namespace mrc::pcie_bench {

struct Load {
  std::uint32_t bytes = 4096;
  std::uint64_t offset = 0;
  int count = 0;
  std::uint64_t stride = 8192;
};

/// Keeps the read queue full of reads of one size and frees the completion buffer as the data have come.
class Reader : public Box, public ReadClient {
 public:
  Reader(const sc_core::sc_module_name& name, WheelModule& owner, PcieDma& pcie, const Load& load)
      : Box(name, owner), pcie_(pcie), load_(load) {}
  void step(TimePs now) override {
    for (; !arriving_.empty() && arriving_.front() <= now; arriving_.pop()) {
      pcie_.release_completion_buffer(now, load_.bytes);
    }
    if (!arriving_.empty()) wake_at(arriving_.front());
    while (issued_ < load_.count && pcie_.can_read()) {
      const auto index = static_cast<std::uint64_t>(issued_++);
      begun_.push_back(now);
      pcie_.read(now, index * load_.stride + load_.offset, load_.bytes, *this, index, true);
    }
    if (issued_ < load_.count) pcie_.wait_read_room(now, *this);
  }
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override {
    EXPECT_EQ(cookie, done_++) << "out of order or twice";
    EXPECT_GE(done_at, now);
    last_done = done_at;
    if (cookie == 0) first_done = done_at;
    total_time += static_cast<double>(done_at - begun_[cookie]);
    longest = std::max(longest, done_at - begun_[cookie]);
    arriving_.push(done_at);
    wake_at(arriving_.front());
  }
  double gbps() const {
    EXPECT_EQ(done_, static_cast<std::uint64_t>(load_.count));
    return static_cast<double>(load_.count - 1) * load_.bytes * 8000.0 / static_cast<double>(last_done - first_done);
  }
  double mean_ns() const { return total_time / load_.count / 1000.0; }
  std::uint64_t done() const { return done_; }
  TimePs first_done = 0;
  TimePs last_done = 0;
  TimePs longest = 0;
  double total_time = 0;

 private:
  PcieDma& pcie_;
  Load load_;
  int issued_ = 0;
  std::uint64_t done_ = 0;
  std::vector<TimePs> begun_;
  Ring<TimePs> arriving_;  ///< reads reported that hold the completion buffer until then
};

/// Writes one after another, each handed over while the one before leaves.
class Writer : public Box, private WriteClient {
 public:
  Writer(const sc_core::sc_module_name& name, WheelModule& owner, PcieDma& pcie, const Load& load)
      : Box(name, owner), pcie_(pcie), load_(load) {}
  void step(TimePs now) override {
    if (last_end_ > now) wake_at(last_end_);
    while (issued_ < load_.count && under_way_ < 2 && last_end_ <= now) {
      ++under_way_;
      const auto index = static_cast<std::uint64_t>(issued_++);
      pcie_.write(now, now, index * load_.stride + load_.offset, load_.bytes, *this, index, WriteOrder::strict);
    }
  }
  double gbps() const {
    EXPECT_EQ(left_, static_cast<std::uint64_t>(load_.count));
    return static_cast<double>(load_.count) * load_.bytes * 8000.0 / static_cast<double>(last_end_);
  }
  TimePs last_end() const { return last_end_; }

 private:
  void write_left(std::uint64_t cookie, TimePs, TimePs last_end) override {
    EXPECT_EQ(cookie, left_++);
    --under_way_;
    last_end_ = last_end;
    wake_at(last_end);
  }

  PcieDma& pcie_;
  Load load_;
  int issued_ = 0;
  int under_way_ = 0;
  std::uint64_t left_ = 0;
  TimePs last_end_ = 0;
};

/// A PcieDma on a wheel of its own with a reader and a writer.
class Bench {
 public:
  /// `rtl`: null for SystemC only.
  Bench(const char* name, const PcieConfig& config, const Load& reads, const Load& writes,
        PcieDmaRtlPath* rtl = nullptr)
      : wheel_(name, KernelMode::wheel, 100'000),
        pcie_(PcieDma::create("pcie", wheel_, config, ClockDomain(1.0), KeyedRandom(1, "pcie"), work_, causes_, rtl)),
        reader("reader", wheel_, *pcie_, reads),
        writer("writer", wheel_, *pcie_, writes) {
    work_.begin(0);
    if (reads.count > 0) reader.wake_at(0);
    if (writes.count > 0) writer.wake_at(0);
  }
  PcieDma& pcie() { return *pcie_; }
  double blocked_ps(const IssueSlot& slot, const char* cause) {
    return static_cast<double>(slot.blocked_ps(causes_.declare(cause)));
  }

 private:
  WheelModule wheel_;
  WorkClock work_;
  CauseTable causes_;
  std::unique_ptr<PcieDma> pcie_;

 public:
  Reader reader;
  Writer writer;
};

inline void run() {
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
}

}  // namespace mrc::pcie_bench
