#include "host/host_memory.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace mrc {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

HostMemory::Region& HostMemory::add_region(std::uint64_t bytes) {
  Region region{next_base_, bytes, {}};
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

std::uint64_t HostMemory::add_destination_region(std::uint64_t bytes) { return add_region(bytes).base; }

const std::byte* HostMemory::data(std::uint64_t address, std::uint64_t bytes) const {
  if (mode_ == PayloadMode::reference) return nullptr;
  const auto after = std::upper_bound(regions_.begin(), regions_.end(), address,
                                      [](std::uint64_t at, const Region& region) { return at < region.base; });
  if (after == regions_.begin() || address + bytes > (after - 1)->base + (after - 1)->bytes) {
    throw std::logic_error(fmt::format("{} bytes at address {:#x} are not in registered memory", bytes, address));
  }
  const Region& region = *(after - 1);
  return region.content.data() + (address - region.base);
}

}  // namespace mrc
