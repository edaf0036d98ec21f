// Compares the cycles and handshakes of a block under a bench with its contract.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cosim/bench/dut.h"
#include "cosim/contract.h"

namespace mrc::cosim {

/// A line of the contract that the RTL did not keep.
struct Breach {
  std::string port;
  std::string rule;   ///< "latency_cycles", …
  std::string place;  ///< "FILE:LINE"
  std::string says;   ///< what is allowed
  std::uint64_t allowed = 0;
  std::uint64_t actual = 0;
};

/// Follows a block cycle by cycle. An upper bound of latency or interval holds while nothing else holds the block up:
/// no output has waited, and no other input was offered, since kCalmCycles before.
class ContractChecker {
 public:
  static constexpr std::uint64_t kCalmCycles = 32;

  /// Throws std::invalid_argument where the contract speaks of what the block does not have.
  ContractChecker(RtlContract contract, const Dut& dut);

  const RtlContract& contract() const { return contract_; }
  void begin();

  /// The reset has become active after work, and no clock edge has followed yet.
  std::optional<Breach> reset_without_edge(const Dut& dut, const std::vector<bool>& valid_before) const;
  /// The reset has been active for the cycles that the contract asks for.
  std::optional<Breach> reset_done(const Dut& dut) const;
  /// All pins of this cycle have settled, and nothing was taken yet.
  std::optional<Breach> cycle(const Dut& dut, std::uint64_t cycle);
  /// A new output of this port answers what was taken from `in_port` in that cycle; `first`: it is the first that does.
  std::optional<Breach> answered(const Dut& dut, std::size_t out_port, std::size_t in_port, std::uint64_t taken_cycle,
                                 bool first);
  /// So many transfers of `in_port` are taken and wait for an answer at `out_port`.
  std::optional<Breach> held(const Dut& dut, std::size_t out_port, std::size_t in_port, std::uint64_t transfers) const;
  /// Changes each input in turn for a moment, and looks at what changes with it within the cycle.
  std::optional<Breach> dependences(Dut& dut) const;

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  struct Way {
    const RtlContract::Way* rule = nullptr;
    std::size_t in = 0;
    std::size_t out = 0;
  };
  struct Input {
    bool seen_ready = false;
    std::uint64_t last_taken = kNever;
    std::uint64_t waits_since = kNever;  ///< first cycle in which what is offered could have been taken
  };

  std::size_t port_named(const Dut& dut, const std::string& name, Direction direction, std::uint64_t line) const;
  bool calm_since(std::uint64_t cycle) const { return disturbed_ == kNever || disturbed_ + kCalmCycles <= cycle; }
  Breach breach(const Dut& dut, std::size_t port, const char* rule, std::uint64_t line, std::string says,
                std::uint64_t allowed, std::uint64_t actual) const;
  std::optional<Breach> input_cycle(const Dut& dut, const Way& way);
  std::optional<Breach> initialization(const Dut& dut, const Way& way) const;
  /// After a change of `source`. `ready`: of the ports before. `own`: the stream whose ready it is.
  std::optional<Breach> compare(Dut& dut, const std::string& source, const std::vector<bool>& ready,
                                const Port* own) const;

  RtlContract contract_;
  std::vector<Way> ways_;
  std::vector<std::vector<std::size_t>> ways_to_;       ///< by output port
  std::vector<std::optional<std::size_t>> ready_rule_;  ///< by input port
  std::vector<Input> inputs_;
  std::vector<std::uint64_t> last_answer_;  ///< by output port
  std::uint64_t cycle_ = 0;
  std::uint64_t disturbed_ = kNever;  ///< cycle in which an output waited or several inputs were offered
  bool any_taken_ = false;
};

}  // namespace mrc::cosim
