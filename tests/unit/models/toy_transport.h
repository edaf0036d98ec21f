// A transport that is not MRC, for the boxes: go-back-N on one path with an acknowledgement per message. As small as it
// can be and still survive losses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "mrc/halves/qp_halves.h"
#include "mrc/tx/segmenter.h"

namespace mrc {

struct ToyCounts {
  std::uint64_t sent = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t nacks = 0;
  std::uint64_t timeouts = 0;
};

class ToySender final : public SendingHalf {
 public:
  ToySender(std::uint32_t mtu_bytes, std::uint32_t window_packets, TimePs timeout, Psn first_psn)
      : mtu_bytes_(mtu_bytes), window_packets_(window_packets), timeout_(timeout), base_(first_psn) {}

  PostStatus post(const WorkRequest& request, TimePs) override {
    messages_.push_back({request, 0});
    return PostStatus::posted;
  }
  NextPacket next(TimePs) const override {
    const Psn psn = psn_add(base_, static_cast<std::int64_t>(cursor_));
    if (cursor_ < packets_.size()) return {SendGate::ready, true, psn};
    if (taking_ == messages_.size()) return {SendGate::idle, false, psn};
    return {packets_.size() < window_packets_ ? SendGate::ready : SendGate::blocked_mpr, false, psn};
  }
  SendPlan take(TimePs) override {
    const bool again = cursor_ < packets_.size();
    if (!again) cut();
    const Sent& packet = packets_[cursor_];
    const WorkRequest& request = messages_[packet.message - first_message_].request;
    SendPlan plan;
    plan.local_address = request.local_address + packet.offset;
    plan.va = request.remote_address + packet.offset;
    plan.payload_bytes = std::min(mtu_bytes_, request.bytes - packet.offset);
    plan.dma_length = request.bytes;
    plan.rkey = request.rkey;
    plan.opcode = write_opcode(packet.offset / mtu_bytes_, packets_in(request.bytes, mtu_bytes_), false);
    plan.psn = psn_add(base_, static_cast<std::int64_t>(cursor_++));
    plan.retransmission = again;
    ++counts_.sent;
    counts_.retransmitted += again ? 1 : 0;
    return plan;
  }
  void transmitted(Psn, EvIndex, TimePs now) override { moved_at_ = now; }
  AckResult on_answer(const Packet& packet, TimePs now) override {
    moved_at_ = now;
    if (packet.opcode == Opcode::transport_ack) return complete_to(packet.transport_ack.msn);
    ++counts_.nacks;
    const std::int32_t expected = psn_distance(packet.nack.nack_psn, base_);
    cursor_ = static_cast<std::size_t>(std::clamp<std::int32_t>(expected, 0, static_cast<std::int32_t>(cursor_)));
    return {};
  }
  TimePs next_deadline() override { return packets_.empty() ? kNever : moved_at_ + timeout_; }
  AckResult on_deadline(TimePs now) override {
    ++counts_.timeouts;
    moved_at_ = now;
    cursor_ = 0;
    return {};
  }

  bool has_completion() const override { return !completions_.empty(); }
  bool pop_completion(Completion& completion) override {
    if (completions_.empty()) return false;
    completion = completions_.front();
    completions_.pop_front();
    return true;
  }
  QpState state() const override { return QpState::rts; }
  bool to_error(AckResult&) override { return false; }
  void fail_locally(AckResult&) override {}
  Psn unacked_psn() const override { return base_; }
  std::uint64_t messages_pending() const override { return messages_.size(); }
  std::string describe_wait(TimePs) override { return "an acknowledgement"; }

  const ToyCounts& counts() const { return counts_; }

 private:
  struct Message {
    WorkRequest request;
    std::uint32_t taken_bytes;
  };
  struct Sent {
    std::uint64_t message;
    std::uint32_t offset;
  };

  void cut() {
    Message& message = messages_[taking_];
    packets_.push_back({first_message_ + taking_, message.taken_bytes});
    message.taken_bytes += std::min(mtu_bytes_, message.request.bytes - message.taken_bytes);
    if (message.taken_bytes == message.request.bytes) ++taking_;
  }
  /// The receiver holds the first `messages` messages.
  AckResult complete_to(std::uint64_t messages) {
    AckResult result;
    for (; first_message_ < messages && taking_ > 0; ++first_message_, --taking_) {
      completions_.push_back({messages_.front().request.id, CompletionStatus::success});
      messages_.pop_front();
      for (; !packets_.empty() && packets_.front().message == first_message_; packets_.pop_front()) {
        ++result.records_freed;
        base_ = psn_add(base_, 1);
        cursor_ -= cursor_ > 0 ? 1 : 0;
      }
    }
    result.advanced = result.records_freed > 0;
    return result;
  }

  std::uint32_t mtu_bytes_;
  std::uint32_t window_packets_;
  TimePs timeout_;
  Psn base_;  ///< of packets_.front()
  std::deque<Message> messages_;
  std::deque<Sent> packets_;  ///< sent and not acknowledged
  std::size_t cursor_ = 0;    ///< of packets_: next to send
  std::size_t taking_ = 0;    ///< of messages_: next to cut
  std::uint64_t first_message_ = 0;
  TimePs moved_at_ = 0;
  std::deque<Completion> completions_;
  ToyCounts counts_;
};

class ToyReceiver final : public ReceivingHalf {
 public:
  explicit ToyReceiver(Psn first_psn) : expected_(first_psn) {}

  RxDecision receive(const Packet& packet, const RxResources& resources, TimePs) override {
    RxDecision decision;
    const std::int32_t ahead = psn_distance(packet.psn, expected_);
    if (ahead < 0) {
      decision.outcome = PsnOutcome::duplicate_below;
      decision.repeat_transport_ack = true;
    } else if (ahead > 0 || packet.damage != Damage::none) {
      decision.outcome = PsnOutcome::out_of_window;
      if (!nacked_) decision.nack = NackReason::psn_oor_window;
      nacked_ = true;
    } else if (resources.packet_buffer_available && resources.other_resource_available) {
      nacked_ = false;
      expected_ = psn_add(expected_, 1);
      decision.place = true;
      decision.closes_messages = ends_message(packet.opcode) ? 1 : 0;
    }
    return decision;
  }
  bool expects(Psn psn) const override { return psn == expected_; }
  std::uint32_t more_cycles(Psn) const override { return 0; }
  void set_penalty(std::uint8_t) override {}
  SackFields build_sack(const SackTrigger&, TimePs) override { return {}; }
  NackFields build_nack(const Packet& packet, NackReason reason) const override {
    return {.nack_psn = expected_, .entropy = packet.ev, .reason = reason};
  }
  TransportAckFields repeat_transport_ack() const override { return {.msn = written_}; }
  Psn cack_psn() const override { return psn_add(expected_, -1); }
  std::optional<TransportAckFields> writes_issued(std::uint32_t messages) override {
    if (messages == 0) return std::nullopt;
    written_ += messages;
    return repeat_transport_ack();
  }
  bool pop_receive(ReceiveCompletion&) override { return false; }
  bool post_receive(std::uint32_t) override { return true; }
  std::uint32_t receives_posted() const override { return 0; }
  void to_error() override {}

 private:
  Psn expected_;
  std::uint32_t written_ = 0;  ///< messages
  bool nacked_ = false;        ///< the present gap
};

}  // namespace mrc
