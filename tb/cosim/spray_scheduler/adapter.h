// Drives a Verilated spray_scheduler_run operation by operation, or clocked by its pins. Included only where a
// Verilated class is at hand.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "cosim/clocked_model.h"
#include "cosim/spray_scheduler/control.h"
#include "cosim/trace.h"
#include "nic/tx/spray_scheduler_engine.h"

namespace mrc {

/// `Model` is the Verilated class. Every operation of those that wait for an answer runs alone: it is offered to the
/// idle block, clocked until its answer is taken, and the block is not clocked until the next, but for orders in
/// idle(). The cycles of a selection are those that it has when packets come one behind the other. Throws
/// std::runtime_error where the block does not answer.
template <typename Model, std::uint32_t kTables, std::uint32_t kEvs, std::uint32_t kPlanes,
          typename Clocked = ClockedModel<Model>>
class SpraySchedulerAdapter : public SpraySchedulerEngine {
 public:
  /// `beyond_interval`: cycles by which the answer to a selection is later than the next selection may be taken.
  template <typename... Shared>
  explicit SpraySchedulerAdapter(const cosim::TraceRecorder& recorder = {}, std::uint32_t beyond_interval = 2,
                                 Shared&&... shared)
      : model_(std::forward<Shared>(shared)...), recorder_(recorder), beyond_interval_(beyond_interval) {
    take_all();
    model_.reset();
    model_.clock();
    model_.restart_count();
    model_.on_rest([this] {
      model_->sel_valid_i = model_->upd_valid_i = model_->csr_valid_i = 0;
      model_->credit_valid_i = model_->order_valid_i = 0;
      model_->rsp_ready_i = model_->done_ready_i = model_->csr_rready_i = 0;
    });
  }

  SpraySizes sizes() const override { return {kTables, kEvs, kPlanes}; }

  void configure(const EvProfile& profile, const PathTable& example, OrderSource orders) override {
    orders_ = std::move(orders);
    order_ = {};
    set_path_table_settings(example, [&](const char* name, std::uint64_t value) { recorder_.set(name, value); });
    recorder_.set("evs", kEvs);
    for (const Csr& word : spray_set_up(profile, example, kEvs)) csr(word);
  }
  void open(std::uint32_t slot, std::uint32_t active_evs) override {
    csr(spray_csr(rtl::SprayCsr::open, slot, 0, active_evs));
  }

  void return_credit(std::span<const std::uint32_t> bytes) override {
    credit_.fill(0);
    bool any = false;
    for (std::size_t plane = 0; plane < bytes.size(); ++plane) {
      any |= bytes[plane] != 0;
      set_spray_credit(credit_, plane, bytes[plane]);
    }
    if (!any) return;
    if (recorder_.records()) recorder_.add_in_turn(Credit::kPort, {credit_.begin(), credit_.end()});
    // Offered together with the next operation; for a packet it counts.
    for (std::size_t word = 0; word < credit_.size(); ++word) model_->credit_bytes_i[word] = credit_[word];
    model_->credit_valid_i = 1;
    inputs_changed_ = true;
  }

  SpraySelection select(std::uint32_t slot, std::uint32_t bytes, std::uint32_t ports_up, TimePs now) override {
    const Sel sel = sel_of(slot, bytes, ports_up, now);
    recorder_.add_in_turn(sel);
    sel.put(model_.pins());
    model_->sel_valid_i = 1;
    offer();
    const std::uint64_t latency = 1 + wait_for(model_->rsp_valid_o);
    SpraySelection reply = selection_of(Rsp::take(model_.pins()));
    reply.latency_cycles = latency;
    reply.occupied_cycles = latency - beyond_interval_;
    // The answer is taken with the next operation's first edge.
    return reply;
  }

  SprayUpdate update(std::uint32_t slot, EvIndex ev, PathEvent event, TimePs now) override {
    return update({.slot = slot, .event = static_cast<std::uint64_t>(event), .by_value = 0, .ev = ev, .time = now});
  }
  SprayUpdate update_by_value(std::uint32_t slot, Ev value, PathEvent event, TimePs now) override {
    return update(
        {.slot = slot, .event = static_cast<std::uint64_t>(event), .by_value = 1, .value = value, .time = now});
  }
  void deny(std::uint32_t slot, EvIndex ev) override { csr(spray_csr(rtl::SprayCsr::deny, slot, ev, 0)); }
  void allow(std::uint32_t slot, EvIndex ev) override { csr(spray_csr(rtl::SprayCsr::allow, slot, ev, 0)); }
  void set_port_status(std::uint32_t slot, std::uint32_t reachable_mask) override {
    csr(spray_csr(rtl::SprayCsr::port_status, slot, 0, reachable_mask));
  }
  SprayRecord read(std::uint32_t slot, EvIndex ev) override {
    const std::uint64_t word = csr(spray_csr(rtl::SprayCsr::read_ev, slot, ev, 0));
    const auto counts = rtl::SprayEvWord::of(word >> std::bit_width(kEvs - 1));
    return {.state = static_cast<EvState>(counts.state),
            .active = word >> 63 != 0,
            .position = static_cast<std::uint32_t>(word & (kEvs - 1)),
            .losses = static_cast<std::uint32_t>(counts.losses),
            .probe_successes = static_cast<std::uint32_t>(counts.probe_successes)};
  }
  SprayTableState read_table(std::uint32_t slot) override {
    const auto word = rtl::SprayTableWord::of(csr(spray_csr(rtl::SprayCsr::read_slot, slot, 0, 0)));
    return {static_cast<std::uint32_t>(word.pointer), static_cast<std::uint32_t>(word.reachable),
            static_cast<std::uint32_t>(word.rotations)};
  }
  void idle(std::uint64_t cycles) override {
    for (; cycles > 0 && model_->order_request_o != 0; --cycles) cycle();
  }
  std::uint64_t cycles() const override { return model_.cycles(); }

  void begin_cycle(std::uint64_t number) override {
    if (std::exchange(answer_left_, false)) {
      take_all();
      inputs_changed_ = true;
      cycle();
    }
    model_.begin_cycle(number);
  }
  /// Answers come in the order of the operations, each at the port of its kind: the others wait.
  PinCycle clock(const SprayItem* offered, const SprayItem* oldest, bool takes) override {
    offer_by_pins(offered);
    const SprayItem::Kind kind = oldest == nullptr ? SprayItem::Kind::select : oldest->kind;
    model_->rsp_ready_i = takes && kind == SprayItem::Kind::select;
    model_->done_ready_i = takes && kind == SprayItem::Kind::update;
    model_->csr_rready_i = takes && is_control(kind);
    if constexpr (requires { model_->rsp_goes_i; }) model_->rsp_goes_i = oldest != nullptr && oldest->goes;
    const bool places = offer_order();
    model_.low();
    const bool placed = places && model_->order_ready_o != 0;
    const bool valid = kind == SprayItem::Kind::select   ? model_->rsp_valid_o != 0
                       : kind == SprayItem::Kind::update ? model_->done_valid_o != 0
                                                         : model_->csr_rvalid_o != 0;
    const bool offers = model_->sel_valid_i != 0 || model_->upd_valid_i != 0 || model_->csr_valid_i != 0;
    PinCycle pins = single_transfers(ready_of(offered), offers, valid, takes);
    pins.first_out = pins.last_out = valid && takes;
    if (pins.last_out && kind == SprayItem::Kind::select) answer_.selection = selection_of(Rsp::take(model_.pins()));
    if (pins.last_out && kind == SprayItem::Kind::update) answer_.update = update_of(Done::take(model_.pins()));
    credit_taken_ |= model_->credit_valid_i != 0 && model_->credit_ready_o != 0;
    model_.high();
    if (placed) order_placed();
    inputs_changed_ = true;
    if (pins.taken) credit_taken_ = false;
    return pins;
  }
  const SprayAnswer& answer() const override { return answer_; }

 protected:
  /// The next EV of an order that the block asks for is at its port.
  bool offer_order() {
    order_offered_ = true;
    const bool wanted = model_->order_request_o != 0 && orders_;
    if (wanted && order_.empty()) order_ = orders_(model_->order_slot_o);
    inputs_changed_ |= (model_->order_valid_i != 0) != wanted || (wanted && model_->order_ev_i != order_.front());
    put_order(wanted);
    return wanted;
  }
  /// The first EV that is left of the order, or none.
  void put_order(bool any) {
    model_->order_valid_i = any ? 1 : 0;
    if (any) set_pin(model_->order_ev_i, order_.front());
  }
  /// It was taken.
  void order_placed() { order_ = order_.subspan(1); }

  Clocked model_;
  bool order_offered_ = false;  ///< or there was none to offer, since somebody reset this
  bool inputs_changed_ = true;  ///< since the model has taken them

 private:
  using Credit = spray_scheduler_ports::Credit;
  using Csr = spray_scheduler_ports::Csr;
  using Done = spray_scheduler_ports::Done;
  using Rsp = spray_scheduler_ports::Rsp;
  using Sel = spray_scheduler_ports::Sel;
  using Upd = spray_scheduler_ports::Upd;
  static constexpr std::uint64_t kMostCycles = 100'000;

  static bool is_control(SprayItem::Kind kind) {
    return kind != SprayItem::Kind::select && kind != SprayItem::Kind::update;
  }
  static Csr csr_of(const SprayItem& item) {
    switch (item.kind) {
      case SprayItem::Kind::open:
        return spray_csr(rtl::SprayCsr::open, item.slot, 0, item.argument);
      case SprayItem::Kind::deny:
        return spray_csr(rtl::SprayCsr::deny, item.slot, item.argument, 0);
      case SprayItem::Kind::allow:
        return spray_csr(rtl::SprayCsr::allow, item.slot, item.argument, 0);
      default:
        return spray_csr(rtl::SprayCsr::port_status, item.slot, 0, item.argument);
    }
  }
  static Sel sel_of(std::uint32_t slot, std::uint32_t bytes, std::uint32_t ports_up, TimePs now) {
    return {.slot = slot, .bytes = bytes, .ports_up = ports_up & ((1U << kPlanes) - 1), .time = now};
  }
  static SpraySelection selection_of(const Rsp& rsp) {
    SpraySelection reply;
    reply.found = rsp.found != 0;
    if (reply.found) {
      reply.ev = static_cast<EvIndex>(rsp.ev);
      reply.value = static_cast<Ev>(rsp.value);
      reply.plane = static_cast<std::uint8_t>(rsp.plane);
    }
    reply.free_ports = static_cast<std::uint32_t>(rsp.free_ports);
    reply.no_good = rsp.no_good != 0;
    reply.rotations = static_cast<std::uint32_t>(rsp.rotations);
    if (rsp.skip_end_valid != 0) reply.skip_end = rsp.skip_end;
    return reply;
  }
  static Upd upd_of(const SprayItem& item) {
    Upd upd{.slot = item.slot,
            .event = static_cast<std::uint64_t>(item.event),
            .by_value = item.by_value ? 1U : 0U,
            .time = item.now};
    if (item.by_value) {
      upd.value = item.value;
    } else {
      upd.ev = item.ev;
    }
    return upd;
  }
  template <typename Bytes>
  void set_credit(const Bytes& bytes) {
    credit_.fill(0);
    for (std::size_t plane = 0; plane < kPlanes; ++plane) set_spray_credit(credit_, plane, bytes[plane]);
    for (std::size_t word = 0; word < credit_.size(); ++word) model_->credit_bytes_i[word] = credit_[word];
  }

  /// By pins: the operation is at the port of its kind. A packet waits until the room that comes back with it counts.
  void offer_by_pins(const SprayItem* item) {
    model_->sel_valid_i = model_->upd_valid_i = model_->csr_valid_i = model_->credit_valid_i = 0;
    if (item == nullptr) return;
    if (item->kind == SprayItem::Kind::update) {
      upd_of(*item).put(model_.pins());
      model_->upd_valid_i = 1;
    } else if (is_control(item->kind)) {
      csr_of(*item).put(model_.pins());
      model_->csr_valid_i = 1;
    } else {
      const bool returns = item->any_returned && !credit_taken_;
      if (returns) set_credit(item->returned);
      model_->credit_valid_i = returns;
      sel_of(item->slot, item->bytes, item->ports_up, item->now).put(model_.pins());
      // credit_ready_o is a register: it is the same in the cycle that begins.
      model_->sel_valid_i = !returns || model_->credit_ready_o != 0;
    }
  }
  bool ready_of(const SprayItem* item) const {
    if (item != nullptr && item->kind == SprayItem::Kind::update) return model_->upd_ready_o != 0;
    if (item != nullptr && is_control(item->kind)) return model_->csr_ready_o != 0;
    return model_->sel_ready_o != 0;
  }
  void take_all() { model_->rsp_ready_i = model_->done_ready_i = model_->csr_rready_i = 1; }
  void cycle() {
    const bool wanted = offer_order();
    if (std::exchange(inputs_changed_, false)) model_.low();
    const bool placed = wanted && model_->order_ready_o != 0;
    const bool credit = model_->credit_ready_o != 0;
    const bool select = model_->sel_ready_o != 0;
    const bool update = model_->upd_ready_o != 0;
    const bool control = model_->csr_ready_o != 0;
    model_.next([&] {
      if (placed) expect_next_of_order();
      if (credit) model_->credit_valid_i = 0;
      if (select) model_->sel_valid_i = 0;
      if (update) model_->upd_valid_i = 0;
      if (control) model_->csr_valid_i = 0;
    });
  }
  /// The EV at the port was taken: it will most likely be asked for the next.
  void expect_next_of_order() {
    order_placed();
    put_order(!order_.empty());
  }
  /// Until the block has taken what is offered. Room that was returned before counts for a packet.
  void offer() {
    take_all();
    inputs_changed_ = true;
    const auto taken = [&] {
      return model_->credit_valid_i == 0 && model_->sel_valid_i == 0 && model_->upd_valid_i == 0 &&
             model_->csr_valid_i == 0;
    };
    answer_left_ = true;
    clock_until([&] { cycle(); }, taken, kMostCycles, "spray_scheduler RTL does not take an operation");
  }
  /// Returns the cycles until the answer is there.
  template <typename Pin>
  std::uint64_t wait_for(const Pin& valid) {
    if (valid != 0) return 0;
    return clock_until([&] { cycle(); }, [&] { return valid != 0; }, kMostCycles,
                       "spray_scheduler RTL does not answer");
  }
  SprayUpdate update(const Upd& upd) {
    recorder_.add_in_turn(upd);
    upd.put(model_.pins());
    model_->upd_valid_i = 1;
    offer();
    wait_for(model_->done_valid_o);
    return update_of(Done::take(model_.pins()));
  }
  static SprayUpdate update_of(const Done& done) {
    SprayUpdate reply;
    reply.found = done.found != 0;
    if (!reply.found) return reply;
    reply.ev = static_cast<EvIndex>(done.ev);
    reply.state = static_cast<EvState>(done.state);
    reply.active = done.active != 0;
    reply.reported = done.reported != 0;
    reply.held = done.held != 0;
    if (done.replaced != 0) reply.backup = static_cast<EvIndex>(done.backup);
    return reply;
  }
  std::uint64_t csr(const Csr& csr) {
    recorder_.add_in_turn(csr);
    csr.put(model_.pins());
    model_->csr_valid_i = 1;
    offer();
    wait_for(model_->csr_rvalid_o);
    return model_->csr_rdata_o;
  }

  cosim::TraceRecorder recorder_;
  std::uint32_t beyond_interval_;
  OrderSource orders_;
  std::span<const EvIndex> order_;  ///< what is left of the order that goes in
  std::array<std::uint32_t, (kPlanes * kSprayCreditBits + 31) / 32> credit_{};
  SprayAnswer answer_;         ///< by pins
  bool credit_taken_ = false;  ///< by pins: that of the packet that is offered
  bool answer_left_ = false;   ///< of an operation alone: it is taken with the next cycle
};

}  // namespace mrc
