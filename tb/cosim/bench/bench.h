// What a block's bench says, a BlockModel, and what StreamBench, which runs it, reports.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cosim/bench/coverage.h"
#include "cosim/bench/dut.h"
#include "cosim/trace.h"
#include "mrc/random.h"

namespace mrc::cosim {

/// An output that the reference wants, and the input that it answers.
struct Expected {
  Transaction values;
  std::size_t cause_port = 0;
  Transaction cause;
  std::uint64_t accepted_cycle = 0;
  std::uint64_t order = 0;  ///< of its cause among all transfers taken in
};

/// A value outside the streams that differs from the reference.
struct Difference {
  std::string field;
  std::uint64_t expected = 0;
  std::uint64_t actual = 0;
};

/// Cycles of the SystemC box: until the next transfer can be taken, and until the answer.
struct SystemcCycles {
  std::uint64_t occupied = 1;
  std::uint64_t latency = 1;
  std::uint64_t note = 0;  ///< what the model has to remember of the transfer
  /// The block is this transfer's alone: it begins when the answer of the one before has left the last stage but one,
  /// and the next is taken only once it has no answer in front of it.
  bool alone = false;
  std::uint64_t works_in = 2;      ///< alone: cycle after its acceptance in which it begins
  std::uint64_t after_answer = 1;  ///< alone: minimum cycles from the acceptance of the previous transfer to its answer
  /// If not 0: its answer comes at least that many cycles behind that of the transfer before, also where that one
  /// waited, and the next transfer is taken no earlier than these begin.
  std::uint64_t work = 0;
};

constexpr std::uint64_t kTraceLoads = 4;  ///< with how much back-pressure a trace is played

/// Of a block with inputs or outputs that are not streams.
class LevelsPart {
 public:
  virtual ~LevelsPart() = default;
  /// Sets these inputs, in every cycle. `random` depends on seed and episode only.
  virtual void drive(KeyedRandom&, const Dut&) {}
  /// All pins of this cycle have settled, and nothing was taken yet. Appends what has to be put out from this cycle on.
  virtual std::optional<Difference> observe(const Dut&, std::vector<std::vector<Transaction>>&) { return std::nullopt; }
  /// Cycles without a transfer after which the block has come to rest.
  virtual std::uint64_t settle_cycles() const { return 0; }
  /// What Dut::state shows when the block has put out all it had to.
  virtual std::vector<std::uint64_t> state() const { return {}; }
};

/// Of a block whose outputs are more than expected values in order.
class OutputsPart {
 public:
  virtual ~OutputsPart() = default;
  /// An output that is as expected was taken.
  virtual void taken(std::size_t /*port*/, const Transaction&) {}
  /// Sets to 0 what the block's contract leaves open in an output that answers `cause`.
  virtual void hide(std::size_t /*port*/, const Transaction& /*cause*/, Transaction&) const {}
  /// Sets in `wanted` what of an output only the block knows, for a file of vectors.
  virtual void complete(std::size_t /*port*/, const Transaction& /*cause*/, const Transaction& /*actual*/,
                        Transaction& /*wanted*/) const {}
  /// Meaning of this field of the output that is due, if its name does not show it.
  virtual std::string meaning(std::size_t /*port*/, std::size_t /*field*/, std::uint64_t /*expected*/,
                              std::uint64_t /*actual*/) const {
    return {};
  }
  /// An output of `port` comes after all those of `earlier` that have the same cause or an older one.
  virtual bool follows(std::size_t /*port*/, std::size_t /*earlier*/) const { return false; }
};

/// Of a block that does not take any transfer in any state: what a replay, from which transfers were dropped, asks.
class ReplayPart {
 public:
  virtual ~ReplayPart() = default;
  /// This transfer may be sent in the state at hand, and may be changed to one that suits it. A transfer that may not
  /// is dropped too.
  virtual bool adapt(std::size_t /*port*/, Transaction&) const { return true; }
  /// Transfers of this input port answer what the block puts out: they go on when no more work is given, and wait in a
  /// replay until adapt() lets them pass.
  virtual bool answers(std::size_t /*port*/) const { return false; }
};

/// Of a block that can be played what it was asked in a run.
class TracePart {
 public:
  virtual ~TracePart() = default;
  /// As BlockModel::reset(), for the transfers of a run with its settings. A block without this part throws
  /// std::logic_error.
  virtual void reset_to_trace(KeyedRandom& random, const Dut& dut,
                              const std::map<std::string, std::uint64_t>& settings);
  /// The transfers of this input port are offer()'s: the trace has none.
  virtual bool offers_in_trace(std::size_t /*port*/) const { return false; }
};

/// Of a block that is calibrated.
class TrafficPart {
 public:
  virtual ~TrafficPart() = default;
  /// As BlockModel::reset(), and the traffic to come is that of a NIC at work. A block without this part throws
  /// std::logic_error.
  virtual void reset_to_traffic(KeyedRandom& random, const Dut& dut);
  /// What the block has to be given first has been given, through the other ports.
  virtual bool ready_for_traffic() const { return true; }
  /// How many outputs of `port` the transfer that was accepted last leads to, where accept() cannot append them yet.
  virtual std::optional<std::size_t> caused(std::size_t /*port*/) const { return std::nullopt; }
  /// What the SystemC box takes for the transfer that was accepted last, with this pipeline.
  virtual SystemcCycles systemc_cycles(const SystemcCycles& pipeline) const { return pipeline; }
  /// The same once it is known in which cycle the SystemC box takes the transfer; cycles rise.
  virtual SystemcCycles systemc_cycles_at(const SystemcCycles& cycles, std::uint64_t /*cycle*/) { return cycles; }
};

template <typename Part>
Part& without() {
  static Part none;
  return none;
}

/// What a model offers beside its stimulus and its reference.
struct ModelParts {
  LevelsPart* levels = &without<LevelsPart>();
  OutputsPart* outputs = &without<OutputsPart>();
  ReplayPart* replay = &without<ReplayPart>();
  TracePart* trace = &without<TracePart>();
  TrafficPart* traffic = &without<TrafficPart>();
};

/// A block's stimulus and reference. Ports are numbered as in Dut::ports.
class BlockModel {
 public:
  /// Makes a new Dut of this block; `seed` keys its random initial state.
  using MakeDut = std::function<std::unique_ptr<Dut>(std::uint64_t seed)>;

  explicit BlockModel(MakeDut make_dut) : make_dut_(std::move(make_dut)) {}
  virtual ~BlockModel() = default;

  std::unique_ptr<Dut> make_dut(std::uint64_t seed) const { return make_dut_(seed); }
  /// Both sides begin anew: draws what stays constant until the next reset and sets it in `dut`.
  virtual void reset(KeyedRandom& random, const Dut& dut) = 0;
  /// Transfers between two resets, on average.
  virtual std::uint64_t transfers_an_episode() const { return 2'000; }
  /// Draws the next transfer of an input port; false: nothing is to be sent now.
  virtual bool offer(std::size_t port, KeyedRandom& random, Transaction& values) = 0;
  /// The block has taken this transfer: appends what it has to put out, by output port.
  virtual void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) = 0;
  /// Parts of the model itself, most often.
  virtual ModelParts parts() { return {}; }

  FunctionalCoverage coverage;
  /// The cycles of the data sheet are part of the reference. Otherwise the block keeps a contract with ranges.
  bool data_sheet_cycles = true;

 private:
  MakeDut make_dut_;
};

struct Mismatch {
  std::string kind;  ///< "differs", "not expected", "missing", "taken back", "breaks the contract", "fails"
  std::uint64_t episode = 0;
  std::uint64_t cycle = 0;
  std::string port;
  std::string field;
  std::uint64_t expected = 0;
  std::uint64_t actual = 0;
  /// Of the transfers that the block has taken in this run, from 1, the one that the output answers; where the output
  /// answers none, the latest. 0: none was taken yet.
  std::uint64_t transfer = 0;
  std::string input_port{};  ///< of that transfer, where the output answers it
  /// Name and value of each field: the input, what ring 1 says of it, what the RTL put out.
  std::vector<std::pair<std::string, std::uint64_t>> input, reference, rtl;
  std::string contract{};  ///< the line of the contract that was not kept, and what it says; empty: none
  /// Name and place of the assertion that fails, here or with other draws; empty: none.
  FailedAssertion assertion{};

  std::string line() const;
};

struct CosimOptions {
  std::uint64_t count = 1'000'000;  ///< transfers to be taken in
  std::uint64_t seed = 1;
  bool waves = false;          ///< waves also without a mismatch, of the last episode
  bool shorten = true;         ///< the transfers of a mismatch, down to those that it needs
  std::string out{};           ///< folder for replay, waves and coverage; empty: none are written
  std::string later{};         ///< folder that they are moved to, for the text in them; empty: they stay
  std::string replay{};        ///< file to be played instead
  std::string keep_vectors{};  ///< file for each transfer in and out, as text; empty: none
  Trace trace{};               ///< to be played instead of drawn transfers, where it has any
  /// Asked from time to time; once it is true, the run ends with CosimInterrupted. What was found by then is reported.
  std::function<bool()> stopped{};
};

struct CosimInterrupted {
  std::uint64_t transfers = 0;  ///< that were taken
};

struct CosimReport {
  std::uint64_t transactions = 0;
  std::uint64_t outputs = 0;
  std::uint64_t cycles = 0;
  std::uint64_t resets = 0;
  std::uint64_t mismatches = 0;
  std::optional<Mismatch> first_mismatch;
  std::string replay_file;  ///< written at a mismatch
  std::uint64_t replay_transfers = 0;
  std::string waves_file;
  FunctionalCoverage coverage;
  std::map<std::string, SourceCoverage> source;
  std::string coverage_file;  ///< Verilator's, of all models of the run; empty: it counts none
};

}  // namespace mrc::cosim
