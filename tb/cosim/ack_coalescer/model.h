// Stimulus and reference of ack_coalescer: include/mrc/rx/ack_coalescer.h for each slot.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cosim/ack_coalescer/dut.h"
#include "cosim/ack_coalescer/ports.h"
#include "cosim/bench/bench.h"
#include "cosim/bench/spread_numbers.h"
#include "mrc/rx/ack_coalescer.h"

namespace mrc::cosim {

class AckCoalescerModel : public BlockModel,
                          public LevelsPart,
                          public OutputsPart,
                          public ReplayPart,
                          public TracePart,
                          public TrafficPart {
 public:
  AckCoalescerModel(std::uint32_t slots, MakeDut make_dut);

  ModelParts parts() override {
    return {.levels = this, .outputs = this, .replay = this, .trace = this, .traffic = this};
  }
  void reset(KeyedRandom& random, const Dut& dut) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  bool adapt(std::size_t port, Transaction& values) const override;
  /// That no event is held up without need, and no SACK comes later than it could.
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
  void taken(std::size_t port, const Transaction& values) override;

 private:
  /// Of a QP that gets a slot.
  std::uint32_t draw_counter(KeyedRandom& random) const;
  static void expect_sack(const Transaction& values, std::uint64_t causes, std::uint32_t counter,
                          std::vector<std::vector<Transaction>>& expected);
  /// An episode in which one QP's counter comes to its highest value.
  void fill_a_counter(KeyedRandom& random);
  /// All that a reset begins anew; draws the load.
  void begin(KeyedRandom& random);
  void set_constants(const Dut& dut) const;
  /// The block's two stages: an event, which moves on unless it makes a SACK owed that has no place, and a SACK.
  struct Pipeline {
    bool event = false, owed = false, sack = false;
    bool late = false;       ///< a SACK was not there in its cycle
    bool came_late = false;  ///< and is as expected otherwise
  };
  struct Points {
    std::size_t causes, event, counter, loaded, payload, back_to_back;
  };

  std::uint32_t slots_;
  Points points_{};
  ProtocolConfig config_;
  Pipeline pipeline_;
  std::vector<std::optional<SackTriggers>> triggers_;  ///< by slot
  std::uint32_t busy_slots_ = 1;
  SpreadNumbers slot_numbers_;
  double marks_ = 0.1;
  double others_ = 0.1;      ///< events other than data packets
  double moves_ = 0.01;      ///< slots that get another QP or are given up
  double near_least_ = 0.1;  ///< payloads of about min_add_bytes
  std::uint64_t last_slot_ = ~0ULL;
};

}  // namespace mrc::cosim
