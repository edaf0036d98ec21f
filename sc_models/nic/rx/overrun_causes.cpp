#include "nic/rx/overrun_causes.h"

#include "engine/ledger.h"

namespace mrc::timing {

Cause OverrunCauses::cause() const {
  Cause cause = parser_->servers().front().cause;
  const IssueSlot* slot = parser_->slots().front();
  const WorkClock& received = slot->work();
  // Only boxes that work on received data: what holds up the transmit side is not looked for from here.
  while (slot->is_blocked() && &slot->work() == &received) {
    cause = slot->blocked_by();
    const Box* behind = causes_.box_behind(cause);
    if (behind == nullptr) break;
    slot = behind->slots().front();
  }
  return cause;
}

}  // namespace mrc::timing
