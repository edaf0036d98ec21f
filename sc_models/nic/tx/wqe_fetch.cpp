#include "nic/tx/wqe_fetch.h"

#include "nic/control/sack_processor.h"
#include "nic/tx/qp_scheduler.h"

namespace mrc::timing {

WqeFetch::WqeFetch(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                   QpScheduler& scheduler)
    : Box(name, owner),
      slot("wqe_fetch", nic.tx_work),
      nic_(nic),
      pcie_(pcie),
      scheduler_(scheduler),
      requests_(scheduler.wqe_requests()) {
  requests_.connect(this);
}

void WqeFetch::step(TimePs now) {
  const NicConfig::WqeFetch& config = nic_.config.nic.wqe_fetch;
  if (requests_.ready(now) && now >= next_start_) {
    next_start_ = now + nic_.clock.cycles(config.pipeline.initiation_interval_cycles);
    if (!pcie_.can_read()) {
      slot.blocked(now, BlockedBy::read_queue);
      pcie_.wait_read_room(now, *this);
      return;
    }
    const std::uint32_t index = requests_.pop(now);
    const std::uint32_t bytes = nic_.qps[index].wqes_in_fetch * config.wqe_bytes;
    if (nic_.host_port != nullptr) {
      const HostPort& host = *nic_.host_port;
      pcie_.read(now, host.wqe_address(index), bytes, *this, index, false, nic_.host_port->wqe_buffer(index));
    } else {
      pcie_.read(now, std::uint64_t{index} << 16, bytes, *this, index, false);
    }
    slot.busy(now, next_start_);
  }
  requests_.wait_ready(next_start_);
}

void WqeFetch::read_done(std::uint64_t cookie, TimePs now, TimePs done_at) {
  const NicConfig::WqeFetch& config = nic_.config.nic.wqe_fetch;
  const auto index = static_cast<std::uint32_t>(cookie);
  Qp& qp = nic_.qps[index];
  pcie_.release_completion_buffer(now, qp.wqes_in_fetch * config.wqe_bytes);
  if (nic_.host_port != nullptr && !nic_.host_port->take_wqes(qp)) sack_processor_->responder_failed(now, qp);
  qp.wqes_held += qp.wqes_in_fetch;
  for (; qp.wqes_in_fetch > 0; --qp.wqes_in_fetch) qp.requestor->post(qp.send_queue.fetch(), done_at);
  if (qp.requestor->state() == QpState::error) {
    qp.wqes_held = 0;
    sack_processor_->follow_up(now, qp, {});
  }
  scheduler_.activate(index, done_at + nic_.clock.cycles(config.pipeline.latency_cycles));
}

}  // namespace mrc::timing
