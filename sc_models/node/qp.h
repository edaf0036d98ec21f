// A queue pair as a node has it: what its transport knows of both directions, the host's send queue, and the flags by
// which a scheduler finds it. A QP that has nothing to do is touched by nobody.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/causal_trace.h"
#include "mrc/control/congestion.h"
#include "mrc/control/probes.h"
#include "mrc/halves/qp_halves.h"
#include "mrc/rx/reverse_paths.h"
#include "mrc/srv6_usid.h"
#include "mrc/tx/work_request.h"
#include "mrc/types.h"
#include "node/nic_path_table.h"

namespace mrc {

/// The send queue in host memory: what software has posted and the NIC has not fetched yet.
class SendQueue {
 public:
  void post(const WorkRequest& request) {
    if (tail_ - head_ == ring_.size()) grow();
    ring_[tail_++ & (ring_.size() - 1)] = request;
  }
  std::uint64_t waiting() const { return tail_ - head_; }
  /// The `number`-th of those waiting, from 0.
  WorkRequest& waiting_at(std::uint64_t number) { return ring_[(head_ + number) & (ring_.size() - 1)]; }
  WorkRequest fetch() { return ring_[head_++ & (ring_.size() - 1)]; }

 private:
  void grow() {
    std::vector<WorkRequest> larger(ring_.empty() ? 16 : ring_.size() * 2);
    for (std::uint64_t i = head_; i != tail_; ++i) larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
    ring_.swap(larger);
  }

  std::vector<WorkRequest> ring_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

/// QPCC: one congestion controller and the QPs that wait for its window.
struct CongestionDomain {
  std::unique_ptr<CongestionControl> control;
  std::vector<std::uint32_t> waiting;  ///< QP indices blocked by cwnd
};

/// Starts that a QP's next one may refer to.
struct QpStarts {
  StartId posted = 0;       ///< software's last work request
  StartId activated = 0;    ///< what put the QP on the scheduler's list
  StartId wqes_wanted = 0;  ///< of the request for WQEs
  StartId sent = 0;         ///< latest packet that left the spray scheduler
  StartId received = 0;     ///< first packet since the last SACK was asked for
  Cause parked;             ///< what it lacked when the scheduler looked at it last
};

/// Messages that share QPs: those of one tenant and one traffic class to one peer.
struct FlowKey {
  NodeId peer = 0;
  std::uint8_t tenant = 0;
  std::uint8_t traffic_class = 0;
  friend auto operator<=>(const FlowKey&, const FlowKey&) = default;
};

struct Qp {
  FlowKey flow() const { return {peer, tenant, traffic_class}; }

  QpNumber number = 0;
  QpNumber peer_number = 0;
  NodeId peer = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t tenant = 0;  ///< the job that it belongs to, where jobs are separate; 0 otherwise
  UsidTemplate route;
  std::unique_ptr<NicPathTable> own_paths;  ///< empty where the path table is shared
  NicPathTable* paths = nullptr;
  bool without_srh = false;  ///< of the packets that it sends, see Packet
  CongestionDomain* congestion = nullptr;
  std::unique_ptr<SendingHalf> sender;      ///< null: it only receives; a light endpoint may keep it elsewhere
  std::unique_ptr<ReceivingHalf> receiver;  ///< likewise
  std::unique_ptr<ReversePaths> reverse_paths;
  SendQueue send_queue;
  std::uint32_t wqes_held = 0;  ///< fetched and not cut into packets to the end
  std::uint32_t wqes_in_fetch = 0;
  std::uint32_t doorbells_under_way =
      0;                           ///< one per work request that the NIC was not told of; none behind a host port
  bool wqes_left = false;          ///< a fetch was not large enough for all that the NIC was told of
  bool wqe_in_reread = false;      ///< the WQE that is next was unreadable and is fetched again
  bool data_lost = false;          ///< accepted payload was lost before it was written: no message completes any more
  bool listed = false;             ///< in the scheduler's ready list
  bool waits_for_window = false;   ///< in congestion->waiting
  bool waits_for_entries = false;  ///< in the retransmit buffer's waiting list
  TimePs probe_at = kNever;        ///< when the probe engine looks at it for an EV to probe
  EvProbeTurn reverse_probe;       ///< of the EV probes for its control packets
  TimePs timer_at = kNever;        ///< the earliest time at which the retransmit timer looks at it
  QpStarts starts;                 ///< while somebody records them

  /// It has work of its own that is not acknowledged.
  bool sends() const { return sender && (sender->messages_pending() > 0 || send_queue.waiting() > 0); }
};

}  // namespace mrc
