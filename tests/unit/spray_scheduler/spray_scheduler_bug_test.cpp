// Negative controls: the scoreboard finds each kept bug and names the field that it shows in.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "Vspray_scheduler_backup_of_first_plane.h"
#include "Vspray_scheduler_floor_off_by_one.h"
#include "Vspray_scheduler_next_order_not_told.h"
#include "Vspray_scheduler_room_not_looked_at.h"
#include "cosim/spray_scheduler/model.h"
#include "kept_bug.h"

namespace mrc::cosim {
namespace {

/// In one of a few seeds it shows first in one of these fields.
template <typename Model>
void expect_found(const std::vector<std::string>& fields) {
  const auto make_bench = [] {
    return StreamBench("spray_scheduler", std::make_unique<SpraySchedulerModel>(SpraySizes{4, 16, 4}, 2U,
                                                                                make_spray_scheduler_dut<Model>));
  };
  std::string seen;
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Mismatch found = find_kept_bug(make_bench, {.count = 200'000, .seed = seed}, 200'000);
    if (std::find(fields.begin(), fields.end(), found.field) != fields.end()) return;
    seen += found.line() + "\n";
  }
  ADD_FAILURE() << seen;
}

TEST(SpraySchedulerBug, FloorOffByOne) {
  expect_found<Vspray_scheduler_floor_off_by_one>({"state"});
}
TEST(SpraySchedulerBug, BackupOfTheFirstPlane) {
  expect_found<Vspray_scheduler_backup_of_first_plane>({"backup", "replaced"});
}
TEST(SpraySchedulerBug, RoomNotLookedAt) {
  expect_found<Vspray_scheduler_room_not_looked_at>({"free_ports"});
}
TEST(SpraySchedulerBug, NextOrderIsNotToldOfAnUpdate) {
  expect_found<Vspray_scheduler_next_order_not_told>({"ev", "found", "no_good", "rotations"});
}

}  // namespace
}  // namespace mrc::cosim
