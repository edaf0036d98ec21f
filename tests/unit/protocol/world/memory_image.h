// The receiver's memory, a slot a packet: what must be written there, and how often it was.
#pragma once

#include <cstdint>
#include <vector>

#include "mrc/tx/work_request.h"
#include "violation.h"

namespace mrc::world {

class MemoryImage {
 public:
  MemoryImage(std::uint64_t va, std::uint32_t mtu_bytes) : va_(va), mtu_bytes_(mtu_bytes) {}

  /// Gives `request` a place that begins `skew` (below the MTU) bytes behind a slot; returns its first slot.
  std::uint64_t add(WorkRequest& request, std::uint32_t skew) {
    const std::uint64_t first = slots_.size();
    request.remote_address = va_ + first * mtu_bytes_ + skew;
    for (std::uint32_t done = 0; done < request.bytes;) {
      const std::uint32_t left = request.bytes - done;
      const std::uint32_t bytes = left < mtu_bytes_ ? left : mtu_bytes_;
      slots_.push_back({request.local_address + done, bytes, skew, 0});
      done += bytes;
    }
    return first;
  }
  /// A write of what lies at `local_address` in the sender's memory.
  void write(std::uint64_t va, std::uint32_t bytes, std::uint64_t local_address) {
    const std::uint64_t index = (va - va_) / mtu_bytes_;
    require(va >= va_ && index < slots_.size(), "a write to VA {:#x}, where no message goes", va);
    Slot& slot = slots_[index];
    require((va - va_) % mtu_bytes_ == slot.skew, "a write to VA {:#x}, which is not where a packet begins", va);
    require(bytes == slot.bytes, "a write of {} B to a place for {} B", bytes, slot.bytes);
    require(local_address == slot.local_address, "VA {:#x} gets the bytes of {:#x} instead of {:#x}", va, local_address,
            slot.local_address);
    ++slot.writes;
    require(slot.writes == 1, "VA {:#x} is written {} times", va, slot.writes);
  }
  /// Every slot of `first` … `first + count - 1` was written.
  bool written(std::uint64_t first, std::uint64_t count) const {
    for (std::uint64_t i = first; i < first + count; ++i) {
      if (slots_[i].writes != 1) return false;
    }
    return true;
  }

 private:
  struct Slot {
    std::uint64_t local_address;
    std::uint32_t bytes;
    std::uint32_t skew;
    std::uint32_t writes;
  };

  std::uint64_t va_;
  std::uint32_t mtu_bytes_;
  std::vector<Slot> slots_;
};

}  // namespace mrc::world
