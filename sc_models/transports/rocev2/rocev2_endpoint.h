// The baseline as a light endpoint: RoCEv2 RC queue pairs (go-back-N, DCQCN) at line rate. A queue pair is one flow:
// its 5-tuple decides the port it leaves through, and at each switch the way up. Host times and ports are those of
// MrcEndpoint.
#pragma once

#include <cstdint>
#include <vector>

#include "endpoint/light_node.h"
#include "node/node_context.h"
#include "transports/rocev2/rocev2_node.h"

namespace mrc {

class Rocev2Endpoint final : public LightNode {
 public:
  /// `nic.qps` and their `halves` are complete. All arguments outlive the endpoint.
  Rocev2Endpoint(NodeContext& nic, std::vector<RcHalves>& halves, HostMemory& memory, Network& network,
                 const WorkPlacement& placement);

  void add_counts(TransportCounts& sum) const override;

  void receive(TimePs now, std::uint32_t plane, const Packet& packet) override;
  void port_free(TimePs now, std::uint32_t plane) override;

 private:
  struct Flow {
    std::uint16_t source_port = 0;
    std::uint8_t plane = 0;
    bool paced = false;  ///< waits in paced_
  };
  struct Port {
    TimePs busy_until = 0;
    bool to_be_told = false;       ///< port_free() will be called
    Ring<std::uint32_t> ready;     ///< QPs that may have something to send
    std::uint32_t turn_bytes = 0;  ///< sent by the first of them in its turn
  };

  void take_up(TimePs now, Qp& qp, const WorkRequest& request) override;
  TimePs next_deadline(Qp& qp) override { return halves(qp).requestor->next_deadline(); }
  void deadline(TimePs now, Qp& qp) override;
  void serve_timers(TimePs now) override;
  TimePs next_timer() override { return paced_.next(); }
  void pump_ports(TimePs now) override;
  void port_taken(std::uint32_t plane, TimePs until) override { ports_[plane].busy_until = until; }
  std::uint8_t sending_waits_for(TimePs now) override;

  RcHalves& halves(const Qp& qp) { return halves_[nic_.index_of(qp)]; }
  void receive_data(TimePs now, Qp& qp, const Packet& packet);
  void follow_up(TimePs now, Qp& qp);
  void send_data(TimePs now, Qp& qp);
  void send_control(TimePs now, Qp& qp, Packet packet);
  void send(TimePs now, Qp& qp, std::uint32_t transit);
  void activate(Qp& qp);
  void park(TimePs now, Port& port, Qp& qp);
  void pump(TimePs now, std::uint32_t plane);
  void serve(TimePs now, std::uint32_t plane);

  std::vector<RcHalves>& halves_;  ///< by QP
  std::vector<Flow> flows_;        ///< by QP
  std::vector<Port> ports_;
  DueHeap paced_;  ///< QPs whose rate lets them send then
  std::uint64_t cnps_sent_ = 0;
};

}  // namespace mrc
