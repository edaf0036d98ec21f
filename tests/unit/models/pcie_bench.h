// Loads for a PcieDma alone: one that keeps its read queue full, one that writes without a pause. All benches of a
// process are built before run() starts the kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "pcie/pcie_dma.h"

namespace mrc::pcie_bench {

/// Keeps the read queue full of reads of one size and frees the completion buffer as they are reported.
class Reader : public Box, public ReadClient {
 public:
  Reader(const sc_core::sc_module_name& name, WheelModule& owner, PcieDma& pcie, std::uint32_t bytes,
         std::uint64_t offset, int count)
      : Box(name, owner), pcie_(pcie), bytes_(bytes), offset_(offset), count_(count) {}
  void step(TimePs now) override {
    while (issued_ < count_ && pcie_.can_read()) {
      const auto index = static_cast<std::uint64_t>(issued_++);
      pcie_.read(now, index * 8192 + offset_, bytes_, *this, index, true);
    }
    if (issued_ < count_) pcie_.wait_read_room(now, *this);
  }
  void read_done(std::uint64_t cookie, TimePs now, TimePs done_at) override {
    EXPECT_EQ(cookie, done_++);
    EXPECT_GE(done_at, now);
    last_done = done_at;
    if (cookie == 0) first_done = done_at;
    pcie_.release_completion_buffer(now, bytes_);
  }
  double gbps() const {
    EXPECT_EQ(done_, static_cast<std::uint64_t>(count_));
    return static_cast<double>(count_ - 1) * bytes_ * 8000.0 / static_cast<double>(last_done - first_done);
  }
  TimePs first_done = 0;
  TimePs last_done = 0;

 private:
  PcieDma& pcie_;
  std::uint32_t bytes_;
  std::uint64_t offset_;
  int count_;
  int issued_ = 0;
  std::uint64_t done_ = 0;
};

/// Writes one after another, each as soon as the one before has left.
class Writer : public Box {
 public:
  Writer(const sc_core::sc_module_name& name, WheelModule& owner, PcieDma& pcie, std::uint32_t bytes,
         std::uint64_t offset, int count)
      : Box(name, owner), pcie_(pcie), bytes_(bytes), offset_(offset), count_(count) {}
  void step(TimePs now) override {
    if (issued_ == count_) return;
    last_end_ = pcie_.write(now, static_cast<std::uint64_t>(issued_++) * 8192 + offset_, bytes_).last_end;
    wake_at(last_end_);
  }
  double gbps() const { return static_cast<double>(count_) * bytes_ * 8000.0 / static_cast<double>(last_end_); }

 private:
  PcieDma& pcie_;
  std::uint32_t bytes_;
  std::uint64_t offset_;
  int count_;
  int issued_ = 0;
  TimePs last_end_ = 0;
};

/// A PcieDma on a wheel of its own, with one load.
template <typename Load>
class Bench {
 public:
  Bench(const char* name, const PcieConfig& config, std::uint32_t bytes, std::uint64_t offset, int count)
      : wheel_(name, KernelMode::wheel, 100'000),
        pcie_("pcie", wheel_, config, ClockDomain(1.0), KeyedRandom(1, "pcie"), work_),
        load_("load", wheel_, pcie_, bytes, offset, count) {
    load_.wake_at(0);
  }
  const Load& load() const { return load_; }
  PcieDma& pcie() { return pcie_; }

 private:
  WheelModule wheel_;
  WorkClock work_;
  PcieDma pcie_;
  Load load_;
};

inline void run() {
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_SEC));
}

}  // namespace mrc::pcie_bench
