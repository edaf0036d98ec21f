// Included before everything else where Verilator's FST writer is compiled: calls of it that fail are counted
// (results/fst_errors.h), as in the writer of a run's waves.
#pragma once

#include <algorithm>
#include <cstdio>

#include <sys/mman.h>
#include <verilated.h>
#include <verilated_fst_c.h>

#include "results/fst_errors.h"

#define fwrite mrcsim_fst_fwrite
#define fputc mrcsim_fst_fputc
#define fflush mrcsim_fst_fflush
#define fclose mrcsim_fst_fclose
#define mmap mrcsim_fst_mmap
