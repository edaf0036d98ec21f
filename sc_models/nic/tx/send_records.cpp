#include "nic/tx/send_records.h"

#include "nic/tx/retransmit_buffer_rtl_path.h"

namespace mrc {

void SendRecords::use_rtl(RetransmitBufferRtlPath& rtl, std::uint32_t qp, TimePs now) {
  rtl_ = std::make_unique<Rtl>(rtl, qp);
  Exchange exchange = exchange_of(RetransmitOp::open, now);
  exchange.command.psn = next_psn();
  exchange.expected.hit = true;
  ask(exchange);
  compare(exchange);
}

bool SendRecords::asks_rtl() const {
  return rtl_->path.asks();
}

bool SendRecords::follows_rtl() const {
  return rtl_->path.drives() && !rtl_->path.by_pins();
}

SendRecords::Exchange SendRecords::exchange_of(RetransmitOp op, TimePs now) const {
  Exchange exchange;
  exchange.command.op = op;
  exchange.command.qp = rtl_->qp;
  exchange.command.now = now;
  return exchange;
}

void SendRecords::ask(Exchange& exchange) {
  // By pins, what ring 1's records do is compared when the reply comes out.
  const bool first = exchange.command.op == RetransmitOp::open && !rtl_->path.is_clocked();
  if (rtl_->path.by_pins() && !first) return;
  exchange.reply = &rtl_->path.run(exchange.command);
  rtl_->outstanding = exchange.reply->outstanding;
  rtl_->oldest_sent = exchange.reply->oldest_sent;
}

void SendRecords::compare(Exchange& exchange) {
  RetransmitReply& expected = exchange.expected;
  expected.unacked = unacked_psn();
  expected.next = next_psn();
  expected.has_lost = has_lost();
  if (expected.has_lost) expected.oldest_lost = oldest_lost();
  expected.outstanding = oldest_outstanding(expected.oldest_psn);
  if (expected.outstanding) expected.oldest_sent = at(expected.oldest_psn).sent_at;
  rtl_->path.compare(exchange.command, expected);
}

RetransmitEvent SendRecords::event_of(Psn psn, bool lost) const {
  const SendRecord& record = at(psn);
  return {psn, static_cast<std::uint16_t>(record.nominal_bytes), record.ev, lost,
          !lost && record.state == RecordState::lost};
}

void SendRecords::choose(Exchange& exchange, bool lost) {
  for (const Psn psn : rtl_->psns) exchange.expected.events.push_back(event_of(psn, lost));
  exchange.expected.count = static_cast<std::uint32_t>(rtl_->psns.size());
  if (!follows_rtl()) return;
  rtl_->psns.clear();
  for (const RetransmitEvent& event : exchange.reply->events) rtl_->psns.push_back(event.psn);
}

Psn SendRecords::append_by_rtl(Psn psn, TimePs now) {
  const SendRecord& record = at(psn);
  Exchange exchange = exchange_of(RetransmitOp::append, now);
  exchange.command.message = static_cast<std::uint16_t>(record.message);
  exchange.command.offset = record.message_offset;
  exchange.command.bytes = static_cast<std::uint16_t>(record.nominal_bytes);
  exchange.expected.hit = true;
  exchange.expected.psn = psn;
  ask(exchange);
  const Psn sent_as = follows_rtl() ? exchange.reply->psn : psn;
  compare(exchange);
  return sent_as;
}

void SendRecords::transmitted_by_rtl(Psn psn, EvIndex ev, TimePs now, std::uint32_t timer) {
  Exchange exchange = exchange_of(RetransmitOp::sent, now);
  exchange.command.psn = psn;
  exchange.command.ev = ev;
  exchange.expected.hit = is_in(psn, RecordState::in_pipeline);
  ask(exchange);
  if (!follows_rtl() || exchange.reply->hit) RetransmitBuffer::transmitted(psn, ev, now, timer);
  compare(exchange);
}

SendRecords::Exchange SendRecords::ask_acknowledged(Psn last, Psn base, std::uint64_t bitmap, TimePs now) {
  find_acknowledged(last, base, bitmap, rtl_->psns);
  Exchange exchange = exchange_of(RetransmitOp::ack, now);
  exchange.command.psn = last;
  exchange.command.base = base;
  exchange.command.bitmap = bitmap;
  ask(exchange);
  choose(exchange, false);
  return exchange;
}

bool SendRecords::finish_acknowledge(Exchange& exchange) {
  const bool advanced = follows_rtl() ? advance(exchange.reply->unacked) : advance();
  exchange.expected.advanced = advanced;
  compare(exchange);
  return advanced;
}

bool SendRecords::refuse_by_rtl(Psn psn, CutCause cause, TimePs now) {
  rtl_->psns.clear();
  Exchange exchange = exchange_of(RetransmitOp::nack, now);
  exchange.expected.hit = is_in(psn, RecordState::outstanding);
  if (exchange.expected.hit) rtl_->psns.push_back(psn);
  exchange.command.psn = psn;
  exchange.command.cause = cause;
  ask(exchange);
  choose(exchange, true);
  const bool counts = follows_rtl() ? exchange.reply->hit : exchange.expected.hit;
  const bool lost = counts && RetransmitBuffer::refuse(psn, cause, now);
  compare(exchange);
  return lost;
}

SendRecords::Exchange SendRecords::ask_overtaken(std::uint64_t threshold, TimePs now) {
  find_overtaken(threshold, rtl_->psns);
  Exchange exchange = exchange_of(RetransmitOp::gap, now);
  exchange.command.threshold = static_cast<std::uint32_t>(threshold);
  ask_lost(exchange);
  return exchange;
}

SendRecords::Exchange SendRecords::ask_overdue(std::uint32_t timer, TimePs limit, TimePs now) {
  find_overdue(timer, limit, now, rtl_->psns);
  Exchange exchange = exchange_of(RetransmitOp::timeout, now);
  exchange.command.limit = limit;
  ask_lost(exchange);
  return exchange;
}

void SendRecords::ask_lost(Exchange& exchange) {
  exchange.command.cause = CutCause::loss;
  ask(exchange);
  choose(exchange, true);
  std::erase_if(rtl_->psns, [&](Psn psn) { return !is_in(psn, RecordState::outstanding); });
}

Psn SendRecords::take_lost_by_rtl(TimePs now) {
  const Psn psn = oldest_lost();
  const SendRecord& record = at(psn);
  Exchange exchange = exchange_of(RetransmitOp::take, now);
  exchange.expected.hit = true;
  exchange.expected.psn = psn;
  exchange.expected.message = static_cast<std::uint16_t>(record.message);
  exchange.expected.offset = record.message_offset;
  exchange.expected.bytes = static_cast<std::uint16_t>(record.nominal_bytes);
  exchange.expected.cause = record.lost_by;
  ask(exchange);
  const bool names_lost = follows_rtl() && is_in(exchange.reply->psn, RecordState::lost);
  const Psn taken = names_lost ? exchange.reply->psn : psn;
  if (follows_rtl()) follow(at(taken), *exchange.reply);
  take(taken);
  compare(exchange);
  return taken;
}

void SendRecords::follow(SendRecord& record, const RetransmitReply& reply) const {
  // The block has the low 16 bits of the message's number, which is one of those that the QP has records of.
  const std::uint64_t oldest = at(unacked_psn()).message;
  const std::uint64_t newest = at(psn_add(next_psn(), -1)).message;
  const auto ahead = static_cast<std::uint16_t>(reply.message - static_cast<std::uint16_t>(oldest));
  if (ahead <= newest - oldest) record.message = oldest + ahead;
  record.message_offset = reply.offset;
  record.nominal_bytes = reply.bytes;
  record.lost_by = reply.cause;
}

}  // namespace mrc
