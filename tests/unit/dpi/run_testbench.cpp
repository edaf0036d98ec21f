// Runs a SystemVerilog testbench that makes its own clock, as any event simulator would, until $finish.
#include <memory>

#include <verilated.h>

#include "Vspray_scheduler_tb.h"

int main(int argc, char** argv) {
  const auto context = std::make_unique<VerilatedContext>();
  context->commandArgs(argc, argv);
  Vspray_scheduler_tb bench(context.get());
  while (!context->gotFinish()) {
    bench.eval();
    if (!bench.eventsPending()) break;
    context->time(bench.nextTimeSlot());
  }
  bench.final();
  return context->gotFinish() ? 0 : 1;
}
