#include "nic/qp_assembly.h"

#include <fmt/format.h>

#include "fabric/topology.h"
#include "mrc/control/congestion_registry.h"
#include "mrc/control/path_policy_registry.h"

namespace mrc {

QpAssembly::QpAssembly(NicContext& nic)
    : nic_(nic), profile_(profile_of(nic.scenario, nic.node)), rc_config_(nic.scenario.rocev2.rc) {
  rc_config_.mtu_bytes = nic.scenario.protocol.mtu_bytes;
}

EvProfile QpAssembly::profile_of(const ScenarioConfig& scenario, NodeId node) {
  return make_auto_profile(scenario.protocol, scenario.node(node).nic.ports,
                           KeyedRandom(scenario.seed, fmt::format("nic{}.ev_profile", node)), ev_uplinks(scenario));
}

void QpAssembly::reserve(std::size_t qps) {
  nic_.qps.reserve(qps);
  nic_.congestion.reserve(qps);
}

Qp& QpAssembly::add_qp() {
  nic_.qps.emplace_back();
  Qp& qp = nic_.qps.back();
  qp.number = NicContext::kFirstQpNumber + static_cast<QpNumber>(nic_.qps.size() - 1);
  return qp;
}

CongestionDomain& QpAssembly::congestion_for(NodeId peer) {
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  CongestionDomain*& shared = congestion_of_peer_[peer];
  if (shared != nullptr && protocol.congestion_scope != CongestionScope::qp) return *shared;
  CongestionConfig config = nic_.scenario.cc;
  config.line_rate_gbps = nic_.config.nic.port_gbps * nic_.config.nic.ports;
  nic_.congestion.push_back({make_congestion_control(config, protocol), {}});
  shared = &nic_.congestion.back();
  return *shared;
}

std::unique_ptr<NicPathTable> QpAssembly::make_table(const std::string& owner) const {
  const ProtocolConfig& protocol = nic_.scenario.protocol;
  const KeyedRandom random(nic_.scenario.seed, fmt::format("nic{}.path_table.{}", nic_.node, owner));
  return std::make_unique<NicPathTable>(
      profile_, protocol, nic_.config.nic.ports, random,
      make_path_policy(protocol.path_policy, static_cast<std::uint32_t>(profile_.value.size()), random));
}

void QpAssembly::give_paths(Qp& qp) {
  const PathTableScope scope = nic_.scenario.protocol.path_table_scope;
  if (scope == PathTableScope::qp) {
    qp.own_paths = make_table(fmt::format("qp{}", qp.number));
    qp.paths = qp.own_paths.get();
    path_tables_.push_back(&qp.paths->table());
    return;
  }
  const bool by_destination = scope == PathTableScope::destination;
  auto& table = shared_paths_[by_destination ? qp.peer : 0];
  if (!table) {
    table = make_table(by_destination ? fmt::format("nic{}", qp.peer) : "profile");
    path_tables_.push_back(&table->table());
  }
  qp.paths = table.get();
}

void QpAssembly::add_requestor(Qp& qp, Psn first_psn) {
  if (nic_.scenario.is_rocev2()) {
    qp.rc.requestor =
        std::make_unique<RcRequestor>(rc_config_, nic_.scenario.rocev2.rate, nic_.config.nic.port_gbps, first_psn);
    return;
  }
  qp.congestion = &congestion_for(qp.peer);
  give_paths(qp);
  qp.requestor = std::make_unique<NicRequestor>(nic_.scenario.protocol, *qp.paths, *qp.congestion->control, first_psn);
  bring_up(*qp.requestor);
}

void QpAssembly::add_responder(Qp& qp, Psn first_psn) {
  if (nic_.scenario.is_rocev2()) {
    qp.rc.responder = std::make_unique<RcResponder>(rc_config_, first_psn, nic_.protection, kDomain);
    qp.rc.notifications = std::make_unique<CnpGenerator>(nic_.scenario.rocev2.rate);
    return;
  }
  qp.responder = std::make_unique<Responder>(nic_.scenario.protocol, first_psn, nic_.bitmaps, nic_.protection, kDomain,
                                             QpPeer{.node = qp.peer});
  bring_up(*qp.responder);
}

}  // namespace mrc
