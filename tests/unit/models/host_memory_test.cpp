// Registered memory: which region an address belongs to.
#include "pcie/host_memory.h"

#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "mrc/random.h"

namespace mrc {
namespace {

struct Given {
  std::uint64_t base;
  std::uint64_t bytes;
};

/// `sizes` in turn, `count` regions.
std::vector<Given> add_regions(HostMemory& memory, const std::vector<std::uint64_t>& sizes, std::uint32_t count) {
  std::vector<Given> regions;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t bytes = sizes[i * sizes.size() / count];
    regions.push_back({memory.add_destination_region(bytes, bytes), bytes});
  }
  return regions;
}

/// A write at the beginning, in the middle and at the end of each region is tallied there and nowhere else.
void expect_each_found(const std::vector<std::uint64_t>& sizes, std::uint32_t count) {
  HostMemory memory(PayloadMode::reference, KeyedRandom(1, "memory"));
  memory.track_placement();
  const std::vector<Given> regions = add_regions(memory, sizes, count);
  for (const auto& [base, bytes] : regions) {
    memory.write(base, nullptr, 1);
    memory.write(base + bytes / 2, nullptr, 1);
    memory.write(base + bytes - 1, nullptr, 1);
  }
  for (const auto& [base, bytes] : regions) {
    PlacementTally expected;
    for (const std::uint64_t at : {base, base + bytes / 2, base + bytes - 1}) expected.add(at, 1);
    EXPECT_EQ(memory.take_placement(base), expected) << "region at " << base << " of " << bytes << " bytes";
  }
}

TEST(HostMemory, FindsTheRegionAmongThoseOfOneSize) {
  expect_each_found({4096}, 1);
  expect_each_found({4096}, 5);
  expect_each_found({262'144}, 126);
}

TEST(HostMemory, FindsTheRegionAmongThoseOfAnySize) {
  expect_each_found({524'288, 2'097'152, 524'288}, 126);
  expect_each_found({1, 1ULL << 36, 3}, 90);
  expect_each_found({1ULL << 36, 1, 4097, 1ULL << 30}, 1000);
}

TEST(HostMemory, FindsRegionsThatAreAddedLater) {
  HostMemory memory(PayloadMode::reference, KeyedRandom(1, "memory"));
  memory.track_placement();
  std::vector<Given> regions;
  for (std::uint64_t bytes = 1; bytes < 1ULL << 30; bytes *= 3) {
    regions.push_back({memory.add_destination_region(bytes, bytes), bytes});
    for (const Given& region : regions) memory.write(region.base + region.bytes - 1, nullptr, 1);
  }
  for (std::size_t i = 0; i < regions.size(); ++i)
    EXPECT_EQ(memory.take_placement(regions[i].base).writes, regions.size() - i);
}

TEST(HostMemory, RefusesAnAddressThatIsNotRegistered) {
  HostMemory memory(PayloadMode::reference, KeyedRandom(1, "memory"));
  memory.track_placement();
  EXPECT_THROW(memory.write(1ULL << 40, nullptr, 1), std::logic_error);
  const std::vector<Given> regions = add_regions(memory, {4096, 5000}, 4);
  for (const auto& [base, bytes] : regions) {
    EXPECT_THROW(memory.write(base - 1, nullptr, 1), std::logic_error);
    EXPECT_THROW(memory.write(base + bytes, nullptr, 1), std::logic_error);
  }
  EXPECT_THROW(memory.write(0, nullptr, 1), std::logic_error);
  EXPECT_THROW(memory.write(~0ULL, nullptr, 1), std::logic_error);
}

}  // namespace
}  // namespace mrc
