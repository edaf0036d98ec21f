// Included before everything else where Verilator's runtime is compiled: what it prints, and that it stops, goes to
// verilated_failure.cpp.
#pragma once

int mrcsim_verilated_print(const char* format, ...) __attribute__((format(printf, 1, 2)));

#define VL_PRINTF mrcsim_verilated_print
#define VL_USER_STOP
