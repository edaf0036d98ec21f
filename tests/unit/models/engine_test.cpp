#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/clock_domain.h"
#include "engine/fifo.h"
#include "engine/huge_pages.h"
#include "engine/ledger.h"
#include "engine/occupancy.h"
#include "engine/serial_line.h"
#include "fabric/link.h"

namespace mrc {
namespace {

/// Writes down when it was stepped, and asks for more steps from a list.
class Recorder : public Box {
 public:
  Recorder(const char* name, WheelModule& owner, std::vector<std::string>& log) : Box(name, owner), log_(log) {}
  void step(TimePs now) override {
    log_.push_back(std::string(basename()) + "@" + std::to_string(now));
    if (!later.empty()) {
      wake_at(now + later.back());
      later.pop_back();
    }
  }
  std::vector<TimePs> later;

 private:
  std::vector<std::string>& log_;
};

void run_until(TimePs end) {
  sc_core::sc_start(sc_core::sc_time::from_value(end));
}

TEST(EventWheel, TiesGoByPositionAndTheEarliestRequestCounts) {
  std::vector<std::string> log;
  WheelModule wheel("wheel", KernelMode::wheel, 100);
  Recorder a("a", wheel, log);
  Recorder b("b", wheel, log);
  b.wake_at(10);
  a.wake_at(10);
  a.wake_at(30);
  b.wake_at(5);
  run_until(1000);
  EXPECT_EQ(log, (std::vector<std::string>{"b@5", "a@10"}));
}

TEST(EventWheel, RunsAheadInFewActivations) {
  std::vector<std::string> log;
  WheelModule wheel("wheel", KernelMode::wheel, 1000);
  Recorder a("a", wheel, log);
  a.later = std::vector<TimePs>(99, 10);
  a.wake_at(0);
  run_until(2000);
  EXPECT_EQ(log.size(), 100U);
  EXPECT_EQ(log.back(), "a@990");
  EXPECT_EQ(wheel.activations(), 1U);
}

TEST(EventWheel, MethodsModeStepsAtTheSameTimes) {
  std::vector<std::string> log;
  WheelModule wheel("wheel", KernelMode::methods, 1000);
  Recorder a("a", wheel, log);
  a.later = {7, 5, 3};
  a.wake_at(2);
  run_until(100);
  EXPECT_EQ(log, (std::vector<std::string>{"a@2", "a@5", "a@10", "a@17"}));
  EXPECT_EQ(wheel.activations(), 4U);
}

/// Asks for another step at the same time, for ever.
class Endless : public Box {
 public:
  explicit Endless(WheelModule& owner) : Box("endless", owner) {}
  void step(TimePs now) override { wake_at(now); }
};

void expect_endless_is_named(KernelMode mode) {
  WheelModule wheel("wheel", mode, 1000);
  Endless box(wheel);
  box.wake_at(2'500'000);
  std::string error;
  try {
    run_kernel_to(10'000'000);
  } catch (const EndlessError& endless) {
    error = endless.what();
  }
  EXPECT_EQ(error, "endless repeats without end at 2.500000 us of simulated time");
}

TEST(EventWheel, ABoxThatRepeatsAtOneTimeIsNamed) {
  expect_endless_is_named(KernelMode::wheel);
}

TEST(EventWheel, ABoxThatRepeatsAtOneTimeIsNamedInMethodsMode) {
  expect_endless_is_named(KernelMode::methods);
}

TEST(EventWheel, WhatABoxThrowsArrivesAsItWasThrown) {
  class Thrower : public Box {
   public:
    explicit Thrower(WheelModule& owner) : Box("thrower", owner) {}
    void step(TimePs) override { throw std::bad_alloc(); }
  };
  WheelModule wheel("wheel", KernelMode::wheel, 1000);
  Thrower box(wheel);
  box.wake_at(10);
  EXPECT_THROW(run_kernel_to(100), std::bad_alloc);
}

TEST(EventWheel, WakesFromAnotherWheelThroughALink) {
  std::vector<std::string> log;
  WheelModule left("left", KernelMode::wheel, 50);
  WheelModule right("right", KernelMode::wheel, 50);
  Link link(50, Link::DueAt::last_bit);
  Recorder receiver("receiver", right, log);
  link.set_receiver(&receiver);
  link.send(100, 140, Packet{});
  EXPECT_EQ(link.next_due(), 190U);
  run_until(1000);
  EXPECT_EQ(log, (std::vector<std::string>{"receiver@190"}));
}

/// Sends each value that comes on to one of the others, as another value that says to whom and when.
class Exchange : public Box {
 public:
  Exchange(WheelModule& owner, TimePs way_ps) : Box("exchange", owner), way_ps_(way_ps) {}
  void connect(std::vector<Exchange*> others) { others_ = std::move(others); }
  void send(TimePs at, std::uint32_t value) {
    values_.emplace(at, value);
    wake_at(at);
  }
  void step(TimePs now) override {
    for (; !values_.empty() && values_.begin()->first <= now; values_.erase(values_.begin())) {
      const auto [at, value] = *values_.begin();
      EXPECT_EQ(at, now);
      came.emplace_back(at, value);
      const std::uint32_t next = value * 1'664'525 + 1'013'904'223;
      others_[(next >> 16) % others_.size()]->send(now + way_ps_ + (next >> 8) % 90, next);
    }
    if (!values_.empty()) wake_at(values_.begin()->first);
  }
  std::vector<std::pair<TimePs, std::uint32_t>> came;

 private:
  TimePs way_ps_;
  std::vector<Exchange*> others_;
  std::set<std::pair<TimePs, std::uint32_t>> values_;
};

/// Three nodes around a hub, as NICs are around the fabric. Where the nodes do not follow the hub, all go ahead by the
/// shorter way.
struct Star {
  static constexpr TimePs kWayIn = 70;
  static constexpr TimePs kWayOut = 40;

  explicit Star(bool follows)
      : hub_wheel("hub", KernelMode::wheel, follows ? kWayIn : kWayOut), hub(hub_wheel, kWayOut) {
    std::vector<Exchange*> all;
    for (const char* name : {"a", "b", "c"}) {
      WheelModule& wheel = wheels.emplace_back(name, KernelMode::wheel, kWayOut);
      if (follows) wheel.follow(&hub_wheel, kWayOut);
      all.push_back(&nodes.emplace_back(wheel, kWayIn));
      all.back()->connect({&hub});
    }
    hub.connect(all);
    for (std::uint32_t i = 0; i < 8; ++i) all[i % all.size()]->send(i, i);
  }
  void set_limit(TimePs limit, TimePs limit_of_hub) {
    hub_wheel.set_limit(limit_of_hub);
    for (WheelModule& wheel : wheels) wheel.set_limit(limit);
  }

  WheelModule hub_wheel;
  Exchange hub;
  std::deque<WheelModule> wheels;
  std::deque<Exchange> nodes;
};

TEST(EventWheel, ThatFollowsAnotherGoesFurtherAtOnceAndSeesTheSame) {
  Star near(false);
  Star far(true);
  Star in_windows(true);  // as a rank of several, of which the fabric alone has a limit in each window
  for (TimePs limit = 1000; limit <= 50'000; limit += 1000) {
    near.set_limit(limit, limit);
    far.set_limit(limit, limit);
    for (TimePs window = limit - 1000; window < limit;) {
      window = std::min(window + 90, limit);
      in_windows.set_limit(limit, window);
      run_kernel_to(window);
    }
    for (const Star* other : {&far, &in_windows}) {
      ASSERT_EQ(other->hub.came, near.hub.came);
      for (std::size_t i = 0; i < near.nodes.size(); ++i) ASSERT_EQ(other->nodes[i].came, near.nodes[i].came);
    }
  }
  EXPECT_GT(far.hub.came.size(), 1000U);
  for (std::size_t i = 0; i < far.nodes.size(); ++i) {
    EXPECT_GT(far.nodes[i].came.size(), 300U);
    EXPECT_LT(far.wheels[i].activations(), near.wheels[i].activations() * 2 / 3);
  }
}

/// Moves numbers from one queue to the next, one every `interval`.
class Mover : public Box {
 public:
  Mover(const char* name, WheelModule& owner, Fifo<int>& in, Fifo<int>& out, TimePs interval)
      : Box(name, owner), in_(in), out_(out), interval_(interval) {
    in_.connect(this);
  }
  void step(TimePs now) override {
    if (now < next_) return wake_at(next_);
    if (!in_.ready(now)) return in_.wait_ready(now);
    if (out_.full()) return out_.wait_room(now, *this);
    out_.push(now, in_.pop(now), now + 1);
    next_ = now + interval_;
    in_.wait_ready(next_);
  }

 private:
  Fifo<int>& in_;
  Fifo<int>& out_;
  TimePs interval_;
  TimePs next_ = 0;
};

class Sink : public Box {
 public:
  Sink(const char* name, WheelModule& owner, Fifo<int>& in, TimePs interval)
      : Box(name, owner), in_(in), interval_(interval) {
    in_.connect(this);
  }
  void step(TimePs now) override {
    if (now < next_) return wake_at(next_);
    if (in_.ready(now)) {
      taken.push_back(in_.pop(now));
      last = now;
      next_ = now + interval_;
    }
    in_.wait_ready(next_);
  }
  std::vector<int> taken;
  TimePs last = 0;

 private:
  Fifo<int>& in_;
  TimePs interval_;
  TimePs next_ = 0;
};

TEST(Fifo, BackPressureReachesTheProducerAndNothingIsLost) {
  WheelModule wheel("wheel", KernelMode::wheel, 1'000'000);
  Fifo<int> first(kUnlisted, "first", 100);
  Fifo<int> second(kUnlisted, "second", 2);
  Mover mover("mover", wheel, first, second, 1);
  Sink sink("sink", wheel, second, 10);
  for (int i = 0; i < 100; ++i) first.push(0, i, 0);
  run_until(100'000);
  ASSERT_EQ(sink.taken.size(), 100U);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sink.taken[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(sink.last, 1U + 99 * 10);
  EXPECT_EQ(second.occupancy().high_water(), 2U);
  EXPECT_GT(second.occupancy().time_full_share(sink.last), 0.9);
}

TEST(Occupancy, MeanShareAndQuantilesOfAKnownCourse) {
  Occupancy occupancy(kUnlisted, "x", "bytes", 100);
  occupancy.add(0, 10);        // 10 for 90
  occupancy.add(90, 90);       // 100 for 10
  occupancy.remove(100, 100);  // 0 for 100
  EXPECT_DOUBLE_EQ(occupancy.mean(200), (10.0 * 90 + 100.0 * 10) / 200);
  EXPECT_DOUBLE_EQ(occupancy.time_full_share(200), 10.0 / 200);
  EXPECT_EQ(occupancy.high_water(), 100U);
  EXPECT_EQ(occupancy.p99(200), 100U);
  EXPECT_LE(occupancy.p99(2000), 12U);
}

TEST(Occupancy, RemovalsThatWereAnnouncedCountAloneAsTheyDoTogether) {
  std::mt19937 random(1);
  Occupancy alone(kUnlisted, "alone", "credits", 1500);
  Occupancy together(kUnlisted, "together", "credits", 1500);
  Ring<Occupancy::Removal> announced;
  std::deque<Occupancy::Removal> left;
  TimePs now = 0;
  for (int i = 0; i < 2000; ++i) {
    now += random() % 3000;
    together.remove_announced_until(now, announced);
    for (; !left.empty() && left.front().at <= now; left.pop_front()) {
      alone.remove_announced(left.front().at, left.front().amount);
    }
    ASSERT_EQ(together.level(), alone.level());
    const std::uint64_t amount = 1 + random() % 64;
    if (!alone.fits(amount)) {
      alone.refuse(now);
      together.refuse(now);
      continue;
    }
    alone.add(now, amount);
    together.add(now, amount);
    // In order of time, and sometimes before the latest change.
    const TimePs at = std::max(left.empty() ? 0 : left.back().at, now + random() % 100'000);
    left.push_back({at, amount});
    announced.push({at, amount});
  }
  EXPECT_EQ(together.mean(now), alone.mean(now));
  EXPECT_EQ(together.time_full_share(now), alone.time_full_share(now));
  EXPECT_EQ(together.refusals(), alone.refusals());
  EXPECT_EQ(together.p99(now), alone.p99(now));
  EXPECT_GT(together.refusals(), 0U) << "it was full";
}

TEST(ClockDomain, EdgesAreThoseOfADivision) {
  std::mt19937_64 random(1);
  for (const double ghz : {0.001, 0.37, 0.999, 1.0, 1.5, 3.0, 100.0}) {
    const ClockDomain clock(ghz);
    const TimePs period = clock.period_ps();
    for (int i = 0; i < 2000; ++i) {
      const TimePs multiple = (random() >> (2 + random() % 60)) / period * period;
      for (const TimePs time : {multiple, multiple + 1, multiple + period - 1}) {
        ASSERT_EQ(clock.edge_index(time), (time + period - 1) / period) << ghz << " GHz, " << time << " ps";
        ASSERT_EQ(clock.edge(time), (time + period - 1) / period * period);
      }
    }
  }
}

TEST(IssueSlot, ChargesEveryMomentOnce) {
  std::vector<std::string> log;
  WheelModule wheel("slots", KernelMode::wheel, 100);
  Recorder box("box", wheel, log);
  CauseTable causes;
  const Cause window = causes.declare("cwnd");
  WorkClock work;
  IssueSlot slot(box, work);
  work.begin(10);
  slot.busy(20, 30);         // idle 0-10, starved 10-20, busy 20-30
  slot.blocked(35, window);  // starved 30-35
  slot.busy(50, 60);         // blocked 35-50
  work.end(70);              // starved 60-70, then idle
  slot.finish(100);
  EXPECT_EQ(slot.idle_ps(), 10U + 30U);
  EXPECT_EQ(slot.starved_ps(), 10U + 5U + 10U);
  EXPECT_EQ(slot.busy_ps(), 20U);
  EXPECT_EQ(slot.blocked_ps(window), 15U);
  EXPECT_EQ(slot.accounted_ps(), 100U);
}

TEST(SerialLine, KeepsTheExactRateOverAMillionOddItems) {
  SerialLine line(944.0);
  TimePs end = 0;
  for (int i = 0; i < 1'000'000; ++i) end = line.occupy(0, 272);
  EXPECT_NEAR(static_cast<double>(end), 1e6 * 272 * 8000.0 / 944.0, 1.0);
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)

/// The kernel was asked for huge pages there.
bool in_huge_pages(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool there = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) there = begin <= at && at < end;
    if (there && line.starts_with("VmFlags:")) return line.find(" hg") != std::string::npos;
  }
  return false;
}

TEST(HugePages, WhatIsAllocatedAfterTheHeapHasGrownIsInThem) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) GTEST_SKIP() << "this kernel has none";
  constexpr std::size_t block_bytes = 1 << 20;
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  using Block = std::unique_ptr<void, Free>;
  std::vector<Block> blocks;
  const auto expect_in_huge_pages = [&](std::size_t number) {
    const std::size_t first = blocks.size();
    while (blocks.size() < first + number) blocks.emplace_back(std::malloc(block_bytes));
    EXPECT_TRUE(in_huge_pages(blocks[first].get()));
    EXPECT_TRUE(in_huge_pages(blocks.back().get()));
  };
  grow_heap_in_huge_pages(64 * block_bytes);
  expect_in_huge_pages(32);
  grow_heap_in_huge_pages(32 * block_bytes);  // no more: without effect
  grow_heap_in_huge_pages(1024 * block_bytes);
  expect_in_huge_pages(512);
}

#endif

}  // namespace
}  // namespace mrc
