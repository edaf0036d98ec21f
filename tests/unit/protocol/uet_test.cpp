// UET: bytes of its packets, and the receiver's credits.
#include <gtest/gtest.h>

#include "mrc/uet/credit.h"
#include "mrc/uet/uet_packet.h"

namespace mrc {
namespace {

constexpr std::uint32_t kMtu = 4096;

TEST(UetPacket, BytesAreTheHeadersOfTheSpecification) {
  Packet data;
  data.payload_bytes = kMtu;
  // Ethernet 38 with preamble, gap and FCS, IPv6 40, UDP 8, PDS 16, SES 44.
  EXPECT_EQ(uet_wire_bytes(data), 38U + 40 + 8 + 16 + 44 + kMtu);
  Packet ack;
  ack.opcode = Opcode::sack;
  EXPECT_EQ(uet_wire_bytes(ack), 38U + 40 + 8 + 32 + 12);
  Packet nack;
  nack.opcode = Opcode::nack;
  EXPECT_EQ(uet_wire_bytes(nack), 38U + 40 + 8 + 16);
  Packet credit;
  credit.opcode = kUetCredit;
  EXPECT_EQ(uet_wire_bytes(credit), 38U + 40 + 8 + 16);
}

TEST(UetPacket, CreditCountsOverTheWrapOf24Bits) {
  Packet packet;
  const std::uint64_t wrap = std::uint64_t{1} << 24 << 8;
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{256}, wrap - 256, wrap, 5 * wrap + 512}) {
    set_credit(packet, bytes);
    for (const std::uint64_t known : {bytes, bytes + 1'000'192, bytes > 1'000'192 ? bytes - 1'000'192 : 0}) {
      EXPECT_EQ(credit_of(packet, known), bytes) << known;
    }
  }
}

TEST(UetCredit, ASenderBeginsWithAWindowAndAsksForTheRest) {
  CreditAccount account(10 * kMtu);
  EXPECT_FALSE(account.may_send());
  account.begin();
  EXPECT_TRUE(account.may_send());
  // It may send ten packets unasked and has four: one is asked for, in case that the receiver is busy.
  EXPECT_EQ(account.target(4 * kMtu, 1, kMtu, 1), kMtu);
  for (int i = 0; i < 10; ++i) account.spend(kMtu);
  EXPECT_FALSE(account.may_send());
  EXPECT_EQ(account.target(8 * kMtu, 1, kMtu, 1), 8U * kMtu);
  EXPECT_EQ(account.target(80 * kMtu, 1, kMtu, 1), 10U * kMtu);  // no more than it may hold
  EXPECT_EQ(account.target(8 * kMtu, 4, kMtu, 1), 2U * kMtu);    // its node has four that ask
  account.spend(kMtu);
  EXPECT_EQ(account.target(8 * kMtu, 90, kMtu, 1), 2U * kMtu);  // the packet that is owed, and one to send
}

TEST(UetCredit, WithoutAFloorAFlowAsksForItsPartOfTheLineAlone) {
  CreditAccount account(10 * kMtu);
  account.begin();
  // While it sends unasked, its part is that of a packet.
  EXPECT_EQ(account.target(4 * kMtu, 4, kMtu, 0), kMtu / 4U);
  account.stop_speculating();
  EXPECT_EQ(account.target(8 * kMtu, 4, kMtu, 0), 2U * kMtu);
  EXPECT_EQ(account.target(8 * kMtu, 64, kMtu, 0), kMtu / 8U);
  EXPECT_EQ(account.target(8 * kMtu, 64, kMtu, 1), kMtu);
  EXPECT_EQ(account.target(8 * kMtu, 64, kMtu, 3), 3U * kMtu);
  EXPECT_EQ(account.target(2 * kMtu, 64, kMtu, 3), 2U * kMtu);  // no more than it has to send
}

TEST(UetCredit, ARefusalEndsWhatIsSentUnaskedAndLeavesGrants) {
  CreditAccount account(10 * kMtu);
  account.begin();
  account.spend(kMtu);
  account.granted(4 * kMtu);
  account.granted(3 * kMtu);  // an older one, overtaken
  EXPECT_EQ(account.credit_bytes(), 4 * kMtu);
  EXPECT_EQ(account.unasked_bytes(), 9 * kMtu);
  account.stop_speculating();
  EXPECT_EQ(account.unasked_bytes(), 0);
  EXPECT_EQ(account.credit_bytes(), 4 * kMtu);
  account.granted(40 * kMtu);
  EXPECT_EQ(account.credit_bytes(), 10 * kMtu);
}

TEST(UetCredit, APacerGrantsInTurnAtItsRate) {
  CreditPacer pacer(3, 4 * kMtu, 400.0);
  EXPECT_EQ(pacer.next(), kNever);
  pacer.ask(0, 6 * kMtu, 1'000);
  pacer.ask(2, 8 * kMtu, 1'000);
  ASSERT_EQ(pacer.next(), 1'000U);
  TimePs now = 1'000;
  const auto expect = [&](std::uint32_t flow, std::uint64_t packets) {
    const CreditPacer::Grant grant = pacer.take(now);
    EXPECT_EQ(grant.flow, flow);
    EXPECT_EQ(grant.granted_bytes, packets * kMtu);
  };
  expect(0, 4);
  // 4 x 4,096 B at 400 Gb/s are 327.68 ns.
  EXPECT_EQ(pacer.next(), now + 327'680);
  now = pacer.next();
  expect(2, 4);
  now = pacer.next();
  expect(0, 6);
  EXPECT_EQ(pacer.next(), now + 163'840);
  now = pacer.next();
  expect(2, 8);
  EXPECT_EQ(pacer.next(), kNever);
  // A refused packet is granted once more, also where all was granted.
  pacer.refused(2, kMtu, now + 10'000'000);
  now = pacer.next();
  expect(2, 9);
}

TEST(UetCredit, APacerThatNobodyAsksGrantsToThoseThatHaveAsked) {
  CreditPacer pacer(3, 4 * kMtu, 400.0, 8 * kMtu);
  EXPECT_EQ(pacer.next(), kNever);
  pacer.ask(0, 2 * kMtu, 0);
  pacer.ask(1, 2 * kMtu, 0);
  const auto expect = [&](std::uint32_t flow, std::uint64_t packets) {
    const CreditPacer::Grant grant = pacer.take(pacer.next());
    EXPECT_EQ(grant.flow, flow);
    EXPECT_EQ(grant.granted_bytes, packets * kMtu);
  };
  expect(0, 2);
  expect(1, 2);
  expect(0, 6);
  // A request comes first, and what it has got is part of what it asks for.
  pacer.ask(0, 9 * kMtu, pacer.next());
  expect(0, 9);
  // Its second request has given it a second place.
  expect(1, 6);
  expect(0, 13);
  expect(0, 17);
  expect(1, 10);
  expect(0, 21);
  EXPECT_EQ(pacer.next(), kNever);
}

}  // namespace
}  // namespace mrc
