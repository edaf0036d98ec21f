#include <gtest/gtest.h>

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
