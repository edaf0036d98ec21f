// The RTL against ring 1's path tables, operation by operation: every answer, and every EV's record.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "cosim/spray_scheduler/rtl.h"

namespace mrc {
namespace {

/// Configurations that between them take every branch of the table.
ProtocolConfig random_config(KeyedRandom& random, std::uint32_t planes, std::uint32_t evs) {
  ProtocolConfig config;
  config.ev_count = planes * static_cast<std::uint32_t>(1 + random.below(evs / planes));
  config.ev_active = planes * static_cast<std::uint32_t>(1 + random.below(config.ev_count / planes));
  config.ev_min_active = random.chance(0.5) ? 0 : static_cast<std::uint32_t>(random.below(config.ev_active + 1));
  constexpr std::uint32_t kReshuffles[] = {0, 1, 2, 3, 64};
  config.reshuffle_rotations = kReshuffles[random.below(5)];
  config.skip_duration = static_cast<SkipDuration>(random.below(3));
  config.skip_time_ps = 1 + random.below(100);
  config.assumed_bad_losses = static_cast<std::uint32_t>(1 + random.below(8));
  config.probe_successes = static_cast<std::uint32_t>(1 + random.below(3));
  config.probe_skip_state = static_cast<ProbeSkipState>(random.below(2));
  config.path_feedback = random.chance(0.05) ? PathFeedback::oblivious : PathFeedback::adaptive;
  return config;
}

/// Tables in ring 1 and in the RTL, on which the same is done.
class Twins {
 public:
  Twins(SpraySchedulerEngine& engine, std::uint64_t seed)
      : random_(seed, "spray"),
        engine_(engine),
        planes_(static_cast<std::uint32_t>(1 + random_.below(engine.sizes().planes))),
        config_(random_config(random_, planes_, engine.sizes().evs)),
        profile_(make_auto_profile(config_, planes_, KeyedRandom(seed, "profile"))) {
    const std::uint32_t tables = std::min(3U, engine.sizes().tables);
    for (std::uint32_t slot = 0; slot < tables; ++slot) {
      tables_.push_back(std::make_unique<PathTable>(profile_, config_, planes_, KeyedRandom(seed, slot)));
      orders_.push_back(tables_.back()->order_random());
      first_.push_back(true);
    }
    engine_.configure(profile_, *tables_[0], [this](std::uint32_t slot) -> std::span<const EvIndex> {
      if (!first_[slot]) draw_scan_order(orders_[slot], profile_.value.size(), order_);
      if (first_[slot]) order_ = tables_[slot]->scan_order();
      first_[slot] = false;
      return order_;
    });
    for (std::uint32_t slot = 0; slot < tables; ++slot) engine_.open(slot, tables_[slot]->active_total());
    room_.assign(planes_, 0);
    ecn_ = random_.uniform();
    loss_ = random_.uniform() * 0.3;
  }

  void step() {
    now_ += random_.below(20);
    const auto slot = static_cast<std::uint32_t>(random_.below(tables_.size()));
    const double what = random_.uniform();
    if (what < 0.6) return select(slot);
    if (what < 0.98) return update(slot);
    const auto ev = static_cast<EvIndex>(random_.below(profile_.value.size()));
    if (what < 0.985) {
      const auto mask = static_cast<std::uint32_t>(random_.next() | random_.next()) & 0xFF;
      tables_[slot]->set_port_status(mask);
      engine_.set_port_status(slot, mask);
    } else if (what < 0.9925) {
      tables_[slot]->deny(ev);
      engine_.deny(slot, ev);
    } else {
      tables_[slot]->allow(ev);
      engine_.allow(slot, ev);
    }
    compare(slot, ev);
  }
  void compare_all() {
    for (std::uint32_t slot = 0; slot < tables_.size(); ++slot) {
      for (EvIndex ev = 0; ev < profile_.value.size(); ++ev) compare(slot, ev);
      const SprayTableState state = engine_.read_table(slot);
      const PathTable& table = *tables_[slot];
      EXPECT_EQ(state.pointer, table.pointer());
      EXPECT_EQ(state.reachable, table.reachable() & ((1U << engine_.sizes().planes) - 1));
      const std::uint32_t period = config_.reshuffle_rotations;
      EXPECT_EQ(state.rotations, period == 0 ? table.rotations() : table.rotations() % period);
    }
  }
  std::uint64_t found = 0;
  std::uint64_t rotations = 0;

 private:
  void select(std::uint32_t slot) {
    const auto bytes = static_cast<std::uint32_t>(64 + random_.below(9'000));
    std::vector<std::uint32_t> back(planes_, 0);
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      if (random_.chance(0.5)) back[plane] = static_cast<std::uint32_t>(random_.below(12'000));
      room_[plane] += back[plane];
    }
    const auto up = static_cast<std::uint32_t>(random_.next() | random_.next()) & 0xFF;
    std::uint32_t free = 0;
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      if ((up >> plane & 1) != 0 && room_[plane] >= bytes) free |= 1U << plane;
    }
    PathTable& table = *tables_[slot];
    const std::uint64_t before = table.rotations();
    const EvIndex ev = free == 0 ? kNoEv : table.select(free, now_);
    engine_.return_credit(back);
    const SpraySelection reply = engine_.select(slot, bytes, up, now_);
    ASSERT_EQ(reply.ev, ev);
    ASSERT_EQ(reply.free_ports & ((1U << planes_) - 1), free);
    ASSERT_EQ(reply.rotations, table.rotations() - before);
    ASSERT_EQ(reply.skip_end, table.next_skip_end());
    rotations += reply.rotations;
    if (ev == kNoEv) {
      ASSERT_EQ(reply.no_good, !table.has_good(~0U));
      return;
    }
    ASSERT_EQ(reply.value, table.value(ev));
    ASSERT_EQ(reply.plane, table.plane(ev));
    room_[reply.plane] -= bytes;
    ++found;
  }
  void update(std::uint32_t slot) {
    PathTable& table = *tables_[slot];
    const auto ev = static_cast<EvIndex>(random_.below(profile_.value.size()));
    PathEvent event = PathEvent::delivered;
    const double what = random_.uniform();
    if (what < 0.4)
      event = PathEvent::ecn;
    else if (what < 0.4 + loss_)
      event = PathEvent::lost;
    else
      event = static_cast<PathEvent>(random_.below(9));
    if (random_.chance(0.05)) {
      const auto value = static_cast<Ev>(random_.next());
      if (table.find(value) == kNoEv) {
        ASSERT_FALSE(engine_.update_by_value(slot, value, event, now_).found);
        return;
      }
    }
    const std::uint64_t held = table.held_at_floor();
    table.report(ev, event, now_);
    const SprayUpdate reply = random_.chance(0.5) ? engine_.update(slot, ev, event, now_)
                                                  : engine_.update_by_value(slot, table.value(ev), event, now_);
    ASSERT_TRUE(reply.found);
    ASSERT_EQ(reply.ev, ev);
    ASSERT_EQ(reply.state, table.state(ev)) << "event " << static_cast<int>(event);
    ASSERT_EQ(reply.active, table.active(ev));
    ASSERT_EQ(reply.backup, table.last_backup());
    ASSERT_EQ(reply.held, table.held_at_floor() != held);
    EvEvent reported;
    ASSERT_EQ(reply.reported, table.pop_event(reported));
    compare(slot, ev);
    if (reply.backup != kNoEv) compare(slot, reply.backup);
  }
  void compare(std::uint32_t slot, EvIndex ev) {
    const PathTable& table = *tables_[slot];
    const SprayRecord record = engine_.read(slot, ev);
    ASSERT_EQ(record.state, table.state(ev)) << "EV " << ev;
    ASSERT_EQ(record.active, table.active(ev)) << "EV " << ev;
    ASSERT_EQ(record.position, table.position(ev));
    ASSERT_EQ(record.losses, std::min(table.losses(ev), 15U));
    ASSERT_EQ(record.probe_successes, table.probe_successes(ev));
  }

  KeyedRandom random_;
  SpraySchedulerEngine& engine_;
  std::uint32_t planes_;
  ProtocolConfig config_;
  EvProfile profile_;
  std::vector<std::unique_ptr<PathTable>> tables_;
  std::vector<KeyedRandom> orders_;
  std::vector<bool> first_;
  std::vector<EvIndex> order_;
  std::vector<std::uint32_t> room_;
  TimePs now_ = 0;
  double ecn_ = 0;
  double loss_ = 0;
};

class SpraySchedulerRtl : public ::testing::TestWithParam<SpraySizes> {};

TEST_P(SpraySchedulerRtl, FollowsPathTable) {
  std::uint64_t found = 0;
  std::uint64_t rotations = 0;
  for (std::uint64_t seed = 0; seed < (GetParam().tables == 4 ? 200U : 20U); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto engine = make_spray_scheduler_rtl(GetParam());
    Twins twins(*engine, seed);
    for (int i = 0; i < 400 && !HasFatalFailure(); ++i) {
      SCOPED_TRACE(::testing::Message() << "step " << i);
      twins.step();
    }
    if (HasFatalFailure()) return;
    twins.compare_all();
    found += twins.found;
    rotations += twins.rotations;
  }
  EXPECT_GT(found, 1'000U);
  EXPECT_GT(rotations, 100U);
}
INSTANTIATE_TEST_SUITE_P(Sizes, SpraySchedulerRtl, ::testing::Values(SpraySizes{4, 16, 4}, SpraySizes{1024, 256, 8}),
                         [](const auto& of) { return of.param.tables == 4 ? "Small" : "Full"; });

}  // namespace
}  // namespace mrc
