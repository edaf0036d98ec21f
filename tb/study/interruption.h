// Ctrl-C and SIGTERM end a study between two polls of its runs, not in the middle of a write.
#pragma once

namespace mrc {

/// From now on the signals set a flag.
void catch_interruption();
bool interrupted();
/// Throws StudyInterrupted once the flag is set.
void check_interruption();

}  // namespace mrc
