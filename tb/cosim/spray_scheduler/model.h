// Stimulus and reference of spray_scheduler: every operation is applied to ring 1's path tables in the order in which
// the block took it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/spray_scheduler/control.h"
#include "cosim/spray_scheduler/dut.h"
#include "mrc/control/path_table.h"
#include "nic/tx/scan_order_fill.h"
#include "nic/tx/spray_scheduler_engine.h"

namespace mrc::cosim {

class SpraySchedulerModel : public BlockModel,
                            public LevelsPart,
                            public OutputsPart,
                            public ReplayPart,
                            public TracePart,
                            public TrafficPart {
 public:
  /// Numbers of the ports.
  enum PortNumber : std::size_t {
    kCredit = spray_scheduler_ports::Credit::kPort,
    kOrder = spray_scheduler_ports::Order::kPort,
    kCsr = spray_scheduler_ports::Csr::kPort,
    kUpdate = spray_scheduler_ports::Upd::kPort,
    kSelect = spray_scheduler_ports::Sel::kPort,
    kRsp = spray_scheduler_ports::Rsp::kPort,
    kDone = spray_scheduler_ports::Done::kPort,
    kCsrAnswer = spray_scheduler_ports::CsrR::kPort
  };

  /// `order_buffers`: with which the block was built.
  SpraySchedulerModel(const SpraySizes& sizes, std::uint32_t order_buffers, MakeDut make_dut);

  ModelParts parts() override {
    return {.levels = this, .outputs = this, .replay = this, .trace = this, .traffic = this};
  }
  void reset(KeyedRandom& random, const Dut& dut) override;
  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  bool adapt(std::size_t port, Transaction& values) const override;
  bool answers(std::size_t port) const override { return port == kOrder; }
  bool offers_in_trace(std::size_t port) const override { return port == kOrder; }
  void drive(KeyedRandom& random, const Dut& dut) override;
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
  void hide(std::size_t port, const Transaction& cause, Transaction& values) const override;
  std::string meaning(std::size_t port, std::size_t field, std::uint64_t expected, std::uint64_t actual) const override;
  /// Now and then a long one, in which a table rotates many thousand times.
  std::uint64_t transfers_an_episode() const override {
    return episodes_ % 32 == 31 ? 20'000 : std::min<std::uint64_t>(125ULL * sizes_.evs, 12'000);
  }

  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  bool ready_for_traffic() const override;
  SystemcCycles systemc_cycles(const SystemcCycles& pipeline) const override;
  SystemcCycles systemc_cycles_at(const SystemcCycles& cycles, std::uint64_t cycle) override;

 private:
  /// The transfer may be sent in the state at hand.
  bool legal(std::size_t port, const Transaction& values) const;
  struct Points {
    std::size_t event, search, wake, update, control, room, back_to_back, turns, skip, order;
  };
  static constexpr std::uint64_t kUnknownCycle = ~0ULL;
  struct DueAnswer {
    std::size_t port = 0;
    std::uint64_t cycle = kUnknownCycle;
  };
  enum class Turn { none, select, update };

  void configure(KeyedRandom& random);
  void configure_traffic();
  void make_profile(KeyedRandom& random);
  void set_up(std::uint64_t key);
  void choose_load(KeyedRandom& random);
  void forget_tables();
  void add_table(std::uint32_t slot, KeyedRandom random);
  /// A run's own set-up, transfer by transfer.
  bool is_next_set_up(const Transaction& values) const;
  void follow_set_up(const Transaction& values);
  bool ready_for_work() const { return of_run_ ? !tables_.empty() : set_up_ == setup_.size(); }

  bool offer_order(Transaction& values);
  bool offer_control(KeyedRandom& random, Transaction& values);
  bool offer_update(KeyedRandom& random, Transaction& values);
  bool offer_select(KeyedRandom& random, Transaction& values);
  bool offer_credit(KeyedRandom& random, Transaction& values);
  /// The next EV of the order that the block asks for; kNoEv if it asks for none.
  EvIndex next_of_order() const;

  std::optional<Difference> observe_answers(const Dut& dut);
  /// An operation is taken as soon as the work of the last one begins.
  std::optional<Difference> compare_ready(const Dut& dut) const;
  void expect_answer(std::size_t port, std::uint64_t cycles);

  Transaction accept_select(const Transaction& values);
  Transaction accept_update(const Transaction& values);
  Transaction accept_control(const Transaction& values);
  void accept_credit(const Transaction& values);
  void accept_order();
  void count_search(const PathTable& table, bool found, bool no_good, std::uint64_t ended, bool new_order);
  bool later_bucket(EvIndex ev) const;
  std::uint32_t inactive_skipped(const PathTable& table) const;
  std::size_t table_of(std::uint64_t slot) const;

  SpraySizes sizes_;
  std::uint32_t order_buffers_;
  Points points_{};
  const Dut* dut_ = nullptr;

  std::uint32_t planes_ = 1;
  ProtocolConfig config_;
  EvProfile profile_;
  std::vector<EvIndex> buckets_;
  std::vector<std::unique_ptr<PathTable>> tables_;
  std::vector<std::uint32_t> slots_;               ///< of the block, by table
  std::vector<spray_scheduler_ports::Csr> setup_;  ///< of the control port, before anything else
  std::size_t set_up_ = 0;                         ///< of them taken
  bool of_run_ = false;                            ///< the set-up is a run's, and comes with its other transfers
  std::uint64_t key_ = 0;                          ///< of the scan orders

  // Orders, drawn when the block asks for them, which a replay does while it looks whether a transfer may be sent.
  mutable std::vector<KeyedRandom> order_randoms_;
  mutable std::vector<std::uint64_t> orders_drawn_;  ///< by table
  mutable std::deque<EvIndex> order_;                ///< what is left of the order that goes in
  mutable std::vector<EvIndex> drawn_;

  struct OrdersIn {
    std::uint64_t count = 0;
    std::uint64_t last_cycle = 0;
  };
  std::vector<OrdersIn> orders_in_;  ///< whole ones that the block has, by table

  std::vector<std::uint64_t> room_;
  std::uint64_t most_room_ = 60'000;
  std::uint64_t episodes_ = 0;
  bool scarce_ = false;
  double control_share_ = 0.02;
  double favourite_share_ = 0.6;
  int favourite_ = -1;
  double one_ev_share_ = 0;  ///< of updates
  bool traffic_ = false;

  TimePs now_ = 0;
  std::deque<DueAnswer> due_;     ///< of the operations that were taken, in their order
  std::array<bool, 3> held_{};    ///< an answer of rsp, done, csr was not taken
  std::uint64_t free_cycle_ = 0;  ///< in which the work of the next operation can begin, if that is known
  std::uint64_t work_cycle_ = 0;  ///< in which that of the last one that was taken begins, if that is known
  Turn last_turn_ = Turn::none;
  std::uint64_t cycle_ = 0;
  std::uint64_t order_evs_ = 0;  ///< taken in since the reset
  std::uint64_t last_select_cycle_ = ~0ULL;
  std::uint64_t last_credit_cycle_ = ~0ULL;
  std::uint64_t last_slot_ = 0;
  std::uint64_t new_orders_ = 0;  ///< that the selection accepted last has begun
  std::uint64_t rotations_ = 0;   ///< that it has ended
  ScanOrderFill fill_;            ///< of the SystemC box, in a calibration
};

}  // namespace mrc::cosim
