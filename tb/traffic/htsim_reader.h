// htsim connection matrices (.cm): connections that start at a time or by a trigger.
#pragma once

#include <istream>
#include <string>

#include "host/workload.h"
#include "traffic/read_options.h"

namespace mrc {

/// Triggers of one activation, and barriers whose count is that of the connections that activate them. A trigger that
/// is activated at another rank than the one it starts is a wait across ranks: expand_collectives() makes it a message
/// of 1 byte. With `options.rows` later connections are dropped, and a trigger counts the remaining ones of its
/// connections. Throws TraceError with `name` and line.
Workload read_htsim(std::istream& in, const std::string& name, const ReadOptions& options);

}  // namespace mrc
