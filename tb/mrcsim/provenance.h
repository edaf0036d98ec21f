// Where files come from: what was typed, when, and with which executable. Kept beside results, which say none of it, so
// that the same seed gives identical results.
#pragma once

#include <string>

namespace mrc {

struct Provenance {
  std::string command;  ///< as it was typed, for a shell
  std::string time;     ///< "2026-01-31 12:00 UTC"; $SOURCE_DATE_EPOCH if it is set, so that a file can be made anew
  std::string version;  ///< "0.2.0 (commit 1a2b3c4)"
};

/// Of this process, now.
Provenance provenance();

/// run.json beside result.json.
std::string json_of(const Provenance& made);

}  // namespace mrc
