// What this executable is: version, commit, compiler, what is built in.
#pragma once

#include <string>

namespace mrc {

/// The text of --version: a line with version and commit, then what it was built with and what is built in.
std::string version_text();

}  // namespace mrc
