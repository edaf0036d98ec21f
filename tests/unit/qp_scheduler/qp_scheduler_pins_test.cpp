// The RTL of qp_scheduler by pins under random traffic: ring 1, which changes when the RTL takes an operation, agrees
// with every answer, and no activation is lost.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "cosim/qp_scheduler/rtl.h"
#include "mrc/random.h"
#include "nic/tx/qp_scheduler_rtl_path.h"

namespace mrc {
namespace {

constexpr std::uint32_t kQuantum = 4'096;
constexpr TimePs kPeriod = 1'000;

struct Load {
  std::uint32_t qps = 0;           ///< of which some is activated
  double activations = 0;          ///< a cycle
  double lookups = 0;              ///< a cycle
  double drops = 0;                ///< a cycle
  std::uint32_t reads = 0;         ///< that PCIe has at once
  std::uint64_t grant_cycles = 1;  ///< for which a grant is held, at most
  /// Slots in use up to which turns fetch.
  std::uint32_t most_ahead = kQpSchedulerSizes.slots;
};

/// What is around the block: PCIe, who uses grants, the receiving side.
class World : public QpSchedulerPinsClient {
 public:
  explicit World(const Load& load)
      : load_(load),
        path_(RtlMode::rtl, RtlTiming::pins, make_qp_scheduler_rtl(kQuantum), kQpSchedulerSizes, 0, {4, 1}),
        list_(kQpSchedulerSizes.qps),
        slots_(kQpSchedulerSizes.qps, kQpSchedulerSizes.slots) {
    path_.clock_with(list_, slots_, {.quantum_bytes = kQuantum, .period_ps = kPeriod, .most_ahead = load.most_ahead},
                     *this);
  }

  void run(std::uint64_t cycles) {
    for (const std::uint64_t end = cycle_ + cycles; cycle_ < end; ++cycle_) {
      stimulate();
      step();
    }
  }
  /// Until nothing is left to do.
  void drain() {
    load_.activations = load_.lookups = load_.drops = 0;
    for (int i = 0; i < 50 && !is_empty(); ++i) run(10'000);
  }
  const QpSchedulerRtlPath& path() const { return path_; }
  bool is_empty() const { return list_.empty() && grants_.empty() && reads_.empty() && came_.empty(); }
  std::uint64_t granted() const { return granted_; }
  std::uint64_t seen() const { return seen_; }
  std::uint64_t read() const { return read_; }
  const std::set<std::uint32_t>& owed() const { return owed_; }

 private:
  void stimulate() {
    if (random_.chance(load_.activations)) activate(some_qp());
    if (random_.chance(load_.lookups)) path_.offer_lookup(some_qp(), 0);
    if (random_.chance(load_.drops)) path_.offer_drop(some_qp());
    const TimePs now = cycle_ * kPeriod;
    while (!grants_.empty() && grants_.begin()->first <= cycle_) {
      path_.offer_return(grants_.begin()->second, now, 0);
      grants_.erase(grants_.begin());
    }
    while (!reads_.empty() && reads_.begin()->first <= cycle_) {
      came_.push_back(reads_.begin()->second);
      reads_.erase(reads_.begin());
    }
    if (!came_.empty() && path_.takes_fill()) {
      path_.offer_fill({.qp = came_.front(), .list = true, .used = random_.chance(0.3)}, now, 0);
      came_.pop_front();
    }
  }
  void step() {
    const TimePs now = cycle_ * kPeriod;
    const bool run = random_.chance(0.9);
    if (path_.is_over() || path_.is_idle(now, run)) return;
    path_.clock(now, cycle_, run);
  }
  std::uint32_t some_qp() { return static_cast<std::uint32_t>(random_.below(load_.qps)); }
  void activate(std::uint32_t qp) {
    owed_.insert(qp);
    path_.offer_activation(qp, cycle_ * kPeriod, 0);
  }

  bool can_fetch() const override { return reads_.size() < load_.reads; }
  bool can_fetch_now(std::uint32_t) const override { return can_fetch(); }
  void was_listed(std::uint32_t, TimePs, StartId) override {}
  void turn_ended(const ContextReply&, TimePs) override {}
  void granted(const ContextReply& turn, TurnWait, TimePs) override {
    ++granted_;
    owed_.erase(turn.qp);
    grants_.emplace(cycle_ + 1 + random_.below(load_.grant_cycles),
                    GrantReturn{.qp = turn.qp, .slot = turn.slot, .again = random_.chance(0.3)});
  }
  void was_seen(const ContextReply&, TimePs) override { ++seen_; }
  void begin_fetch(const ContextReply& fetched, TimePs, StartId) override {
    ++read_;
    reads_.emplace(cycle_ + 50 + random_.below(300), fetched.qp);
  }
  void was_filled(std::uint32_t, TimePs, TimePs, StartId) override {}
  void room_came(TimePs) override {}

  Load load_;
  QpSchedulerRtlPath path_;
  ReadyList list_;
  ContextSlots slots_;
  KeyedRandom random_{1, "pins"};
  std::uint64_t cycle_ = 0;
  std::multimap<std::uint64_t, GrantReturn> grants_;
  std::multimap<std::uint64_t, std::uint32_t> reads_;
  std::deque<std::uint32_t> came_;
  std::set<std::uint32_t> owed_;
  std::uint64_t granted_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t read_ = 0;
};

void expect_agreement(const Load& load) {
  World world(load);
  world.run(100'000);
  world.drain();
  EXPECT_EQ(world.path().mismatches(), 0U) << world.path().first_mismatch();
  EXPECT_TRUE(world.is_empty());
  EXPECT_TRUE(world.owed().empty()) << world.owed().size() << " QPs were activated and got no grant";
  EXPECT_GT(world.granted(), 1'000U);
  EXPECT_GT(world.seen(), 1'000U);
  EXPECT_GT(world.read(), 100U);
}

TEST(QpSchedulerPins, AFewQps) {
  expect_agreement({.qps = 200, .activations = 0.2, .lookups = 0.2, .drops = 0.01, .reads = 16, .grant_cycles = 20});
}

TEST(QpSchedulerPins, MoreQpsThanContextsAndFewReads) {
  expect_agreement(
      {.qps = 16'384, .activations = 0.03, .lookups = 0.03, .drops = 0.001, .reads = 16, .grant_cycles = 200});
}

TEST(QpSchedulerPins, AllSlotsInUse) {
  expect_agreement(
      {.qps = 3'000, .activations = 0.3, .lookups = 0.1, .drops = 0.001, .reads = 2'000, .grant_cycles = 5'000});
}

TEST(QpSchedulerPins, TurnsThatLeaveSlotsToLookups) {
  expect_agreement({.qps = 3'000,
                    .activations = 0.3,
                    .lookups = 0.1,
                    .drops = 0.001,
                    .reads = 2'000,
                    .grant_cycles = 500,
                    .most_ahead = 16});
}

}  // namespace
}  // namespace mrc
