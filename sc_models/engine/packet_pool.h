// Packets of one NIC, reused: no allocation in steady state. A packet never leaves the NIC of its pool; links carry
// values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mrc/packet.h"

namespace mrc {

class PacketPool {
 public:
  /// A packet with default fields.
  Packet* acquire() {
    if (free_.empty()) grow();
    Packet* packet = free_.back();
    free_.pop_back();
    // In place, as in RetransmitBuffer::append().
    return std::construct_at(packet);
  }
  void release(Packet* packet) { free_.push_back(packet); }
  std::uint64_t in_use() const { return slabs_.size() * kSlab - free_.size(); }

 private:
  static constexpr std::size_t kSlab = 256;
  void grow() {
    slabs_.push_back(std::make_unique<Packet[]>(kSlab));
    free_.reserve(slabs_.size() * kSlab);
    for (std::size_t i = kSlab; i > 0; --i) free_.push_back(&slabs_.back()[i - 1]);
  }

  std::vector<std::unique_ptr<Packet[]>> slabs_;
  std::vector<Packet*> free_;
};

}  // namespace mrc
