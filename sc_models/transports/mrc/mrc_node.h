// MRC at a node: path table, congestion control, requestor, responder of its QPs, as the scenario says who shares what.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mrc/control/ev_profile.h"
#include "transports/node_transport.h"

namespace mrc {

class MrcNode : public NodeTransport {
 public:
  /// `node` outlives it.
  explicit MrcNode(NodeContext& node);

  void add_requestor(Qp& qp, Psn first_psn) override;
  void add_responder(Qp& qp, Psn first_psn) override;
  void close(Qp& qp, Psn first_received) override;
  void reopen(Qp& qp, Psn first_sent) override;
  void set_congestion(const CongestionConfig& config, bool anew) override;
  void set_ev_profile(const EvProfile& profile) override;
  std::span<const PathTable* const> path_tables() const override { return path_tables_; }
  std::unique_ptr<LightNode> make_light_node(HostMemory& memory, Network& network,
                                             const WorkPlacement& placement) override;

 private:
  CongestionDomain& congestion_for(const Qp& qp);
  std::unique_ptr<CongestionControl> make_control() const;
  void give_paths(Qp& qp);
  void give_sender(Qp& qp, Psn first_psn);
  /// In RESET.
  void give_receiver(Qp& qp, Psn first_psn);
  std::unique_ptr<NicPathTable> make_table(const std::string& owner) const;

  mutable std::shared_ptr<const EvDirectory> ev_directory_;  ///< with the first path table
  std::map<NodeId, std::unique_ptr<NicPathTable>> shared_paths_;
  std::vector<std::unique_ptr<NicPathTable>> earlier_paths_;  ///< shared ones of QPs with an earlier profile
  std::vector<const PathTable*> path_tables_;
  std::map<FlowKey, CongestionDomain*> congestion_of_flow_;
  std::optional<CongestionConfig> congestion_;  ///< in place of the scenario's
};

}  // namespace mrc
