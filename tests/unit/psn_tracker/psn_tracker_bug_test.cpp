// Negative controls: the scoreboard finds each kept bug and names the field that it shows in.
#include <gtest/gtest.h>

#include "Vpsn_tracker_bank_kept.h"
#include "Vpsn_tracker_closes_of_full_banks.h"
#include "Vpsn_tracker_sack_bits_of_second_bank.h"
#include "Vpsn_tracker_window_one_too_wide.h"
#include "cosim/psn_tracker/model.h"
#include "kept_bug.h"

namespace mrc::cosim {
namespace {

template <typename Model>
Mismatch find(std::uint64_t seed = 5) {
  return find_kept_bug(
      [] {
        return StreamBench("psn_tracker",
                           std::make_unique<PsnTrackerModel>(PsnTrackerSizes{8, 8, 2}, make_psn_tracker_dut<Model>));
      },
      {.count = 200'000, .seed = seed}, 2'000);
}

TEST(PsnTrackerBug, WindowOneTooWide) {
  const Mismatch found = find<Vpsn_tracker_window_one_too_wide>();
  EXPECT_EQ(found.field, "outcome") << found.line();
  EXPECT_EQ(found.expected, 3U);
}
TEST(PsnTrackerBug, BankKeptWhenNothingIsAboveTheEdge) {
  EXPECT_EQ(find<Vpsn_tracker_bank_kept>().field, "banks_in_use");
}
TEST(PsnTrackerBug, MessagesOfBanksPassedToTheirEndForgotten) {
  EXPECT_EQ(find<Vpsn_tracker_closes_of_full_banks>().field, "closes");
}
TEST(PsnTrackerBug, SackBitsOfItsSecondBankShifted) {
  EXPECT_EQ(find<Vpsn_tracker_sack_bits_of_second_bank>().field, "sack_bitmap");
}

}  // namespace
}  // namespace mrc::cosim
