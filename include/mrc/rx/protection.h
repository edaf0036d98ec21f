// Access rights: protection domains, memory regions with their R_Keys, and the checks on each packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mrc/flat_index.h"
#include "mrc/packet.h"
#include "mrc/types.h"

namespace mrc {

using ProtectionDomain = std::uint32_t;

struct MemoryRegion {
  std::uint64_t va = 0;
  std::uint64_t bytes = 0;
  std::uint32_t rkey = 0;
  ProtectionDomain domain = 0;
  bool remote_write = true;
};

/// Why a packet was not allowed to write.
enum class ProtectionFault : std::uint8_t {
  none,
  bad_rkey,
  wrong_domain,
  no_permission,
  out_of_bounds,
  bad_pkey,
  wrong_source
};
inline constexpr std::size_t kProtectionFaults = 7;

class ProtectionTable {
 public:
  void add(const MemoryRegion& region) {
    const std::uint32_t at = index_.find(region.rkey);
    if (at != FlatIndex::kNone) {
      regions_[at] = region;
      return;
    }
    index_.insert(region.rkey, static_cast<std::uint32_t>(regions_.size()));
    regions_.push_back(region);
  }
  void remove(std::uint32_t rkey) {
    std::erase_if(regions_, [rkey](const MemoryRegion& region) { return region.rkey == rkey; });
    index_.clear();
    for (std::uint32_t at = 0; at < regions_.size(); ++at) index_.insert(regions_[at].rkey, at);
  }

  /// Checks that `packet` may write its payload; bounds without overflow for any VA.
  ProtectionFault check(const Packet& packet, ProtectionDomain domain) const {
    const std::uint32_t at = index_.find(packet.rkey);
    if (at == FlatIndex::kNone) return ProtectionFault::bad_rkey;
    const MemoryRegion& region = regions_[at];
    if (region.domain != domain) return ProtectionFault::wrong_domain;
    if (!region.remote_write) return ProtectionFault::no_permission;
    const bool inside = packet.va >= region.va && packet.va - region.va <= region.bytes &&
                        packet.payload_bytes <= region.bytes - (packet.va - region.va);
    return inside ? ProtectionFault::none : ProtectionFault::out_of_bounds;
  }

 private:
  std::vector<MemoryRegion> regions_;
  FlatIndex index_;  ///< by rkey
};

}  // namespace mrc
