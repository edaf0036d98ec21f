// A node's registered memory. With payload by reference nothing is allocated and addresses are only numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "mrc/random.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

class HostMemory {
 public:
  /// `random` fills source regions, so that content depends on the scenario's seed and this node only.
  HostMemory(PayloadMode mode, KeyedRandom random) : mode_(mode), random_(random) {}

  /// Registers a region with random content; returns its address, a multiple of 4 KiB.
  std::uint64_t add_source_region(std::uint64_t bytes);
  /// Registers a region of zeros.
  std::uint64_t add_destination_region(std::uint64_t bytes);

  /// Bytes at `address`; null with payload by reference. Precondition: the range lies in one registered region.
  const std::byte* data(std::uint64_t address, std::uint64_t bytes) const;
  /// Copies `bytes` from `source` to `address`; nothing happens with payload by reference.
  void write(std::uint64_t address, const std::byte* source, std::uint64_t bytes) {
    if (source == nullptr || ++writes_ == skipped_write_) return;
    std::memcpy(const_cast<std::byte*>(data(address, bytes)), source, bytes);
  }
  /// Negative control of the comparison at each completion: the `number`-th write, from 1, copies nothing.
  void skip_write(std::uint64_t number) { skipped_write_ = number; }
  PayloadMode mode() const { return mode_; }

 private:
  struct Region {
    std::uint64_t base;
    std::uint64_t bytes;
    std::vector<std::byte> content;
  };
  Region& add_region(std::uint64_t bytes);

  PayloadMode mode_;
  KeyedRandom random_;
  std::vector<Region> regions_;
  std::uint64_t writes_ = 0;
  std::uint64_t skipped_write_ = 0;
  std::uint64_t next_base_ = 1ULL << 40;
};

}  // namespace mrc
