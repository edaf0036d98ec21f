// Makes the halves of a node's QPs: path table, congestion control, requestor, responder, as the scenario says who
// shares what. Used where a scenario is built and where a platform's software sets a QP up.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mrc/types.h"
#include "nic/nic_context.h"

namespace mrc {

class QpAssembly {
 public:
  /// The protection domain that all QPs and memory regions belong to.
  static constexpr ProtectionDomain kDomain = 1;

  /// The EVs that a node's QPs use.
  static EvProfile profile_of(const ScenarioConfig& scenario, NodeId node);

  /// `nic` outlives the assembly.
  explicit QpAssembly(NicContext& nic);

  /// Boxes keep addresses of QPs and controllers: `qps` is the most that there will be, set before the first is made.
  void reserve(std::size_t qps);
  /// A QP towards nobody, with the next number.
  Qp& add_qp();
  /// Both in RTS. `qp.peer`, `qp.route` are set; the peer's other half has the same first PSN.
  void add_requestor(Qp& qp, Psn first_psn);
  void add_responder(Qp& qp, Psn first_psn);

  /// Of QPs and shared ones, for who counts EV states.
  const std::vector<const PathTable*>& path_tables() const { return path_tables_; }

 private:
  CongestionDomain& congestion_for(NodeId peer);
  void give_paths(Qp& qp);
  std::unique_ptr<NicPathTable> make_table(const std::string& owner) const;

  NicContext& nic_;
  EvProfile profile_;
  RcConfig rc_config_;  ///< with transport = "rocev2"
  std::map<NodeId, std::unique_ptr<NicPathTable>> shared_paths_;
  std::vector<const PathTable*> path_tables_;
  std::map<NodeId, CongestionDomain*> congestion_of_peer_;
};

}  // namespace mrc
