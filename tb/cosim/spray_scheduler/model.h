// Stimulus and reference of spray_scheduler: every operation is applied to ring 1's path tables in the order in which
// the block took it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/bench/verilated_dut.h"
#include "cosim/spray_scheduler/adapter.h"
#include "mrc/control/path_table.h"
#include "nic/tx/scan_order_fill.h"

namespace mrc::cosim {

/// `credit_words`: 32-bit words of the port's counts.
template <typename Model>
std::unique_ptr<Dut> make_spray_scheduler_dut(std::uint64_t seed, std::uint32_t credit_words) {
  auto dut = std::make_unique<VerilatedDut<Model>>(seed);
  Model& m = dut->model();
  dut->ports.push_back(Port("credit", Direction::in, m.credit_valid_i, m.credit_ready_o)
                           .wide_field("bytes", m.credit_bytes_i, credit_words));
  dut->ports.push_back(Port("order", Direction::in, m.order_valid_i, m.order_ready_o).field("ev", m.order_ev_i));
  dut->ports.push_back(Port("csr", Direction::in, m.csr_valid_i, m.csr_ready_o)
                           .field("op", m.csr_op_i)
                           .field("slot", m.csr_slot_i)
                           .field("index", m.csr_index_i)
                           .field("wdata", m.csr_wdata_i));
  dut->ports.push_back(Port("upd", Direction::in, m.upd_valid_i, m.upd_ready_o)
                           .field("slot", m.upd_slot_i)
                           .field("event", m.upd_event_i)
                           .field("by_value", m.upd_by_value_i)
                           .field("ev", m.upd_ev_i)
                           .field("value", m.upd_value_i)
                           .field("time", m.upd_time_i));
  dut->ports.push_back(Port("sel", Direction::in, m.sel_valid_i, m.sel_ready_o)
                           .field("slot", m.sel_slot_i)
                           .field("bytes", m.sel_bytes_i)
                           .field("ports_up", m.sel_ports_up_i)
                           .field("time", m.sel_time_i));
  dut->ports.push_back(Port("rsp", Direction::out, m.rsp_valid_o, m.rsp_ready_i)
                           .field("free_ports", m.rsp_free_ports_o)
                           .field("found", m.rsp_found_o)
                           .field("rotations", m.rsp_rotations_o)
                           .field("no_good", m.rsp_no_good_o)
                           .field("ev", m.rsp_ev_o)
                           .field("value", m.rsp_value_o)
                           .field("plane", m.rsp_plane_o)
                           .field("skip_end_valid", m.rsp_skip_end_valid_o)
                           .field("skip_end", m.rsp_skip_end_o));
  dut->ports.push_back(Port("done", Direction::out, m.done_valid_o, m.done_ready_i)
                           .field("found", m.done_found_o)
                           .field("ev", m.done_ev_o)
                           .field("state", m.done_state_o)
                           .field("active", m.done_active_o)
                           .field("reported", m.done_reported_o)
                           .field("held", m.done_held_o)
                           .field("replaced", m.done_replaced_o)
                           .field("backup", m.done_backup_o));
  dut->ports.push_back(Port("csr_r", Direction::out, m.csr_rvalid_o, m.csr_rready_i).field("rdata", m.csr_rdata_o));
  dut->state.push_back({"order_request", Pin(m.order_request_o)});
  dut->state.push_back({"order_slot", Pin(m.order_slot_o)});
  return dut;
}

/// The settings of a run's path tables, each handed to `set` by its name.
template <typename Set>
void set_path_table_settings(const PathTable& table, const Set& set) {
  const ProtocolConfig& config = table.config();
  set("planes", table.planes());
  set("ev_count", table.size());
  set("ev_active", config.ev_active);
  set("ev_min_active", config.ev_min_active);
  set("reshuffle_rotations", config.reshuffle_rotations);
  set("probe_successes", config.probe_successes);
  set("assumed_bad_losses", config.assumed_bad_losses);
  set("path_feedback", static_cast<std::uint64_t>(config.path_feedback));
  set("probe_skip_state", static_cast<std::uint64_t>(config.probe_skip_state));
  set("skip_duration", static_cast<std::uint64_t>(config.skip_duration));
  set("skip_time_ps", config.skip_time_ps);
}

class SpraySchedulerModel : public BlockModel {
 public:
  using MakeDut = std::function<std::unique_ptr<Dut>(std::uint64_t seed, std::uint32_t credit_words)>;

  /// Numbers of the ports.
  enum PortNumber : std::size_t { kCredit, kOrder, kCsr, kUpdate, kSelect, kRsp, kDone, kCsrAnswer };

  /// `order_buffers`: with which the block was built.
  SpraySchedulerModel(const SpraySizes& sizes, std::uint32_t order_buffers, MakeDut make_dut);

  std::unique_ptr<Dut> make_dut(std::uint64_t seed) const override {
    return make_dut_(seed, (sizes_.planes * kSprayCreditBits + 31) / 32);
  }
  void reset(KeyedRandom& random, const Dut& dut) override;
  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  bool legal(std::size_t port, const Transaction& values) const override;
  bool adapt(std::size_t port, Transaction& values) const override;
  bool answers(std::size_t port) const override { return port == kOrder; }
  bool offers_in_trace(std::size_t port) const override { return port == kOrder; }
  void drive(KeyedRandom& random, const Dut& dut) override;
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
  void hide(std::size_t port, const Transaction& cause, Transaction& values) const override;
  std::string meaning(std::size_t port, std::size_t field, std::uint64_t expected, std::uint64_t actual) const override;
  std::uint64_t transfers_an_episode() const override { return std::min<std::uint64_t>(125ULL * sizes_.evs, 12'000); }

  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  bool ready_for_traffic() const override;
  SystemcCycles systemc_cycles(const SystemcCycles& pipeline) const override;
  SystemcCycles systemc_cycles_at(const SystemcCycles& cycles, std::uint64_t cycle) override;

 private:
  struct Points {
    std::size_t event, search, wake, update, control, room, back_to_back, turns, skip, order;
  };
  /// An answer that is due where nothing holds it up; `order`: with a scan order that has come in, a cycle later.
  enum class Due { none, order, select, select_now, lookup, update, update_now };
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
  MakeDut make_dut_;
  Points points_{};
  const Dut* dut_ = nullptr;

  std::uint32_t planes_ = 1;
  ProtocolConfig config_;
  EvProfile profile_;
  std::vector<EvIndex> buckets_;
  std::vector<std::unique_ptr<PathTable>> tables_;
  std::vector<std::uint32_t> slots_;  ///< of the block, by table
  std::vector<Transaction> setup_;    ///< of the control port, before anything else
  std::size_t set_up_ = 0;            ///< of them taken
  bool of_run_ = false;               ///< the set-up is a run's, and comes with its other transfers
  std::uint64_t key_ = 0;             ///< of the scan orders

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
  bool scarce_ = false;
  double control_share_ = 0.02;
  double favourite_share_ = 0.6;
  int favourite_ = -1;
  double one_ev_share_ = 0;  ///< of updates
  bool traffic_ = false;

  TimePs now_ = 0;
  Due due_ = Due::none;
  Turn last_turn_ = Turn::none;
  std::uint64_t cycle_ = 0;
  std::uint64_t order_evs_ = 0;  ///< taken in since the reset
  std::uint64_t last_select_cycle_ = ~0ULL;
  std::uint64_t last_credit_cycle_ = ~0ULL;
  std::uint64_t last_slot_ = 0;
  std::uint64_t new_orders_ = 0;  ///< that the selection accepted last has begun
  ScanOrderFill fill_;            ///< of the SystemC box, in a calibration
};

}  // namespace mrc::cosim
