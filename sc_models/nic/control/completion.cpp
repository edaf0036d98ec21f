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
  const PcieDma::WriteTimes times = pcie_.write(start, address, config.cqe_bytes);
  next_start_ = std::max(now + nic_.clock.cycles(config.pipeline.initiation_interval_cycles), times.last_end);
  slot.busy(now, next_start_);
  const TimePs visible = times.last_end + pcie_.write_latency();
  const Cqe cqe = in_.pop(now);
  // Behind a host port this queue holds what its software has not taken yet, so that a full one stops the NIC.
  if (port != nullptr) port->complete(visible, cqe);
  const auto poll = port != nullptr ? 0 : static_cast<TimePs>(nic_.config.host.poll_ns * 1000.0);
  host_queue_->push(now, cqe, visible + poll);
  in_.wait_ready(next_start_);
}

}  // namespace mrc::timing
