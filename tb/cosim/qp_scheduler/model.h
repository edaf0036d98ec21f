// Stimulus and reference of qp_scheduler: ring 1's ReadyList and ContextSlots, asked in the order in which the block
// does its operations. An operation is done in the cycle after that in which it was taken; a slot is chosen one cycle
// later. That order, which the inputs and pick_o show, and the cycles of turns and fetches decide what is answered, so
// they are compared for any contract. With ranges, grants and answers may come later, and operations be taken later.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/qp_scheduler/dut.h"
#include "cosim/qp_scheduler/ports.h"
#include "mrc/tx/context_slots.h"
#include "mrc/tx/ready_list.h"
#include "nic/tx/qp_scheduler_engine.h"

namespace mrc::cosim {

class QpSchedulerModel : public BlockModel,
                         public LevelsPart,
                         public ReplayPart,
                         public TracePart,
                         public TrafficPart,
                         public OutputsPart {
 public:
  QpSchedulerModel(const QpSchedulerSizes& sizes, MakeDut make_dut);

  ModelParts parts() override {
    return {.levels = this, .outputs = this, .replay = this, .trace = this, .traffic = this};
  }
  void reset(KeyedRandom& random, const Dut& dut) override;
  std::uint64_t transfers_an_episode() const override { return sizes_.qps > 1'000 ? 20'000 : 2'000; }
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  bool adapt(std::size_t port, Transaction& values) const override;
  bool answers(std::size_t port) const override;

  void drive(KeyedRandom& random, const Dut& dut) override;
  /// Does the operations that are due in this cycle, and says what they lead to.
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
  std::uint64_t settle_cycles() const override { return 40; }
  std::vector<std::uint64_t> state() const override { return {list_->size(), slots_->held()}; }
  void taken(std::size_t port, const Transaction& values) override;
  void hide(std::size_t port, const Transaction& cause, Transaction& values) const override;

  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  bool offers_in_trace(std::size_t port) const override { return answers(port); }

  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  bool ready_for_traffic() const override;
  std::optional<std::size_t> caused(std::size_t port) const override;

 private:
  enum class ListOp : std::uint8_t { activate, again, park };
  enum class SlotOp : std::uint8_t { turn, look, fill, drop };
  struct OnList {
    ListOp op = ListOp::activate;
    std::uint32_t qp = 0;
  };
  struct OnSlots {
    SlotOp op = SlotOp::turn;
    std::uint32_t qp = 0;
    bool list = false;
    bool used = false;
  };
  struct Granted {
    std::uint32_t qp = 0;
    std::uint32_t slot = 0;
  };
  struct Points {
    std::size_t activation, lookup, end, fill, drop, eviction, beside;
  };
  enum Constant : std::size_t { kQuantum, kRun, kReadRoom };

  void begin(KeyedRandom& random, const Dut& dut);
  void on_list(const OnList& op);
  void on_slots(const OnSlots& op, bool read_room, bool fetch_free, std::vector<std::vector<Transaction>>& expected);
  void begin_fetch(std::uint32_t qp, std::vector<std::vector<Transaction>>& expected);
  /// Which outputs are valid in this cycle: compare(name, wanted, actual).
  template <typename Compare>
  void compare_outputs(const Dut& dut, const Compare& compare) const;
  std::uint32_t some_qp(KeyedRandom& random) const;

  QpSchedulerSizes sizes_;
  Points points_{};
  std::optional<ReadyList> list_;
  std::optional<ContextSlots> slots_;

  // What was taken in the cycle before, or follows from it.
  std::optional<OnList> next_on_list_;
  std::optional<OnList> own_;  ///< a turn or a fill has led to
  std::optional<OnSlots> next_on_slots_;
  std::optional<std::uint32_t> fetch_of_;  ///< whose slot is chosen

  std::uint64_t quiet_cycles_ = 0;
  std::uint64_t unpicked_cycles_ = 0;                        ///< in which a turn could have begun, and none did
  std::uint64_t walk_ = 0;                                   ///< cycles that are left of it
  std::uint64_t cycles_to_fetch_ = 0;                        ///< cycles until the fetch that has begun is offered
  bool turn_ended_ = false;                                  ///< what became of it is put out now
  bool fetch_waits_ = false;                                 ///< offered and not taken yet
  std::size_t waiting_grants_ = 0, waiting_answers_ = 0;     ///< not taken yet
  std::vector<Granted> granted_;                             ///< taken and not given back
  std::vector<std::uint32_t> fetched_;                       ///< taken and not filled
  std::vector<bool> listed_, has_turn_, has_grant_, fresh_;  ///< by QP

  std::uint32_t quantum_ = 0;
  std::uint32_t busy_qps_ = 1;
  double run_ = 1, room_ = 1, again_ = 0.5, list_share_ = 1, used_share_ = 0, drop_share_ = 0, give_back_ = 1;
  bool traffic_ = false;
  std::uint32_t activated_ = 0;  ///< QPs of the traffic
};

}  // namespace mrc::cosim
