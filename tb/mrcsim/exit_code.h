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

/// What a run that ended like this exits with; `interrupted` tells a partial run by the user from one by its time
/// limit.
int exit_code(RunStatus status, bool interrupted);

}  // namespace mrc
