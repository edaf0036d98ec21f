#include "pcie/host_memory.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "engine/huge_pages.h"

namespace mrc {

HostMemory::Region& HostMemory::add_region(std::uint64_t bytes) {
  Region region{.base = next_base_, .bytes = bytes};
  if (mode_ == PayloadMode::bytes && bytes > 0) {
    // Pages of zeros take no memory until something is in them.
    region.content.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));
    if (!region.content) throw std::bad_alloc();
    ask_for_huge_pages(region.content.get(), bytes);
  }
  next_base_ += (bytes + 2 * kPageBytes - 1) / kPageBytes * kPageBytes;
  region_at_.clear();
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

void HostMemory::divide() const {
  constexpr std::uint64_t parts_per_region = 4;
  const std::uint64_t span = next_base_ - kFirstBase;
  part_bits_ = static_cast<unsigned>(std::bit_width(span / (parts_per_region * regions_.size())));
  std::uint32_t region = 0;
  // One more than there are, so that each part has one behind it.
  for (std::uint64_t part = 0; part <= (span >> part_bits_) + 1; ++part) {
    const std::uint64_t first = kFirstBase + (part << part_bits_);
    while (region + 1 < regions_.size() && regions_[region + 1].base <= first) ++region;
    region_at_.push_back(region);
  }
}

const HostMemory::Region& HostMemory::region_of(std::uint64_t address, std::uint64_t bytes) const {
  if (address >= kFirstBase && address < next_base_) {
    if (region_at_.empty()) divide();
    const std::uint64_t part = (address - kFirstBase) >> part_bits_;
    const auto first = regions_.begin() + region_at_[part];
    const auto last = regions_.begin() + region_at_[part + 1];
    const auto starts_behind = [](std::uint64_t at, const Region& region) { return at < region.base; };
    const Region& region = *std::prev(std::upper_bound(first + 1, last + 1, address, starts_behind));
    if (address + bytes <= region.base + region.bytes) return region;
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
