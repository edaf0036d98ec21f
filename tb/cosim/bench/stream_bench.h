// The scoreboard: drives every port of a block at random, cycle by cycle, and compares each field of each output with
// the reference.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/bench/replay_file.h"

namespace mrc::cosim {

class StreamBench {
 public:
  StreamBench(std::string block, std::unique_ptr<BlockModel> model)
      : block_(std::move(block)), model_(std::move(model)), parts_(model_->parts()) {}

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
    std::deque<Expected> expected;
    bool held = false;  ///< an output was offered and not taken
    Transaction held_values;
    std::uint64_t turn = 0;  ///< of what is offered
    std::deque<Replayed> replayed;
  };

  /// Draws loads and transfers; keeps the offers in `episode`.
  std::optional<Mismatch> generate(Dut& dut, Episode& episode, std::uint64_t transfers, bool drain);
  std::optional<Mismatch> replay(Dut& dut, const Episode& episode);
  std::optional<Mismatch> play(Dut& dut, Episode& episode, bool generating, std::uint64_t transfers, bool drain);
  void reset(Dut& dut, const Episode& episode);
  void offer_inputs(Dut& dut, Episode& episode, bool generating, bool open);
  std::optional<Mismatch> observe(Dut& dut);
  void take_inputs(Dut& dut);
  /// Of the outputs that the model has appended for a port's transfer, or for none.
  void expect(std::vector<std::vector<Transaction>>& expected, std::size_t cause_port, const Transaction& cause);
  std::optional<Mismatch> take_outputs(Dut& dut);
  /// Another stream owes an output that has to come before this one.
  bool comes_too_early(std::size_t port) const;
  /// An output that is due does not come, or an input is not taken.
  std::optional<Mismatch> describe_stuck(const Dut& dut) const;
  Mismatch describe(const Dut& dut, std::size_t port, const char* kind, const Transaction& actual,
                    std::size_t field) const;
  /// Of a block that has put out all it had to.
  std::optional<Mismatch> compare_state(Dut& dut) const;
  bool idle() const;
  bool is_due(const Replayed& replayed) const {
    return replayed.offer->cycle <= cycle_ && (replayed.turn == 0 || replayed.turn == turn_);
  }
  /// Drops transfers while the same field of the same port still differs.
  Episode minimize(Episode episode, const Mismatch& mismatch);

  std::string block_;
  std::unique_ptr<BlockModel> model_;
  ModelParts parts_;  ///< of model_
  std::vector<Stream> streams_;
  KeyedRandom random_;
  std::uint64_t cycle_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t turn_ = 1;                          ///< of the transfer in turn that is to be taken next
  std::vector<std::vector<Transaction>> expected_;  ///< by port, emptied at once
  CosimReport report_;
  std::size_t handshake_ = 0;
  std::size_t resets_ = 0;
};

}  // namespace mrc::cosim
