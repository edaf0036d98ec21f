// Cycles of rtl/retransmit_buffer as its data sheet gives them, from a command's acceptance to its response: with no
// other command in front of it, and no event that waits. Follows the chains of the hash, where a record costs two
// cycles for each that is before it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mrc/tx/retransmit_command.h"

namespace mrc::cosim {

class RetransmitBufferCycles {
 public:
  static constexpr std::uint64_t kOneRecord = 5;  ///< a command that passes the four stages at once

  /// The QP before the command.
  struct Before {
    Psn unacked = 0;
    Psn next = 0;
    bool outstanding = false;
    bool lost = false;
    Psn oldest_lost = 0;
  };

  /// `qps`, `buckets`: powers of two, as the RTL's parameters.
  RetransmitBufferCycles(std::uint32_t qps, std::uint32_t buckets);

  void reset() { chains_.clear(); }
  /// `reply`: the reference's. To be called for each command, in order.
  std::uint64_t latency(const RetransmitCommand& command, const Before& before, const RetransmitReply& reply);

 private:
  using Chain = std::vector<std::uint64_t>;  ///< QP above PSN, the newest record in front

  Chain& chain_of(Psn psn);
  std::uint64_t record_of(Psn psn) const { return std::uint64_t{qp_} << 24 | psn; }
  bool has_record(Psn psn);
  /// For the records before the one of this PSN in its chain; where it has none, for all but the last.
  std::uint64_t walk(Psn psn);

  std::uint64_t ack(const RetransmitCommand& command, const Before& before, const RetransmitReply& reply);
  std::uint64_t take(const Before& before, const RetransmitReply& reply);
  std::uint64_t free_scan(const std::vector<Psn>& psns);
  std::uint64_t search(Psn from, Psn end);

  std::uint32_t qp_bits_;
  std::uint32_t bucket_bits_;
  std::uint32_t qp_ = 0;                             ///< of the command
  std::unordered_map<std::uint32_t, Chain> chains_;  ///< by bucket
};

}  // namespace mrc::cosim
