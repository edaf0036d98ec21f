#include "engine/ledger.h"

namespace mrc {

IssueSlot::IssueSlot(Box& box, const WorkClock& work, const std::string& part)
    : box_(box.place().full_name() + (part.empty() ? "" : "." + part)), work_(&work) {
  box.declare(*this);
}

}  // namespace mrc
