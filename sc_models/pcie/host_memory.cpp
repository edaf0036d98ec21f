#include "pcie/host_memory.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

namespace mrc {

HostMemory::Region& HostMemory::add_region(std::uint64_t bytes) {
  Region region{.base = next_base_, .bytes = bytes};
  if (mode_ == PayloadMode::bytes && bytes > 0) {
    // Pages of zeros take no memory until something is in them.
    region.content.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));
    if (!region.content) throw std::bad_alloc();
  }
  next_base_ += (bytes + 2 * kPageBytes - 1) / kPageBytes * kPageBytes;
  bases_.push_back(region.base);
  regions_.push_back(std::move(region));
  return regions_.back();
}

std::uint64_t HostMemory::add_source_region(std::uint64_t bytes) {
  Region& region = add_region(bytes);
  if (!region.content) return region.base;
  region.random = random_;
  random_ = random_.after(bytes / sizeof(std::uint64_t));
  region.pages_to_fill.assign((bytes + kPageBytes - 1) / kPageBytes, true);
  return region.base;
}

void HostMemory::fill(const Region& region, std::uint64_t from, std::uint64_t until) {
  for (std::uint64_t page = from / kPageBytes; page * kPageBytes < until; ++page) {
    if (!region.pages_to_fill[page]) continue;
    region.pages_to_fill[page] = false;
    const std::uint64_t end = std::min((page + 1) * kPageBytes, region.bytes);
    KeyedRandom random = region.random.after(page * kPageBytes / sizeof(std::uint64_t));
    for (std::uint64_t at = page * kPageBytes; at + sizeof(std::uint64_t) <= end; at += sizeof(std::uint64_t)) {
      const std::uint64_t word = random.next();
      std::memcpy(region.content.get() + at, &word, sizeof word);
    }
  }
}

std::uint64_t HostMemory::add_destination_region(std::uint64_t bytes, std::uint64_t slot_bytes) {
  Region& region = add_region(bytes);
  region.slot_bytes = slot_bytes;
  if (tracks_placement_) region.tallies.resize(bytes / slot_bytes);
  return region.base;
}

const HostMemory::Region& HostMemory::region_of(std::uint64_t address, std::uint64_t bytes) const {
  const auto holds = [&](const Region& region) {
    return address >= region.base && address + bytes <= region.base + region.bytes;
  };
  // Most often all regions have one size; then it is this one, without a search.
  const std::uint64_t alike =
      regions_.empty() ? 0 : (address - kFirstBase) * regions_.size() / (next_base_ - kFirstBase);
  if (alike < regions_.size() && holds(regions_[alike])) return regions_[alike];
  const auto after = std::upper_bound(bases_.begin(), bases_.end(), address);
  if (after != bases_.begin()) {
    const Region& region = regions_[static_cast<std::size_t>(after - bases_.begin()) - 1];
    if (holds(region)) return region;
  }
  throw std::logic_error(fmt::format("{} bytes at address {:#x} are not in registered memory", bytes, address));
}

const std::byte* HostMemory::data(std::uint64_t address, std::uint64_t bytes) const {
  if (mode_ == PayloadMode::reference) return nullptr;
  if (others_ != nullptr) return others_->read(address, bytes);
  const Region& region = region_of(address, bytes);
  const std::uint64_t from = address - region.base;
  if (!region.pages_to_fill.empty()) fill(region, from, from + bytes);
  return region.content.get() + from;
}

}  // namespace mrc
