// The baseline as a light endpoint: RoCEv2 RC queue pairs (go-back-N, DCQCN) at line rate. A queue pair is one flow:
// its 5-tuple decides the port it leaves through, and at each switch the way up. Host times and ports are those of
// Endpoint.
#pragma once

#include <cstdint>
#include <vector>

#include "endpoint/light_node.h"
#include "nic/nic_context.h"

namespace mrc {

/// What the baseline did, of one node or summed.
struct Rocev2Counts {
  std::uint64_t cnps_sent = 0;
  std::uint64_t naks_sent = 0;
  std::uint64_t out_of_sequence = 0;  ///< data dropped behind a gap
  std::uint64_t timeouts = 0;
};

class Rocev2Endpoint final : public LightNode {
 public:
  /// `nic.qps` is complete. All arguments outlive the endpoint.
  Rocev2Endpoint(NicContext& nic, HostMemory& memory, Network& network, const WorkPlacement& placement);

  WorkPlayer& player() override { return player_; }
  void start() override;
  const std::vector<std::uint64_t>& first_payload_bytes() const override { return first_payload_bytes_; }
  Rocev2Counts counts() const;

  void receive(TimePs now, std::uint32_t plane, const Packet& packet) override;
  void port_free(TimePs now, std::uint32_t plane) override;
  void timer(TimePs now) override;

  bool can_post(TimePs) override { return true; }
  void post(TimePs now, std::uint32_t qp, const WorkRequest& request, TimePs doorbell_at) override;
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
  /// A QP's turn at a time; the earliest first in a heap.
  struct Due {
    TimePs at;
    std::uint32_t qp;
    friend bool operator>(const Due& a, const Due& b) { return a.at != b.at ? a.at > b.at : a.qp > b.qp; }
  };
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

  void receive_data(TimePs now, Qp& qp, const Packet& packet);
  void follow_up(TimePs now, Qp& qp);
  void send_data(TimePs now, Qp& qp);
  void send_control(TimePs now, Qp& qp, Packet packet);
  void send(TimePs now, Qp& qp, std::uint32_t transit);
  void activate(Qp& qp);
  void park(TimePs now, Port& port, Qp& qp);
  void pump(TimePs now, std::uint32_t plane);
  void update_deadline(TimePs now, Qp& qp);
  void serve_deadlines(TimePs now);
  void arm();
  static void push(std::vector<Due>& heap, Due due);
  static Due pop(std::vector<Due>& heap);

  NicContext& nic_;
  HostMemory& memory_;
  Network& network_;
  WorkPlayer player_;
  std::vector<Flow> flows_;  ///< by QP
  std::vector<Port> ports_;
  std::vector<std::uint64_t> first_payload_bytes_;
  TimePs wqe_ps_;
  TimePs payload_ps_;
  TimePs completion_ps_;
  Ring<Start> starts_;
  Ring<Seen> seen_;
  std::vector<Due> deadlines_;
  std::vector<Due> paced_;  ///< QPs whose rate lets them send then
  std::uint64_t cnps_sent_ = 0;
  TimePs armed_at_ = kNever;
};

}  // namespace mrc
