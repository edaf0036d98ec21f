#include "cosim/retransmit_buffer/cycles.h"

#include <algorithm>
#include <array>
#include <bit>

namespace mrc::cosim {
namespace {

constexpr std::uint64_t kHop = 2;  ///< to the next record of a chain

}  // namespace

RetransmitBufferCycles::RetransmitBufferCycles(std::uint32_t qps, std::uint32_t buckets)
    : qp_bits_(static_cast<std::uint32_t>(std::countr_zero(qps))),
      bucket_bits_(static_cast<std::uint32_t>(std::countr_zero(buckets))) {}

std::uint64_t RetransmitBufferCycles::latency(const RetransmitCommand& command, const Before& before,
                                              const RetransmitReply& reply) {
  qp_ = command.qp;
  switch (command.op) {
    case RetransmitOp::append: {
      if (!reply.hit) return kOneRecord;
      Chain& chain = chain_of(reply.psn);
      chain.insert(chain.begin(), record_of(reply.psn));
      return kOneRecord;
    }
    case RetransmitOp::sent:
    case RetransmitOp::nack:
      return kOneRecord + walk(command.psn) + reply.events.size();
    case RetransmitOp::ack:
      return ack(command, before, reply);
    case RetransmitOp::gap:
    case RetransmitOp::timeout:
      if (!before.outstanding) return kOneRecord;
      // The last one that is looked at is not lost, unless all are. A gap has the first one's record with the context.
      if (command.op == RetransmitOp::gap) return kOneRecord + 2 * reply.count + (reply.outstanding ? 1 : 0);
      return kOneRecord + 3 * reply.count + (reply.outstanding ? 3 : 1);
    case RetransmitOp::take:
      return take(before, reply);
    default:
      return kOneRecord;
  }
}

std::uint64_t RetransmitBufferCycles::ack(const RetransmitCommand& command, const Before& before,
                                          const RetransmitReply& reply) {
  if (before.unacked == before.next) return kOneRecord;
  const std::int32_t span = psn_distance(before.next, before.unacked);
  const Psn end = psn_add(before.unacked, std::clamp(psn_distance(command.psn, before.unacked) + 1, 0, span));
  std::vector<Psn> psns;
  for (Psn psn = before.unacked; psn != end; psn = psn_add(psn, 1)) psns.push_back(psn);
  for (std::uint64_t bits = command.bitmap; bits != 0; bits &= bits - 1) {
    const Psn psn = psn_add(command.base, std::countr_zero(bits));
    if (psn_distance(psn, end) >= 0 && psn_distance(psn, before.next) < 0) psns.push_back(psn);
  }
  std::uint64_t cycles = kOneRecord + 1 + free_scan(psns);
  if (reply.advanced) cycles += search(end, reply.unacked == before.next ? before.next : reply.unacked);
  const bool lost_gone = before.lost && !has_record(before.oldest_lost);
  if (lost_gone && reply.has_lost) cycles += search(psn_add(before.oldest_lost, 1), reply.oldest_lost);
  return cycles;
}

std::uint64_t RetransmitBufferCycles::take(const Before& before, const RetransmitReply& reply) {
  if (!before.lost) return kOneRecord;
  std::uint64_t cycles = kOneRecord + 5 + walk(before.oldest_lost);
  if (reply.has_lost) cycles += search(psn_add(before.oldest_lost, 1), reply.oldest_lost);
  return cycles;
}

/// Visits each of these PSNs, one per cycle, and frees their records.
std::uint64_t RetransmitBufferCycles::free_scan(const std::vector<Psn>& psns) {
  std::uint64_t cycles = psns.empty() ? 1 : psns.size() + 3;
  // Chains whose first record was freed for one of the two PSNs before.
  std::array<const Chain*, 2> left_in_front{};
  for (const Psn psn : psns) {
    Chain& chain = chain_of(psn);
    const auto record = std::find(chain.begin(), chain.end(), record_of(psn));
    // Its bucket was read while that record was still there.
    const bool still_there = left_in_front[0] == &chain || left_in_front[1] == &chain;
    cycles += record == chain.end() && still_there ? kHop * chain.size() : walk(psn);
    left_in_front = {left_in_front[1], record != chain.end() && record == chain.begin() ? &chain : nullptr};
    if (record != chain.end()) chain.erase(record);
  }
  return cycles;
}

/// Looks at each PSN from `from` on until it finds what it looks for at `end`, which has a record or is the newest's
/// successor.
std::uint64_t RetransmitBufferCycles::search(Psn from, Psn end) {
  const auto passed = static_cast<std::uint64_t>(psn_distance(end, from));
  std::uint64_t walks = 0;
  for (Psn psn = from; psn != end; psn = psn_add(psn, 1)) walks += walk(psn);
  if (has_record(end)) return passed + 4 + walks + walk(end);
  return passed == 0 ? 1 : passed + 3 + walks;
}

bool RetransmitBufferCycles::has_record(Psn psn) {
  const Chain& chain = chain_of(psn);
  return std::find(chain.begin(), chain.end(), record_of(psn)) != chain.end();
}

std::uint64_t RetransmitBufferCycles::walk(Psn psn) {
  const Chain& chain = chain_of(psn);
  const auto record = std::find(chain.begin(), chain.end(), record_of(psn));
  if (record == chain.end()) return chain.empty() ? 0 : kHop * (chain.size() - 1);
  return kHop * static_cast<std::uint64_t>(record - chain.begin());
}

/// The hash of the RTL: an odd multiple of the PSN, the bits of the QP's number from above.
RetransmitBufferCycles::Chain& RetransmitBufferCycles::chain_of(Psn psn) {
  std::uint32_t start = 0;
  std::uint32_t spread = 0;
  for (std::uint32_t i = 0; i < qp_bits_; ++i) {
    const std::uint32_t bit = qp_ >> i & 1;
    start ^= bit << (bucket_bits_ - 1 - i % bucket_bits_);
    spread ^= bit << i % 3;
  }
  const std::uint32_t bucket = (psn + (psn << (spread + 1))) ^ start;
  return chains_[bucket & ((1U << bucket_bits_) - 1)];
}

}  // namespace mrc::cosim
