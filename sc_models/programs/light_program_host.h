// The host of a light endpoint that programs drive. Posting and completing work takes the same fixed delays as in a run
// without programs. A post never waits for a doorbell queue, and software cannot send probes.
#pragma once

#include <cstdint>

#include "endpoint/light_node.h"
#include "fabric/fabric.h"
#include "programs/program_host.h"

namespace mrc {

class LightProgramHost final : public ProgramHost {
 public:
  /// As ProgramHost's; `endpoint` is attached to the network of `fabric`, and its transport is MRC.
  LightProgramHost(NodeContext& context, LightNode& endpoint, NodeTransport& transport, Fabric& fabric);

  TimePs next_port_change() const override { return endpoint_.next_port_change(); }
  bool has_room() override { return true; }
  TimePs next_completion() const override { return endpoint_.next_completion(); }
  void close(TimePs now) override { endpoint_.finish(now); }

 private:
  std::uint32_t lit_ports() const override { return endpoint_.lit_ports(); }
  void half_added(const Qp& qp) override { endpoint_.half_added(qp); }
  void fail_sender(TimePs now, Qp& qp) override;
  void paths_changed(TimePs now) override;
  void hand_over(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) override;
  Cqe pop_completion(TimePs now) override { return endpoint_.take_completion(now); }

  LightNode& endpoint_;
  Fabric& fabric_;
};

}  // namespace mrc
