#include "mrcsim/exit_code.h"

namespace mrc {

int exit_code(RunStatus status, bool interrupted) {
  switch (status) {
    case RunStatus::complete:
    case RunStatus::known:
      return kExitOk;
    case RunStatus::partial:
      return interrupted ? kExitInterrupted : kExitOk;
    case RunStatus::stalled:
      return kExitStalled;
    case RunStatus::mismatch:
      return kExitMismatch;
    case RunStatus::failed:
      return kExitMessageFailed;
  }
  return kExitBug;
}

}  // namespace mrc
