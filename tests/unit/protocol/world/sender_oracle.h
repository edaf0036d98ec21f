// The sending half of a QP in the plainest words: packets numbered from 0 without a wrap, every rule a scan over the
// window.
#pragma once

#include <cstdint>
#include <vector>

#include "mrc/tx/requestor.h"
#include "violation.h"

namespace mrc::world {

class SenderOracle {
 public:
  enum class State : std::uint8_t { in_pipeline, outstanding, acked, lost };
  struct Sent {
    std::uint64_t sequence = 0;
    TimePs sent_at = 0;
    std::uint32_t nominal_bytes = 0;
    EvIndex ev = kNoEv;
    std::uint16_t transmissions = 0;
    std::uint32_t timeouts = 0;
    State state = State::in_pipeline;
    bool nacked = false;           ///< its latest copy that did not arrive: a NACK said so
    bool copy_may_arrive = false;  ///< an earlier one
  };

  SenderOracle(const ProtocolConfig& config, Psn first_psn)
      : config_(&config), first_psn_(first_psn), window_(config.mpr_units * kMprUnitPsns) {}

  void post(const WorkRequest& request, TimePs now);
  /// Checks what take() gave; returns the packet's number.
  std::uint64_t take(const SendPlan& plan, const CongestionControl& congestion, TimePs now);
  void transmitted(std::uint64_t number, EvIndex ev, TimePs now);

  /// RTT that a SACK for packet `number` is a sample of; 0 if of none. To be asked before on_sack().
  TimePs rtt_of(std::uint64_t number, TimePs now) const;
  /// Growth of the received bytes that a SACK with `units` in all tells of.
  std::uint64_t newly_received(std::uint64_t units);
  /// All below `expected` has arrived, and `base` + i for each bit; `cwnd_bytes` is the window once it has heard of it.
  void on_sack(std::uint64_t expected, std::uint64_t base, const SackFields& sack, std::uint64_t cwnd_bytes,
               TimePs now);
  void on_nack(std::uint64_t number, NackReason reason);
  void on_transport_ack(std::uint64_t messages, TimePs now);
  void on_deadline(TimePs now);
  TimePs deadline() const;

  /// Checks what the requestor shows of its state.
  void compare(const Requestor& requestor) const;
  /// Checks the records one by one as well.
  void compare_records(const Requestor& requestor) const;

  /// The next completion that software must get; checks that `completion` is it.
  void complete(const Completion& completion);

  bool failed() const { return failed_; }
  std::uint64_t unacked() const { return unacked_; }
  std::uint64_t next() const { return static_cast<std::uint64_t>(sent_.size()); }
  std::uint64_t inflight_bytes() const { return inflight_bytes_; }
  const Sent& sent(std::uint64_t number) const { return sent_[number]; }
  std::uint64_t posted() const { return messages_.size(); }
  std::uint64_t completed() const { return completed_; }
  const WorkRequest& request(std::uint64_t message) const { return messages_[message].request; }
  std::uint64_t completions_taken() const { return completions_taken_; }
  std::uint64_t completions_due() const { return completions_.size() - completions_taken_; }
  /// Numbers of what the last on_…() declared lost without a NACK.
  const std::vector<std::uint64_t>& declared_lost() const { return declared_lost_; }

 private:
  struct Message {
    WorkRequest request;
    std::uint64_t first = 0;
    std::uint64_t write_imms_before = 0;
  };

  Psn psn_of(std::uint64_t number) const { return static_cast<Psn>((first_psn_ + number) % (1U << 24)); }
  std::uint64_t packets(std::uint64_t message) const {
    return (std::uint64_t{messages_[message].request.bytes} + config_->mtu_bytes - 1) / config_->mtu_bytes;
  }
  std::uint64_t end(std::uint64_t message) const { return messages_[message].first + packets(message); }
  /// Every packet of `message` was taken at least once.
  bool taken(std::uint64_t message) const { return message < taking_ && end(message) <= next(); }
  void check_fields(const SendPlan& plan, std::uint64_t message, std::uint64_t number) const;
  std::uint64_t take_new(const SendPlan& plan);
  std::uint64_t take_lost(const SendPlan& plan);
  std::uint64_t take_repetition(const SendPlan& plan, TimePs now);
  std::uint64_t message_of(std::uint64_t number) const;
  std::uint64_t write_imms_in_flight() const;
  TimePs timeout(std::uint32_t timeouts) const;
  TimePs timeout_of(const Sent& sent) const;
  void acknowledge(std::uint64_t number);
  void advance(TimePs now);
  void lose(std::uint64_t number);
  void infer_gaps(std::uint64_t cwnd_bytes);
  void count_retry();
  void fail(CompletionStatus status);

  const ProtocolConfig* config_;
  Psn first_psn_;
  std::uint64_t window_;
  std::vector<Message> messages_;
  std::vector<Sent> sent_;
  std::vector<Completion> completions_;
  std::vector<std::uint64_t> declared_lost_;
  std::uint64_t completions_taken_ = 0;
  std::uint64_t completed_ = 0;  ///< messages
  std::uint64_t taking_ = 0;     ///< messages of which a packet was taken
  std::uint64_t unacked_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t inflight_bytes_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t highest_acked_ = 0;
  std::uint64_t units_ = 0;
  std::uint32_t retries_ = 0;
  std::uint32_t retry_timeouts_ = 0;  ///< of the retries
  TimePs progress_at_ = 0;
  TimePs timeout_at_ = 0;  ///< of the last that counted
  bool repeat_ = false;
  bool failed_ = false;
  std::uint64_t gap_losses_ = 0;
  std::uint64_t nack_losses_ = 0;
  std::uint64_t timeouts_ = 0;
  std::uint64_t timeout_losses_ = 0;
  std::uint64_t spurious_losses_ = 0;
};

}  // namespace mrc::world
