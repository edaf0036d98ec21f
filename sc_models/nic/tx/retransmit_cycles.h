// Cycles that the SystemC boxes charge a command of retransmit_buffer: a packet's interval is that of its append and
// its sent; a SACK and the look for gaps behind it have the interval of sack_processor, and a cycle for each PSN and
// bit.
#pragma once

#include <bit>
#include <cstdint>

#include "engine/rtl_path.h"
#include "mrc/tx/retransmit_command.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

/// Taking a lost packet, where a new one has its append.
inline constexpr std::uint64_t kTakeCycles = 9;

/// Of a SACK, beyond its interval: one for each PSN that the QP's old end passes and each bit of the bitmap.
inline std::uint64_t sack_scan_cycles(Psn unacked_before, Psn unacked_after, std::uint64_t bitmap) {
  return static_cast<std::uint64_t>(psn_distance(unacked_after, unacked_before) + std::popcount(bitmap));
}

/// `scan_cycles`: of an ack, sack_scan_cycles().
inline RtlCycles retransmit_cycles(const NicConfig& nic, RetransmitOp op, std::uint64_t scan_cycles) {
  constexpr std::uint64_t gap_cycles = 5;
  const PipelineConfig& packet = nic.retransmit_buffer.pipeline;
  switch (op) {
    case RetransmitOp::ack: {
      const std::uint64_t held = nic.sack_processor.pipeline.initiation_interval_cycles + scan_cycles;
      return {held - gap_cycles, held - gap_cycles + 1};
    }
    case RetransmitOp::gap:
      return {gap_cycles, gap_cycles + 1};
    case RetransmitOp::take:
      return {kTakeCycles, kTakeCycles + 1};
    case RetransmitOp::append:
      return {packet.initiation_interval_cycles - 1, packet.latency_cycles};
    default:
      return {1, packet.latency_cycles};
  }
}

}  // namespace mrc
