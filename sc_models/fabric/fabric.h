// The network between the NICs as one SystemC module: the cables to the detailed NICs, and behind them everything else
// on the network's own events, ahead of the kernel like any wheel.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/byte_stream.h"
#include "engine/wheel_module.h"
#include "fabric/link.h"
#include "fabric/network.h"
#include "parameters/config.h"

namespace mrc {

class Fabric : public WheelModule {
 public:
  /// `scenario` outlives the fabric. Node n's port p goes to its T0 of plane p.
  Fabric(const sc_core::sc_module_name& name, const ScenarioConfig& scenario, TimePs quantum_ps);
  ~Fabric() override;

  /// How far a scenario lets wheels run ahead of the kernel that follow nobody.
  static TimePs quantum_ps(const ScenarioConfig& scenario);
  /// The cables of a detailed node's ports.
  std::vector<PortLinks> links_of(NodeId node);
  /// The wheels of all detailed nodes, which hear of each other through the fabric alone. They may be ahead of the
  /// kernel by the whole way over a switch: the fabric by that into a switch, and the nodes of it by that out of one.
  /// With the receivers of all cables in place.
  void set_followers(std::vector<WheelModule*> wheels) { followers_ = std::move(wheels); }
  /// Whether they are, or all go ahead by a cable. Precondition: that of WheelModule::follow().
  void let_follow(bool far);

  Network& network() { return network_; }
  const Network& network() const { return network_; }
  const Topology& topology() const { return network_.topology(); }

  /// Packets on cables and in switches.
  std::uint64_t packets_held() const;
  /// Packets that were dropped on links, for want of room in a queue, or for want of a route.
  std::uint64_t packets_lost() const;
  /// What a port may queue at most.
  std::uint64_t queue_bytes() const { return scenario_.fabric.queue_bytes; }

  // Of a run on several ranks: what this one counted; what another did, with the network's counts.
  void put_counts(ByteWriter& to) const;
  void add_counts(ByteReader& from);

  /// Has the network look at its next event; whoever gave it one from outside calls this.
  void wake();

 private:
  class Runner;
  struct Cable {
    NodeId node;
    std::uint32_t plane;
    std::unique_ptr<Link> up;
    std::unique_ptr<Link> down;
  };

  void step();
  /// The shortest of these cables, with what its receiver takes.
  TimePs shortest(std::unique_ptr<Link> Cable::*direction) const;
  std::uint64_t packets_in_cables() const;

  const ScenarioConfig& scenario_;
  Network network_;
  std::vector<Cable> cables_;
  std::vector<WheelModule*> followers_;
  std::uint64_t in_cables_elsewhere_ = 0;  ///< packets at other ranks, after the run
  std::unique_ptr<Runner> runner_;
};

}  // namespace mrc
