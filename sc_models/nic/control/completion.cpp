#include "nic/control/completion.h"

#include <algorithm>

namespace mrc::timing {
namespace {

/// Completion queues lie in host memory above the QP contexts; only alignment matters to the bus.
constexpr std::uint64_t kCompletionQueueAddress = 0x4000'0000;

}  // namespace

Completion::Completion(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie)
    : Box(name, owner),
      slot("completion", nic.tx_work),
      nic_(nic),
      pcie_(pcie),
      in_("completion.queue", nic.config.nic.completion.queue_entries) {
  in_.connect(this);
}

void Completion::step(TimePs now) {
  if (write_under_way_) return;  // write_left() comes back here
  if (now < next_start_) {
    wake_at(next_start_);
    return;
  }
  if (!in_.ready(now)) {
    slot.empty(now);
    in_.wait_ready(now);
    return;
  }
  if (host_queue_->full()) {
    slot.blocked(now, BlockedBy::completion_queue);
    host_queue_->wait_room(now, *this);
    return;
  }
  const NicConfig::Completion& config = nic_.config.nic.completion;
  const TimePs start = now + nic_.clock.cycles(config.pipeline.latency_cycles);
  HostPort* port = nic_.host_port;
  const std::uint64_t address = port == nullptr ? kCompletionQueueAddress : port->cqe_address();
  cqe_ = in_.pop(now);
  issued_at_ = now;
  write_under_way_ = true;
  slot.busy(now, start);
  pcie_.write(now, start, address, config.cqe_bytes, *this, 0, WriteOrder::strict);
}

void Completion::write_left(std::uint64_t, TimePs now, TimePs last_end) {
  const NicConfig::Completion& config = nic_.config.nic.completion;
  write_under_way_ = false;
  next_start_ = std::max(issued_at_ + nic_.clock.cycles(config.pipeline.initiation_interval_cycles), last_end);
  slot.busy(issued_at_, next_start_);
  const TimePs visible = last_end + pcie_.write_latency();
  // Behind a host port this queue holds what its software has not taken yet, so that a full one stops the NIC.
  if (nic_.host_port != nullptr) nic_.host_port->complete(visible, cqe_);
  const auto poll = nic_.host_port != nullptr ? 0 : static_cast<TimePs>(nic_.config.host.poll_ns * 1000.0);
  host_queue_->push(now, cqe_, visible + poll);
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
