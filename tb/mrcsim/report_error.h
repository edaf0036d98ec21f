// Errors as a person reads them: one line on standard error, and the exit code.
#pragma once

#include <string>
#include <string_view>

namespace mrc {

/// Whether this process says what is wrong. Of several processes that were started together the first speaks for all,
/// and has the exit code: mpirun ends all when one ends badly, and could end the first before it has spoken.
bool speaks();

/// Prints `why` after the name of the program. Returns kExitBadInput, or kExitOk where another process speaks.
int report_bad_input(std::string_view program, const std::string& why);

/// In a handler of any exception but those of the command line: prints the exception that is handled, and returns the
/// exit code (docs/result.md).
int report_error(std::string_view program);

}  // namespace mrc
