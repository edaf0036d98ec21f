// The scoreboard: drives every port of a block at random, cycle by cycle, and compares each field of each output with
// the reference.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/bench/contract_checker.h"
#include "cosim/bench/replay_file.h"
#include "cosim/contract.h"

namespace mrc::cosim {

class StreamBench {
 public:
  /// With a contract, the block is compared with it too.
  StreamBench(std::string block, std::unique_ptr<BlockModel> model, std::optional<RtlContract> contract = std::nullopt)
      : block_(std::move(block)), model_(std::move(model)), parts_(model_->parts()), contract_(std::move(contract)) {}

  CosimReport run(const CosimOptions& options);
  BlockModel& model() { return *model_; }

 private:
  struct Replayed {
    const Offer* offer = nullptr;
    std::uint64_t turn = 0;  ///< 1, 2, … of those in turn; 0: it needs none
  };
  struct Stream {
    bool offering = false;
    Transaction values;
    std::array<Transaction, 4> earlier;  ///< that were offered, the one of offer n at n % 4
    std::uint64_t offers = 0;
    bool was_offering = false;  ///< in the cycle before, taken or not
    std::deque<Expected> expected;
    bool held = false;  ///< an output was offered and not taken
    Transaction held_values;
    std::uint64_t turn = 0;  ///< of what is offered
    std::deque<Replayed> replayed;
    std::uint64_t waits = 0;                           ///< cycles for which an input was offered, or an output was due
    std::uint64_t answered_order = ~std::uint64_t{0};  ///< of the transfer that was answered last
  };

  /// Draws loads and transfers; keeps the offers in `episode`.
  std::optional<Mismatch> generate(Dut& dut, Episode& episode, std::uint64_t transfers, bool drain);
  std::optional<Mismatch> replay(Dut& dut, const Episode& episode);
  void stop_if_asked() const;
  std::optional<Mismatch> play(Dut& dut, Episode& episode, bool generating, std::uint64_t transfers, bool drain);
  /// Short episodes on a model of their own, in which inputs are changed within the cycle to see what depends on them.
  std::optional<Mismatch> probe(const CosimOptions& options, Episode& episode);
  std::optional<Mismatch> reset(Dut& dut, const Episode& episode);
  void offer_inputs(Dut& dut, Episode& episode, bool generating, bool open);
  /// Puts values on the pins that nobody may use, as nothing is offered.
  void show_other_values(const Port& port, const Stream& stream) const;
  std::optional<Mismatch> observe(Dut& dut);
  std::optional<Mismatch> check_contract(Dut& dut);
  std::optional<Mismatch> check_answer(const Dut& dut, std::size_t port);
  Mismatch mismatch_of(const Breach& breach) const;
  Mismatch mismatch_of(const FailedAssertion& failed) const;
  /// A stream that has waited for very long while others moved.
  std::optional<Mismatch> starved(const Dut& dut);
  void take_inputs(Dut& dut);
  /// Of the outputs that the model has appended for a port's transfer, or for none.
  void expect(std::vector<std::vector<Transaction>>& expected, std::size_t cause_port, const Transaction& cause);
  std::optional<Mismatch> take_outputs(Dut& dut);
  /// Another stream owes an output that has to come before this one.
  bool comes_too_early(std::size_t port) const;
  /// An output that is due does not come, or an input is not taken.
  std::optional<Mismatch> describe_stuck(const Dut& dut) const;
  static void add_levels(const Dut& dut, Mismatch& mismatch);
  Mismatch describe(const Dut& dut, std::size_t port, const char* kind, const Transaction& actual,
                    std::size_t field) const;
  Mismatch out_of_order_or_differs(const Dut& dut, std::size_t port, const Transaction& actual,
                                   std::size_t field) const;
  /// Which transfer it is about.
  void number(Mismatch& mismatch) const;
  /// Of a block that has put out all it had to.
  std::optional<Mismatch> compare_state(Dut& dut) const;
  bool idle() const;
  bool is_due(const Replayed& replayed) const {
    return replayed.offer->cycle <= cycle_ && (replayed.turn == 0 || replayed.turn == turn_);
  }
  void write_vector(const char* direction, const Port& port, const Transaction& values);
  /// Drops transfers while the same field of the same port still differs.
  Episode minimize(Episode episode, const Mismatch& mismatch);
  /// The assertion that says what this mismatch is, and in `episode` the draw with which it fails; no name: there is
  /// none.
  FailedAssertion assertion_behind(const Mismatch& mismatch, Episode& episode);

  std::string block_;
  std::unique_ptr<BlockModel> model_;
  ModelParts parts_;  ///< of model_
  std::optional<RtlContract> contract_;
  std::optional<ContractChecker> checker_;
  bool probing_ = false;
  std::ofstream vectors_;  ///< open while transfers are kept
  std::vector<Stream> streams_;
  KeyedRandom random_;
  std::uint64_t cycle_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t turn_ = 1;                          ///< of the transfer in turn that is to be taken next
  std::vector<std::vector<Transaction>> expected_;  ///< by port, emptied at once
  CosimReport report_;
  std::function<bool()> stopped_;
  std::size_t handshake_ = 0;
  std::size_t resets_ = 0;
};

}  // namespace mrc::cosim
