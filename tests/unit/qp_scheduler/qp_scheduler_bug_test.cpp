// Negative controls: the scoreboard finds each kept bug and names the field.
#include <gtest/gtest.h>

#include "Vqp_scheduler_activation_in_turn_lost.h"
#include "Vqp_scheduler_answer_a_cycle_late.h"
#include "Vqp_scheduler_evicted_not_forgotten.h"
#include "Vqp_scheduler_grant_does_not_hold.h"
#include "Vqp_scheduler_no_second_chance.h"
#include "Vqp_scheduler_slot_in_use_taken.h"
#include "cosim/qp_scheduler/model.h"
#include "cosim/qp_scheduler/rtl.h"
#include "kept_bug.h"

namespace mrc::cosim {
namespace {

template <typename Model>
void expect_found(const std::string& field) {
  const Mismatch found = find_kept_bug(
      [] {
        return StreamBench("qp_scheduler",
                           std::make_unique<QpSchedulerModel>(kSmallQpSchedulerSizes, make_qp_scheduler_dut<Model>));
      },
      {.count = 200'000}, 4'000);
  EXPECT_EQ(found.field, field) << found.line();
}

TEST(QpSchedulerBug, ActivationDuringATurnIsLost) {
  expect_found<Vqp_scheduler_activation_in_turn_lost>("listed");
}
TEST(QpSchedulerBug, ContextThatWasEvictedIsStillThere) {
  expect_found<Vqp_scheduler_evicted_not_forgotten>("fill_ready");
}
TEST(QpSchedulerBug, SlotInUseIsTaken) {
  expect_found<Vqp_scheduler_slot_in_use_taken>("back_ready");
}
TEST(QpSchedulerBug, GrantDoesNotHoldItsSlot) {
  expect_found<Vqp_scheduler_grant_does_not_hold>("held");
}
TEST(QpSchedulerBug, LookupsOfTheReceivingSideGiveNoSecondChance) {
  expect_found<Vqp_scheduler_no_second_chance>("slot");
}
TEST(QpSchedulerBug, AnswerToTheReceivingSideIsACycleLate) {
  expect_found<Vqp_scheduler_answer_a_cycle_late>("seen_valid");
}

}  // namespace
}  // namespace mrc::cosim
