// GOAL text (LogGOPSim, ATLAHS): one block of operations per rank, which wait for one another by label.
#pragma once

#include <istream>
#include <string>

#include "host/workload.h"
#include "traffic/read_options.h"

namespace mrc {

/// `calc` is in ns; computations of one `cpu` run one after another. A message of 0 bytes is played as one of 1 byte
/// and reported in `warnings`. Throws TraceError with `name` and line.
Workload read_goal(std::istream& in, const std::string& name, const ReadOptions& options, Warnings& warnings);

}  // namespace mrc
