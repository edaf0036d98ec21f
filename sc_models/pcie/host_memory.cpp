#include "pcie/host_memory.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace mrc {
namespace {}  // namespace

HostMemory::Region& HostMemory::add_region(std::uint64_t bytes) {
  Region region{.base = next_base_, .bytes = bytes, .content = {}};
  if (mode_ == PayloadMode::bytes) region.content.resize(bytes);
  next_base_ += (bytes + 2 * kPageBytes - 1) / kPageBytes * kPageBytes;
  regions_.push_back(std::move(region));
  return regions_.back();
}

std::uint64_t HostMemory::add_source_region(std::uint64_t bytes) {
  Region& region = add_region(bytes);
  for (std::uint64_t i = 0; i + sizeof(std::uint64_t) <= region.content.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = random_.next();
    std::memcpy(&region.content[i], &word, sizeof word);
  }
  return region.base;
}

std::uint64_t HostMemory::add_destination_region(std::uint64_t bytes, std::uint64_t slot_bytes) {
  Region& region = add_region(bytes);
  region.slot_bytes = slot_bytes;
  if (tracks_placement_) region.tallies.resize(bytes / slot_bytes);
  return region.base;
}

const HostMemory::Region& HostMemory::region_of(std::uint64_t address, std::uint64_t bytes) const {
  const auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                      [](std::uint64_t at, const Region& region) { return at < region.base; });
  if (after == regions_.begin() || address + bytes > (after - 1)->base + (after - 1)->bytes) {
    throw std::logic_error(fmt::format("{} bytes at address {:#x} are not in registered memory", bytes, address));
  }
  return *(after - 1);
}

const std::byte* HostMemory::data(std::uint64_t address, std::uint64_t bytes) const {
  if (mode_ == PayloadMode::reference) return nullptr;
  const Region& region = region_of(address, bytes);
  return region.content.data() + (address - region.base);
}

}  // namespace mrc
