#include "nic/tx/wqe_fetch.h"

#include "engine/latency_account.h"
#include "nic/control/sack_processor.h"
#include "nic/pipeline_server.h"
#include "nic/tx/qp_scheduler.h"
#include "pcie/pcie_latency.h"

namespace mrc::timing {

WqeFetch::WqeFetch(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, PcieDma& pcie,
                   QpScheduler& scheduler)
    : Box(name, owner, {.name = "wqe_fetch", .part = NicPart::transmit, .behind = "qp_scheduler"}),
      slot(*this, nic.tx_work),
      nic_(nic),
      prefetch_memory_(nic.memories[kPrefetch]),
      pcie_(pcie),
      scheduler_(scheduler),
      requests_(scheduler.wqe_requests()),
      starts_(nic.trace, server_cause(nic, "wqe_fetch.pipeline")) {
  requests_.connect(this);
  declare(pipeline_server(nic, "wqe_fetch.pipeline", "wqe_fetch", nic.config.nic.wqe_fetch.pipeline));
}

void WqeFetch::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  const WqeFetchConfig& config = nic.node.nic.wqe_fetch;
  out.add(kPrefetch, std::uint64_t{nic.scale.qps} * config.prefetch_depth, nic.node.nic.memory.wqe_prefetch,
          {{"WQE", config.wqe_bytes * 8ULL}});
}

void WqeFetch::declare_latency(LatencyAccount& account) {
  const WqeFetchConfig& config = account.nic().wqe_fetch;
  if (account.nic().doorbell.carries_wqe) {
    account.add_exact("wqe_read", 0, "assumption", "nic.doorbell.carries_wqe: it comes with the doorbell");
    return;
  }
  const double ns = pcie_read_ns(account.node(), config.wqe_bytes) + account.cycles_ns(config.pipeline.latency_cycles);
  account.add("wqe_read", ns, LatencyAccount::plausible("pcie.read_latency_mean_ns"), "assumption",
              "pcie.read_latency_mean_ns, nic.wqe_fetch");
}

void WqeFetch::step(TimePs now) {
  const WqeFetchConfig& config = nic_.config.nic.wqe_fetch;
  if (requests_.ready(now) && now >= next_start_) {
    next_start_ = now + nic_.clock.cycles(config.pipeline.initiation_interval_cycles);
    if (!pcie_.can_read()) {
      slot.blocked(now, pcie_.read_queue_full());
      pcie_.wait_read_room(now, *this);
      return;
    }
    const TimePs ready_at = requests_.ready_at();
    const std::uint32_t request = requests_.pop(now);
    const std::uint32_t index = request & ~kRereadWqe;
    StartId start = nic_.qps[index].starts.wqes_wanted;
    starts_.start(now, slot, start, ready_at);
    const bool again = (request & kRereadWqe) != 0;
    const std::uint32_t bytes = (again ? 1 : nic_.qps[index].wqes_in_fetch) * config.wqe_bytes;
    if (nic_.host_port != nullptr) {
      // The WQE that is read again has been taken once: only its time counts.
      std::byte* into = again ? nullptr : nic_.host_port->wqe_buffer(index);
      pcie_.read(now, nic_.host_port->wqe_address(index), bytes, *this, request, false, into, start);
    } else {
      pcie_.read(now, std::uint64_t{index} << 16, bytes, *this, request, false, nullptr, start);
    }
    slot.busy(now, next_start_);
  }
  requests_.wait_ready(next_start_);
}

void WqeFetch::hand_over(TimePs now, Qp& qp, std::uint32_t wqes, TimePs at, StartId because) {
  scheduler_.hold_wqes(now, qp, static_cast<std::int32_t>(wqes));
  for (std::uint32_t i = 0; i < wqes; ++i) qp.sender->post(qp.send_queue.fetch(), at);
  if (qp.sender->state() != QpState::error) return;
  scheduler_.hold_wqes(now, qp, -static_cast<std::int32_t>(qp.wqes_held));
  sack_processor_->follow_up(now, qp, {}, because);
}

void WqeFetch::take_carried(TimePs now, std::uint32_t index, StartId because) {
  prefetch_memory_.write(now, index);
  hand_over(now, nic_.qps[index], 1, now, because);
}

void WqeFetch::read_done(std::uint64_t cookie, TimePs now, TimePs done_at) {
  const WqeFetchConfig& config = nic_.config.nic.wqe_fetch;
  const auto request = static_cast<std::uint32_t>(cookie);
  const std::uint32_t index = request & ~kRereadWqe;
  Qp& qp = nic_.qps[index];
  if ((request & kRereadWqe) != 0) {
    pcie_.release_completion_buffer(now, config.wqe_bytes);
    prefetch_memory_.write(now, index);
    qp.wqe_in_reread = false;
    scheduler_.activate(index, done_at + nic_.clock.cycles(config.pipeline.latency_cycles), pcie_.done_by());
    return;
  }
  for (std::uint32_t i = 0; i < qp.wqes_in_fetch; ++i) prefetch_memory_.write(now, index + i);
  pcie_.release_completion_buffer(now, qp.wqes_in_fetch * config.wqe_bytes);
  if (nic_.host_port != nullptr && !nic_.host_port->take_wqes(qp)) sack_processor_->responder_failed(now, qp);
  hand_over(now, qp, qp.wqes_in_fetch, done_at, pcie_.done_by());
  qp.wqes_in_fetch = 0;
  scheduler_.activate(index, done_at + nic_.clock.cycles(config.pipeline.latency_cycles), pcie_.done_by());
}

}  // namespace mrc::timing
