// The ranks of a run as processes of an MPI job.
#pragma once

#include <memory>

#include "split/ranks.h"

namespace mrc {

/// This build has MPI.
bool has_mpi();

/// Joins the job, once per process; leaves it at the end of the process. Precondition: has_mpi().
std::unique_ptr<Ranks> join_mpi_ranks();

/// Ends all processes of the job with this exit code, without waiting for them. Precondition: joined.
[[noreturn]] void abort_mpi_ranks(int exit_code);

}  // namespace mrc
