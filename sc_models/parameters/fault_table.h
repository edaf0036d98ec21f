// The entries of [[fault]] in a scenario file: keys, words and ranges. Whether the place exists is known where the
// network is built (FaultTimeline).
#pragma once

#include <string>
#include <vector>

#include <toml++/toml.h>

#include "parameters/config.h"

namespace mrc {

/// The word of a scenario file.
std::string to_string(FaultKind kind);

/// `path` opens the place of each entry. Throws ParameterError with file, line, and the nearest word where one is
/// misspelled.
std::vector<FaultConfig> read_faults(const toml::array& entries, const std::string& path);

}  // namespace mrc
