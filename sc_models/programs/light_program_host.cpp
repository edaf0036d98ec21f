#include "programs/light_program_host.h"

namespace mrc {

LightProgramHost::LightProgramHost(NodeContext& context, LightNode& endpoint, NodeTransport& transport, Fabric& fabric)
    : ProgramHost(context, endpoint.player(), transport, fabric.topology()), endpoint_(endpoint), fabric_(fabric) {
  endpoint_.serve_programs();
}

void LightProgramHost::fail_sender(TimePs now, Qp& qp) {
  endpoint_.fail(now, qp);
  fabric_.wake();
}

void LightProgramHost::paths_changed(TimePs now) {
  endpoint_.paths_changed(now);
  fabric_.wake();
}

void LightProgramHost::hand_over(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) {
  endpoint_.post_from_program(now, qp, request, first_doorbell);
  fabric_.wake();
}

}  // namespace mrc
