// The RTL pin by pin with one scan order a table; with two it is run with the other blocks.
#include <gtest/gtest.h>

#include "Vspray_scheduler_one_order.h"
#include "cosim/spray_scheduler/model.h"
#include "random_run.h"

namespace mrc::cosim {
namespace {

StreamBench bench_with_one_order() {
  return StreamBench("spray_scheduler",
                     std::make_unique<SpraySchedulerModel>(SpraySizes{4, 16, 4}, 1U,
                                                           make_spray_scheduler_dut<Vspray_scheduler_one_order>));
}

TEST(SpraySchedulerBench, OneOrderATable) {
  StreamBench bench = bench_with_one_order();
  expect_no_mismatch(bench, 40'000, 3);
}
TEST(SpraySchedulerBench, DISABLED_MillionWithOneOrder) {
  StreamBench bench = bench_with_one_order();
  expect_no_mismatch(bench, 2'000'000, 6, Bins::all);
}

}  // namespace
}  // namespace mrc::cosim
