#include "programs/program_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace mrc {
namespace {

std::uint64_t keep(ProgramMemory& memory, std::size_t bytes, int value) {
  const std::vector<std::byte> from(bytes, static_cast<std::byte>(value));
  return memory.keep(from.data(), from.size());
}

TEST(ProgramMemory, BytesThatWereReleasedStayUntilTheirPlaceIsTaken) {
  ProgramMemory memory(0);
  const std::uint64_t kept = keep(memory, 100, 1);
  const std::byte* of_a_packet = memory.read(kept, 100);
  memory.release(kept);
  for (const std::size_t bytes : {1, 64, 129, 4096, 1 << 20}) EXPECT_NE(keep(memory, bytes, 2), kept) << bytes;
  EXPECT_EQ(of_a_packet[0], std::byte{1});
  EXPECT_EQ(of_a_packet[99], std::byte{1});
  EXPECT_EQ(keep(memory, 128, 3), kept);
  EXPECT_EQ(memory.read(kept, 128), of_a_packet);
  EXPECT_EQ(of_a_packet[127], std::byte{3});
}

TEST(ProgramMemory, TheFirstPlaceReleasedIsTakenFirst) {
  ProgramMemory memory(0);
  const std::uint64_t first = keep(memory, 64, 1);
  const std::uint64_t second = keep(memory, 64, 2);
  memory.release(second);
  memory.release(first);
  EXPECT_EQ(keep(memory, 64, 3), second);
  EXPECT_EQ(keep(memory, 64, 4), first);
}

TEST(ProgramMemory, ReservedRoomIsOfZerosAndTakesTheLongestMessage) {
  ProgramMemory memory(0);
  memory.release(keep(memory, ProgramMemory::kMostKeptBytes, 1));
  const std::uint64_t room = memory.reserve(ProgramMemory::kMostKeptBytes);
  const std::uint64_t last = room + ProgramMemory::kMostKeptBytes - 1;
  EXPECT_EQ(*memory.read(last, 1), std::byte{0});
  const std::byte written{5};
  memory.write(0, last, &written, 1);
  EXPECT_EQ(*memory.read(last, 1), written);
}

}  // namespace
}  // namespace mrc
