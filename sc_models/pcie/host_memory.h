// A node's registered memory. With payload by reference nothing is allocated and addresses are only numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "mrc/random.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

/// Of the host: regions are whole pages.
inline constexpr std::uint64_t kPageBytes = 4096;

/// Record of the writes into a slot, for payload by reference: bytes, writes, and a sum over their positions, which
/// agrees only if every range was written exactly once.
struct PlacementTally {
  std::uint64_t bytes = 0;
  std::uint64_t writes = 0;
  std::uint64_t sum = 0;

  void add(std::uint64_t address, std::uint64_t length) {
    bytes += length;
    ++writes;
    sum += mix64(address * 0x1'0001 + length);
  }
  friend bool operator==(const PlacementTally&, const PlacementTally&) = default;
};

/// Memory of other processes, for software that is not the model's own.
class OtherMemory {
 public:
  virtual ~OtherMemory() = default;
  /// Bytes as they are now, which stay until the packet that carries them is gone. Where they cannot be read, zeros.
  virtual const std::byte* read(std::uint64_t address, std::uint64_t bytes) = 0;
  /// Software sees the bytes at `at`; they are copied. Times may go back between calls.
  virtual void write(TimePs at, std::uint64_t address, const std::byte* source, std::uint64_t bytes) = 0;
};

class HostMemory {
 public:
  /// `random` fills source regions, so that content depends on the scenario's seed and this node only.
  HostMemory(PayloadMode mode, KeyedRandom random) : mode_(mode), random_(random) {}

  /// Registers a region with random content; returns its address, a multiple of 4 KiB.
  std::uint64_t add_source_region(std::uint64_t bytes);
  /// Registers a region of zeros, in slots of `slot_bytes` each of which holds one piece of a message.
  std::uint64_t add_destination_region(std::uint64_t bytes, std::uint64_t slot_bytes);

  /// `visit(address, bytes)` is called for each region, in the order of their registration.
  template <typename Visit>
  void for_each_region(const Visit& visit) const {
    for (const Region& region : regions_) visit(region.base, region.bytes);
  }

  /// Bytes at `address`; null with payload by reference. Precondition: the range lies in one registered region.
  const std::byte* data(std::uint64_t address, std::uint64_t bytes) const;
  /// Copies `bytes` from `source` to `address`; with payload by reference it is at most tallied.
  void write(std::uint64_t address, const std::byte* source, std::uint64_t bytes) {
    if (source == nullptr || mode_ == PayloadMode::reference) {
      if (tracks_placement_ && ++writes_ != skipped_write_) tally_at(address).add(address, bytes);
      return;
    }
    if (++writes_ == skipped_write_) return;
    std::memcpy(const_cast<std::byte*>(data(address, bytes)), source, bytes);
  }
  /// As write(), where it matters when software sees the bytes.
  void write_at(TimePs visible, std::uint64_t address, const std::byte* source, std::uint64_t bytes) {
    if (others_ == nullptr) return write(address, source, bytes);
    others_->write(visible, address, source, bytes);
  }
  /// All memory is that of other processes from now on.
  void use(OtherMemory& others) { others_ = &others; }
  /// Negative control of the comparison at each completion: the `number`-th write, from 1, copies nothing.
  void skip_write(std::uint64_t number) { skipped_write_ = number; }
  PayloadMode mode() const { return mode_; }

  /// Writes without bytes are tallied by slot from now on.
  void track_placement() { tracks_placement_ = true; }
  bool tracks_placement() const { return tracks_placement_; }
  /// The writes into the slot at `address` since the last call.
  PlacementTally take_placement(std::uint64_t address) { return std::exchange(tally_at(address), {}); }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  /// What a tallied write looks at is in its first cache line.
  struct alignas(64) Region {
    std::uint64_t base;
    std::uint64_t bytes;
    std::uint64_t slot_bytes = 0;
    std::vector<PlacementTally> tallies{};
    std::unique_ptr<std::byte, Free> content{};  ///< null: payload by reference
    KeyedRandom random{};                        ///< of a source region: its content
    mutable std::vector<bool> pages_to_fill{};   ///< of a source region: that nobody has read yet
  };
  static void fill(const Region& region, std::uint64_t from, std::uint64_t until);
  const Region& region_of(std::uint64_t address, std::uint64_t bytes) const;
  PlacementTally& tally_at(std::uint64_t address) {
    Region& region = const_cast<Region&>(region_of(address, 1));
    return region.tallies[(address - region.base) / region.slot_bytes];
  }
  Region& add_region(std::uint64_t bytes);
  void divide() const;

  PayloadMode mode_;
  OtherMemory* others_ = nullptr;  ///< null: the regions are all there is
  KeyedRandom random_;
  std::vector<Region> regions_;
  // The addresses of all regions are divided into parts of equal length, a few for each region: a search looks at the
  // regions of one part, which are one or two where sizes are not too unequal.
  mutable unsigned part_bits_ = 0;                ///< a part has 2^part_bits_ bytes
  mutable std::vector<std::uint32_t> region_at_;  ///< by part: that of its first byte; empty after a change
  bool tracks_placement_ = false;
  std::uint64_t writes_ = 0;
  std::uint64_t skipped_write_ = 0;
  static constexpr std::uint64_t kFirstBase = 1ULL << 40;
  std::uint64_t next_base_ = kFirstBase;
};

}  // namespace mrc
