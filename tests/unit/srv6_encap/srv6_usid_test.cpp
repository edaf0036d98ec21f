#include <gtest/gtest.h>

#include "mrc/random.h"
#include "mrc/srv6_usid.h"
#include "mrc/tx/srv6_encap.h"

namespace mrc {
namespace {

constexpr std::uint32_t kLocator = 0xFC00'0001;

TEST(Usid, PacksPlaneRoleAndIndex) {
  const Usid usid = make_usid(5, UsidRole::downlink, 300);
  EXPECT_EQ(usid, 5U << 13 | 2U << 11 | 300U);
  EXPECT_EQ(usid_plane(usid), 5U);
  EXPECT_EQ(usid_role(usid), UsidRole::downlink);
  EXPECT_EQ(usid_index(usid), 300U);
}

TEST(Usid, ShiftsAwayOneAfterTheOther) {
  const UsidTemplate path = UsidTemplate::across_t1(kLocator, 3, 77, 200);
  Ipv6Address carrier = usid_carrier(path, 6, 41);
  EXPECT_EQ(locator_block(carrier), kLocator);
  EXPECT_EQ(active_usid(carrier), make_usid(6, UsidRole::t0, 3));
  carrier = shift_usid(carrier);
  EXPECT_EQ(locator_block(carrier), kLocator);
  EXPECT_EQ(active_usid(carrier), make_usid(6, UsidRole::t1, 41));
  carrier = shift_usid(carrier);
  EXPECT_EQ(active_usid(carrier), make_usid(6, UsidRole::t0, 77));
  carrier = shift_usid(carrier);
  EXPECT_EQ(active_usid(carrier), make_usid(6, UsidRole::downlink, 200));
  carrier = shift_usid(carrier);
  EXPECT_EQ(carrier, (Ipv6Address{std::uint64_t{kLocator} << 32, 0}));
}

TEST(Usid, SixUsidsFillTheCarrier) {
  UsidTemplate path{.locator = kLocator, .count = 6};
  for (std::size_t i = 0; i < kMostUsids; ++i) path.usid[i] = static_cast<Usid>(0x101 * (i + 1));
  const Ipv6Address carrier = usid_carrier(path, 0, 0);
  EXPECT_EQ(carrier.high, 0xFC00'0001'0101'0202ULL);
  EXPECT_EQ(carrier.low, 0x0303'0404'0505'0606ULL);
}

TEST(Usid, ATemplateOfACarrierGivesItAgain) {
  KeyedRandom random(1, "carriers");
  for (int i = 0; i < 1'000; ++i) {
    Ipv6Address carrier{random.next(), random.next()};
    // As many uSIDs as a path may have, the last of them zero.
    for (std::uint64_t shifts = random.below(kMostUsids + 1); shifts > 0; --shifts) carrier = shift_usid(carrier);
    const UsidTemplate path = usid_template_of(carrier);
    EXPECT_EQ(usid_carrier(path, 0, 0), carrier) << "count " << int{path.count};
    EXPECT_GE(path.count, 1);
  }
}

TEST(Uplink, StaysInRangeAndSpreads) {
  std::array<std::uint32_t, 7> hits{};
  for (Ev ev = 0; ev < 7'000; ++ev) ++hits.at(uplink_of(ev, 7));
  for (const std::uint32_t hit : hits) EXPECT_EQ(hit, 1'000U);
}

TEST(Uplink, AnyEvIsMovedToTheUplinkWanted) {
  for (const Ev ev : {0U, 5U, 123'456'789U, 0xFFFF'FFF0U, 0xFFFF'FFFFU}) {
    for (std::uint32_t uplink = 0; uplink < 48; ++uplink) {
      EXPECT_EQ(uplink_of(ev_for_uplink(ev, uplink, 48), 48), uplink) << ev;
    }
  }
}

TEST(EvLayout, TheSampleOfAVendorByHand) {
  constexpr EvLayout layout{.kind = EvLayoutKind::fields};
  // Source plane 1 in 12:10, T1 plane 1 in 9:7, uplink 2 in 6:5, destination plane 1 in 4:2, port 1 in 1:0.
  constexpr Ev ev = 1 << 10 | 1 << 7 | 2 << 5 | 1 << 2 | 1;
  EXPECT_EQ(layout.ev_for(0, 1, 2, 4), ev);
  EXPECT_EQ(layout.ev_for(0xFFFF'FFFF, 1, 2, 4), 0xFFFF'E000U | ev) << "the other bits stay";
  EXPECT_EQ(layout.uplink_in(0xFFFF'E000U | ev, 4), 2U);
  EXPECT_EQ((EvLayout{}.uplink_in(ev, 4)), ev % 4) << "modulo by default";
  const UsidTemplate path = UsidTemplate::across_t1(kLocator, 3, 77, 200);
  EXPECT_EQ(usid_carrier_of_ev(path, 1, ev, layout), usid_carrier(path, 1, 2));
}

TEST(EvLayout, EachTierTakesThePlaneOfItsField) {
  constexpr EvLayout layout{.kind = EvLayoutKind::fields};
  constexpr Ev ev = 5 << 10 | 6 << 7 | 3 << 5 | 7 << 2;
  const UsidTemplate path = UsidTemplate::across_t1(kLocator, 3, 77, 200);
  Ipv6Address carrier = usid_carrier_of_ev(path, 0, ev, layout);
  for (const Usid usid : {make_usid(5, UsidRole::t0, 3), make_usid(6, UsidRole::t1, 3), make_usid(7, UsidRole::t0, 77),
                          make_usid(7, UsidRole::downlink, 200)}) {
    EXPECT_EQ(active_usid(carrier), usid);
    carrier = shift_usid(carrier);
  }
  carrier = usid_carrier_of_ev(UsidTemplate::same_t0(kLocator, 3, 200), 0, ev, layout);
  EXPECT_EQ(active_usid(carrier), make_usid(5, UsidRole::t0, 3));
  EXPECT_EQ(active_usid(shift_usid(carrier)), make_usid(7, UsidRole::downlink, 200));
}

TEST(EvLayout, ARandomEvIsMadeOneThatIsThere) {
  constexpr EvLayout layout{.kind = EvLayoutKind::fields};
  for (const Ev random : {0U, 0x1234'5678U, 0xFFFF'FFFFU}) {
    const Ev ev = layout.fitted(random, 2, 3);
    EXPECT_LT(layout.uplink().of(ev), 3U);
    for (const EvBits& bits : {layout.port(), layout.source_plane(), layout.t1_plane(), layout.destination_plane()}) {
      EXPECT_EQ(bits.of(ev), 2U);
    }
    EXPECT_EQ(layout.fitted(ev, 2, 3), ev);
    EXPECT_EQ((EvLayout{}.fitted(random, 2, 3)), random);
  }
}

TEST(OuterHeader, BytesByHand) {
  Srv6EncapInput in;
  in.path = UsidTemplate::same_t0(kLocator, 2, 9);
  in.source = {0xFD6D'7263'0000'0003ULL, 1};
  in.flow_label = 0xABCDE;
  in.payload_length = 0x1058;
  in.plane = 3;
  in.hop_limit = 63;
  in.dscp = 46;
  in.ecn = Ecn::ect0;
  // Traffic class 46 << 2 | 2 = 0xBA; uSIDs 3 << 13 | 2 and 3 << 13 | 2 << 11 | 9.
  constexpr std::array<int, 40> expected{0x6B, 0xAA, 0xBC, 0xDE, 0x10, 0x58, 41,   63,   0xFD, 0x6D,
                                         0x72, 0x63, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00,
                                         0x00, 0x00, 0x00, 0x01, 0xFC, 0x00, 0x00, 0x01, 0x60, 0x02,
                                         0x70, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  const OuterHeaderBytes bytes = outer_ipv6_header(in);
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << "byte " << i;
  EXPECT_EQ(outer_destination(bytes), usid_carrier(in.path, in.plane, in.uplink));
}

}  // namespace
}  // namespace mrc
