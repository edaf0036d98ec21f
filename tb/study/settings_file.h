// Settings as files: sizes of buffers, and whole scenarios.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/output_file.h"
#include "study/design.h"
#include "study/run_planner.h"

namespace mrc {

/// A buffer's parameter, or node.nicN.parameter, and its value.
using BufferSizes = std::vector<std::pair<std::string, std::int64_t>>;

/// Reads a TOML file of sizes, laid out as a scenario. Throws ParameterError with file and line for what is not an
/// integer parameter with a range.
BufferSizes read_sizes(const std::string& path);
/// What a file of sizes begins with.
inline constexpr FileKind kSizesFile{"sizes", "# Sizes of buffers"};
/// Writes the file that read_sizes() reads, one parameter a line; replaces nothing but a file of sizes. Throws
/// OutputError.
void write_sizes(const std::string& path, const Settings& sizes);

/// The subject's scenario with these settings, this seed and this trace (as the file names it) as one TOML file, which
/// `mrcsim run` takes. A trace of the scenario is named relative to `folder`, where the file will be.
std::string scenario_text(const RunSubject& subject, const Settings& settings, std::uint64_t seed,
                          const std::string& folder, const std::string& trace);

}  // namespace mrc
