// Negative controls: the scoreboard finds each kept bug and names the field.
#include <gtest/gtest.h>

#include "Vack_coalescer_least_counted_as_it_is.h"
#include "Vack_coalescer_retransmission_no_trigger.h"
#include "Vack_coalescer_timestamp_of_the_event_before.h"
#include "cosim/ack_coalescer/model.h"
#include "kept_bug.h"

namespace mrc::cosim {
namespace {

template <typename Model>
void expect_found(const std::string& field) {
  const Mismatch found = find_kept_bug(
      [] {
        return StreamBench("ack_coalescer", std::make_unique<AckCoalescerModel>(64U, make_ack_coalescer_dut<Model>));
      },
      {.count = 200'000});
  EXPECT_EQ(found.field, field) << found.line();
}

TEST(AckCoalescerBug, SmallPacketsCountedAsTheyAre) {
  expect_found<Vack_coalescer_least_counted_as_it_is>("counter_bytes");
}
TEST(AckCoalescerBug, RetransmissionIsNoTrigger) {
  expect_found<Vack_coalescer_retransmission_no_trigger>("causes");
}
TEST(AckCoalescerBug, TimestampOfTheEventBefore) {
  expect_found<Vack_coalescer_timestamp_of_the_event_before>("tx_timestamp");
}

}  // namespace
}  // namespace mrc::cosim
