// A light endpoint: ring 1 at line rate. The same requestor, responder, path table and congestion control as in a
// detailed NIC decide every packet; of the NIC there are the ports' lines, the turn among QPs, and fixed latencies from
// the node's own parameters. Lives on the fabric's events.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "endpoint/endpoint_probes.h"
#include "endpoint/light_node.h"
#include "nic/control/port_status_agent.h"
#include "nic/nic_context.h"

namespace mrc {

class Endpoint final : public LightNode {
 public:
  /// `nic.qps` is complete. All arguments outlive the endpoint.
  Endpoint(NicContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement);

  WorkPlayer& player() override { return player_; }
  const PortStatusAgent* port_status() const override { return &port_status_; }
  void set_darkness(const std::vector<PortDarkness>& darkness) override;
  void start() override;
  const std::vector<std::uint64_t>& first_payload_bytes() const override { return first_payload_bytes_; }

  void receive(TimePs now, std::uint32_t plane, const Packet& packet) override;
  void port_free(TimePs now, std::uint32_t plane) override;
  void timer(TimePs now) override;

  bool can_post(TimePs) override { return true; }
  void post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs first_doorbell) override;
  void work_done(TimePs) override {}
  void work_arrived(TimePs now) override;

 private:
  struct Start {
    TimePs at = 0;
    std::uint32_t qp = 0;
    WorkRequest request;
  };
  struct Seen {
    TimePs at = 0;
    Cqe cqe;
  };
  struct Deadline {
    TimePs at;
    std::uint32_t qp;
    friend bool operator>(const Deadline& a, const Deadline& b) { return a.at != b.at ? a.at > b.at : a.qp > b.qp; }
  };

  void receive_data(TimePs now, Qp& qp, const Packet& packet);
  void receive_control(TimePs now, const Packet& packet);
  void answer(TimePs now, Qp& qp, const Packet& packet, const RxDecision& decision);
  void place(TimePs now, Qp& qp, const Packet& packet, const RxDecision& decision);
  void follow_up(TimePs now, Qp& qp);
  void fail_sender(TimePs now, Qp& qp);

  /// The next packet of a QP on a path through one of `ports`; 0 when it has none. Returns the port's bit.
  std::uint32_t send_data(TimePs now, Qp& qp, std::uint32_t ports);
  void send_control(TimePs now, Qp& qp, Packet packet);
  void send(TimePs now, std::uint32_t plane, const Packet& packet);
  void activate(Qp& qp);
  void park(Qp& qp, SendGate gate);
  /// Sends while a port is free and a QP may.
  void pump(TimePs now);

  void update_deadline(TimePs now, Qp& qp);
  void serve_deadlines(TimePs now);
  /// Has timer() called at the earliest time that anything waits for.
  void arm();

  NicContext& nic_;
  HostMemory& memory_;
  Network& network_;
  WorkPlayer player_;
  EndpointProbes probes_;
  PortStatusAgent port_status_;
  std::uint32_t planes_;
  std::vector<TimePs> busy_until_;  ///< by port
  std::uint32_t to_be_told_ = 0;    ///< ports that call port_free()
  std::vector<std::uint64_t> first_payload_bytes_;
  Ring<std::uint32_t> ready_;     ///< QPs that may have something to send
  std::uint32_t turn_bytes_ = 0;  ///< sent by the first of them in its turn
  TimePs wqe_ps_;                 ///< doorbell rung until the WQE is known
  TimePs payload_ps_;             ///< WQE known until the first payload is there
  TimePs completion_ps_;          ///< protocol done until software sees the CQE
  Ring<Start> starts_;
  Ring<Seen> seen_;
  std::vector<Deadline> deadlines_;
  TimePs armed_at_ = kNever;
};

}  // namespace mrc
