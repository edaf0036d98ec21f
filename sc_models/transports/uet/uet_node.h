// UET at a node: the halves of its packet delivery contexts (PDCs), one for each QP.
#pragma once

#include <memory>
#include <vector>

#include "mrc/control/ev_profile.h"
#include "mrc/control/nscc.h"
#include "mrc/rx/responder.h"
#include "mrc/tx/requestor.h"
#include "mrc/uet/credit.h"
#include "transports/node_transport.h"

namespace mrc {

/// Of a PDC that sends, or receives, or both. Ring 1's requestor and responder are those of MRC, whose rules for PSNs,
/// SACK, NACK and window are UET's.
struct UetHalves {
  std::unique_ptr<PathTable> paths;
  std::unique_ptr<Requestor> requestor;
  std::unique_ptr<Responder> responder;
  std::unique_ptr<CreditAccount> credit;  ///< null: the sender's window alone
  std::uint64_t unsent_bytes = 0;         ///< payload that has not been sent once
  TimePs request_at = kNever;             ///< without credit: when it is asked for again
};

class UetNode : public NodeTransport {
 public:
  /// `node` outlives it.
  explicit UetNode(NodeContext& node);

  void add_requestor(Qp& qp, Psn first_psn) override;
  void add_responder(Qp& qp, Psn first_psn) override;
  std::span<const PathTable* const> path_tables() const override { return path_tables_; }
  std::unique_ptr<LightNode> make_light_node(HostMemory& memory, Network& network,
                                             const WorkPlacement& placement) override;

 private:
  UetHalves& halves_of(const Qp& qp);
  /// That a PDC may hold.
  std::uint64_t most_credit_bytes() const { return derive_nscc(congestion_, protocol_).max_cwnd_bytes; }

  ProtocolConfig protocol_;
  CongestionConfig congestion_;
  std::shared_ptr<const EvDirectory> ev_directory_;  ///< with the first path table
  std::vector<UetHalves> halves_;                    ///< by QP
  std::vector<const PathTable*> path_tables_;
};

}  // namespace mrc
