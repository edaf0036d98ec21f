// MRC's halves of a QP as a NIC's boxes see them.
#pragma once

#include <utility>

#include "mrc/halves/qp_halves.h"
#include "mrc/rx/bank_reads.h"

namespace mrc {

/// `Sender`: Requestor, or the same over other records.
template <typename Sender>
class MrcSendingHalf final : public SendingHalf {
 public:
  template <typename... Args>
  explicit MrcSendingHalf(Args&&... args) : requestor(std::forward<Args>(args)...) {}

  PostStatus post(const WorkRequest& request, TimePs now) override { return requestor.post(request, now); }
  NextPacket next(TimePs now) const override {
    const auto& records = requestor.records();
    return {.gate = requestor.gate(now),
            .retransmission = requestor.next_is_retransmission(),
            .psn = records.has_lost() ? records.oldest_lost() : requestor.next_psn()};
  }
  SendPlan take(TimePs now) override { return requestor.take(now); }
  void transmitted(Psn psn, EvIndex ev, TimePs now) override { requestor.transmitted(psn, ev, now); }
  AckResult on_answer(const Packet& packet, TimePs now) override {
    switch (packet.opcode) {
      case Opcode::sack:
        return requestor.on_sack(packet.sack, now);
      case Opcode::nack:
        return requestor.on_nack(packet.nack, now);
      case Opcode::transport_ack:
        return requestor.on_transport_ack(packet.transport_ack, now);
      default:
        return {};
    }
  }
  TimePs next_deadline() override { return requestor.next_deadline(); }
  AckResult on_deadline(TimePs now) override { return requestor.on_deadline(now); }
  bool has_completion() const override { return requestor.has_completion(); }
  bool pop_completion(Completion& completion) override { return requestor.pop_completion(completion); }
  QpState state() const override { return requestor.state(); }
  bool to_error(AckResult& freed) override { return requestor.modify(QpState::error, freed) == ModifyStatus::changed; }
  void fail_locally(AckResult& freed) override { requestor.fail_locally(freed); }
  Psn unacked_psn() const override { return requestor.unacked_psn(); }
  std::uint64_t messages_pending() const override { return requestor.messages_pending(); }
  std::string describe_wait(TimePs now) override { return requestor.describe_wait(now); }

  Sender requestor;
};

class MrcReceivingHalf final : public ReceivingHalf {
 public:
  template <typename... Args>
  explicit MrcReceivingHalf(Args&&... args) : responder(std::forward<Args>(args)...) {}

  RxDecision receive(const Packet& packet, const RxResources& resources, TimePs now) override {
    if (packet.opcode == Opcode::probe_request) return responder.on_probe(packet, now);
    if (packet.damage == Damage::trimmed) return responder.on_trimmed(packet, now);
    return responder.accept(packet, resources, now);
  }
  bool expects(Psn psn) const override { return responder.tracker().classify(psn) == PsnOutcome::accept; }
  /// One bank a cycle: each that the edge runs into costs one more.
  std::uint32_t more_cycles(Psn psn) const override { return banks_of_advance(responder.tracker(), psn) - 1; }
  void set_penalty(std::uint8_t penalty) override { responder.set_penalty(penalty); }
  SackFields build_sack(const SackTrigger& trigger, TimePs now) override { return responder.build_sack(trigger, now); }
  NackFields build_nack(const Packet& packet, NackReason reason) const override {
    return responder.build_nack(packet, reason);
  }
  TransportAckFields repeat_transport_ack() const override { return responder.repeat_transport_ack(); }
  Psn cack_psn() const override { return responder.cack_psn(); }
  std::optional<TransportAckFields> writes_issued(std::uint32_t messages) override {
    return responder.writes_issued(messages);
  }
  bool pop_receive(ReceiveCompletion& completion) override { return responder.pop_receive(completion); }
  bool post_receive(std::uint32_t count) override { return responder.post_receive(count); }
  std::uint32_t receives_posted() const override { return responder.receives_posted(); }
  void to_error() override { responder.modify(QpState::error); }

  Responder responder;
};

}  // namespace mrc
