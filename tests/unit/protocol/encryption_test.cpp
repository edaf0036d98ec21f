// What encryption adds to a packet, and the replay window against what it is defined as.
#include "mrc/encryption.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "mrc/protocol_config.h"
#include "mrc/random.h"
#include "mrc/rx/replay_window.h"

namespace mrc {
namespace {

using Verdict = ReplayWindow::Verdict;

Packet full_write() {
  Packet packet;
  packet.opcode = Opcode::write_middle;
  packet.payload_bytes = 4096;
  return packet;
}

TEST(Encryption, BytesOfTheFramings) {
  ProtocolConfig config;
  EXPECT_EQ(wire_bytes(full_write(), config), 4262U);
  config.encryption.framing = CryptoFraming::psp;
  EXPECT_EQ(wire_bytes(full_write(), config), 4302U);
  config.encryption.framing = CryptoFraming::psp_cookie;
  EXPECT_EQ(wire_bytes(full_write(), config), 4310U);
  config.encryption.framing = CryptoFraming::esp;
  EXPECT_EQ(wire_bytes(full_write(), config), 4298U);
  // UDP 8, BTH 12, METH 4, TSETH 4, RETH 16, ICRC 4.
  EXPECT_EQ(plaintext_bytes(full_write()), 4096U + 48);
}

TEST(Encryption, OfAnyOpcodeThePlaintextIsAMultipleOfFourBytes) {
  // ESP's padding has the same length in every packet because of that.
  for (unsigned opcode = 0; opcode < 256; ++opcode) {
    for (std::uint32_t bytes = 0; bytes < 9; ++bytes) {
      Packet packet;
      packet.opcode = static_cast<Opcode>(opcode);
      packet.payload_bytes = bytes;
      EXPECT_EQ(plaintext_bytes(packet) % 4, 0U) << opcode;
    }
  }
}

TEST(Encryption, ControlMayStayInTheClear) {
  ProtocolConfig config;
  config.encryption.framing = CryptoFraming::psp;
  Packet sack;
  sack.opcode = Opcode::sack;
  const std::uint32_t clear = wire_bytes(sack, config.encapsulation);
  EXPECT_EQ(wire_bytes(sack, config), clear + 40);
  config.encryption.control = false;
  EXPECT_EQ(wire_bytes(sack, config), clear);
  EXPECT_EQ(wire_bytes(full_write(), config), 4302U);
}

TEST(Encryption, ATrimmedPacketHasTheLengthThatTheSwitchLeft) {
  ProtocolConfig config;
  config.encryption.framing = CryptoFraming::psp;
  Packet packet = full_write();
  EXPECT_EQ(link_bytes(packet, config, 192), 4302U);
  packet.damage = Damage::trimmed;
  EXPECT_EQ(link_bytes(packet, config, 192), 192U + 24);
}

TEST(ReplayWindow, TakesEachNumberOnceInAnyOrder) {
  ReplayWindow window(64);
  for (const std::uint64_t number : {3, 1, 2, 70, 7, 69}) EXPECT_EQ(window.accept(number), Verdict::fresh) << number;
  for (const std::uint64_t number : {7, 69, 70}) EXPECT_EQ(window.accept(number), Verdict::replayed) << number;
  EXPECT_EQ(window.highest(), 70U);
}

TEST(ReplayWindow, ItsLowestNumberIsTheHighestLessItsSizeAndOne) {
  ReplayWindow window(128);
  window.accept(1000);
  EXPECT_EQ(window.accept(1000 - 127), Verdict::fresh);
  EXPECT_EQ(window.accept(1000 - 128), Verdict::too_old);
}

TEST(ReplayWindow, LookingMovesNothing) {
  ReplayWindow window(64);
  EXPECT_EQ(window.look(1'000'000), Verdict::fresh);
  EXPECT_EQ(window.accept(1), Verdict::fresh);
  EXPECT_EQ(window.look(1), Verdict::replayed);
}

TEST(ReplayWindow, OfSizeZeroTakesEverything) {
  ReplayWindow window(0);
  for (const std::uint64_t number : {5, 5, 1, 100, 1}) EXPECT_EQ(window.accept(number), Verdict::fresh);
}

TEST(ReplayWindow, DoesWhatItsDefinitionSaysOverLongRandomRows) {
  for (const std::uint32_t size : {64U, 192U, 1024U}) {
    ReplayWindow window(size);
    KeyedRandom random(size, "replay");
    std::set<std::uint64_t> accepted;
    std::uint64_t highest = 0;
    std::uint64_t next = 1;
    for (int i = 0; i < 20'000; ++i) {
      next += random.below(100) < 2 ? random.below(3 * size) : random.below(3);
      const std::uint64_t back = random.below(2 * size);
      const std::uint64_t number = random.chance(0.4) && next > back ? next - back : next;
      if (number == 0) continue;
      Verdict expected = Verdict::fresh;
      if (number + size <= highest) {
        expected = Verdict::too_old;
      } else if (accepted.contains(number)) {
        expected = Verdict::replayed;
      }
      ASSERT_EQ(window.accept(number), expected) << number << " of " << highest << ", size " << size;
      if (expected == Verdict::fresh) accepted.insert(number);
      highest = std::max(highest, number);
    }
    EXPECT_GT(accepted.size(), 5'000U);
  }
}

}  // namespace
}  // namespace mrc
