// A packet in the fabric, in three cache lines: the fields that each hop reads are in the last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

/// Queues of an output port, in the order of strict service.
enum class FabricClass : std::uint8_t { control, retransmission, data };
inline constexpr std::size_t kFabricClasses = 3;

struct alignas(64) Transit {
  Packet packet;
  Ipv6Address carrier;        ///< as the switches shift it
  TimePs last_bit = 0;        ///< when its last bit can leave the switch that it is in, at the earliest
  std::uint32_t bytes = 0;    ///< on the link, preamble and gap included
  std::uint32_t next = 0;     ///< next in the queue of a port
  std::uint32_t ingress = 0;  ///< link over which it came into the switch
  std::uint32_t out = 0;      ///< link on which it leaves the switch that it goes to next, where its carrier says so
  FabricClass queue = FabricClass::data;
  std::uint8_t traffic_class = 0;
  std::uint8_t plane = 0;
  std::uint8_t hop_limit = 0;
};
static_assert(offsetof(Transit, carrier) >= 128 && sizeof(Transit) == 192);

/// Transits by a number of 24 bits, which an event carries.
class TransitPool {
 public:
  static constexpr std::uint32_t kNone = 0xFF'FFFF;

  std::uint32_t acquire() {
    if (free_.empty()) grow();
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void release(std::uint32_t index) { free_.push_back(index); }
  Transit& operator[](std::uint32_t index) { return slabs_[index / kSlab][index % kSlab]; }
  const Transit& operator[](std::uint32_t index) const { return slabs_[index / kSlab][index % kSlab]; }
  std::uint64_t in_use() const { return slabs_.size() * kSlab - free_.size(); }

 private:
  static constexpr std::uint32_t kSlab = 512;  ///< few: a short run begins with one
  void grow() {
    const auto first = static_cast<std::uint32_t>(slabs_.size()) * kSlab;
    slabs_.push_back(std::make_unique<Transit[]>(kSlab));
    free_.reserve(slabs_.size() * kSlab);
    for (std::uint32_t i = kSlab; i > 0; --i) free_.push_back(first + i - 1);
  }

  std::vector<std::unique_ptr<Transit[]>> slabs_;
  std::vector<std::uint32_t> free_;
};

}  // namespace mrc
