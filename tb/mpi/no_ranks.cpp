#include <cstdlib>
#include <stdexcept>

#include "mpi/mpi_ranks.h"

namespace mrc {

bool has_mpi() {
  return false;
}

std::unique_ptr<Ranks> join_mpi_ranks() {
  throw std::logic_error("this build has no MPI");
}

void abort_mpi_ranks(int) {
  std::abort();
}

}  // namespace mrc
