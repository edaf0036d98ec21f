// The dependency graph of a Chakra file, without dependencies that cannot be played.
#pragma once

#include <cstdint>

#include "traffic/et_file.h"

namespace mrc {

/// Control dependencies that were dropped.
struct DroppedDependencies {
  std::uint64_t absent = 0;
  std::uint64_t on_itself = 0;
  std::uint64_t in_loops = 0;
  std::uint64_t total() const { return absent + on_itself + in_loops; }
};

/// Fills in the nodes' positions of dependencies so that they have no loop, and adds to `dropped`. Of the control
/// dependencies of a loop those go that contradict the order of data dependencies and file. Throws TraceError for ids
/// that appear twice, missing data dependencies and loops of them.
void resolve_dependencies(EtFile& file, DroppedDependencies& dropped);

}  // namespace mrc
