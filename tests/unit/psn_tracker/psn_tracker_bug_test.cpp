// Negative controls: the comparison finds each kept bug and names the field that it shows in.
#include <gtest/gtest.h>

#include <verilated.h>

#include "Vpsn_tracker_bank_kept.h"
#include "Vpsn_tracker_closes_of_full_banks.h"
#include "Vpsn_tracker_sack_bits_of_second_bank.h"
#include "Vpsn_tracker_window_one_too_wide.h"
#include "cosim/psn_tracker_bench.h"

namespace mrc {
namespace {

constexpr PsnTrackerSizes kSmall{8, 8, 2};

template <typename Model>
void expect_first_in(const char* field) {
  const std::string found = PsnTrackerBench<Model>(kSmall, 5).run(200'000).first_mismatch;
  EXPECT_NE(found.find(field), std::string::npos) << found;
}

TEST(PsnTrackerBug, WindowOneTooWide) {
  expect_first_in<Vpsn_tracker_window_one_too_wide>(": outcome: expected 0x3, RTL gave");
}
TEST(PsnTrackerBug, BankKeptWhenNothingIsAboveTheEdge) {
  expect_first_in<Vpsn_tracker_bank_kept>(": banks_in_use: expected");
}
TEST(PsnTrackerBug, MessagesOfBanksPassedToTheirEndForgotten) {
  expect_first_in<Vpsn_tracker_closes_of_full_banks>(": closes: expected");
}
TEST(PsnTrackerBug, SackBitsOfItsSecondBankShifted) {
  expect_first_in<Vpsn_tracker_sack_bits_of_second_bank>(": sack_bitmap: expected");
}

}  // namespace
}  // namespace mrc
