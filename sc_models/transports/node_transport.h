// A node's part of its transport: makes the halves of its QPs, and the node itself where it is a light endpoint. Used
// where a scenario is built and where a platform's software sets a QP up.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "mrc/control/path_table.h"
#include "node/node_context.h"

namespace mrc {

class HostMemory;
class LightNode;
class Network;
struct WorkPlacement;

class NodeTransport {
 public:
  /// The protection domain of QPs and memory regions; each tenant's is one of its own behind it.
  static constexpr ProtectionDomain kDomain = 1;
  static constexpr ProtectionDomain domain_of(std::uint32_t tenant) { return kDomain + tenant; }

  /// `node` outlives the transport.
  explicit NodeTransport(NodeContext& node) : node_(node) {}
  virtual ~NodeTransport() = default;
  NodeTransport(const NodeTransport&) = delete;
  NodeTransport& operator=(const NodeTransport&) = delete;

  /// Addresses of QPs and controllers are kept: `qps` is the most that there will be, set before the first is made.
  void reserve(std::size_t qps);
  /// A QP towards nobody, with the next number.
  Qp& add_qp();
  /// Both in RTS, with the receives that a scenario's software posts at first. `qp.peer`, `qp.route` are set; the
  /// peer's other half has the same first PSN.
  virtual void add_requestor(Qp& qp, Psn first_psn) = 0;
  virtual void add_responder(Qp& qp, Psn first_psn) = 0;

  // Software connects a QP anew, of which nothing is under way. Its paths stay.
  /// It is in RESET and answers nothing; what it receives, if it does, will begin with this PSN.
  virtual void close(Qp& qp, Psn first_received);
  /// It is up again. What it sends, if it does, begins with this PSN, and a congestion window of its own as at first.
  virtual void reopen(Qp& qp, Psn first_sent);

  /// Changes the constants of congestion control. `anew`: only for QPs that are set up from now on, which share no
  /// window with earlier ones; otherwise for all. A transport without NSCC ignores it.
  virtual void set_congestion(const CongestionConfig&, bool /*anew*/) {}

  /// Gives QPs that are set up from now on these EVs; earlier QPs keep theirs. A transport without EVs ignores it.
  virtual void set_ev_profile(const EvProfile&) {}

  /// Of QPs and shared ones, for who counts EV states; empty where the transport has no EVs.
  virtual std::span<const PathTable* const> path_tables() const { return {}; }

  /// The node on the fabric's own events. Its QPs are complete; all arguments outlive it.
  virtual std::unique_ptr<LightNode> make_light_node(HostMemory& memory, Network& network,
                                                     const WorkPlacement& placement) = 0;

 protected:
  NodeContext& node_;
};

/// By the transport of the node's scenario. Precondition: the transport is simulated.
std::unique_ptr<NodeTransport> make_node_transport(NodeContext& node);

}  // namespace mrc
