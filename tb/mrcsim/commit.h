// The commit that the executable was built from.
#pragma once

namespace mrc {

/// Abbreviated hash, with ", modified" where files of the project differ from it; empty outside of a clone.
const char* source_commit();

}  // namespace mrc
