// UET as a light endpoint: packet delivery contexts over sprayed packets at line rate, with the sender's window, the
// receiver's credits, or both. A PDC is established with its first packet, and stays. Host times and ports are those of
// MrcEndpoint.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "endpoint/light_node.h"
#include "mrc/uet/credit.h"
#include "transports/uet/uet_node.h"

namespace mrc {

class UetEndpoint final : public LightNode {
 public:
  /// `nic.qps` and their `halves` are complete. All arguments outlive the endpoint. `idle_credit_bytes`: as of
  /// CreditPacer.
  UetEndpoint(NodeContext& nic, std::vector<UetHalves>& halves, const ProtocolConfig& protocol, HostMemory& memory,
              Network& network, const WorkPlacement& placement, std::uint64_t idle_credit_bytes);

  void add_counts(TransportCounts& sum) const override;

  void receive(TimePs now, std::uint32_t plane, const Packet& packet) override;
  void port_free(TimePs now, std::uint32_t plane) override;

 private:
  void take_up(TimePs now, Qp& qp, const WorkRequest& request) override;
  TimePs next_deadline(Qp& qp) override;
  void deadline(TimePs now, Qp& qp) override;
  void serve_timers(TimePs now) override;
  TimePs next_timer() override { return pacer_.next(); }
  void pump_ports(TimePs now) override;
  void port_taken(std::uint32_t plane, TimePs until) override { busy_until_[plane] = until; }
  std::uint8_t sending_waits_for(TimePs now) override;

  UetHalves& halves(const Qp& qp) { return halves_[nic_.index_of(qp)]; }
  TimePs timeout_ps() const { return 1'024'000ULL << protocol_.timeout_exponent; }
  /// Payload that waits to be sent, for the first time or again.
  std::uint64_t wanted_bytes(const UetHalves& of) const;
  std::uint64_t credit_target(const Qp& qp, const UetHalves& of) const;
  bool lacks_credit(const UetHalves& of) const { return of.credit && !of.credit->may_send(); }
  void request_credit(TimePs now, Qp& qp);
  void grant(TimePs now, std::uint32_t flow, std::uint64_t granted_bytes);

  void activate(Qp& qp);
  void park(TimePs now, Qp& qp, SendGate gate);
  /// True if more is ready and every port is busy.
  bool pump(TimePs now);
  /// Sends the next packet of a QP through one of `ports`. Returns the bit of the port, 0 without a packet.
  std::uint32_t send_data(TimePs now, Qp& qp, std::uint32_t ports);
  void spend_credit(Qp& qp, UetHalves& of, const SendPlan& plan, Packet& packet);
  void send_control(TimePs now, Qp& qp, Packet packet);

  void receive_data(TimePs now, Qp& qp, const Packet& packet);
  void acknowledge(TimePs now, Qp& qp, const RxDecision& decision);
  void receive_control(TimePs now, Qp& qp, const Packet& packet);
  void follow_up(TimePs now, Qp& qp);

  static constexpr std::uint32_t kNoQp = ~0U;

  std::vector<UetHalves>& halves_;  ///< by QP
  const ProtocolConfig& protocol_;
  CreditPacer pacer_;
  std::uint32_t planes_;
  std::uint32_t to_be_told_ = 0;                             ///< ports that call port_free()
  std::uint32_t turn_bytes_ = 0;                             ///< sent by the first of the ready QPs in its turn
  std::uint32_t parked_ = kNoQp;                             ///< the QP that was last found to wait for more than work
  Ring<std::uint32_t> ready_;                                ///< QPs that may have something to send
  std::array<TimePs, PathTable::kMostPlanes> busy_until_{};  ///< by port
  std::uint32_t control_turn_ = 0;                           ///< of ports and paths
  std::uint64_t grants_sent_ = 0;
  std::uint64_t requests_sent_ = 0;
};

}  // namespace mrc
