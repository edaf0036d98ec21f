#include "programs/program_host.h"

#include <algorithm>
#include <bit>
#include <memory>

#include <fmt/format.h>

namespace mrc {

ProgramHost::ProgramHost(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Nic& device,
                         HostMemory& memory, const WorkPlacement& placement, NodeTransport& transport,
                         const Topology& topology)
    : Host(name, owner, nic, device, memory, placement), transport_(transport), topology_(topology) {}

std::uint32_t ProgramHost::ports_up() const {
  const std::uint32_t all = nic_.config.nic.ports >= 32 ? ~0U : (1U << nic_.config.nic.ports) - 1;
  return static_cast<std::uint32_t>(std::popcount(device_.port_status().lit() & all));
}

void ProgramHost::connect(std::uint32_t index, const QpConnection& to) {
  Qp& qp = nic_.qps[index];
  qp.peer = to.peer;
  qp.peer_number = to.peer_number;
  qp.route = topology_.route(nic_.node, to.peer);
  const KeyedRandom random(nic_.scenario.seed, fmt::format("nic{}.qp{}.reverse_paths", nic_.node, qp.number));
  qp.reverse_paths =
      std::make_unique<ReversePaths>(nic_.config.nic.ports, random, nic_.scenario.protocol.ev_layout, qp.route.uplinks);
  transport_.add_responder(qp, to.receive_psn);
}

void ProgramHost::start_sending(std::uint32_t index, Psn first) {
  transport_.add_requestor(nic_.qps[index], first);
}

void ProgramHost::fail(TimePs now, std::uint32_t index) {
  Qp& qp = nic_.qps[index];
  if (qp.receiver) qp.receiver->to_error();
  if (qp.sender && qp.sender->state() != QpState::error) device_.sack_processor().responder_failed(now, qp);
}

void ProgramHost::post_request(TimePs now, std::uint32_t qp, const WorkRequest& request) {
  HostStatistics& statistics = player().statistics();
  if (request.id >= posted_.size()) posted_.resize(request.id + 1);
  posted_[request.id] = {now, request.bytes};
  ++statistics.messages_started;
  statistics.first_doorbell = std::min(statistics.first_doorbell, now + ps_from_ns(nic_.config.host.post_ns));
  message_begun(now);
  post(now, qp, request, statistics.first_doorbell);
}

Cqe ProgramHost::take_completion(TimePs now) {
  const Cqe cqe = completions_.pop(now);
  note_completion(now, cqe);
  if (cqe.kind == Cqe::Kind::receive) return cqe;
  message_completed(now);
  HostStatistics& statistics = player().statistics();
  const Posted& posted = posted_[cqe.id];
  statistics.last_completion = std::max(statistics.last_completion, now);
  if (cqe.status == CompletionStatus::success) {
    ++statistics.messages_completed;
    statistics.acknowledged_bytes += posted.bytes;
    statistics.message_times.push_back(now - posted.at);
  } else {
    ++statistics.messages_failed;
  }
  return cqe;
}

}  // namespace mrc
