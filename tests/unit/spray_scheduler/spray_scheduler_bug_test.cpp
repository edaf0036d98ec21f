// Negative controls: the scoreboard finds each kept bug, names the field that it shows in, and leaves a replay that
// shows it again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "Vspray_scheduler_backup_of_first_plane.h"
#include "Vspray_scheduler_floor_off_by_one.h"
#include "Vspray_scheduler_next_order_not_told.h"
#include "Vspray_scheduler_room_not_looked_at.h"
#include "cosim/bench/stream_bench.h"
#include "cosim/spray_scheduler_model.h"

namespace mrc::cosim {
namespace {

template <typename Model>
CosimReport run(const CosimOptions& options) {
  StreamBench bench("spray_scheduler", std::make_unique<SpraySchedulerModel>(SpraySizes{4, 16, 4}, 2U,
                                                                             make_spray_scheduler_dut<Model>));
  return bench.run(options);
}

/// In one of a few seeds it shows first in one of these fields.
template <typename Model>
void expect_found(const std::vector<std::string>& fields) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("spray_scheduler_bug_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  std::filesystem::create_directories(folder);
  CosimOptions options;
  options.count = 200'000;
  options.out = folder.string();
  std::string seen;
  for (options.seed = 1; options.seed < 6; ++options.seed) {
    const CosimReport found = run<Model>(options);
    ASSERT_EQ(found.mismatches, 1U) << "seed " << options.seed;
    seen += found.first_mismatch->line() + "\n";
    const bool named = std::find(fields.begin(), fields.end(), found.first_mismatch->field) != fields.end();
    if (!named) continue;
    EXPECT_GT(std::filesystem::file_size(folder / "mismatch.fst"), 0U);
    options.replay = (folder / "mismatch.replay").string();
    const CosimReport again = run<Model>(options);
    ASSERT_EQ(again.mismatches, 1U);
    EXPECT_EQ(again.first_mismatch->field, found.first_mismatch->field) << again.first_mismatch->line();
    std::filesystem::remove_all(folder);
    return;
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
