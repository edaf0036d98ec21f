// The records of all QPs over one pool, command by command: what hardware for them has to do. Made of the buffer
// that the requestor uses.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "mrc/tx/retransmit_buffer.h"
#include "mrc/tx/retransmit_command.h"

namespace mrc {

class RetransmitReference {
 public:
  explicit RetransmitReference(std::uint32_t records) : free_(records) {}

  RetransmitReply run(const RetransmitCommand& command) {
    RetransmitReply reply;
    reply.free = free_;
    if (command.op == RetransmitOp::open) {
      buffers_.insert_or_assign(command.qp, RetransmitBuffer(command.psn));
      reply.hit = true;
    }
    const auto it = buffers_.find(command.qp);
    if (it == buffers_.end()) return reply;
    apply(it->second, command, reply);
    describe(it->second, reply);
    return reply;
  }
  /// The reply to a command that does nothing. Precondition: the QP was opened.
  RetransmitReply look(std::uint32_t qp) {
    RetransmitReply reply;
    describe(buffers_.at(qp), reply);
    return reply;
  }
  /// Null for a QP that was not opened.
  const RetransmitBuffer* find(std::uint32_t qp) const {
    const auto it = buffers_.find(qp);
    return it == buffers_.end() ? nullptr : &it->second;
  }
  std::uint32_t free() const { return free_; }

 private:
  void apply(RetransmitBuffer& buffer, const RetransmitCommand& command, RetransmitReply& reply) {
    switch (command.op) {
      case RetransmitOp::open:
        return;
      case RetransmitOp::append:
        return append(buffer, command, reply);
      case RetransmitOp::sent:
        reply.hit = buffer.contains(command.psn) && buffer.at(command.psn).state == RecordState::in_pipeline;
        return buffer.transmitted(command.psn, command.ev, command.now);
      case RetransmitOp::ack:
        return acknowledge(buffer, command, reply);
      case RetransmitOp::nack:
        reply.hit = buffer.contains(command.psn) && buffer.at(command.psn).state == RecordState::outstanding;
        return reply.hit ? declare_lost(buffer, {command.psn}, command, reply) : void();
      case RetransmitOp::gap:
        buffer.find_overtaken(command.threshold, psns_);
        return declare_lost(buffer, psns_, command, reply);
      case RetransmitOp::timeout:
        buffer.find_overdue(0, command.limit, command.now, psns_);
        return declare_lost(buffer, psns_, command, reply);
      case RetransmitOp::take:
        return take(buffer, reply);
    }
  }
  void append(RetransmitBuffer& buffer, const RetransmitCommand& command, RetransmitReply& reply) {
    if (free_ == 0) return;
    --free_;
    reply.hit = true;
    reply.psn = buffer.append(command.message, command.offset, command.bytes);
  }
  void acknowledge(RetransmitBuffer& buffer, const RetransmitCommand& command, RetransmitReply& reply) {
    buffer.find_acknowledged(command.psn, command.base, command.bitmap, psns_);
    for (const Psn psn : psns_) {
      buffer.acknowledge(psn, [&](const SendRecord& record, bool was_lost) {
        reply.events.push_back({psn, static_cast<std::uint16_t>(record.nominal_bytes), record.ev, false, was_lost});
      });
    }
    reply.count = static_cast<std::uint32_t>(psns_.size());
    free_ += reply.count;
    reply.advanced = buffer.advance();
  }
  static void declare_lost(RetransmitBuffer& buffer, const std::vector<Psn>& psns, const RetransmitCommand& command,
                           RetransmitReply& reply) {
    for (const Psn psn : psns) {
      SendRecord& record = buffer.at(psn);
      reply.events.push_back({psn, static_cast<std::uint16_t>(record.nominal_bytes), record.ev, true, false});
      buffer.mark_lost(psn);
      record.lost_by = command.cause;
    }
    reply.count = static_cast<std::uint32_t>(psns.size());
  }
  static void take(RetransmitBuffer& buffer, RetransmitReply& reply) {
    if (!buffer.has_lost()) return;
    reply.hit = true;
    reply.psn = buffer.oldest_lost();
    const SendRecord& record = buffer.at(reply.psn);
    reply.message = static_cast<std::uint16_t>(record.message);
    reply.offset = record.message_offset;
    reply.bytes = static_cast<std::uint16_t>(record.nominal_bytes);
    reply.cause = record.lost_by;
    buffer.take(reply.psn);
  }
  void describe(RetransmitBuffer& buffer, RetransmitReply& reply) const {
    reply.unacked = buffer.unacked_psn();
    reply.next = buffer.next_psn();
    reply.has_lost = buffer.has_lost();
    if (reply.has_lost) reply.oldest_lost = buffer.oldest_lost();
    reply.outstanding = buffer.oldest_outstanding(reply.oldest_psn);
    if (reply.outstanding) reply.oldest_sent = buffer.at(reply.oldest_psn).sent_at;
    reply.free = free_;
  }

  std::uint32_t free_;
  std::map<std::uint32_t, RetransmitBuffer> buffers_;
  std::vector<Psn> psns_;
};

}  // namespace mrc
