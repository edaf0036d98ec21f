#include "host/host.h"

#include "engine/latency_account.h"

namespace mrc {
namespace {

/// From the doorbell's write until the NIC sees it.
double doorbell_ns(const NodeConfig& config) {
  return config.host.doorbell_ns + (config.nic.doorbell.carries_wqe ? config.host.wqe_in_doorbell_ns : 0);
}

}  // namespace

void Host::declare_post_latency(LatencyAccount& account) {
  const HostConfig& config = account.node().host;
  account.add("post", config.post_ns, LatencyAccount::plausible("host.post_ns"), "assumption", "host.post_ns");
  account.add("doorbell", doorbell_ns(account.node()), LatencyAccount::plausible("host.doorbell_ns"), "assumption",
              "host.doorbell_ns");
}

void Host::declare_delivery_latency(LatencyAccount& account) {
  const HostConfig& config = account.node().host;
  const AcceleratorConfig& accelerator = account.scenario().accelerator;
  account.add("poll", config.poll_ns, LatencyAccount::plausible("host.poll_ns"), "assumption", "host.poll_ns");
  if (accelerator.payload_memory == PayloadMemory::gpu_direct) {
    account.add("flush", accelerator.direct_flush_ns, {0, 2000}, "assumption", "accelerator.direct_flush_ns");
  }
  account.add_exact("residual", config.residual_ns, "calibrated", "host.residual_ns");
}

Host::Host(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Nic& device, HostMemory& memory,
           const WorkPlacement& placement)
    : Box(name, owner),
      nic_(nic),
      device_(device),
      completions_(*this, "host.completion_queue", nic.config.nic.completion.cq_entries),
      player_(nic, *this, memory, placement) {
  place_ = nic_.trace.new_place();
  outstanding_ = nic_.causes.declare("host.outstanding_messages", {"traffic.outstanding_messages"});
  doorbells_ = nic_.causes.declare("doorbell.queue");
  cq_full_ = nic_.causes.declare("completion.cq_entries");
  completions_.connect(this);
  device_.completion().connect(completions_);
}

void Host::start() {
  player_.start();
  if (player_.next_alarm() != kNever) wake_at(player_.next_alarm());
}

bool Host::can_post(TimePs now) {
  if (!device_.doorbell().queue().full()) return true;
  device_.doorbell().queue().wait_room(now, *this);
  return false;
}

void Host::post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) {
  if (Recorder* recorder = nic_.recorder) {
    recorder->add({.time = now,
                   .until = request.bytes,
                   .value = request.id,
                   .object = nic_.qps[qp].peer,
                   .qp = qp,
                   .kind = Record::Kind::posted,
                   .packet = {}});
  }
  nic_.qps[qp].send_queue.post(request);
  nic_.qps[qp].starts.posted = trace_post(now);
  ++nic_.qps[qp].doorbells_under_way;
  const TimePs rung = now + ps_from_ns(nic_.config.host.post_ns);
  device_.doorbell().queue().push(now, qp, rung + ps_from_ns(doorbell_ns(nic_.config)));
  device_.open_account(first_doorbell);
}

StartId Host::trace_post(TimePs now) const {
  if (!nic_.trace.on()) return 0;
  if (nic_.doorbells_full) return nic_.trace.waited(now, nic_.trace.gave(doorbells_), place_, doorbells_);
  if (nic_.host_has_more) return nic_.trace.waited(now, because_, place_, outstanding_);
  return nic_.trace.arrived(now, because_, place_);
}

void Host::work_done(TimePs now) {
  device_.close_account(now);
}

void Host::note_completion(TimePs now, const Cqe& cqe) {
  because_ = cqe.because;
  nic_.trace.give(cq_full_, because_);
  Recorder* recorder = nic_.recorder;
  if (cqe.kind != Cqe::Kind::send || recorder == nullptr) return;
  recorder->add({.time = now,
                 .until = static_cast<TimePs>(cqe.status),
                 .value = cqe.id,
                 .qp = cqe.qp,
                 .kind = Record::Kind::completed,
                 .packet = {}});
}

void Host::step(TimePs now) {
  while (completions_.ready(now)) {
    const Cqe cqe = completions_.pop(now);
    note_completion(now, cqe);
    if (cqe.kind == Cqe::Kind::send) {
      player_.send_completed(now, cqe);
    } else {
      player_.receive_completed(now, cqe);
    }
  }
  player_.step(now);
  nic_.doorbells_full = device_.doorbell().queue().full();
  nic_.host_has_more = player_.has_pending();
  if (player_.next_alarm() != kNever) wake_at(player_.next_alarm());
  completions_.wait_ready(now);
}

}  // namespace mrc
