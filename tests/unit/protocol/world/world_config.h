// What one world is like: protocol parameters, faults of the network, resources of the receivers. All drawn from a
// seed.
#pragma once

#include <cstdint>

#include "mrc/protocol_config.h"
#include "mrc/types.h"

namespace mrc::world {

/// Probabilities of what happens to one packet on its way.
struct Faults {
  double loss = 0;
  double corruption = 0;  ///< found by the ICRC, so a loss at the receiver
  double duplication = 0;
  double trim = 0;
  double ce = 0;
  TimePs latency_ps = 2 * kPsPerUs;
  TimePs spread_ps = 0;  ///< added uniformly, which reorders
};

struct WorldConfig {
  std::uint64_t seed = 0;
  std::uint64_t events = 10'000;  ///< no new work is posted after this many
  ProtocolConfig protocol;
  CongestionConfig congestion;
  std::uint32_t planes = 4;
  std::uint32_t connections = 1;  ///< between the same two nodes
  bool both_directions = true;
  std::uint32_t most_packets = 200;  ///< of a message
  std::uint32_t queue_depth = 16;    ///< messages posted and not complete
  double write_imm_share = 0.3;
  Psn first_psn = 0;  ///< of each direction, plus its number
  Faults data;
  Faults control;
  std::uint32_t bitmap_banks = 1024;
  std::uint32_t staging_packets = 1024;
  double no_resource = 0;
  TimePs send_gap_ps = 100 * kPsPerNs;  ///< between packets of a QP
  TimePs pipeline_ps = 200 * kPsPerNs;  ///< most time between taking a packet and sending it
  TimePs dma_ps = kPsPerUs;             ///< most time until a payload is written
  TimePs answer_ps = 0;                 ///< most time between a packet and the building of its SACK
  double blackhole = 0;                 ///< of an EV, per packet sent
  double port_change = 0;               ///< of the reachable ports, per packet sent
  double denial = 0;                    ///< of an EV by the controller, per packet sent
  double penalty_change = 0;            ///< of the receiver's penalty, per packet received
  double stray = 0;                     ///< of a packet from outside the window, per packet received
  bool forbidden_write = false;         ///< one message of each sender may not be written
};

/// The world of `seed`: every fault on, each with a rate of its own; a third begins near the end of the PSN space.
WorldConfig draw_world(std::uint64_t seed);

}  // namespace mrc::world
