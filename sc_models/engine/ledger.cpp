#include "engine/ledger.h"

namespace mrc {

IssueSlot::IssueSlot(Box& box, const WorkClock& work, const std::string& part)
    : work_(&work), box_(box.place().full_name() + (part.empty() ? "" : "." + part)) {
  box.declare(*this);
}

}  // namespace mrc
