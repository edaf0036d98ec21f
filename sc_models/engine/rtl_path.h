// What all boxes with RTL in or beside their path share: the mode, what was counted, and the first difference from
// ring 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "mrc/types.h"

namespace mrc {

/// rtl: the RTL's outputs are the only source of the decision and ring 1 follows; shadow: ring 1 decides and the RTL is
/// compared.
enum class RtlMode : std::uint8_t { rtl, shadow };

constexpr std::string_view to_string(RtlMode mode) {
  return mode == RtlMode::rtl ? "rtl" : "shadow";
}

/// transaction: a block gets one transaction after the other and answers at once; pins: it is clocked with the run, and
/// its handshakes set the pace.
enum class RtlTiming : std::uint8_t { transaction, pins };

constexpr std::string_view to_string(RtlTiming timing) {
  return timing == RtlTiming::transaction ? "transaction" : "pins";
}

/// What a transaction cost in cycles of the core clock: taken in until the next could be, and until its first result.
struct RtlCycles {
  std::uint64_t occupied = 0;
  std::uint64_t latency = 0;
};

class RtlPath {
 public:
  RtlPath(std::string_view block, RtlMode mode, RtlTiming timing = RtlTiming::transaction)
      : block_(block), mode_(mode), timing_(timing) {}
  virtual ~RtlPath() = default;
  RtlPath(const RtlPath&) = delete;
  RtlPath& operator=(const RtlPath&) = delete;

  std::string_view block() const { return block_; }
  RtlMode mode() const { return mode_; }
  bool drives() const { return mode_ == RtlMode::rtl; }
  RtlTiming timing() const { return timing_; }
  bool by_pins() const { return timing_ == RtlTiming::pins; }
  std::uint64_t transactions() const { return transactions_; }
  std::uint64_t mismatches() const { return mismatches_; }
  /// First difference: node, transaction, cycle, field, both values; empty without one.
  const std::string& first_mismatch() const { return first_mismatch_; }
  /// Sums over all transactions.
  RtlCycles rtl_cycles() const { return rtl_cycles_; }
  RtlCycles systemc_cycles() const { return systemc_cycles_; }
  /// Clock cycles evaluated so far, each by two evaluations of the model.
  virtual std::uint64_t cycles() const = 0;

 protected:
  /// One transaction more.
  void count(RtlCycles rtl, RtlCycles systemc) {
    ++transactions_;
    rtl_cycles_.occupied += rtl.occupied;
    rtl_cycles_.latency += rtl.latency;
    systemc_cycles_.occupied += systemc.occupied;
    systemc_cycles_.latency += systemc.latency;
  }
  /// By pins: a cycle in which the block's input was occupied.
  void count_occupied() { ++rtl_cycles_.occupied; }
  /// `what` names the transaction ("packet 7 (PSN 9)"), `difference` the field and both values. The first is kept.
  template <typename What>
  void mismatch(NodeId node, std::uint64_t cycle, const What& what, const std::string& difference) {
    if (mismatches_++ > 0) return;
    first_mismatch_ = fmt::format("{} of nic{}, {}, cycle {}: {}", block_, node, what(), cycle, difference);
  }

 private:
  std::string_view block_;
  RtlMode mode_;
  RtlTiming timing_;
  RtlCycles rtl_cycles_;
  RtlCycles systemc_cycles_;
  std::uint64_t transactions_ = 0;
  std::uint64_t mismatches_ = 0;
  std::string first_mismatch_;
};

}  // namespace mrc
