// The host of a detailed NIC that programs outside of the model drive: they connect its QPs while time passes, post to
// its doorbell and take its completions. Called between the steps of the kernel, at its time.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fabric/topology.h"
#include "host/host.h"
#include "mrc/control/ev_profile.h"
#include "transports/node_transport.h"

namespace mrc {

/// The other end of a QP, as software tells it.
struct QpConnection {
  NodeId peer = 0;
  QpNumber peer_number = 0;
  Psn receive_psn = 0;
};

class ProgramHost : public Host {
 public:
  static constexpr NodeId kNobody = ~NodeId{0};

  /// As Host's. Precondition: the node's QPs are there, towards nobody.
  ProgramHost(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Nic& device, HostMemory& memory,
              const WorkPlacement& placement, NodeTransport& transport, const Topology& topology);

  void step(TimePs) override {}  // completions stay until programs take them

  NodeId node() const { return nic_.node; }
  const NodeConfig& config() const { return nic_.config; }
  const ScenarioConfig& scenario() const { return nic_.scenario; }
  /// As the NIC sees them.
  std::uint32_t ports_up() const;
  /// When that changes next; kNever: not any more.
  TimePs next_port_change() const { return device_.port_status().next_change(); }

  std::uint32_t qps() const { return static_cast<std::uint32_t>(nic_.qps.size()); }
  const Qp& qp(std::uint32_t index) const { return nic_.qps[index]; }
  /// INIT to RTR: the QP receives.
  void connect(std::uint32_t qp, const QpConnection& to);
  /// RTR to RTS.
  void start_sending(TimePs now, std::uint32_t qp, Psn first);
  /// To ERROR: pending work is flushed.
  void fail(TimePs now, std::uint32_t qp);

  /// The peer may write with this key.
  void allow(const MemoryRegion& region) { nic_.protection.add(region); }
  void forbid(std::uint32_t rkey) { nic_.protection.remove(rkey); }
  /// False where the QP has too many.
  bool post_receive(std::uint32_t qp) { return nic_.qps[qp].receiver && nic_.qps[qp].receiver->post_receive(1); }

  bool has_room() { return !device_.doorbell().queue().full(); }
  /// Precondition: has_room(), and the QP sends.
  void post_request(TimePs now, std::uint32_t qp, const WorkRequest& request);
  /// When software may know of the oldest completion; kNever without one.
  TimePs next_completion() const { return completions_.empty() ? kNever : completions_.ready_at(); }
  /// Precondition: next_completion() <= now.
  Cqe take_completion(TimePs now);
  /// A message of that many bytes has come.
  void received(std::uint64_t bytes) { player().statistics().received_bytes += bytes; }
  // What a controller does, to all QPs of the node, those to come included.
  const EvProfile& ev_profile() const { return ev_profile_; }
  /// For QPs that send from now on. Precondition: none sends.
  void set_ev_profile(const EvProfile& profile, const std::set<EvIndex>& denied);
  /// Of a QP with the present EVs; null without.
  const PathTable* path_table(std::uint32_t qp) const;
  bool is_denied(EvIndex ev) const { return denied_.contains(ev); }
  std::size_t denied() const { return denied_.size(); }
  void deny(EvIndex ev);
  void allow(TimePs now, EvIndex ev);
  std::uint32_t least_active_evs() const { return least_active_evs_; }
  void set_least_active_evs(std::uint32_t evs) { least_active_evs_ = evs; }
  /// As scenarios have it: 0 where a constant is derived.
  const CongestionConfig& congestion() const { return congestion_; }
  /// As NodeTransport::set_congestion().
  void set_congestion(const CongestionConfig& config, bool anew);
  /// EVs that became ASSUMED_BAD or GOOD again for a QP since this was last asked.
  std::vector<EvEvent> take_ev_events() { return std::exchange(ev_events_, {}); }
  /// As ProbeEngine's.
  bool probe(TimePs now, std::uint32_t number, NodeId node, Ev ev, std::uint8_t plane) {
    return device_.probe_engine().probe_for_software(now, number, node, ev, plane);
  }
  std::vector<timing::ProbeEngine::SoftwareAnswer> take_probe_answers() {
    return device_.probe_engine().take_answers();
  }

  /// At the end of the run.
  void close(TimePs now) { work_done(now); }

 private:
  /// QPs with the present EVs.
  NicPathTable* paths_of(std::uint32_t qp) const;
  void deny_for(std::uint32_t qp, EvIndex ev);

  struct Posted {
    TimePs at = 0;
    std::uint32_t bytes = 0;
  };

  NodeTransport& transport_;
  const Topology& topology_;
  std::vector<Posted> posted_;  ///< by WorkRequest::id, which the caller chooses small
  EvProfile ev_profile_;
  std::uint32_t ev_profiles_ = 1;                ///< that there have been
  std::vector<std::uint32_t> ev_profile_of_qp_;  ///< of these, the one that the QP has; 0: none
  std::set<EvIndex> denied_;
  std::uint32_t least_active_evs_;
  CongestionConfig congestion_;
  std::vector<EvEvent> ev_events_;
};

}  // namespace mrc
