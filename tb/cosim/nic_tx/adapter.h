// Drives a Verilated nic_tx_run, spray_scheduler, retransmit_buffer and srv6_encap joined, for the boxes of all three.
// Included only where a Verilated class is at hand.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "cosim/nic_tx/rtl.h"
#include "cosim/retransmit_buffer/adapter.h"
#include "cosim/shared_model.h"
#include "cosim/spray_scheduler/adapter.h"
#include "cosim/srv6_encap/adapter.h"

namespace mrc {

/// The pins of retransmit_buffer under the names that it has alone. The EV of a packet comes from spray_scheduler.
template <typename Model>
struct RetransmitBufferPins {
  explicit RetransmitBufferPins(Model& m)
      : cmd_valid_i(m.cmd_valid_i),
        cmd_ready_o(m.cmd_ready_o),
        cmd_op_i(m.cmd_op_i),
        cmd_slot_i(m.cmd_slot_i),
        cmd_qp_i(m.cmd_qp_i),
        cmd_psn_i(m.cmd_psn_i),
        cmd_base_i(m.cmd_base_i),
        cmd_bitmap_i(m.cmd_bitmap_i),
        cmd_now_i(m.cmd_now_i),
        cmd_limit_i(m.cmd_limit_i),
        cmd_threshold_i(m.cmd_threshold_i),
        cmd_cause_i(m.cmd_cause_i),
        cmd_message_i(m.cmd_message_i),
        cmd_offset_i(m.cmd_offset_i),
        cmd_bytes_i(m.cmd_bytes_i),
        cmd_context_i(m.cmd_context_i),
        cmd_path_ev_o(m.cmd_path_ev_o),
        evt_valid_o(m.evt_valid_o),
        evt_ready_i(m.evt_ready_i),
        evt_lost_o(m.evt_lost_o),
        evt_psn_o(m.evt_psn_o),
        evt_was_lost_o(m.evt_was_lost_o),
        evt_bytes_o(m.evt_bytes_o),
        evt_ev_o(m.evt_ev_o),
        rsp_valid_o(m.reply_valid_o),
        rsp_ready_i(m.reply_ready_i),
        rsp_hit_o(m.reply_hit_o),
        rsp_advanced_o(m.reply_advanced_o),
        rsp_count_o(m.reply_count_o),
        rsp_psn_o(m.reply_psn_o),
        rsp_message_o(m.reply_message_o),
        rsp_offset_o(m.reply_offset_o),
        rsp_bytes_o(m.reply_bytes_o),
        rsp_cause_o(m.reply_cause_o),
        rsp_unacked_o(m.reply_unacked_o),
        rsp_next_o(m.reply_next_o),
        rsp_has_lost_o(m.reply_has_lost_o),
        rsp_oldest_lost_o(m.reply_oldest_lost_o),
        rsp_outstanding_o(m.reply_outstanding_o),
        rsp_oldest_psn_o(m.reply_oldest_psn_o),
        rsp_oldest_sent_o(m.reply_oldest_sent_o),
        rsp_free_o(m.reply_free_o),
        rsp_context_o(m.reply_context_o) {}

  decltype(Model::cmd_valid_i)& cmd_valid_i;
  decltype(Model::cmd_ready_o)& cmd_ready_o;
  decltype(Model::cmd_op_i)& cmd_op_i;
  decltype(Model::cmd_slot_i)& cmd_slot_i;
  decltype(Model::cmd_qp_i)& cmd_qp_i;
  decltype(Model::cmd_psn_i)& cmd_psn_i;
  decltype(Model::cmd_base_i)& cmd_base_i;
  decltype(Model::cmd_bitmap_i)& cmd_bitmap_i;
  decltype(Model::cmd_now_i)& cmd_now_i;
  decltype(Model::cmd_limit_i)& cmd_limit_i;
  decltype(Model::cmd_threshold_i)& cmd_threshold_i;
  std::uint16_t cmd_ev_i = 0;  ///< of no pin
  decltype(Model::cmd_cause_i)& cmd_cause_i;
  decltype(Model::cmd_message_i)& cmd_message_i;
  decltype(Model::cmd_offset_i)& cmd_offset_i;
  decltype(Model::cmd_bytes_i)& cmd_bytes_i;
  decltype(Model::cmd_context_i)& cmd_context_i;
  decltype(Model::cmd_path_ev_o)& cmd_path_ev_o;
  decltype(Model::evt_valid_o)& evt_valid_o;
  decltype(Model::evt_ready_i)& evt_ready_i;
  decltype(Model::evt_lost_o)& evt_lost_o;
  decltype(Model::evt_psn_o)& evt_psn_o;
  decltype(Model::evt_was_lost_o)& evt_was_lost_o;
  decltype(Model::evt_bytes_o)& evt_bytes_o;
  decltype(Model::evt_ev_o)& evt_ev_o;
  decltype(Model::reply_valid_o)& rsp_valid_o;
  decltype(Model::reply_ready_i)& rsp_ready_i;
  decltype(Model::reply_hit_o)& rsp_hit_o;
  decltype(Model::reply_advanced_o)& rsp_advanced_o;
  decltype(Model::reply_count_o)& rsp_count_o;
  decltype(Model::reply_psn_o)& rsp_psn_o;
  decltype(Model::reply_message_o)& rsp_message_o;
  decltype(Model::reply_offset_o)& rsp_offset_o;
  decltype(Model::reply_bytes_o)& rsp_bytes_o;
  decltype(Model::reply_cause_o)& rsp_cause_o;
  decltype(Model::reply_unacked_o)& rsp_unacked_o;
  decltype(Model::reply_next_o)& rsp_next_o;
  decltype(Model::reply_has_lost_o)& rsp_has_lost_o;
  decltype(Model::reply_oldest_lost_o)& rsp_oldest_lost_o;
  decltype(Model::reply_outstanding_o)& rsp_outstanding_o;
  decltype(Model::reply_oldest_psn_o)& rsp_oldest_psn_o;
  decltype(Model::reply_oldest_sent_o)& rsp_oldest_sent_o;
  decltype(Model::reply_free_o)& rsp_free_o;
  decltype(Model::reply_context_o)& rsp_context_o;
};

/// With the uplinks of the EVs; scan orders come in whoever makes the cycle.
template <typename Model>
class JoinedSprayScheduler : public SpraySchedulerAdapter<Model, kFullSpraySizes.tables, kFullSpraySizes.evs,
                                                          kFullSpraySizes.planes, SharedClock<Model>> {
  using Alone = SpraySchedulerAdapter<Model, kFullSpraySizes.tables, kFullSpraySizes.evs, kFullSpraySizes.planes,
                                      SharedClock<Model>>;

 public:
  JoinedSprayScheduler(std::shared_ptr<SharedModel<Model>> shared, std::function<std::uint32_t(Ev)> uplink_of,
                       std::uint32_t beyond_interval)
      : Alone(cosim::TraceRecorder{}, beyond_interval, std::move(shared), std::size_t{0}),
        uplink_of_(std::move(uplink_of)) {
    this->model_.on_edge([this] { offer_order_of_others(); }, [this] { order_may_have_gone(); });
    this->model_.on_idle([this] { return this->model_->order_request_o != 0; });
  }

  void configure(const EvProfile& profile, const PathTable& example,
                 SpraySchedulerEngine::OrderSource orders) override {
    for (std::size_t ev = 0; ev < profile.value.size(); ++ev) {
      set_pin(this->model_->map_ev_i, ev);
      set_pin(this->model_->map_uplink_i, uplink_of_(profile.value[ev]));
      this->model_->map_valid_i = 1;
      this->model_.clock();
    }
    this->model_->map_valid_i = 0;
    Alone::configure(profile, example, std::move(orders));
  }
  /// Orders come in without being asked for.
  void idle(std::uint64_t /*cycles*/) override {}
  SprayRecord read(std::uint32_t slot, EvIndex ev) override {
    this->model_.settle();
    return Alone::read(slot, ev);
  }
  SprayTableState read_table(std::uint32_t slot) override {
    this->model_.settle();
    return Alone::read_table(slot);
  }

 private:
  void offer_order_of_others() {
    if (this->order_offered_) return;
    const bool wanted = this->offer_order();
    if (wanted) this->model_.take_part();
    if (std::exchange(this->inputs_changed_, false) || wanted) this->model_.low();
    placed_ = wanted && this->model_->order_ready_o != 0;
  }
  void order_may_have_gone() {
    if (placed_) this->order_placed();
    placed_ = this->order_offered_ = false;
  }

  std::function<std::uint32_t(Ev)> uplink_of_;
  bool placed_ = false;
};

template <typename Model>
NicTxEngines make_joined_engines(const std::function<std::uint32_t(Ev)>& uplink_of, std::uint32_t beyond_interval) {
  const auto shared = std::make_shared<SharedModel<Model>>();
  Model& pins = shared->clocked().pins();
  shared->add({&pins.spray_cycle_i, &pins.retransmit_cycle_i, &pins.encap_cycle_i});
  shared->reset();
  using Records = RetransmitBufferAdapter<RetransmitBufferPins<Model>, SharedClock<Model, RetransmitBufferPins<Model>>>;
  using Headers = Srv6EncapAdapter<Model, kNicTxDatapathBits / 8, SharedClock<Model>>;
  return {std::make_unique<JoinedSprayScheduler<Model>>(shared, uplink_of, beyond_interval),
          std::make_unique<Records>(cosim::TraceRecorder{}, shared, std::size_t{1}),
          std::make_unique<Headers>(cosim::TraceRecorder{}, shared, std::size_t{2})};
}

}  // namespace mrc
