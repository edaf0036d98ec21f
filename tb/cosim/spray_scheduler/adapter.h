// Drives a Verilated spray_scheduler_flat operation by operation. Included only where a Verilated class is at hand.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include <verilated.h>

#include "nic/tx/spray_scheduler_engine.h"

namespace mrc {

/// Operations of the control port, as mrc_pkg.sv has them.
enum class SprayCsr : std::uint8_t {
  limits,
  skip_time,
  profile,
  bucket,
  open,
  port_status,
  deny,
  allow,
  read_ev,
  read_slot,
  read_room
};

/// The word of SprayCsr::limits.
inline std::uint64_t spray_limits_word(const PathTable& table) {
  const ProtocolConfig& config = table.config();
  std::uint64_t word = config.reshuffle_rotations;
  word = word << 8 | config.probe_successes;
  word = word << 4 | config.assumed_bad_losses;
  word = word << 1 | (config.path_feedback == PathFeedback::oblivious ? 1 : 0);
  word = word << 1 | (config.probe_skip_state == ProbeSkipState::skip ? 1 : 0);
  word = word << 2 | static_cast<std::uint64_t>(config.skip_duration);
  word = word << 9 | std::min(table.least_active_a_plane(), 511U);
  word = word << 9 | table.most_active_a_plane();
  return word << 10 | table.size();
}

/// Where the EVs of a profile lie in a table of `buckets` (a power of two, more than EVs): by the low bits of the
/// value, or in the next bucket that is free. kNoEv: empty.
inline std::vector<EvIndex> spray_buckets(const EvProfile& profile, std::uint32_t buckets) {
  std::vector<EvIndex> table(buckets, kNoEv);
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    std::uint32_t at = profile.value[i] & (buckets - 1);
    while (table[at] != kNoEv) at = (at + 1) & (buckets - 1);
    table[at] = static_cast<EvIndex>(i);
  }
  return table;
}

/// What the control port has to be told before tables are opened, as transfers of it: operation, table, index, word.
/// `evs`: that the block is built for.
inline std::vector<std::vector<std::uint64_t>> spray_set_up(const EvProfile& profile, const PathTable& example,
                                                            std::uint32_t evs) {
  std::vector<std::vector<std::uint64_t>> words;
  const auto add = [&](SprayCsr op, std::uint64_t index, std::uint64_t word) {
    words.push_back({static_cast<std::uint64_t>(op), 0, index, word});
  };
  add(SprayCsr::limits, 0, spray_limits_word(example));
  add(SprayCsr::skip_time, 0, example.config().skip_time_ps);
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    add(SprayCsr::profile, i, std::uint64_t{profile.plane[i]} << 32 | profile.value[i]);
  }
  const std::vector<EvIndex> buckets = spray_buckets(profile, 2 * evs);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    add(SprayCsr::bucket, i, buckets[i] == kNoEv ? 0 : evs | buckets[i]);
  }
  return words;
}

inline constexpr unsigned kSprayCreditBits = 28;

/// Sets a plane's field of the credit port, which was 0, in its 32-bit words.
template <typename Words>
void set_spray_credit(Words& words, std::size_t plane, std::uint64_t bytes) {
  const std::size_t at = plane * kSprayCreditBits;
  const std::uint64_t field = (bytes & ((1U << kSprayCreditBits) - 1)) << (at % 32);
  words[at / 32] |= static_cast<std::uint32_t>(field);
  if (field >> 32 != 0) words[at / 32 + 1] |= static_cast<std::uint32_t>(field >> 32);
}

/// Room that comes back, by plane, as the credit port has it: in 32-bit words.
template <typename Bytes>
std::vector<std::uint64_t> spray_credit_words(const Bytes& bytes, std::uint32_t planes) {
  std::vector<std::uint64_t> words((planes * kSprayCreditBits + 31) / 32, 0);
  for (std::size_t plane = 0; plane < bytes.size(); ++plane) set_spray_credit(words, plane, bytes[plane]);
  return words;
}

/// `Model` is the Verilated class. Every operation runs alone: it is offered to the idle block, clocked until its
/// answer is taken, and the block is not clocked until the next, but for orders in idle(). The cycles of a selection
/// are those that it has when packets come one behind the other. Throws std::runtime_error where the block does not
/// answer.
template <typename Model, std::uint32_t kTables, std::uint32_t kEvs, std::uint32_t kPlanes>
class SpraySchedulerAdapter : public SpraySchedulerEngine {
 public:
  SpraySchedulerAdapter()
      : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Model>(context_.get())) {
    model_->rst_ni = 0;
    model_->rsp_ready_i = 1;
    model_->done_ready_i = 1;
    model_->csr_rready_i = 1;
    clock();
    clock();
    model_->rst_ni = 1;
    clock();
    cycles_ = 0;
  }
  ~SpraySchedulerAdapter() override { model_->final(); }

  SpraySizes sizes() const override { return {kTables, kEvs, kPlanes}; }

  void configure(const EvProfile& profile, const PathTable& example, OrderSource orders) override {
    orders_ = std::move(orders);
    order_ = {};
    for (const auto& word : spray_set_up(profile, example, kEvs)) {
      csr(static_cast<SprayCsr>(word[0]), 0, static_cast<std::uint32_t>(word[2]), word[3]);
    }
  }
  void open(std::uint32_t slot, std::uint32_t active_evs) override { csr(SprayCsr::open, slot, 0, active_evs); }

  void return_credit(std::span<const std::uint32_t> bytes) override {
    credit_.fill(0);
    bool any = false;
    for (std::size_t plane = 0; plane < bytes.size(); ++plane) {
      any |= bytes[plane] != 0;
      set_spray_credit(credit_, plane, bytes[plane]);
    }
    if (!any) return;
    // Offered together with the next operation; for a packet it counts.
    for (std::size_t word = 0; word < credit_.size(); ++word) model_->credit_bytes_i[word] = credit_[word];
    model_->credit_valid_i = 1;
  }

  SpraySelection select(std::uint32_t slot, std::uint32_t bytes, std::uint32_t ports_up, TimePs now) override {
    model_->sel_valid_i = 1;
    model_->sel_slot_i = static_cast<std::uint16_t>(slot);
    model_->sel_bytes_i = static_cast<std::uint16_t>(bytes);
    model_->sel_ports_up_i = static_cast<std::uint8_t>(ports_up);
    model_->sel_time_i = now;
    offer();
    SpraySelection reply;
    reply.latency_cycles = 1;
    while (model_->rsp_valid_o == 0) {
      step(reply.latency_cycles);
    }
    reply.occupied_cycles = reply.latency_cycles - 1;
    reply.found = model_->rsp_found_o != 0;
    if (reply.found) {
      reply.ev = model_->rsp_ev_o;
      reply.value = model_->rsp_value_o;
      reply.plane = model_->rsp_plane_o;
    }
    reply.free_ports = model_->rsp_free_ports_o;
    reply.no_good = model_->rsp_no_good_o != 0;
    reply.rotations = model_->rsp_rotations_o;
    if (model_->rsp_skip_end_valid_o != 0) reply.skip_end = model_->rsp_skip_end_o;
    // The answer is taken with the next operation's first edge.
    return reply;
  }

  SprayUpdate update(std::uint32_t slot, EvIndex ev, PathEvent event, TimePs now) override {
    model_->upd_by_value_i = 0;
    model_->upd_ev_i = static_cast<std::uint8_t>(ev);
    return update(slot, event, now);
  }
  SprayUpdate update_by_value(std::uint32_t slot, Ev value, PathEvent event, TimePs now) override {
    model_->upd_by_value_i = 1;
    model_->upd_value_i = value;
    return update(slot, event, now);
  }
  void deny(std::uint32_t slot, EvIndex ev) override { csr(SprayCsr::deny, slot, ev, 0); }
  void allow(std::uint32_t slot, EvIndex ev) override { csr(SprayCsr::allow, slot, ev, 0); }
  void set_port_status(std::uint32_t slot, std::uint32_t reachable_mask) override {
    csr(SprayCsr::port_status, slot, 0, reachable_mask);
  }
  SprayRecord read(std::uint32_t slot, EvIndex ev) override {
    const std::uint64_t word = csr(SprayCsr::read_ev, slot, ev, 0);
    constexpr unsigned ev_bits = std::bit_width(kEvs - 1);
    SprayRecord record;
    record.position = static_cast<std::uint32_t>(word & (kEvs - 1));
    record.probe_successes = static_cast<std::uint32_t>(word >> ev_bits & 0xFF);
    record.losses = static_cast<std::uint32_t>(word >> (ev_bits + 8) & 0xF);
    record.state = static_cast<EvState>(word >> (ev_bits + 12) & 3);
    record.active = word >> 63 != 0;
    return record;
  }
  SprayTableState read_table(std::uint32_t slot) override {
    const std::uint64_t word = csr(SprayCsr::read_slot, slot, 0, 0);
    return {static_cast<std::uint32_t>(word & 0xFFFF), static_cast<std::uint32_t>(word >> 16 & 0xFFFF),
            static_cast<std::uint32_t>(word >> 32 & 0xF'FFFF)};
  }
  void idle(std::uint64_t cycles) override {
    for (; cycles > 0 && model_->order_request_o != 0; --cycles) clock();
  }
  std::uint64_t cycles() const override { return cycles_; }

 private:
  static constexpr std::uint64_t kMostCycles = 100'000;

  /// An order that the block asks for goes in when it takes it.
  void clock() {
    const bool wanted = model_->order_request_o != 0 && orders_;
    if (wanted && order_.empty()) order_ = orders_(model_->order_slot_o);
    model_->order_valid_i = wanted ? 1 : 0;
    if (wanted) model_->order_ev_i = static_cast<std::uint8_t>(order_.front());
    model_->clk_i = 0;
    model_->eval();
    const bool placed = wanted && model_->order_ready_o != 0;
    model_->clk_i = 1;
    model_->eval();
    if (placed) order_ = order_.subspan(1);
    ++cycles_;
  }
  /// The cycle in which the idle block takes what is offered.
  void offer() {
    clock();
    model_->sel_valid_i = 0;
    model_->upd_valid_i = 0;
    model_->csr_valid_i = 0;
    model_->credit_valid_i = 0;
  }
  void step(std::uint64_t& waited) {
    clock();
    if (++waited > kMostCycles) throw std::runtime_error("spray_scheduler RTL does not answer");
  }
  SprayUpdate update(std::uint32_t slot, PathEvent event, TimePs now) {
    model_->upd_valid_i = 1;
    model_->upd_slot_i = static_cast<std::uint16_t>(slot);
    model_->upd_event_i = static_cast<std::uint8_t>(event);
    model_->upd_time_i = now;
    offer();
    std::uint64_t waited = 1;
    while (model_->done_valid_o == 0) step(waited);
    SprayUpdate reply;
    reply.found = model_->done_found_o != 0;
    if (!reply.found) return reply;
    reply.ev = model_->done_ev_o;
    reply.state = static_cast<EvState>(model_->done_state_o);
    reply.active = model_->done_active_o != 0;
    reply.reported = model_->done_reported_o != 0;
    reply.held = model_->done_held_o != 0;
    if (model_->done_replaced_o != 0) reply.backup = model_->done_backup_o;
    return reply;
  }
  std::uint64_t csr(SprayCsr op, std::uint32_t slot, std::uint32_t index, std::uint64_t word) {
    model_->csr_valid_i = 1;
    model_->csr_op_i = static_cast<std::uint8_t>(op);
    model_->csr_slot_i = static_cast<std::uint16_t>(slot);
    model_->csr_index_i = static_cast<std::uint16_t>(index);
    model_->csr_wdata_i = word;
    offer();
    std::uint64_t waited = 1;
    while (model_->csr_rvalid_o == 0) step(waited);
    return model_->csr_rdata_o;
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Model> model_;
  OrderSource orders_;
  std::span<const EvIndex> order_;  ///< what is left of the order that goes in
  std::array<std::uint32_t, (kPlanes * kSprayCreditBits + 31) / 32> credit_{};
  std::uint64_t cycles_ = 0;
};

}  // namespace mrc
