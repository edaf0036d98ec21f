#include "node/nic_path_table.h"

#include "nic/tx/spray_scheduler_rtl_path.h"

namespace mrc {

void NicPathTable::report_by_rtl(EvIndex ev, PathEvent event, TimePs now) {
  rtl_->report(table_, ev, event, now);
}

void NicPathTable::set_port_status_by_rtl(std::uint32_t reachable_mask) {
  rtl_->set_port_status(table_, reachable_mask);
}

void NicPathTable::deny_by_rtl(EvIndex ev) {
  rtl_->deny(table_, ev);
}

void NicPathTable::allow_by_rtl(EvIndex ev) {
  rtl_->allow(table_, ev);
}

}  // namespace mrc
