#include "cosim/retransmit_buffer/model.h"

#include <algorithm>
#include <array>
#include <string>

#include "cosim/mrc_pkg.h"

namespace mrc::cosim {
namespace {

using retransmit_buffer_ports::Cmd;
using retransmit_buffer_ports::Evt;
using retransmit_buffer_ports::Rsp;

constexpr std::uint32_t kPacketsASack = 16;
constexpr std::uint64_t kWidestWindow =
    5'000;  ///< an old end that passes it takes longer than a bench waits for anything
constexpr std::uint32_t kOftenOvertaken = 4'096;
constexpr auto kLoad = static_cast<std::uint64_t>(rtl::RetransmitOp::load);
constexpr auto kStore = static_cast<std::uint64_t>(rtl::RetransmitOp::store);
constexpr TimePs kMostTime = (1ULL << 48) - 1;

const std::vector<std::string> kOps{"open", "append", "sent", "ack", "nack", "gap", "timeout", "take"};
const std::vector<std::string> kCounts{"none", "one", "many"};
const std::vector<std::string> kParts{"nothing", "all in the window", "across the old end", "across the newest packet",
                                      "outside"};

Rsp rsp_of(const RetransmitReply& e) {
  return {.hit = e.hit,
          .advanced = e.advanced,
          .count = e.count,
          .psn = e.psn,
          .message = e.message,
          .offset = e.offset,
          .bytes = e.bytes,
          .cause = static_cast<std::uint64_t>(e.cause),
          .unacked = e.unacked,
          .next = e.next,
          .has_lost = e.has_lost,
          .oldest_lost = e.oldest_lost,
          .outstanding = e.outstanding,
          .oldest_psn = e.oldest_psn,
          .oldest_sent = e.oldest_sent,
          .free = e.free};
}

/// No other command is taken until it is done.
bool holds_the_block(RetransmitOp op) {
  return op == RetransmitOp::open || op == RetransmitOp::ack || op == RetransmitOp::gap ||
         op == RetransmitOp::timeout || op == RetransmitOp::take;
}

std::size_t level(std::uint32_t count) {
  return std::min(count, 2U);
}

/// A power of two below 2^`bits`, or next to one: what differs in one bit of a wide sum or comparison.
std::uint64_t near_power(KeyedRandom& random, unsigned bits) {
  return (1ULL << random.below(bits)) - 1 + random.below(3);
}
/// Distances of PSNs, either way, that are far less than half of all.
std::int64_t far(KeyedRandom& random) {
  const auto distance = static_cast<std::int64_t>(near_power(random, 23));
  return random.chance(0.5) ? distance : -distance;
}

Psn psn_around(const RetransmitBuffer& buffer, KeyedRandom& random) {
  if (random.chance(0.1)) return psn_add(buffer.unacked_psn(), far(random));
  return psn_add(buffer.unacked_psn(), static_cast<std::int64_t>(random.below(buffer.span() + 4)) - 2);
}

/// Any, or shortly before a multiple of a power of two: what has a bit changes soon.
Psn first_psn(KeyedRandom& random) {
  const auto any = static_cast<Psn>(random.next() & kPsnMask);
  if (random.chance(0.5)) return any;
  const auto bits = random.chance(0.4) ? 24 : 5 + static_cast<unsigned>(random.below(19));
  return psn_add(any & (kPsnMask << bits), -1 - static_cast<std::int64_t>(random.below(30)));
}

/// How many packets that were sent after the longest outstanding one are acknowledged.
std::uint32_t most_overtaken(const RetransmitBuffer& buffer) {
  std::uint32_t overtaken = 0;
  std::vector<Psn> psns;
  for (std::uint32_t step = 1U << 30; step != 0; step >>= 1) {
    psns.clear();
    buffer.find_overtaken(overtaken + step, psns);
    if (!psns.empty()) overtaken += step;
  }
  return overtaken;
}

}  // namespace

RetransmitBufferModel::RetransmitBufferModel(const RetransmitBufferSizes& sizes, std::uint32_t buckets,
                                             MakeDut make_dut)
    : BlockModel(std::move(make_dut)),
      sizes_(sizes),
      cycles_(sizes.qps, buckets),
      initialization_cycles_(std::max(sizes.slots, buckets) + 1ULL) {
  points_.append = coverage.point("append", {"record", "pool empty", "QP never opened"});
  points_.sent = coverage.point("sent", {"first copy", "another copy", "not in the pipeline", "QP never opened"});
  points_.nack = coverage.point("nack", {"lost", "lost, older than the oldest lost", "not outstanding"});
  points_.take = coverage.point("take", {"none", "the only lost", "another lost behind it"});
  points_.declared = coverage.cross("declared lost by", {"gap", "timeout"}, kCounts);
  points_.ack = coverage.cross("acknowledged × part of the SACK", kCounts, {"cumulative", "bitmap", "both"});
  coverage.waive(points_.ack, 5, "both acknowledge one each at least");
  points_.cumulative =
      coverage.point("cumulative PSN", {"behind the old end", "old end", "in the window", "newest or beyond"});
  points_.bitmap = coverage.cross("bitmap × its place", {"empty", "some bits", "full"}, kParts);
  for (std::size_t part = 1; part < kParts.size(); ++part) coverage.waive(points_.bitmap, part, "no bits, no place");
  coverage.waive(points_.bitmap, kParts.size(), "bits have a place");
  coverage.waive(points_.bitmap, 2 * kParts.size(), "bits have a place");
  points_.acked_record =
      coverage.point("acknowledged packet",
                     {"outstanding", "lost", "the oldest lost, another behind it", "the oldest, in the pipeline"});
  points_.old_end =
      coverage.point("old end", {"stays", "behind the cumulative part", "jumps over acknowledged", "at the newest"});
  points_.wrap = coverage.point("window", {"passes PSN 0", "elsewhere"});
  points_.pair = coverage.cross("command × the one before, of the same QP", kOps, kOps);
  points_.moved = coverage.cross("context is × records of its QP", {"stored", "loaded"}, {"none", "some", "some lost"});
  points_.other_qp = coverage.point("command behind one of another QP", kOps);
}

void RetransmitBufferModel::choose_load(KeyedRandom& random) {
  append_ = 0.15 + 0.3 * random.uniform();
  sent_ = 0.15 + 0.3 * random.uniform();
  window_ = 1 + random.below(random.chance(0.3) ? 200 : 40);
  hole_ = random.chance(0.2);
  patient_ = false;
  moves_ = is_long_ ? 0 : std::array{0.0, 0.002, 0.05}[random.below(3)];
  if (is_long_) {
    append_ = sent_ = 0.3;
    window_ = kWidestWindow;
    hole_ = !random.chance(0.1);
    patient_ = hole_ && random.chance(0.7);
  }
  // Some QPs at a time, so that each has packets.
  active_ = 1 + random.below(random.chance(0.5) ? 2 : std::min<std::uint64_t>(sizes_.qps, 64));
}

void RetransmitBufferModel::reset(KeyedRandom& random, const Dut& dut) {
  reference_.emplace(sizes_.records);
  context_words_ = dut.ports[Cmd::kPort].fields.size() - Cmd::kContext;
  slots_.assign(sizes_.slots, {});
  slot_of_.clear();
  rows_.clear();
  leaving_.clear();
  asked_.clear();
  pipeline_.clear();
  oldest_sent_.clear();
  cycles_.reset();
  cycle_ = answer_cycle_ = ready_cycle_ = unanswered_ = 0;
  seen_ready_ = only_single_ = false;
  // Small, or anywhere in the first half of all times.
  const std::uint64_t start = random.next();
  now_ = start % 2 == 0 ? start >> 44 : start >> 17;
  traffic_ = false;
  last_qp_ = ~0U;
  is_long_ = next_is_long();
  ++episodes_;
  choose_load(random);
}

void RetransmitBufferModel::reset_to_traffic(KeyedRandom& random, const Dut& dut) {
  reset(random, dut);
  traffic_ = true;
  moves_ = 0;
  gap_is_due_ = false;
  // What 800 Gb/s of 4 KiB packets have under way in 10 us are a sixteenth of the pool.
  active_ = std::max(1U, sizes_.records / 16 / (2 * kPacketsASack));
}

std::uint32_t RetransmitBufferModel::choose_qp(KeyedRandom& random) const {
  // The one before again, so that commands on one QP follow each other closely.
  if (random.chance(0.3) && last_qp_ < sizes_.qps) return last_qp_;
  const auto qp = static_cast<std::uint32_t>(random.below(active_));
  // QPs that share buckets, too.
  return random.chance(0.5) ? qp : (qp * 2'654'435'761U) % sizes_.qps;
}

bool RetransmitBufferModel::offer(std::size_t, KeyedRandom& random, Transaction& values) {
  if (!traffic_ && random.chance(is_long_ ? 0.0001 : 0.001)) choose_load(random);
  const RetransmitCommand command = traffic_ ? choose_traffic(random) : choose(random);
  const auto place = slot_of_.find(command.qp);
  values = to_cmd(command).transfer();
  values.resize(Cmd::kContext + context_words_);
  // What nobody may look at.
  for (std::size_t word = 0; word + 1 < context_words_; ++word)
    values[Cmd::kContext + word] = random.next() & 0xFFFF'FFFF;
  if (place == slot_of_.end()) return offer_slot(command, random, values);
  values[Cmd::kSlot] = place->second;
  if (random.chance(moves_)) values[Cmd::kOp] = kStore;
  return true;
}

bool RetransmitBufferModel::offer_slot(const RetransmitCommand& command, KeyedRandom& random,
                                       Transaction& values) const {
  const bool leaves = std::ranges::find(leaving_, command.qp) != leaving_.end();
  if (leaves) return false;
  const bool opened = reference_->find(command.qp) != nullptr;
  // QPs at work have a slot each.
  const auto slot = traffic_ ? command.qp : static_cast<std::uint32_t>(random.below(slots_.size()));
  values[Cmd::kSlot] = slot;
  if (slots_[slot].qp) {
    values[Cmd::kOp] = kStore;
    values[Cmd::kQp] = *slots_[slot].qp;
  } else if (opened) {
    values[Cmd::kOp] = kLoad;
    put_row(rows_.at(command.qp), values);
  } else if (command.op != RetransmitOp::open && slots_[slot].was_given) {
    return false;
  }
  return true;
}

void RetransmitBufferModel::put_row(const Transaction& row, Transaction& values) {
  std::ranges::copy(row, values.begin() + Cmd::kContext);
}

RetransmitCommand RetransmitBufferModel::choose(KeyedRandom& random) {
  RetransmitCommand c;
  c.qp = choose_qp(random);
  now_ += random.below(1'000);
  if (random.chance(0.01)) now_ = std::min(now_ + near_power(random, 41), kMostTime);
  c.now = now_;
  const RetransmitBuffer* buffer = reference_->find(c.qp);
  if (buffer == nullptr || (buffer->span() == 0 && random.chance(0.1))) {
    c.op = RetransmitOp::open;
    c.psn = first_psn(random);
    if (buffer == nullptr && random.chance(0.1)) c.op = static_cast<RetransmitOp>(1 + random.below(7));
    return c;
  }
  const double draw = random.uniform();
  if (draw < append_ && buffer->span() < window_) {
    c.op = RetransmitOp::append;
    c.message = static_cast<std::uint16_t>(random.next());
    c.offset = static_cast<std::uint32_t>(random.next());
    c.bytes = static_cast<std::uint16_t>(1 + random.below(65'535));
    return c;
  }
  if (draw < append_ + sent_) return choose_sent(c, *buffer, random);
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
      return choose_ack(c, *buffer, random);
    case 3:
      c.op = RetransmitOp::nack;
      c.psn = psn_around(*buffer, random);
      c.cause = static_cast<CutCause>(1 + random.below(5));
      return c;
    case 4:
      c.op = RetransmitOp::gap;
      c.threshold = choose_threshold(*buffer, random);
      c.cause = CutCause::loss;
      return c;
    case 5:
      c.op = RetransmitOp::timeout;
      c.limit = choose_limit(c.qp, random);
      c.cause = CutCause::loss;
      return c;
    default:
      c.op = RetransmitOp::take;
      return c;
  }
}

/// Where packets stay outstanding for long, by how many the oldest was overtaken, and what differs from it in a bit.
std::uint32_t RetransmitBufferModel::choose_threshold(const RetransmitBuffer& buffer, KeyedRandom& random) const {
  if (patient_) {
    const std::uint32_t overtaken = most_overtaken(buffer);
    if (random.chance(overtaken < kOftenOvertaken ? 0.999 : 0.9))
      return overtaken + 1 + static_cast<std::uint32_t>(random.below(2));
    return std::max(overtaken ^ (1U << random.below(31)), 1U);
  }
  if (random.chance(0.2)) return 1 + static_cast<std::uint32_t>(near_power(random, 31));
  return 1 + static_cast<std::uint32_t>(random.below(12));
}

/// Also the age of the packet that is outstanding for longest, and what differs from it in a bit.
TimePs RetransmitBufferModel::choose_limit(std::uint32_t qp, KeyedRandom& random) const {
  if (patient_ && random.chance(0.999)) return kMostTime;
  if (random.chance(0.5)) return 1 + random.below(random.chance(0.2) ? 20'000 : 200'000);
  const auto oldest = oldest_sent_.find(qp);
  if (oldest == oldest_sent_.end() || random.chance(0.2)) return near_power(random, 48);
  const TimePs age = now_ - oldest->second;
  if (random.chance(0.5)) return age + random.below(3);
  return age ^ (1ULL << random.below(48));
}

/// Mostly of a packet that waits to leave, in any order.
RetransmitCommand RetransmitBufferModel::choose_sent(RetransmitCommand c, const RetransmitBuffer& buffer,
                                                     KeyedRandom& random) const {
  c.op = RetransmitOp::sent;
  c.psn = psn_around(buffer, random);
  const auto waiting = pipeline_.find(c.qp);
  if (waiting != pipeline_.end() && !waiting->second.empty() && !random.chance(0.02)) {
    c.psn = waiting->second[random.chance(0.8) ? 0 : random.below(waiting->second.size())];
  }
  c.ev = static_cast<EvIndex>(random.below(65'536));
  return c;
}

RetransmitCommand RetransmitBufferModel::choose_ack(RetransmitCommand c, const RetransmitBuffer& buffer,
                                                    KeyedRandom& random) const {
  c.op = RetransmitOp::ack;
  const auto span = static_cast<std::int64_t>(buffer.span());
  std::int64_t last = -1;
  if (random.chance(0.5)) {
    last = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(span) / 2 + 1)) - 1;
  }
  if (random.chance(0.05)) last = span - 1;
  if (random.chance(0.03)) last = -2 - static_cast<std::int64_t>(random.below(100));
  if (random.chance(0.02)) last = span + static_cast<std::int64_t>(random.below(100));
  if (hole_) last = -1;
  if (random.chance(hole_ ? 0.0005 : 0.05)) last = far(random);
  c.psn = psn_add(buffer.unacked_psn(), last);
  std::int64_t base = last + 1 + static_cast<std::int64_t>(random.below(20));
  if (random.chance(0.1)) base = static_cast<std::int64_t>(random.below(300)) - 150;
  if (hole_) base = 1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(span) + 1));
  // The newest packets, which a pool has records of behind a hole.
  if (hole_ && random.chance(0.7)) base = std::max<std::int64_t>(span - static_cast<std::int64_t>(random.below(70)), 1);
  // Bits behind the old end, and the newest packet among the bits.
  if (random.chance(0.05)) base = far(random) + (random.chance(0.5) ? span : 0);
  if (last < -1 && random.chance(0.6)) base = -static_cast<std::int64_t>(near_power(random, 13));
  if (random.chance(0.1)) base = span - static_cast<std::int64_t>(random.below(66));
  c.base = psn_add(buffer.unacked_psn(), base);
  c.bitmap = random.next();
  if (random.chance(0.3)) c.bitmap &= random.next() & random.next();
  if (random.chance(0.1)) c.bitmap = 0;
  if (random.chance(0.05)) c.bitmap = ~0ULL;
  // Two that share a bucket of the small size, with nothing between them.
  if (random.chance(0.1)) c.bitmap = 0x1'0000'0001ULL << random.below(32);
  // The first bit says of the last packet of the cumulative part what that has said already.
  if (random.chance(0.05)) {
    const std::uint64_t bit = random.below(64);
    c.base = psn_add(c.psn, -static_cast<std::int64_t>(bit));
    c.bitmap = random.chance(0.5) ? 1ULL << bit : ~0ULL << bit;
  }
  return c;
}

/// A NIC at work: packets of a few QPs, appended and sent in turns, a SACK for the older half of them, and a search for
/// gaps after each SACK. One packet in a thousand is found missing, and retransmitted.
RetransmitCommand RetransmitBufferModel::choose_traffic(KeyedRandom& random) {
  RetransmitCommand c;
  now_ += 2'000;
  c.now = now_;
  if (gap_is_due_) {
    gap_is_due_ = false;
    c.op = RetransmitOp::gap;
    c.qp = last_qp_;
    c.threshold = 64;
    c.cause = CutCause::loss;
    return c;
  }
  c.qp = static_cast<std::uint32_t>(random.below(active_));
  const RetransmitBuffer* buffer = reference_->find(c.qp);
  if (buffer == nullptr) {
    c.op = RetransmitOp::open;
    c.psn = static_cast<Psn>(random.next() & kPsnMask);
    return c;
  }
  const std::vector<Psn>& waiting = pipeline_[c.qp];
  if (!waiting.empty()) {
    c.op = RetransmitOp::sent;
    c.psn = waiting.front();
    c.ev = static_cast<EvIndex>(random.below(256));
    return c;
  }
  if (buffer->has_lost()) {
    c.op = RetransmitOp::take;
    return c;
  }
  if (buffer->span() >= 2 * kPacketsASack) {
    c.op = RetransmitOp::ack;
    c.psn = psn_add(buffer->unacked_psn(), kPacketsASack - 1);
    c.base = psn_add(c.psn, 1);
    if (random.chance(0.5)) {  // one has been overtaken
      c.psn = psn_add(buffer->unacked_psn(), 7);
      c.base = psn_add(c.psn, 2);
      c.bitmap = 0x7F;
    }
    if (random.chance(0.016)) {  // the oldest is missing
      c.psn = psn_add(buffer->unacked_psn(), -1);
      c.base = buffer->unacked_psn();
      c.bitmap = 0xFFFE;
    }
    gap_is_due_ = true;
    return c;
  }
  c.op = RetransmitOp::append;
  c.bytes = 4'096;
  return c;
}

bool RetransmitBufferModel::adapt(std::size_t, Transaction& values) const {
  if (values[Cmd::kQp] >= sizes_.qps || values[Cmd::kSlot] >= sizes_.slots) return false;
  const auto qp = static_cast<std::uint32_t>(values[Cmd::kQp]);
  const Slot& slot = slots_[values[Cmd::kSlot]];
  const bool open = static_cast<RetransmitOp>(values[Cmd::kOp]) == RetransmitOp::open;
  const RetransmitBuffer* buffer = reference_->find(qp);
  if (slot.qp == qp) return values[Cmd::kOp] != kLoad && (!open || buffer->span() == 0);
  if (slot.qp) return false;
  if (values[Cmd::kOp] == kLoad) {
    const auto row = rows_.find(qp);
    if (row != rows_.end()) put_row(row->second, values);
    return row != rows_.end();
  }
  return buffer == nullptr && values[Cmd::kOp] != kStore && (open || !slot.was_given);
}

void RetransmitBufferModel::taken(std::size_t port, const Transaction& values) {
  if (port != Rsp::kPort) return;
  --unanswered_;
  const std::optional<std::uint32_t> stored = asked_.front();
  asked_.pop_front();
  if (!stored) return;
  leaving_.pop_front();
  rows_[*stored] = {values.begin() + Rsp::kContext, values.end()};
}

void RetransmitBufferModel::complete(std::size_t port, const Transaction& cause, const Transaction& actual,
                                     Transaction& wanted) const {
  if (port != Rsp::kPort || cause[Cmd::kOp] != kStore) return;
  std::copy(actual.begin() + Rsp::kContext, actual.end(), wanted.begin() + Rsp::kContext);
}

void RetransmitBufferModel::hide(std::size_t port, const Transaction& cause, Transaction& values) const {
  if (port != Rsp::kPort) return;
  std::fill(values.begin() + Rsp::kContext, values.end(), 0);
  const auto op = static_cast<RetransmitOp>(cause[Cmd::kOp]);
  const bool taken = op == RetransmitOp::take && values[Rsp::kHit] != 0;
  if (!taken && !(op == RetransmitOp::append && values[Rsp::kHit] != 0)) values[Rsp::kPsn] = 0;
  if (!taken) values[Rsp::kMessage] = values[Rsp::kOffset] = values[Rsp::kBytes] = values[Rsp::kCause] = 0;
  if (values[Rsp::kHasLost] == 0) values[Rsp::kOldestLost] = 0;
  if (values[Rsp::kOutstanding] == 0) values[Rsp::kOldestPsn] = values[Rsp::kOldestSent] = 0;
}

RetransmitBufferModel::Before RetransmitBufferModel::look(const RetransmitCommand& c) const {
  Before before;
  const RetransmitBuffer* buffer = reference_->find(c.qp);
  if (buffer == nullptr) return before;
  before.unacked = buffer->unacked_psn();
  before.span = buffer->span();
  before.outstanding = oldest_sent_.contains(c.qp);
  before.lost = buffer->has_lost();
  if (before.lost) before.oldest_lost = buffer->oldest_lost();
  before.oldest_in_pipeline = buffer->is_in(before.unacked, RecordState::in_pipeline);
  before.sent_before = buffer->contains(c.psn) && buffer->at(c.psn).transmissions > 0;
  return before;
}

void RetransmitBufferModel::accept(std::size_t, const Transaction& values,
                                   std::vector<std::vector<Transaction>>& expected) {
  if (values[Cmd::kOp] == kLoad || values[Cmd::kOp] == kStore) return accept_move(values, expected);
  const RetransmitCommand c = to_command(Cmd::of(values));
  if (c.op == RetransmitOp::open) {
    slots_[values[Cmd::kSlot]] = {c.qp, true};
    slot_of_[c.qp] = static_cast<std::uint32_t>(values[Cmd::kSlot]);
  }
  asked_.push_back(std::nullopt);
  const Before before = look(c);
  const bool opened = reference_->find(c.qp) != nullptr;
  const RetransmitReply e = reference_->run(c);
  for (const RetransmitEvent& event : e.events) {
    const Evt evt{
        .lost = event.lost, .psn = event.psn, .was_lost = event.was_lost, .bytes = event.bytes, .ev = event.ev};
    expected[Evt::kPort].push_back(evt.transfer());
  }
  expect_response(e, expected);
  follow(c, e);
  expect_cycles(latency_of(c, before, e), holds_the_block(c.op));
  ++unanswered_;
  if (opened || c.op == RetransmitOp::open) {
    cover(c, e, before);
  } else if (c.op == RetransmitOp::append) {
    coverage.hit(points_.append, 2);
  } else if (c.op == RetransmitOp::sent) {
    coverage.hit(points_.sent, 3);
  }
  last_op_ = c.op;
  last_qp_ = c.qp;
  last_events_ = e.events.size();
  last_scan_cycles_ = sack_scan_cycles(before.unacked, e.unacked, c.bitmap);
}

void RetransmitBufferModel::accept_move(const Transaction& values, std::vector<std::vector<Transaction>>& expected) {
  const bool store = values[Cmd::kOp] == kStore;
  const auto qp = static_cast<std::uint32_t>(values[Cmd::kQp]);
  const auto slot = static_cast<std::uint32_t>(values[Cmd::kSlot]);
  if (store) {
    leaving_.push_back(qp);
    slot_of_.erase(qp);
    slots_[slot].qp.reset();
  } else {
    rows_.erase(qp);
    slot_of_[qp] = slot;
    slots_[slot] = {qp, true};
  }
  asked_.push_back(store ? std::optional(qp) : std::nullopt);
  const RetransmitReply reply = reference_->look(qp);
  expect_response(reply, expected);
  expect_cycles(RetransmitBufferCycles::kOneRecord, !store);
  ++unanswered_;
  coverage.hit(points_.moved, store ? 0 : 1, reply.has_lost ? 2 : reply.unacked != reply.next ? 1 : 0, 3);
  last_qp_ = ~0U;
}

void RetransmitBufferModel::expect_response(const RetransmitReply& reply,
                                            std::vector<std::vector<Transaction>>& expected) const {
  Transaction rsp = rsp_of(reply).transfer();
  rsp.resize(Rsp::kContext + context_words_);
  expected[Rsp::kPort].push_back(std::move(rsp));
}

std::uint64_t RetransmitBufferModel::latency_of(const RetransmitCommand& c, const Before& before,
                                                const RetransmitReply& reply) {
  return cycles_.latency(
      c, {before.unacked, psn_add(before.unacked, before.span), before.outstanding, before.lost, before.oldest_lost},
      reply);
}

void RetransmitBufferModel::expect_cycles(std::uint64_t latency, bool holds_block) {
  if (unanswered_ == 0) {
    answer_cycle_ = cycle_ + latency;
    ready_cycle_ = holds_block ? answer_cycle_ - 1 : cycle_ + 1;
    only_single_ = true;
    unready_ = unready_at_most_ = 0;
  }
  if (holds_block) only_single_ = false;
  unready_at_most_ += latency - RetransmitBufferCycles::kOneRecord;
}

std::optional<Difference> RetransmitBufferModel::compare_ready(const Dut& dut) {
  const bool ready = dut.ports[0].ready.get() != 0;
  if (!seen_ready_ && ready != (cycle_ == initialization_cycles_)) {
    return Difference{"cycle of the first ready after a reset", initialization_cycles_, cycle_};
  }
  seen_ready_ = seen_ready_ || ready;
  for (const std::size_t port : {1, 2}) {
    if (dut.ports[port].valid.get() != 0 && dut.ports[port].ready.get() == 0) only_single_ = false;
  }
  if (!only_single_ || unanswered_ == 0 || ready) return std::nullopt;
  if (++unready_ <= unready_at_most_) return std::nullopt;
  return Difference{"cycles without ready while commands on one record follow each other", unready_at_most_, unready_};
}

std::optional<Difference> RetransmitBufferModel::observe(const Dut& dut, std::vector<std::vector<Transaction>>&) {
  if (!data_sheet_cycles) return std::nullopt;
  ++cycle_;
  if (const auto difference = compare_ready(dut)) return difference;
  if (dut.ports[2].valid.get() != 0 && dut.ports[2].ready.get() == 0) answer_cycle_ = ready_cycle_ = 0;
  if (ready_cycle_ != 0) {
    const std::uint64_t due = ready_cycle_;
    const bool ready = dut.ports[0].ready.get() != 0;
    if (ready) ready_cycle_ = 0;
    if (ready != (cycle_ == due)) return Difference{"cmd_ready", cycle_ == due ? 1ULL : 0ULL, ready ? 1ULL : 0ULL};
  }
  if (answer_cycle_ != 0) {
    const std::uint64_t due = answer_cycle_;
    const bool answered = dut.ports[1].valid.get() != 0;
    if (answered) answer_cycle_ = 0;
    if (answered != (cycle_ == due))
      return Difference{"rsp_valid", cycle_ == due ? 1ULL : 0ULL, answered ? 1ULL : 0ULL};
  }
  return std::nullopt;
}

void RetransmitBufferModel::follow(const RetransmitCommand& c, const RetransmitReply& reply) {
  std::vector<Psn>& waiting = pipeline_[c.qp];
  if (c.op == RetransmitOp::open) waiting.clear();
  if (c.op == RetransmitOp::sent) std::erase(waiting, c.psn);
  if ((c.op == RetransmitOp::append || c.op == RetransmitOp::take) && reply.hit) waiting.push_back(reply.psn);
  if (reply.outstanding) {
    oldest_sent_[c.qp] = reply.oldest_sent;
  } else {
    oldest_sent_.erase(c.qp);
  }
}

void RetransmitBufferModel::cover(const RetransmitCommand& c, const RetransmitReply& e, const Before& before) {
  const auto op = static_cast<std::size_t>(c.op);
  if (c.qp == last_qp_) coverage.hit(points_.pair, op, static_cast<std::size_t>(last_op_), kOps.size());
  if (c.qp != last_qp_) coverage.hit(points_.other_qp, op);
  switch (c.op) {
    case RetransmitOp::open:
      return;
    case RetransmitOp::append:
      coverage.hit(points_.wrap, e.next < e.unacked ? 0 : 1);
      return coverage.hit(points_.append, e.hit ? 0 : 1);
    case RetransmitOp::sent:
      return coverage.hit(points_.sent, !e.hit ? 2 : before.sent_before ? 1 : 0);
    case RetransmitOp::ack:
      return cover_ack(c, e, before);
    case RetransmitOp::nack:
      return coverage.hit(points_.nack, !e.hit                                                       ? 2
                                        : before.lost && psn_distance(c.psn, before.oldest_lost) < 0 ? 1
                                                                                                     : 0);
    case RetransmitOp::gap:
      return coverage.hit(points_.declared, 0, level(e.count), kCounts.size());
    case RetransmitOp::timeout:
      return coverage.hit(points_.declared, 1, level(e.count), kCounts.size());
    case RetransmitOp::take:
      return coverage.hit(points_.take, !e.hit ? 0 : e.has_lost ? 2 : 1);
  }
}

void RetransmitBufferModel::cover_ack(const RetransmitCommand& c, const RetransmitReply& e, const Before& before) {
  const std::int32_t last = psn_distance(c.psn, before.unacked);
  const std::int32_t base = psn_distance(c.base, before.unacked);
  const auto end = static_cast<std::int32_t>(before.span);
  coverage.hit(points_.cumulative, last < -1 ? 0 : last == -1 ? 1 : last < end - 1 ? 2 : 3);
  const std::size_t bits = c.bitmap == 0 ? 0 : c.bitmap == ~0ULL ? 2 : 1;
  const std::size_t part = c.bitmap == 0 ? 0 : base <= -64 || base >= end ? 4 : base < 0 ? 2 : base + 64 > end ? 3 : 1;
  coverage.hit(points_.bitmap, bits, part, kParts.size());
  bool by_cumulative = false, by_bitmap = false;
  for (const RetransmitEvent& event : e.events) {
    const bool first_part = psn_distance(event.psn, before.unacked) <= last;
    by_cumulative = by_cumulative || first_part;
    by_bitmap = by_bitmap || !first_part;
    coverage.hit(points_.acked_record, event.was_lost ? 1 : 0);
    if (event.was_lost && event.psn == before.oldest_lost && e.has_lost) coverage.hit(points_.acked_record, 2);
    if (event.psn == before.unacked && before.oldest_in_pipeline) coverage.hit(points_.acked_record, 3);
  }
  const std::size_t asked = by_cumulative && by_bitmap                         ? 2
                            : by_cumulative || (e.count == 0 && c.bitmap == 0) ? 0
                            : e.count == 0 && last >= 0                        ? 2
                                                                               : 1;
  coverage.hit(points_.ack, level(e.count), asked, 3);
  const bool jumps = last < psn_distance(e.unacked, before.unacked) - 1;
  coverage.hit(points_.old_end, !e.advanced ? 0 : e.unacked == e.next ? 3 : jumps ? 2 : 1);
}

SystemcCycles RetransmitBufferModel::systemc_cycles(const SystemcCycles&) const {
  const RtlCycles cycles = retransmit_cycles(nic_, last_op_, last_scan_cycles_);
  SystemcCycles box{cycles.occupied, cycles.latency};
  // No event comes before the response in front of it was taken: an ack's first is due in the ninth cycle, a gap
  // ends in the fifth, a timeout looks in the fourth.
  box.alone = holds_the_block(last_op_);
  box.works_in = 4;
  if (last_op_ == RetransmitOp::ack && last_events_ > 0) box.after_answer = cycles.latency - 8;
  if (last_op_ == RetransmitOp::gap) box.after_answer = cycles.latency - 5;
  if (last_op_ == RetransmitOp::timeout) box.after_answer = cycles.latency - 4;
  return box;
}

}  // namespace mrc::cosim
