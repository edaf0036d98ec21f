// Detects whether this process was started as one of several.
#pragma once

#include <cstdint>

namespace mrc {

/// Number of processes that mpirun (Open MPI, MPICH, Intel MPI) or srun with PMI started together; 1 if this one was
/// started alone. Does not use MPI.
std::uint32_t launched_processes();
/// Number of this process among them; 0 if alone.
std::uint32_t launched_process();

}  // namespace mrc
