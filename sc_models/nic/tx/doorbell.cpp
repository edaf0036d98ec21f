#include "nic/tx/doorbell.h"

#include "engine/latency_account.h"
#include "nic/memory_fields.h"
#include "nic/pipeline_server.h"
#include "nic/tx/qp_scheduler.h"
#include "nic/tx/wqe_fetch.h"

namespace mrc::timing {

Doorbell::Doorbell(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, QpScheduler& scheduler)
    : Box(name, owner, {.name = "doorbell", .part = NicPart::transmit}),
      slot(*this, nic.tx_work),
      nic_(nic),
      scheduler_(scheduler),
      queue_(*this, "doorbell.queue", nic.config.nic.doorbell.queue_entries),
      starts_(nic.trace, server_cause(nic, "doorbell"),
              nic.causes.declare("doorbell.queue", {"nic.doorbell.queue_entries"})) {
  queue_.connect(this);
  declare(pipeline_server(nic, "doorbell", "doorbell", nic.config.nic.doorbell.pipeline));
  nic.memories.count(kQueue, queue_.occupancy());
}

void Doorbell::declare_memories(const MemoryScope& nic, MemoryDeclarations& out) {
  std::vector<MemoryField> fields{kQpField};
  if (nic.node.nic.doorbell.carries_wqe) fields.push_back({"WQE", nic.node.nic.wqe_fetch.wqe_bytes * 8ULL});
  out.add(kQueue, {.depth = nic.node.nic.doorbell.queue_entries}, fields);
}

void Doorbell::declare_latency(LatencyAccount& account) {
  account.pass_box(account.nic().doorbell.pipeline.latency_cycles);
}

bool Doorbell::brings_next_wqe(const Qp& qp) const {
  if (!nic_.config.nic.doorbell.carries_wqe) return false;
  const bool is_next = qp.send_queue.waiting() == qp.doorbells_under_way;
  return is_next && qp.wqes_in_fetch == 0 && qp.wqes_held < nic_.config.nic.wqe_fetch.prefetch_depth;
}

void Doorbell::step(TimePs now) {
  const PipelineConfig& pipeline = nic_.config.nic.doorbell.pipeline;
  if (queue_.ready(now) && now >= next_start_) {
    const TimePs ready_at = queue_.ready_at();
    const std::uint32_t qp = queue_.pop(now);
    StartId start = nic_.qps[qp].starts.posted;
    starts_.start(now, slot, start, ready_at);
    // Software behind a host port writes doorbells alone.
    if (nic_.host_port == nullptr) {
      const bool carried = brings_next_wqe(nic_.qps[qp]);
      --nic_.qps[qp].doorbells_under_way;
      if (carried) wqe_fetch_->take_carried(now, qp, start);
    }
    scheduler_.activate(qp, now + nic_.clock.cycles(pipeline.latency_cycles), start);
    next_start_ = now + nic_.clock.cycles(pipeline.initiation_interval_cycles);
    slot.busy(now, next_start_);
  }
  queue_.wait_ready(next_start_);
}

}  // namespace mrc::timing
