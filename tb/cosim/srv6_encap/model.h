// Stimulus and reference of srv6_encap: whole packets in beats, with every mode, and the bytes that ring 1 has for
// them. The cycles in which beats are taken and offered are compared too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cosim/bench/bench.h"
#include "cosim/srv6_encap/beats.h"
#include "cosim/srv6_encap/cycles.h"
#include "cosim/srv6_encap/dut.h"
#include "mrc/tx/srv6_encap.h"

namespace mrc::cosim {

class Srv6EncapModel : public BlockModel,
                       public LevelsPart,
                       public OutputsPart,
                       public ReplayPart,
                       public TracePart,
                       public TrafficPart {
 public:
  Srv6EncapModel(std::uint32_t beat_bytes, MakeDut make_dut);

  ModelParts parts() override {
    return {.levels = this, .outputs = this, .replay = this, .trace = this, .traffic = this};
  }
  void reset(KeyedRandom& random, const Dut& dut) override;
  void reset_to_trace(KeyedRandom& random, const Dut& dut,
                      const std::map<std::string, std::uint64_t>& settings) override;
  bool offer(std::size_t port, KeyedRandom& random, Transaction& values) override;
  void accept(std::size_t port, const Transaction& values, std::vector<std::vector<Transaction>>& expected) override;
  bool adapt(std::size_t port, Transaction& values) const override;
  std::optional<Difference> observe(const Dut& dut, std::vector<std::vector<Transaction>>& expected) override;
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
  Srv6EncapCycles cycles_;
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
