// A node that lives on the fabric's own events: what all transports share. Of the NIC it keeps fixed latencies from the
// node's own parameters (post, doorbell, a PCIe read each for WQE and payload, completion write, poll), the ports'
// lines and the QPs' timers; which packet goes when is the transport's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "endpoint/light_idle.h"
#include "endpoint/reduction_sender.h"
#include "engine/prefetch.h"
#include "fabric/fault_timeline.h"
#include "fabric/network.h"
#include "fabric/port_status_step.h"
#include "host/work_player.h"
#include "mrc/ring.h"
#include "mrc/tx/requestor.h"
#include "node/node_context.h"
#include "node/transport_counts.h"

namespace mrc {

class LightNode : public NetworkNode, public WorkDevice, private ReductionNode {
 public:
  /// `nic.qps` is complete. All arguments outlive the node.
  LightNode(NodeContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement);

  WorkPlayer& player() { return player_; }
  /// Schedules the first work.
  void start();
  /// Payload sent for the first time, by plane.
  const std::vector<std::uint64_t>& first_payload_bytes() const { return first_payload_bytes_; }
  /// When its ports go down and come back. Called before start(). A transport may ignore it.
  virtual void set_darkness(const std::vector<PortDarkness>&) {}
  /// What the node has done so far about ports that went down or came back.
  virtual std::span<const PortStatusStep> port_steps() const { return {}; }
  /// As the two before, for EVs that a controller denies.
  virtual void follow_drains(const FaultTimeline&) {}
  virtual std::span<const PortStatusStep> drain_steps() const { return {}; }
  /// Adds what only this transport counts.
  virtual void add_counts(TransportCounts&) const {}

  /// The node has a part in reductions of `plan`, which outlives it. Before the run.
  void reduce_by(const ReductionPlan& plan) {
    ReductionNode& node = *this;
    reductions_ = std::make_unique<ReductionSender>(nic_, network_, plan, node);
  }
  /// Null where it has no part in any.
  const ReductionSender* reductions() const { return reductions_.get(); }

  /// Keeps account of why ports are idle. Before the run.
  void account_idle() { idle_ = std::make_unique<LightIdle>(nic_.config.nic.ports); }
  /// Null without account_idle().
  const LightIdle* idle() const { return idle_.get(); }
  /// Of its ports, while the account was kept; empty before finish().
  std::span<const LinkUse> port_use() const { return port_use_; }
  /// Closes the account of a run that ends before its work does.
  void finish(TimePs now);

  // Programs outside of the model, in the place of the player; between the steps of the kernel, at its time. Of the
  // transports' nodes, MRC's can be driven so.
  /// Completions are kept for them, and packets carry the bytes of memory. Before the run.
  void serve_programs();
  void post_from_program(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs doorbell_at);
  /// When software may know of the oldest completion; kNever without one.
  TimePs next_completion() const { return for_programs_.empty() ? kNever : for_programs_.front().at; }
  /// Precondition: next_completion() <= now.
  Cqe take_completion(TimePs now);
  /// The QP has a new half.
  virtual void half_added(const Qp&) {}
  /// To ERROR: pending work is flushed. Precondition: it has a sending half.
  virtual void fail(TimePs /*now*/, Qp& /*qp*/) {}
  /// QPs may have EVs to send on that they did not have.
  void paths_changed(TimePs now) { arm(now); }
  /// Bit p: port p is seen up.
  virtual std::uint32_t lit_ports() const { return ~0U; }
  /// When that changes next; kNever: not any more.
  virtual TimePs next_port_change() const { return kNever; }

  void timer(TimePs now) final;
  void port_busy_changed(TimePs now, std::uint32_t plane) final;

  bool can_post(TimePs) final { return true; }
  void post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs doorbell_at) final;
  void reduce(TimePs now, std::uint32_t work, TimePs doorbell_at) final;
  void receive_result(TimePs now, const Packet& packet) final;
  void message_begun(TimePs) final {}
  void message_completed(TimePs) final {}
  void work_done(TimePs now) final { finish(now); }
  void work_arrived(TimePs) final { arm(); }

 protected:
  /// A QP's turn at a time.
  struct Due {
    TimePs at;
    std::uint32_t qp;
    friend bool operator>(const Due& a, const Due& b) { return a.at != b.at ? a.at > b.at : a.qp > b.qp; }
  };
  /// The earliest first, ties by QP.
  class DueHeap {
   public:
    TimePs next() const { return heap_.empty() ? kNever : heap_.front().at; }
    void push(Due due) {
      heap_.push_back(due);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
    }
    Due pop() {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
      const Due due = heap_.back();
      heap_.pop_back();
      return due;
    }

   private:
    std::vector<Due> heap_;
  };

  // What a transport does.
  /// The NIC knows a work request and has its first payload.
  virtual void take_up(TimePs now, Qp& qp, const WorkRequest& request) = 0;
  virtual TimePs next_deadline(Qp& qp) = 0;
  /// A deadline of the QP is over.
  virtual void deadline(TimePs now, Qp& qp) = 0;
  /// Timers of its own: serves those that are due; the next of them, kNever without.
  virtual void serve_timers(TimePs now) = 0;
  virtual TimePs next_timer() = 0;
  /// Sends while a port is free and a QP may.
  virtual void pump_ports(TimePs now) = 0;
  /// Reductions have sent on the port, which is busy until then.
  virtual void port_taken(std::uint32_t plane, TimePs until) = 0;
  /// What it waits for where the transport has something to send, as LightIdle::waits_for() takes it; acknowledgement
  /// for nothing.
  virtual std::uint8_t sending_waits_for(TimePs now) = 0;

  /// Has timer() called at the earliest time that anything waits for, not later than `at`.
  void arm(TimePs at = kNever);
  /// The earliest time that anything waits for, and the one at which timer() will be called.
  TimePs next_wake();
  TimePs armed_at() const { return armed_at_; }
  /// next_deadline() of the QP may have come nearer.
  void update_deadline(TimePs now, Qp& qp) {
    const TimePs at = std::max(next_deadline(qp), now);
    if (at == kNever || at >= qp.timer_at) return;
    qp.timer_at = at;
    deadlines_.push({at, nic_.index_of(qp)});
  }

  /// Software sees what a half of the QP has completed when the CQE is written and polled.
  template <typename Requestor>
  void complete_sends(TimePs now, const Qp& qp, Requestor& requestor) {
    mrc::Completion done;
    while (requestor.pop_completion(done)) {
      to_be_seen_->push({now + completion_ps_, {Cqe::Kind::send, nic_.index_of(qp), done.id, 0, done.status}});
    }
  }
  template <typename Responder>
  void complete_receives(TimePs now, const Qp& qp, Responder& responder) {
    ReceiveCompletion received;
    while (responder.pop_receive(received)) {
      to_be_seen_->push({now + completion_ps_,
                         {Cqe::Kind::receive, nic_.index_of(qp), 0, received.immediate, CompletionStatus::success}});
    }
  }
  void place(const Packet& packet);
  bool serves_programs() const { return to_be_seen_ == &for_programs_; }
  /// Bytes that a packet of the plan carries, as they are now. Precondition: serves_programs().
  const std::byte* payload_of(const SendPlan& plan) const;
  /// The same for window, receive window and limit of WRITE_IMM.
  static std::uint8_t gate_cause(SendGate gate, const Qp& qp);
  // What a transport tells the account, where one is kept.
  void idle_before(TimePs now) {
    if (watching_ != nullptr) watching_->account(now);
  }
  /// `all_busy`: something is ready to be sent, and every port tells when it is free.
  void idle_after(TimePs now, bool all_busy) {
    if (idle_ == nullptr || (all_busy && watching_ == nullptr)) return;
    look_at_ports(now, all_busy);
  }
  void idle_busy(std::uint32_t port, TimePs until) {
    if (watching_ != nullptr) watching_->port_busy(port, until);
  }
  // Reductions take a port in turn with QPs: after each data packet of a QP, and when no QP has taken a free port.
  void let_reductions_follow(TimePs now, std::uint32_t plane) {
    if (reductions_ != nullptr) [[unlikely]]
      reductions_->follow(now, plane);
  }
  void give_port_to_reductions(TimePs now, std::uint32_t plane) {
    if (reductions_ != nullptr) [[unlikely]]
      offer_port(now, plane);
  }
  /// What every transport's data packet takes from the requestor's plan; the rest is as in a new packet.
  static void fill(Packet& packet, const SendPlan& plan);
  void count_sent(const SendPlan& plan, std::uint32_t plane) {
    count_sent(plane, plan.payload_bytes, plan.retransmission, plan.lost_by);
  }

  /// Addresses of a QP's transport state, so that it can be prefetched: one cache line per QP.
  struct alignas(kCacheLineBytes) QpParts {
    const Qp* qp = nullptr;
    const void* sending = nullptr;
    const void* receiving = nullptr;
    const void* paths = nullptr;
    const void* congestion = nullptr;
  };

  // In the first line of the object, where NetworkNode's expect functions find it.
  NodeContext& nic_;
  Network& network_;
  std::vector<QpParts> parts_;  ///< by QP; filled by a transport that looks ahead
  bool attends_ = false;        ///< its packets are captured, or carry bytes of programs

 private:
  std::unique_ptr<LightIdle> idle_;              ///< null: nobody looks
  LightIdle* watching_ = nullptr;                ///< null: no port can be idle, or nobody looks
  std::unique_ptr<ReductionSender> reductions_;  ///< null: it has no part in any

  struct Start {
    TimePs at = 0;
    std::uint32_t qp = 0;
    WorkRequest request;
  };
  /// A node of work that is a reduction.
  struct ReductionStep {
    TimePs at = 0;
    std::uint32_t work = 0;
  };
  struct Seen {
    TimePs at = 0;
    Cqe cqe;
  };

  void count_sent(std::uint32_t plane, std::uint32_t payload_bytes, bool retransmission, CutCause lost_by) {
    NodeCounters& counters = nic_.counters;
    ++counters.data_packets;
    counters.data_payload_bytes += payload_bytes;
    if (retransmission) {
      ++counters.retransmitted;
      if (watching_ != nullptr) watching_->retransmits(static_cast<std::uint8_t>(lost_by));
    } else {
      if (watching_ != nullptr) watching_->first_transmission();
      counters.first_payload_bytes += payload_bytes;
      first_payload_bytes_[plane] += payload_bytes;
    }
  }
  void first_work_at(TimePs now);
  void offer_port(TimePs now, std::uint32_t plane);
  void part_sent(std::uint32_t plane, std::uint32_t bytes, bool retransmission, TimePs busy_until) override;
  void part_reduced(TimePs now, std::uint32_t work, std::uint32_t bytes, const std::string& wrong) override;
  void all_reduced(TimePs now, std::uint32_t work) override;
  void serve_deadlines(TimePs now);
  std::uint8_t idle_cause(TimePs now);
  void look_at_ports(TimePs now, bool all_busy);
  void watch_ports(TimePs now);
  std::vector<LinkUse> use_of_ports(TimePs now) const;

  std::vector<LinkUse> use_before_;  ///< the account
  std::vector<LinkUse> port_use_;
  std::uint64_t under_way_ = 0;  ///< sends and reductions posted and not completed
  TimePs armed_at_ = kNever;
  DueHeap deadlines_;
  Ring<Seen> seen_;          ///< by the player
  Ring<Seen> for_programs_;  ///< in its place
  Ring<Seen>* to_be_seen_ = &seen_;
  Ring<Start> starts_;
  Ring<ReductionStep> to_reduce_;  ///< posted, not yet known to the NIC
  Ring<ReductionStep> reduced_;    ///< complete, not yet seen by software
  HostMemory& memory_;
  std::vector<std::uint64_t> first_payload_bytes_;
  TimePs wqe_ps_;         ///< doorbell rung until the WQE is known
  TimePs payload_ps_;     ///< WQE known until the first payload is there
  TimePs completion_ps_;  ///< protocol done until software sees the CQE
  WorkPlayer player_;
};

}  // namespace mrc
