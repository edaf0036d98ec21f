#include "programs/detailed_program_host.h"

namespace mrc {

DetailedProgramHost::DetailedProgramHost(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic,
                                         Nic& device, HostMemory& memory, const WorkPlacement& placement,
                                         NodeTransport& transport, const Topology& topology)
    : Host(name, owner, nic, device, memory, placement), ProgramHost(nic, player(), transport, topology) {
  device.probe_engine().use_routes([&topology, node = nic.node](NodeId peer) { return topology.route(node, peer); });
}

void DetailedProgramHost::hand_over(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) {
  message_begun(now);
  post(now, qp, request, first_doorbell);
}

Cqe DetailedProgramHost::pop_completion(TimePs now) {
  const Cqe cqe = completions_.pop(now);
  note_completion(now, cqe);
  if (cqe.kind == Cqe::Kind::send) {
    message_completed(now);
    device_.note_completion(now);
  }
  return cqe;
}

}  // namespace mrc
