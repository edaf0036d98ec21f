// A light endpoint: ring 1 at line rate. The same requestor, responder, path table and congestion control as in a
// detailed NIC decide every packet; of the NIC only the port lines, the turn among QPs, and fixed latencies from the
// parameters of the node are modelled. Driven by the events of the fabric.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "endpoint/light_node.h"
#include "engine/class_turns.h"
#include "nic/mrc_halves.h"
#include "node/node_context.h"
#include "node/path_drain.h"
#include "node/port_status_agent.h"
#include "node/tenant_limits.h"
#include "transports/mrc/endpoint_probes.h"

namespace mrc {

class MrcEndpoint final : public LightNode {
 public:
  /// `nic.qps` is complete. All arguments outlive the endpoint.
  MrcEndpoint(NodeContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement);

  std::span<const PortStatusStep> port_steps() const override { return port_status_.steps(); }
  void set_darkness(const std::vector<PortDarkness>& darkness) override { port_status_.set_darkness(darkness); }
  std::span<const PortStatusStep> drain_steps() const override { return path_drain_.steps(); }
  void follow_drains(const FaultTimeline& timeline) override { path_drain_.follow(timeline); }
  void half_added(const Qp& qp) override { parts_[nic_.index_of(qp)] = parts_of(qp); }
  void fail(TimePs now, Qp& qp) override;
  std::uint32_t lit_ports() const override { return port_status_.lit(); }
  TimePs next_port_change() const override { return port_status_.next_change(); }

  void receive(TimePs now, std::uint32_t plane, const Packet& packet) override;
  void port_free(TimePs now, std::uint32_t plane) override;
  void expect_packet(const Packet& packet, unsigned depth) const override;
  void expect_port_free(unsigned depth) const override;

 private:
  void take_up(TimePs now, Qp& qp, const WorkRequest& request) override;
  TimePs next_deadline(Qp& qp) override { return requestor_of(qp).next_deadline(); }
  void deadline(TimePs now, Qp& qp) override;
  void serve_timers(TimePs now) override;
  TimePs next_timer() override {
    const TimePs next = std::min({probes_.next(), port_status_.next(), path_drain_.next()});
    return limits_.any() ? std::min(next, limits_.next()) : next;
  }
  void pump_ports(TimePs now) override {
    idle_before(now);
    const bool all_busy = pump(now);
    idle_after(now, all_busy);
  }
  void port_taken(std::uint32_t plane, TimePs until) override { sending_.busy_until[plane] = until; }
  std::uint8_t sending_waits_for(TimePs now) override;
  /// True if more is ready and every port is busy.
  bool pump(TimePs now);

  /// Tag and replay window of an encrypted packet; the time for it is not modelled. False: it is dropped.
  bool decrypt(const Packet& packet);
  /// True if a timer of the node may now be earlier.
  bool receive_data(TimePs now, Qp& qp, const Packet& packet);
  void receive_control(TimePs now, const Packet& packet);
  void receive_endpoint_operation(TimePs now, const Packet& packet);
  void answer(TimePs now, Qp& qp, const Packet& packet, const RxDecision& decision);
  void close_messages(TimePs now, Qp& qp, const RxDecision& decision);
  void follow_up(TimePs now, Qp& qp);
  void fail_sender(TimePs now, Qp& qp);
  static QpParts parts_of(const Qp& qp);
  /// What a data packet needs only where it is captured or carries bytes.
  [[gnu::noinline]] void attend(TimePs now, Packet& packet, const SendPlan& plan);

  /// Sends the next packet of a QP on a path through one of `ports`. Returns the bit of the port, 0 without a packet.
  std::uint32_t send_data(TimePs now, Qp& qp, std::uint32_t ports);
  void send_control(TimePs now, Qp& qp, Packet packet);
  void send(TimePs now, std::uint32_t plane, const Packet& control);
  void activate(Qp& qp);
  void park(Qp& qp, SendGate gate);

  /// QPs of one traffic class that may have something to send, and what the first of them has sent in its turn.
  struct Turn {
    std::uint32_t bytes = 0;
    Ring<std::uint32_t> ready;
  };
  Turn& turn_of(const Qp& qp) { return qp.traffic_class == 0 ? sending_.turn : above_[qp.traffic_class - 1U]; }
  /// Of the class that is served next; null where no QP is ready.
  Turn* next_turn() {
    if (class_turns_.on()) return next_turn_of_classes();
    return sending_.turn.ready.empty() ? nullptr : &sending_.turn;
  }
  Turn* next_turn_of_classes();
  /// The first QP of the turn waits where its tenant may send no more for now.
  bool is_held(TimePs now, Turn& turn, const Qp& qp);

  static constexpr std::uint32_t kNoQp = ~0U;
  /// State for the turn among QPs and ports, in adjacent cache lines.
  struct alignas(kCacheLineBytes) Sending {
    std::uint32_t to_be_told = 0;                             ///< ports that call port_free()
    Turn turn;                                                ///< of class 0: of all QPs without classes
    std::array<TimePs, PathTable::kMostPlanes> busy_until{};  ///< by port
  };

  Sending sending_;
  ClassTurns class_turns_;
  ClassCredit class_credit_;
  std::vector<Turn> above_;  ///< of traffic class 1, 2 …
  TenantLimits limits_;
  std::uint32_t parked_ = kNoQp;  ///< the QP that was last found to wait for more than work
  std::uint32_t planes_;
  EndpointProbes probes_;
  PortStatusAgent port_status_;
  PathDrain path_drain_;
};

}  // namespace mrc
