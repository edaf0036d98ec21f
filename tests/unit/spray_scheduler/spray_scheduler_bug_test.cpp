// Negative controls: the comparison finds each kept bug and names the field that it shows in.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vspray_scheduler_backup_of_first_plane.h"
#include "Vspray_scheduler_floor_off_by_one.h"
#include "Vspray_scheduler_room_not_looked_at.h"
#include "cosim/spray_scheduler_bench.h"

namespace mrc {
namespace {

template <typename Model>
std::string first_mismatch(std::uint64_t seed = 7) {
  return SpraySchedulerBench<Model>({4, 16, 4}, seed).run(200'000).first_mismatch;
}

TEST(SpraySchedulerBug, FloorOffByOne) {
  const std::string found = first_mismatch<Vspray_scheduler_floor_off_by_one>();
  EXPECT_NE(found.find(": state: expected 0x0, RTL gave 0x2"), std::string::npos) << found;
}
TEST(SpraySchedulerBug, BackupOfTheFirstPlane) {
  // A backup that is there in one plane and not in the other shows first in when the update is done.
  std::string found;
  for (std::uint64_t seed = 7; seed < 12 && found.find(": backup: ") == std::string::npos; ++seed) {
    const std::string of_seed = first_mismatch<Vspray_scheduler_backup_of_first_plane>(seed);
    EXPECT_NE(of_seed, "") << "seed " << seed;
    found += of_seed + "\n";
  }
  EXPECT_TRUE(found.find(": backup: ") != std::string::npos || found.find(": replaced: ") != std::string::npos)
      << found;
}
TEST(SpraySchedulerBug, RoomNotLookedAt) {
  const std::string found = first_mismatch<Vspray_scheduler_room_not_looked_at>();
  EXPECT_NE(found.find(": free_ports: "), std::string::npos) << found;
}

}  // namespace
}  // namespace mrc
