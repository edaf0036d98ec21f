#include "results/run_result.h"

namespace mrc {

const char* to_string(RunStatus status) {
  switch (status) {
    case RunStatus::complete:
      return "complete";
    case RunStatus::failed:
      return "failed";
    case RunStatus::stalled:
      return "stalled";
    case RunStatus::partial:
      return "partial";
    case RunStatus::mismatch:
      return "mismatch";
    case RunStatus::known:
      return "known";
  }
  return "";
}

}  // namespace mrc
