// The records of a QP's packets in a NIC: ring 1's, and with RTL of retransmit_buffer in the run the block's as well.
// Each change is then a command to the block: what ring 1's records would do is found out before it, what counts is
// done after it, and both are compared. Without RTL, a branch for each change.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mrc/tx/retransmit_buffer.h"
#include "mrc/tx/retransmit_command.h"

namespace mrc {

class RetransmitBufferRtlPath;

class SendRecords : private RetransmitBuffer {
 public:
  explicit SendRecords(Psn first_psn) : RetransmitBuffer(first_psn) {}

  /// The records are in the RTL too, there of QP `qp` (index). Before the first packet; `rtl` outlives the records.
  void use_rtl(RetransmitBufferRtlPath& rtl, std::uint32_t qp, TimePs now);

  // Ring 1's, whatever the RTL says.
  using RetransmitBuffer::at;
  using RetransmitBuffer::contains;
  using RetransmitBuffer::has_lost;
  using RetransmitBuffer::next_psn;
  using RetransmitBuffer::oldest_lost;
  using RetransmitBuffer::oldest_outstanding;
  using RetransmitBuffer::span;
  using RetransmitBuffer::timers;
  using RetransmitBuffer::unacked_psn;

  Psn append(std::uint64_t message, std::uint32_t message_offset, std::uint32_t nominal_bytes, TimePs now) {
    const Psn psn = RetransmitBuffer::append(message, message_offset, nominal_bytes);
    return by_rtl() ? append_by_rtl(psn, now) : psn;
  }
  void transmitted(Psn psn, EvIndex ev, TimePs now, std::uint32_t timer) {
    if (by_rtl()) return transmitted_by_rtl(psn, ev, now, timer);
    RetransmitBuffer::transmitted(psn, ev, now, timer);
  }
  template <typename Acked>
  bool acknowledge(Psn last, Psn base, std::uint64_t bitmap, TimePs now, const Acked& acked) {
    if (!by_rtl()) return RetransmitBuffer::acknowledge(last, base, bitmap, now, acked);
    Exchange exchange = ask_acknowledged(last, base, bitmap, now);
    for (const Psn psn : rtl_->psns) RetransmitBuffer::acknowledge(psn, acked);
    return finish_acknowledge(exchange);
  }
  bool refuse(Psn psn, CutCause cause, TimePs now) {
    return by_rtl() ? refuse_by_rtl(psn, cause, now) : RetransmitBuffer::refuse(psn, cause, now);
  }
  template <typename Lost>
  void lose_overtaken(std::uint64_t threshold, TimePs now, const Lost& lost) {
    if (!by_rtl()) return RetransmitBuffer::lose_overtaken(threshold, now, lost);
    lose(ask_overtaken(threshold, now), lost);
  }
  template <typename Lost>
  void lose_overdue(std::uint32_t timer, TimePs limit, TimePs now, const Lost& lost) {
    if (!by_rtl()) return RetransmitBuffer::lose_overdue(timer, limit, now, lost);
    lose(ask_overdue(timer, limit, now), lost);
  }
  Psn take_lost(TimePs now) { return by_rtl() ? take_lost_by_rtl(now) : RetransmitBuffer::take_lost(now); }
  TimePs oldest_sent(std::uint32_t timer) {
    return by_rtl() && follows_rtl() && rtl_->outstanding ? rtl_->oldest_sent : RetransmitBuffer::oldest_sent(timer);
  }

 private:
  struct Rtl {
    Rtl(RetransmitBufferRtlPath& rtl_path, std::uint32_t rtl_qp) : path(rtl_path), qp(rtl_qp) {}
    RetransmitBufferRtlPath& path;
    std::uint32_t qp;
    bool outstanding = false;  ///< as its last reply said
    TimePs oldest_sent = 0;
    std::vector<Psn> psns;  ///< those that a command acknowledges or declares lost
  };
  struct Exchange {
    RetransmitCommand command;
    RetransmitReply expected;                ///< what ring 1's records do with it
    const RetransmitReply* reply = nullptr;  ///< null by pins
  };

  bool by_rtl() const { return rtl_ != nullptr && asks_rtl(); }
  bool asks_rtl() const;
  /// The RTL's replies count. By pins ring 1's records do.
  bool follows_rtl() const;

  Exchange exchange_of(RetransmitOp op, TimePs now) const;
  void ask(Exchange& exchange);
  void compare(Exchange& exchange);
  RetransmitEvent event_of(Psn psn, bool lost) const;
  /// Which of the packets that ring 1 finds, in rtl_->psns, and those of the reply counts; into rtl_->psns.
  void choose(Exchange& exchange, bool lost);

  Psn append_by_rtl(Psn psn, TimePs now);
  void transmitted_by_rtl(Psn psn, EvIndex ev, TimePs now, std::uint32_t timer);
  Exchange ask_acknowledged(Psn last, Psn base, std::uint64_t bitmap, TimePs now);
  bool finish_acknowledge(Exchange& exchange);
  bool refuse_by_rtl(Psn psn, CutCause cause, TimePs now);
  Exchange ask_overtaken(std::uint64_t threshold, TimePs now);
  Exchange ask_overdue(std::uint32_t timer, TimePs limit, TimePs now);
  void ask_lost(Exchange& exchange);
  template <typename Lost>
  void lose(Exchange exchange, const Lost& lost) {
    for (const Psn psn : rtl_->psns) lost(declare_lost(psn));
    compare(exchange);
  }
  Psn take_lost_by_rtl(TimePs now);
  void follow(SendRecord& record, const RetransmitReply& reply) const;

  std::unique_ptr<Rtl> rtl_;  ///< null: none in the run
};

}  // namespace mrc
