// Stimulus and reference of srv6_encap: whole packets in beats, with every mode, and the bytes that ring 1 has for
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/bench/verilated_dut.h"
#include "mrc/tx/srv6_encap.h"

namespace mrc::cosim {

/// `beat_bytes`: width of the block that was Verilated.
template <typename Model>
std::unique_ptr<Dut> make_srv6_encap_dut(std::uint64_t seed, std::uint32_t beat_bytes) {
  auto dut = std::make_unique<VerilatedDut<Model>>(seed);
  Model& m = dut->model();
  dut->ports.push_back(Port("in", Direction::in, m.in_valid_i, m.in_ready_o)
                           .field("bytes", m.in_bytes_i)
                           .field("sop", m.in_sop_i)
                           .field("eop", m.in_eop_i)
                           .field("locator", m.locator_i)
                           .wide_field("usid", m.usid_i, 3)
                           .field("usid_count", m.usid_count_i)
                           .field("uplink_position", m.uplink_position_i)
                           .wide_field("source", m.source_i, 4)
                           .field("flow_label", m.flow_label_i)
                           .field("uplink", m.uplink_i)
                           .field("payload_length", m.payload_length_i)
                           .field("plane", m.plane_i)
                           .field("hop_limit", m.hop_limit_i)
                           .field("dscp", m.dscp_i)
                           .field("ecn", m.ecn_i)
                           .field("srh", m.srh_i)
                           .field("icrc", m.icrc_i)
                           .wide_field("data", m.in_data_i, beat_bytes / 4));
  dut->ports.push_back(Port("out", Direction::out, m.out_valid_o, m.out_ready_i)
                           .field("bytes", m.out_bytes_o)
                           .field("sop", m.out_sop_o)
                           .field("eop", m.out_eop_o)
                           .wide_field("data", m.out_data_o, beat_bytes / 4));
  return dut;
}

/// A packet without ICRC mode as transfers of the port `in`.
std::vector<Transaction> srv6_encap_beats(const Srv6EncapInput& input, std::span<const std::byte> packet,
                                          std::uint32_t beat_bytes);

class Srv6EncapModel : public BlockModel {
 public:
  using MakeDut = std::function<std::unique_ptr<Dut>(std::uint64_t seed, std::uint32_t beat_bytes)>;

  Srv6EncapModel(std::uint32_t beat_bytes, MakeDut make_dut);

  std::unique_ptr<Dut> make_dut(std::uint64_t seed) const override { return make_dut_(seed, beat_bytes_); }
  void reset(KeyedRandom& random, const Dut& dut) override;
  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  bool legal(std::size_t port, const Transaction& values) const override;
  void taken(std::size_t port, const Transaction& values) override;
  void hide(std::size_t port, const Transaction& cause, Transaction& values) const override;
  std::string meaning(std::size_t port, std::size_t field, std::uint64_t expected, std::uint64_t actual) const override;

  void reset_to_traffic(KeyedRandom& random, const Dut& dut) override;
  SystemcCycles systemc_cycles(const SystemcCycles& pipeline) const override {
    return {std::max(pipeline.occupied, beats_out_), pipeline.latency};
  }

 private:
  /// A packet that is sent beat by beat.
  struct Sending {
    Srv6EncapInput input;
    bool icrc = false;
    std::vector<std::byte> bytes;
    std::size_t sent = 0;
  };
  /// A packet that has not quite come out.
  struct Inside {
    std::size_t header_bytes = 0;
    std::size_t bytes = 0;  ///< 0 until the packet is whole
    bool icrc = false;
  };
  struct Points {
    std::size_t mode, change, ending, icrc, icrc_spill, usids, uplink, plane;
  };

  void draw_packet(KeyedRandom& random);
  std::size_t draw_length(KeyedRandom& random, std::size_t added) const;
  void begin_packet(const Transaction& values);
  void end_packet();
  void count_packet(std::size_t inner_bytes);
  Transaction next_beat(bool first, bool last);

  std::uint32_t beat_bytes_;
  MakeDut make_dut_;
  Points points_{};

  std::vector<std::uint64_t> modes_;  ///< that this episode draws from: bit 0 SRH, bit 1 ICRC
  bool small_packets_ = false;
  bool traffic_ = false;
  Sending sending_;
  // The packet that is being accepted.
  bool in_packet_ = false;
  bool first_out_ = true;
  std::uint64_t mode_ = 0;
  std::uint64_t mode_before_ = 0;
  std::uint64_t beats_in_ = 0;
  std::uint64_t beats_out_ = 0;     ///< of the beat that was accepted last
  std::vector<std::byte> inner_;    ///< of the packet so far
  std::vector<std::byte> leaving_;  ///< bytes that no output beat has yet
  std::deque<Inside> inside_;
  std::size_t out_at_ = 0;  ///< bytes of the oldest packet inside that were taken
};

}  // namespace mrc::cosim
