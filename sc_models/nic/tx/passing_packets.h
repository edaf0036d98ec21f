// Packets that a box has given to a block that is clocked by its pins. They leave with its answers, in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "engine/box.h"
#include "nic/tx/segmenter.h"

namespace mrc::timing {

class PassingPackets {
 public:
  struct Passing {
    TxPacket tx;
    TimePs ready_at = 0;  ///< it could be taken from then on
    TimePs delay = 0;     ///< that memories add
  };

  std::uint32_t count() const { return static_cast<std::uint32_t>(packets_.size()); }
  void give(const Passing& packet) { packets_.push_back(packet); }
  /// The block has taken the next one. Precondition: one is given that it has not taken.
  Passing& begin() { return packets_[begun_++]; }
  /// The block has answered about the oldest one. Precondition: it has taken it.
  Passing leave() {
    const Passing oldest = packets_.front();
    packets_.pop_front();
    --begun_;
    return oldest;
  }
  void for_each_packet(const PacketVisitor& visit) const {
    for (const Passing& passing : packets_) visit(*passing.tx.packet);
  }

 private:
  std::deque<Passing> packets_;
  std::size_t begun_ = 0;  ///< of them, the block has taken
};

}  // namespace mrc::timing
