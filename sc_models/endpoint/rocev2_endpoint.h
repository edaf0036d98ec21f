// The baseline as a light endpoint: RoCEv2 RC queue pairs (go-back-N, DCQCN) at line rate. A queue pair is one flow:
// its 5-tuple decides the port it leaves through, and at each switch the way up. Host times and ports are those of
// Endpoint.
#pragma once

#include <cstdint>
#include <vector>

#include "endpoint/light_node.h"
#include "nic/nic_context.h"

namespace mrc {

/// Counters of the baseline, of one node or summed.
struct Rocev2Counts {
  std::uint64_t cnps_sent = 0;
  std::uint64_t naks_sent = 0;
  std::uint64_t out_of_sequence = 0;  ///< data dropped after a gap
  std::uint64_t timeouts = 0;
};

class Rocev2Endpoint final : public LightNode {
 public:
  /// `nic.qps` is complete. All arguments outlive the endpoint.
  Rocev2Endpoint(NicContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement);

  Rocev2Counts counts() const;

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
  TimePs next_deadline(Qp& qp) override { return qp.rc.requestor->next_deadline(); }
  void deadline(TimePs now, Qp& qp) override;
  void serve_timers(TimePs now) override;
  TimePs next_timer() override { return paced_.next(); }
  void pump_ports(TimePs now) override;

  void receive_data(TimePs now, Qp& qp, const Packet& packet);
  void follow_up(TimePs now, Qp& qp);
  void send_data(TimePs now, Qp& qp);
  void send_control(TimePs now, Qp& qp, Packet packet);
  void send(TimePs now, Qp& qp, std::uint32_t transit);
  void activate(Qp& qp);
  void park(TimePs now, Port& port, Qp& qp);
  void pump(TimePs now, std::uint32_t plane);

  std::vector<Flow> flows_;  ///< by QP
  std::vector<Port> ports_;
  DueHeap paced_;  ///< QPs whose rate lets them send then
  std::uint64_t cnps_sent_ = 0;
};

}  // namespace mrc
