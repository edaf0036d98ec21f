// The host of a node that programs outside of the model drive: they connect its QPs while time passes, post work and
// take its completions. Called between the steps of the kernel, at its time. What a detailed NIC and a light endpoint
// share is here; the device behind it is in a class of its own for each.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fabric/topology.h"
#include "host/work_player.h"
#include "mrc/control/ev_profile.h"
#include "nic/control/probe_engine.h"
#include "node/cqe.h"
#include "node/node_context.h"
#include "transports/node_transport.h"

namespace mrc {

/// The other end of a QP, as software tells it.
struct QpConnection {
  NodeId peer = 0;
  QpNumber peer_number = 0;
  Psn receive_psn = 0;
};

class ProgramHost {
 public:
  static constexpr NodeId kNobody = ~NodeId{0};

  /// Precondition: the node's QPs are there, towards nobody. All arguments outlive the host.
  ProgramHost(NodeContext& context, WorkPlayer& player, NodeTransport& transport, const Topology& topology);
  virtual ~ProgramHost() = default;
  ProgramHost(const ProgramHost&) = delete;
  ProgramHost& operator=(const ProgramHost&) = delete;

  NodeId node() const { return context_.node; }
  const NodeConfig& config() const { return context_.config; }
  const ScenarioConfig& scenario() const { return context_.scenario; }
  /// As the NIC sees them.
  std::uint32_t ports_up() const;
  /// When that changes next; kNever: not any more.
  virtual TimePs next_port_change() const = 0;

  std::uint32_t qps() const { return static_cast<std::uint32_t>(context_.qps.size()); }
  const Qp& qp(std::uint32_t index) const { return context_.qps[index]; }
  /// INIT to RTR: the QP receives.
  void connect(std::uint32_t qp, const QpConnection& to);
  /// RTR to RTS.
  void start_sending(TimePs now, std::uint32_t qp, Psn first);
  /// To ERROR: pending work is flushed.
  void fail(TimePs now, std::uint32_t qp);

  /// The peer may write with this key.
  void allow(const MemoryRegion& region) { context_.protection.add(region); }
  void forbid(std::uint32_t rkey) { context_.protection.remove(rkey); }
  /// False where the QP has too many.
  bool post_receive(std::uint32_t qp) {
    return context_.qps[qp].receiver && context_.qps[qp].receiver->post_receive(1);
  }

  /// The device takes another work request now.
  virtual bool has_room() = 0;
  /// Precondition: has_room(), and the QP sends.
  void post_request(TimePs now, std::uint32_t qp, const WorkRequest& request);
  /// When software may know of the oldest completion; kNever without one.
  virtual TimePs next_completion() const = 0;
  /// Precondition: next_completion() <= now.
  Cqe take_completion(TimePs now);
  /// A message of that many bytes has come.
  void received(std::uint64_t bytes) { statistics().received_bytes += bytes; }
  // What a controller does, to all QPs of the node, those to come included.
  const EvProfile& ev_profile() const { return ev_profile_; }
  /// The device has the scenario's EVs and no other.
  virtual bool has_fixed_evs() const { return false; }
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
  /// Whether the device has probes for software.
  virtual bool offers_probes() const { return false; }
  /// As ProbeEngine's. Precondition: offers_probes().
  virtual bool probe(TimePs /*now*/, std::uint32_t /*number*/, NodeId /*node*/, Ev /*ev*/, std::uint8_t /*plane*/) {
    return false;
  }
  virtual std::vector<timing::ProbeEngine::SoftwareAnswer> take_probe_answers() { return {}; }

  /// At the end of the run.
  virtual void close(TimePs now) = 0;

 protected:
  // What the device does.
  /// Bit p: port p is seen up.
  virtual std::uint32_t lit_ports() const = 0;
  /// The QP has a new half.
  virtual void half_added(const Qp& /*qp*/) {}
  /// It is the sending half, complete.
  virtual void begins_sending(TimePs /*now*/, Qp& /*qp*/) {}
  /// Precondition: its sending half is not in ERROR.
  virtual void fail_sender(TimePs now, Qp& qp) = 0;
  /// QPs may have EVs to send on that they did not have.
  virtual void paths_changed(TimePs now) = 0;
  virtual void hand_over(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) = 0;
  virtual Cqe pop_completion(TimePs now) = 0;

 private:
  HostStatistics& statistics() { return player_.statistics(); }
  /// QPs with the present EVs.
  NicPathTable* paths_of(std::uint32_t qp) const;
  void deny_for(std::uint32_t qp, EvIndex ev);

  struct Posted {
    TimePs at = 0;
    std::uint32_t bytes = 0;
  };

  NodeContext& context_;
  WorkPlayer& player_;  ///< has no work; keeps the node's statistics
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
