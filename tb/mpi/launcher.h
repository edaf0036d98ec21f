// Whether somebody has started this process as one of several.
#pragma once

#include <cstdint>

namespace mrc {

/// Processes that mpirun (Open MPI, MPICH, Intel MPI) or srun with PMI has started together; 1 where this one was
/// started alone. Nothing of MPI is touched.
std::uint32_t launched_processes();
/// This one's number among them, 0 alone.
std::uint32_t launched_process();

}  // namespace mrc
