// Exit codes of mrcsim (docs/result.md).
#pragma once

#include "results/run_result.h"

namespace mrc {

enum ExitCode : int {
  kExitOk = 0,
  kExitBug = 1,
  kExitBadInput = 2,
  kExitStalled = 3,
  kExitMismatch = 4,
  kExitMessageFailed = 5,
  kExitInterrupted = 130,
};

/// Exit code for a run with this status; `interrupted` distinguishes a partial run ended by the user from one ended by
/// its time limit.
int exit_code(RunStatus status, bool interrupted);

}  // namespace mrc
