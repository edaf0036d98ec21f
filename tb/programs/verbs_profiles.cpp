// What a controller may ask of a node: its profile of EVs with their states, and its congestion control (OCP's
// mrc_ctl.h, by verbs/libmrc.cpp).
#include <algorithm>
#include <cstring>

#include "fabric/topology.h"
#include "mrc/control/nscc.h"
#include "programs/verbs_node.h"

namespace mrc {

using namespace verbs;

ProfileInfo VerbsNode::profiles() const {
  const ProtocolConfig& protocol = host_->scenario().protocol;
  const CongestionConfig config = derive_nscc(host_->scenario().congestion_of(host_->config()), protocol);
  const auto ns = [](TimePs ps) { return static_cast<std::uint32_t>(ps / kPsPerNs); };
  ProfileInfo info;
  info.evs = static_cast<std::uint32_t>(ev_profile_of(host_->scenario(), host_->node()).value.size());
  info.least_active_evs = protocol.least_active_evs();
  info.ports = host_->config().nic.ports;
  config.algorithm.copy(info.algorithm, sizeof info.algorithm - 1);
  info.disable_quick_adapt = config.disable_quick_adapt ? 1 : 0;
  info.adjust_bytes_threshold = config.adjust_bytes_threshold;
  info.adjust_period_ns = ns(config.adjust_period_ps);
  info.base_rtt_ns = ns(config.base_rtt_ps);
  info.max_cwnd_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(config.max_cwnd_bytes, ~std::uint32_t{0}));
  info.qa_gate = config.qa_gate;
  info.qa_threshold_ns = ns(config.qa_threshold_ps);
  info.target_delay_ns = ns(config.target_delay_ps);
  info.eta_bytes = static_cast<float>(config.eta_bytes);
  info.fi_bytes = static_cast<float>(config.fi_bytes);
  info.fi_scale = static_cast<float>(config.fi_scale);
  info.gamma = static_cast<float>(config.gamma);
  info.max_md_jump = static_cast<float>(config.max_md_jump);
  return info;
}

std::vector<EvInfo> VerbsNode::evs(std::uint32_t first) const {
  const EvProfile profile = ev_profile_of(host_->scenario(), host_->node());
  const std::size_t end = std::min(profile.value.size(), first + kMostEvsOfReply);
  std::vector<EvInfo> found;
  for (std::size_t i = first; i < end; ++i) found.push_back({profile.value[i], profile.plane[i], 0, 0, 0});
  for (const auto& [number, object] : qps_) {
    const NicPathTable* paths = host_->qp(object.index).paths;
    if (paths == nullptr) continue;
    for (std::size_t i = first; i < std::min<std::size_t>(end, paths->size()); ++i) {
      const EvState state = paths->table().state(static_cast<EvIndex>(i));
      if (state == EvState::assumed_bad) found[i - first].assumed_bad = 1;
      if (state == EvState::denied) found[i - first].denied = 1;
    }
  }
  return found;
}

}  // namespace mrc
