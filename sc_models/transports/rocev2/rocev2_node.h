// RoCEv2 at a node: the halves of its queue pairs.
#pragma once

#include <memory>
#include <vector>

#include "mrc/rocev2/cnp_generator.h"
#include "mrc/rocev2/rc_requestor.h"
#include "mrc/rocev2/rc_responder.h"
#include "transports/node_transport.h"

namespace mrc {

/// Of a queue pair that sends, or receives, or both.
struct RcHalves {
  std::unique_ptr<RcRequestor> requestor;
  std::unique_ptr<RcResponder> responder;
  std::unique_ptr<CnpGenerator> notifications;
};

class Rocev2Node : public NodeTransport {
 public:
  /// `node` outlives it.
  explicit Rocev2Node(NodeContext& node);

  void add_requestor(Qp& qp, Psn first_psn) override;
  void add_responder(Qp& qp, Psn first_psn) override;
  std::unique_ptr<LightNode> make_light_node(HostMemory& memory, Network& network,
                                             const WorkPlacement& placement) override;

 private:
  RcHalves& halves_of(const Qp& qp);

  RcConfig config_;
  std::vector<RcHalves> halves_;  ///< by QP
};

}  // namespace mrc
