// Stimulus and reference of ack_coalescer: include/mrc/rx/ack_coalescer.h a QP.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/bench/verilated_dut.h"
#include "mrc/rx/ack_coalescer.h"

namespace mrc::cosim {

/// Ports 0 (events in) and 1 (SACKs out) of a Verilated ack_coalescer_flat.
template <typename Model>
std::unique_ptr<Dut> make_ack_coalescer_dut(std::uint64_t seed) {
  auto dut = std::make_unique<VerilatedDut<Model>>(seed);
  Model& m = dut->model();
  dut->ports.push_back(Port("evt", Direction::in, m.evt_valid_i, m.evt_ready_o)
                           .field("event", m.evt_event_i)
                           .field("qp", m.evt_qp_i)
                           .field("payload_bytes", m.evt_payload_bytes_i)
                           .field("retransmission", m.evt_retransmission_i)
                           .field("psn", m.evt_psn_i)
                           .field("ev", m.evt_ev_i)
                           .field("tx_timestamp", m.evt_tx_timestamp_i)
                           .field("probe_id", m.evt_probe_id_i)
                           .field("ce", m.evt_ce_i)
                           .field("ack_request", m.evt_ack_request_i)
                           .field("probe", m.evt_probe_i));
  dut->ports.push_back(Port("sack", Direction::out, m.sack_valid_o, m.sack_ready_i)
                           .field("qp", m.sack_qp_o)
                           .field("causes", m.sack_causes_o)
                           .field("counter_bytes", m.sack_counter_bytes_o)
                           .field("psn", m.sack_psn_o)
                           .field("ev", m.sack_ev_o)
                           .field("tx_timestamp", m.sack_tx_timestamp_o)
                           .field("probe_id", m.sack_probe_id_o)
                           .field("ce", m.sack_ce_o)
                           .field("ack_request", m.sack_ack_request_o)
                           .field("probe", m.sack_probe_o));
  dut->constants.push_back({"threshold_bytes", Pin(m.threshold_bytes_i)});
  dut->constants.push_back({"min_add_bytes", Pin(m.min_add_bytes_i)});
  return dut;
}

class AckCoalescerModel : public BlockModel {
 public:
  using MakeDut = std::function<std::unique_ptr<Dut>(std::uint64_t seed)>;

  AckCoalescerModel(std::uint32_t qps, MakeDut make_dut);

  std::unique_ptr<Dut> make_dut(std::uint64_t seed) const override { return make_dut_(seed); }
  void reset(KeyedRandom& random, const Dut& dut) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  bool legal(std::size_t port, const Transaction& values) const override;
  /// That no event is held up without need, and no SACK comes later than it could.
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
  void taken(std::size_t port, const Transaction& values) override;

 private:
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
    std::size_t causes, event, counter, payload, back_to_back;
  };

  std::uint32_t qps_;
  MakeDut make_dut_;
  Points points_{};
  ProtocolConfig config_;
  Pipeline pipeline_;
  std::vector<std::optional<SackTriggers>> triggers_;
  std::uint32_t busy_qps_ = 1;
  double marks_ = 0.1;
  double others_ = 0.1;      ///< events other than data packets
  double setups_ = 0.01;     ///< QPs that begin anew
  double near_least_ = 0.1;  ///< payloads of about min_add_bytes
  std::uint64_t last_qp_ = ~0ULL;
};

}  // namespace mrc::cosim
