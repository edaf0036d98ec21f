#include "cosim/ack_coalescer/rtl.h"

#include <stdexcept>

#include <fmt/format.h>

#include "Vack_coalescer_16384.h"
#include "cosim/pin.h"

namespace mrc {
namespace {

/// One event at a time: two clock cycles, after which its SACK is on the wires or there is none.
class AckCoalescerRtl : public AckCoalescerEngine {
 public:
  AckCoalescerRtl(std::uint32_t threshold_bytes, std::uint32_t min_add_bytes)
      : context_(std::make_unique<VerilatedContext>()), model_(std::make_unique<Vack_coalescer_16384>(context_.get())) {
    put(model_->threshold_bytes_i, threshold_bytes);
    put(model_->min_add_bytes_i, min_add_bytes);
    model_->sack_ready_i = 1;
    model_->rst_ni = 0;
    clock();
    clock();
    model_->rst_ni = 1;
    cycles_ = 0;
  }
  ~AckCoalescerRtl() override { model_->final(); }

  void set_up(std::uint32_t qp) override {
    if (qp >= kAckCoalescerQps) {
      throw std::invalid_argument(
          fmt::format("RTL of ack_coalescer is built for {} QPs; the scenario has more", kAckCoalescerQps));
    }
    offer(qp, 0);
  }
  AckReply event(std::uint32_t qp, const SackQuestion& question) override {
    put(model_->evt_payload_bytes_i, question.payload_bytes);
    model_->evt_retransmission_i = question.retransmission ? 1 : 0;
    const SackTrigger& trigger = question.trigger;
    model_->evt_psn_i = trigger.psn;
    model_->evt_ev_i = trigger.ev;
    model_->evt_tx_timestamp_i = trigger.tx_timestamp;
    model_->evt_probe_id_i = trigger.probe_id;
    model_->evt_ce_i = trigger.ce ? 1 : 0;
    model_->evt_ack_request_i = trigger.ack_request ? 1 : 0;
    model_->evt_probe_i = trigger.probe ? 1 : 0;
    offer(qp, static_cast<std::uint8_t>(question.event));
    AckReply reply;
    reply.occupied_cycles = 1;
    if (model_->sack_valid_o == 0) return reply;
    reply.latency_cycles = 2;
    SackOwed& sack = reply.sack.emplace();
    sack.causes = model_->sack_causes_o;
    sack.counter_bytes = model_->sack_counter_bytes_o;
    sack.trigger = {.psn = model_->sack_psn_o,
                    .ev = model_->sack_ev_o,
                    .tx_timestamp = model_->sack_tx_timestamp_o,
                    .probe_id = model_->sack_probe_id_o,
                    .ce = model_->sack_ce_o != 0,
                    .ack_request = model_->sack_ack_request_o != 0,
                    .probe = model_->sack_probe_o != 0};
    return reply;
  }
  std::uint64_t cycles() const override { return cycles_; }

 private:
  void clock() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
    ++cycles_;
  }
  void offer(std::uint32_t qp, std::uint8_t event) {
    put(model_->evt_event_i, event);
    put(model_->evt_qp_i, qp);
    model_->evt_valid_i = 1;
    clock();
    model_->evt_valid_i = 0;
    clock();
  }

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vack_coalescer_16384> model_;
  std::uint64_t cycles_ = 0;
};

}  // namespace

std::unique_ptr<AckCoalescerEngine> make_ack_coalescer_rtl(std::uint32_t threshold_bytes, std::uint32_t min_add_bytes) {
  return std::make_unique<AckCoalescerRtl>(threshold_bytes, min_add_bytes);
}

}  // namespace mrc
