// Who may write where: protection domains, memory regions with their R_Keys, and the checks on each packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

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
enum class ProtectionFault : std::uint8_t { none, bad_rkey, wrong_domain, no_permission, out_of_bounds, bad_pkey, wrong_source };
inline constexpr std::size_t kProtectionFaults = 7;

class ProtectionTable {
 public:
  void add(const MemoryRegion& region) { regions_[region.rkey] = region; }
  void remove(std::uint32_t rkey) { regions_.erase(rkey); }

  /// Checks that `packet` may write its payload; bounds without overflow for any VA.
  ProtectionFault check(const Packet& packet, ProtectionDomain domain) const {
    const auto it = regions_.find(packet.rkey);
    if (it == regions_.end()) return ProtectionFault::bad_rkey;
    const MemoryRegion& region = it->second;
    if (region.domain != domain) return ProtectionFault::wrong_domain;
    if (!region.remote_write) return ProtectionFault::no_permission;
    const bool inside = packet.va >= region.va && packet.va - region.va <= region.bytes &&
                        packet.payload_bytes <= region.bytes - (packet.va - region.va);
    return inside ? ProtectionFault::none : ProtectionFault::out_of_bounds;
  }

 private:
  std::unordered_map<std::uint32_t, MemoryRegion> regions_;
};

}  // namespace mrc
