// What a NIC's boxes ask of a transport: the sending and the receiving half of a QP. A transport that implements both,
// and gives its QPs a path table and a congestion domain, can be simulated with all boxes. Times never go back between
// calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mrc/packet.h"
#include "mrc/qp_state.h"
#include "mrc/rx/responder.h"
#include "mrc/tx/requestor.h"
#include "mrc/tx/work_request.h"
#include "mrc/types.h"

namespace mrc {

/// What a QP would send now, and whether it may.
struct NextPacket {
  SendGate gate = SendGate::idle;
  bool retransmission = false;
  Psn psn = 0;  ///< with gate ready: of the packet that take() gives
};

class SendingHalf {
 public:
  virtual ~SendingHalf() = default;

  /// Work posted to a QP in ERROR is flushed.
  virtual PostStatus post(const WorkRequest& request, TimePs now) = 0;
  virtual NextPacket next(TimePs now) const = 0;
  /// The next packet; it is in flight from now on. Precondition: next() is ready.
  virtual SendPlan take(TimePs now) = 0;
  /// The packet leaves on `ev` of the QP's path table; its timer runs from now.
  virtual void transmitted(Psn psn, EvIndex ev, TimePs now) = 0;
  /// An answer of the peer: SACK, NACK or transport ACK.
  virtual AckResult on_answer(const Packet& packet, TimePs now) = 0;
  /// When on_deadline() is next due; kNever if nothing is pending.
  virtual TimePs next_deadline() = 0;
  virtual AckResult on_deadline(TimePs now) = 0;

  virtual bool has_completion() const = 0;
  virtual bool pop_completion(Completion& completion) = 0;

  virtual QpState state() const = 0;
  /// Moves the QP to ERROR and flushes its work. Returns false if its state does not allow that. `freed`: resources
  /// that this gives back.
  virtual bool to_error(AckResult& freed) = 0;
  /// The NIC has lost the QP's state: the oldest message ends with a local error, the others are flushed.
  virtual void fail_locally(AckResult& freed) = 0;

  /// The oldest packet that is not acknowledged.
  virtual Psn unacked_psn() const = 0;
  virtual std::uint64_t messages_pending() const = 0;
  /// What a QP that makes no progress waits for, in one phrase.
  virtual std::string describe_wait(TimePs now) = 0;
};

class ReceivingHalf {
 public:
  virtual ~ReceivingHalf() = default;

  /// A data packet, whole or trimmed, or a probe. Room for a whole packet's payload is reserved by the caller before.
  virtual RxDecision receive(const Packet& packet, const RxResources& resources, TimePs now) = 0;
  /// The packet is expected, so that its payload will be kept if there is room.
  virtual bool expects(Psn psn) const = 0;
  /// Cycles beyond the first that recording the packet placed last takes, for memory reads one after another.
  virtual std::uint32_t more_cycles(Psn psn) const = 0;
  /// 0 … 127: how far the NIC asks its peer to slow down, in all answers from now on.
  virtual void set_penalty(std::uint8_t penalty) = 0;

  // Answers that receive() has asked for.
  virtual SackFields build_sack(const SackTrigger& trigger, TimePs now) = 0;
  virtual NackFields build_nack(const Packet& packet, NackReason reason) const = 0;
  virtual TransportAckFields repeat_transport_ack() const = 0;
  /// PSN of a transport ACK.
  virtual Psn cack_psn() const = 0;

  /// The write that closed `messages` has issued its last TLP. Returns the transport ACK to send, if there is one.
  virtual std::optional<TransportAckFields> writes_issued(std::uint32_t messages) = 0;
  /// Takes the next receive that is complete and issued, in the order of sending. Returns false if there is none.
  virtual bool pop_receive(ReceiveCompletion& completion) = 0;

  /// Software posts `count` receives. Returns false and posts none if there is not enough room.
  virtual bool post_receive(std::uint32_t count) = 0;
  virtual std::uint32_t receives_posted() const = 0;
  virtual void to_error() = 0;
};

}  // namespace mrc
