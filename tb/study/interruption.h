// Ctrl-C and SIGTERM end a run between two events, and a study between two polls of its runs, not in the middle of a
// write.
#pragma once

#include <atomic>

namespace mrc {

/// From now on the signals set a flag.
void catch_interruption();
bool interrupted();
/// The flag, for what looks at it by itself, or is told by another process.
std::atomic<bool>& interruption();
/// Throws StudyInterrupted once the flag is set.
void check_interruption();

}  // namespace mrc
