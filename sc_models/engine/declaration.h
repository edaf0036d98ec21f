// What a box declares of itself, once, where it lives. Ledger, limits, accounts, waves and timeline ask for it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/cause.h"
#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

class Box;
class Occupancy;

/// Parts of a NIC, in the order in which results list them.
enum class NicPart : std::uint8_t { none, transmit, pcie, receive, control, ports };

/// What a box does with packets.
enum class Handling : std::uint8_t {
  none,
  makes,   ///< packets begin here
  passes,  ///< hands on each packet that it takes
  ends     ///< hands on, or lets go, what it took before it takes the next
};

/// Where a box is in the picture of the NIC. A box without a part belongs to no NIC.
struct BoxPlace {
  std::string name = "";  ///< as results print it
  NicPart part = NicPart::none;
  std::string behind = "";  ///< name of the box before it in the picture; empty: the first
  Handling packets = Handling::none;
  std::int32_t instance = -1;  ///< of several boxes of this name, from 0; -1: there is one

  std::string full_name() const { return instance < 0 ? name : name + std::to_string(instance); }
};

using PacketVisitor = std::function<void(const Packet&)>;

/// A buffer, queue or pool of a box.
struct DeclaredBuffer {
  enum class Moves : std::uint8_t { none, items, packets };

  const Occupancy* occupancy = nullptr;
  Moves moves = Moves::none;          ///< of a queue
  bool is_sized = true;               ///< false: follows from another buffer's size, so results do not list it
  bool from_wire = false;             ///< packets enter it as they arrive at the ports
  std::string maker = "";             ///< box that makes the packets which appear here first; empty: none does
  CauseTable::Taker taker = nullptr;  ///< of a queue
  std::function<void(const PacketVisitor&)> for_each_packet =
      {};  ///< that it holds and an account counts; may be empty
};

/// Serves one item after another. Each takes `interval_ps`, and with `gbps` at least the time of its bytes.
struct DeclaredServer {
  Cause cause;             ///< of what waits because it is busy
  TimePs interval_ps = 0;  ///< per item
  double gbps = 0;         ///< 0: its time does not depend on bytes
};

/// Where a token is between being taken and being returned.
enum class TokenWay : std::uint8_t {
  next_box,    ///< in a queue, until the box behind takes the entry
  pcie_read,   ///< at the host, until the data of a read has come and been used
  pcie_write,  ///< at the host, until a posted write has been taken
  software,    ///< at the host, until its software has polled
  network,     ///< at the peer, until it acknowledges
  peer_data    ///< until the peer sends what is missing
};

/// A pool of equal tokens; who finds none waits.
struct DeclaredTokens {
  Cause cause;  ///< of what waits because there is none
  std::uint64_t capacity = 0;
  std::string unit = "";
  std::string taken_by = "";     ///< box
  std::string returned_by = "";  ///< box
  TokenWay way = TokenWay::next_box;
};

}  // namespace mrc
