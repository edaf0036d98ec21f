// One end of a connection: both halves of its QP, what they share with other QPs of the node, and an oracle for each
// half.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "memory_image.h"
#include "mrc/control/path_table.h"
#include "mrc/random.h"
#include "mrc/rx/responder.h"
#include "mrc/rx/reverse_paths.h"
#include "mrc/tx/requestor.h"
#include "receiver_oracle.h"
#include "sender_oracle.h"
#include "watched_congestion.h"
#include "world_config.h"

namespace mrc::world {

/// A packet between taking and arriving, with what its receiver may not know.
struct Flight {
  Packet packet;
  std::uint64_t number = 0;   ///< data: of its PSN; SACK: of the cumulative edge; transport ACK: messages complete
  std::uint64_t base = 0;     ///< SACK: number of its bitmap's first PSN
  std::uint64_t trigger = 0;  ///< SACK: number of the packet that triggered it
  std::uint64_t units = 0;    ///< SACK: received bytes in units of 256, without a wrap
  std::uint64_t local_address = 0;
  std::uint32_t closes_messages = 0;
  std::uint32_t to = 0;  ///< endpoint
  SackTrigger sack_trigger;
};

struct Endpoint {
  Endpoint(const WorldConfig& config, std::uint32_t position, PathTable& path_table, WatchedCongestion& control,
           BitmapPool& bitmaps, const ProtectionTable& protection, Psn sending_from, Psn receiving_from)
      : id(position),
        paths(&path_table),
        congestion(&control),
        requestor(config.protocol, path_table, control, sending_from),
        responder(config.protocol, receiving_from, bitmaps, protection, position),
        reverse(config.planes, KeyedRandom(config.seed, 1000 + position)),
        sender(config.protocol, sending_from),
        receiver(config.protocol, receiving_from),
        memory(std::uint64_t{position + 1} << 40, config.protocol.mtu_bytes) {
    bring_up(requestor);
    bring_up(responder);
    responder.post_receive(config.protocol.receive_queue_depth);
  }

  /// What is posted to the peer's QP, as this end receives it.
  struct Incoming {
    std::uint64_t first_slot = 0;
    std::uint64_t slots = 0;
    std::uint32_t immediate = 0;
    bool write_imm = false;
  };

  std::uint32_t id;
  PathTable* paths;
  WatchedCongestion* congestion;
  Requestor requestor;
  Responder responder;
  ReversePaths reverse;
  SenderOracle sender;
  ReceiverOracle receiver;
  MemoryImage memory;
  std::vector<Incoming> incoming;
  std::deque<Flight*> pipeline;       ///< taken, not yet on an EV
  std::uint64_t acknowledged = 0;     ///< messages received that may be acknowledged
  std::uint64_t immediates_seen = 0;  ///< messages before the next WRITE_IMM to be received
  std::uint64_t forbidden_message = ~0ULL;
  TimePs timer_at = kNever;
  bool send_scheduled = false;
  bool waits_for_path = false;
  bool posted_after_failure = false;
  std::uint64_t next_local_address = 0;
  std::uint64_t progress = 0;
  std::array<Ev, PathTable::kMostPlanes> confirmed{};
  std::uint32_t confirmed_planes = 0;
  std::uint32_t reverse_reachable = ~0U;
  std::uint8_t last_reverse_plane = 0xFF;
  std::uint8_t penalty = 0;
  bool restore_due = false;  ///< no SACK since the penalty ended
};

}  // namespace mrc::world
