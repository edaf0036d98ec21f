#include "mrc/control/ev_profile.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace mrc {
namespace {

EvFormat stev(std::vector<EvField> fields) {
  return {EvKind::stev, std::move(fields)};
}

WideEv wide(std::uint64_t value, std::uint32_t bits) {
  WideEv ev;
  ev.append(value, bits);
  return ev;
}

EvProfileFault fault_of(const auto& make) {
  try {
    make();
  } catch (const EvProfileError& error) {
    EXPECT_NE(std::string(error.what()), "");
    return error.fault();
  }
  ADD_FAILURE() << "no EvProfileError";
  return {};
}

TEST(WideEv, AppendsFieldsMostSignificantBitFirst) {
  WideEv ev;
  ev.append(0b101, 3);
  ev.append(0x1F3, 9);
  EXPECT_EQ(ev.width_bits, 12U);
  EXPECT_EQ(ev.bytes[0], std::byte{0b1011'1111});
  EXPECT_EQ(ev.bytes[1], std::byte{0b0011'0000});
  EXPECT_EQ(ev.number(), 0b1011'1111'0011U);
}

TEST(ExpandEv, EcmpTakesTheEvAsItIs) {
  const EvFormat format{EvKind::ecmp, {{16, 0, 0xFFFF}}};
  EXPECT_EQ(expand_ev(format, 0xBEEF).number(), 0xBEEFU);
}

TEST(ExpandEv, StevOfTwoHalves) {
  const EvFormat format = stev({{16, 0, 0xFFFF}, {16, 0, 0xFFFF}});
  EXPECT_EQ(expand_ev(format, 0x1234'5678).number(), 0x1234'5678U);
}

// 8/4/4 with 2, 1 and 1 bits to choose; EV 0b1011 hands its bits out from the left.
TEST(ExpandEv, MaskBitsTakeTheEvsBitsFromTheLeft) {
  const EvFormat format = stev({{8, 0b1000'0001, 0b0010'0100}, {4, 0b0110, 0b1000}, {4, 0b0000, 0b0001}});
  EXPECT_EQ(format.chosen_bits(), 4U);
  EXPECT_EQ(expand_ev(format, 0b1011).number(), 0b1010'0001'1110'0001U);
  EXPECT_EQ(expand_ev(format, 0b0100).number(), 0b1000'0101'0110'0000U);
}

TEST(ExpandEv, AMaskBitReplacesTheInitialOne) {
  EXPECT_EQ(expand_ev(stev({{8, 0xFF, 0x0F}}), 0b0000).number(), 0xF0U);
  EXPECT_EQ(expand_ev(stev({{8, 0xFF, 0x0F}}), 0b1001).number(), 0xF9U);
}

// Locator fc00:1, then plane 3 T0, T1 with 6 bits of the EV, T0, downlink.
TEST(ExpandEv, Srv6LocatorAndSegments) {
  const EvFormat format{
      EvKind::srv6, {{32, 0xFC00'0001, 0}, {16, 0x6005, 0}, {16, 0x6800, 0x003F}, {16, 0x6007, 0}, {16, 0x7009, 0}}};
  const WideEv ev = expand_ev(format, 0b101010);
  EXPECT_EQ(ev.width_bits, 96U);
  constexpr std::array<int, 16> expected{0xFC, 0, 0, 1, 0x60, 5, 0x68, 0x2A, 0x60, 7, 0x70, 9, 0, 0, 0, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(std::to_integer<int>(ev.bytes[i]), expected[i]) << i;
}

// (32 + 6 x 16) + (32 + 4 x 16) = 224 bits: the address fills bytes 0-15, the SRH segment begins at byte 16.
TEST(ExpandEv, SrhSegmentFollowsTheAddress) {
  EvFormat format{EvKind::srv6_srh, {{32, 0xFC00'0001, 0}}};
  for (std::uint64_t i = 1; i <= 6; ++i) format.fields.push_back({16, i, 0xF000});
  format.fields.push_back({32, 0xFC00'0002, 0});
  for (std::uint64_t i = 7; i <= 10; ++i) format.fields.push_back({16, i, 0xF000});
  EXPECT_EQ(format.width_bits(), 224U);
  const WideEv ev = expand_ev(format, 0x12'3456'789A);
  constexpr std::array<int, 32> expected{0xFC, 0, 0, 1, 0x10, 1, 0x20, 2, 0x30, 3, 0x40, 4,  0x50, 5, 0x60, 6,
                                         0xFC, 0, 0, 2, 0x70, 7, 0x80, 8, 0x90, 9, 0xA0, 10, 0,    0, 0,    0};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(std::to_integer<int>(ev.bytes[i]), expected[i]) << i;
}

TEST(EvFormat, RefusesWhatNoFabricCanRead) {
  EXPECT_THROW(check_ev_format(stev({})), std::invalid_argument);
  EXPECT_THROW(check_ev_format(stev({{0, 0, 0}})), std::invalid_argument);
  EXPECT_THROW(check_ev_format({EvKind::srv6, {{65, 0, 0}}}), std::invalid_argument);
  EXPECT_THROW(check_ev_format(stev({{4, 0x10, 0}})), std::invalid_argument);
  EXPECT_THROW(check_ev_format(stev({{4, 0, 0x10}})), std::invalid_argument);
  EXPECT_THROW(check_ev_format(stev({{16, 0, 0}, {17, 0, 0}})), std::invalid_argument);
  EXPECT_THROW(check_ev_format({EvKind::ecmp, {{17, 0, 1}}}), std::invalid_argument);
  EXPECT_THROW(check_ev_format({EvKind::srv6, {{64, 0, ~0ULL}, {1, 0, 1}}}), std::invalid_argument);
  EXPECT_NO_THROW(check_ev_format({EvKind::srv6, {{64, 0, ~0ULL}, {64, ~0ULL, 0}}}));
  EXPECT_NO_THROW(check_ev_format(stev({{32, 0, 0xFFFF'FFFF}})));
}

TEST(AutoProfile, DistinctValuesEqualPlanesBalancedPrefixes) {
  const ProtocolConfig config{.ev_count = 250};
  const EvProfile profile = make_auto_profile(config, 8, KeyedRandom(1, "qp"));
  ASSERT_EQ(profile.value.size(), 248U);
  EXPECT_EQ(std::set<Ev>(profile.value.begin(), profile.value.end()).size(), 248U);
  for (std::size_t i = 0; i < profile.plane.size(); ++i) EXPECT_EQ(profile.plane[i], i % 8);
  EXPECT_TRUE(profile.path.empty());
}

TEST(AutoProfile, EveryPlaneTakesAllUplinksInTurnAtRandom) {
  const ProtocolConfig config{.ev_count = 256};
  for (const std::uint32_t uplinks : {1U, 4U, 7U, 8U, 16U, 32U, 256U}) {
    const EvProfile profile = make_auto_profile(config, 8, KeyedRandom(1, "qp"), uplinks);
    EXPECT_EQ(std::set<Ev>(profile.value.begin(), profile.value.end()).size(), 256U);
    // Any prefix that is a multiple of the planes: the active EVs, and those with the backups.
    for (const std::size_t prefix : {64, 128, 256}) {
      std::map<std::pair<int, std::uint32_t>, std::size_t> on;
      for (std::size_t i = 0; i < prefix; ++i) ++on[{profile.plane[i], uplink_of(profile.value[i], uplinks)}];
      for (const auto& [where, evs] : on) EXPECT_LE(evs, (prefix / 8 + uplinks - 1) / uplinks) << uplinks;
    }
  }
  const EvProfile one = make_auto_profile(config, 8, KeyedRandom(1, "qp"), 8);
  const EvProfile other = make_auto_profile(config, 8, KeyedRandom(2, "qp"), 8);
  std::size_t alike = 0;
  for (std::size_t i = 0; i < 256; ++i) alike += uplink_of(one.value[i], 8) == uplink_of(other.value[i], 8) ? 1 : 0;
  EXPECT_LT(alike, 64U) << "the order of the uplinks is another one for each NIC";
}

TEST(AutoProfile, FieldsOfEveryEvNameItsPlaneAndAllUplinksInTurn) {
  ProtocolConfig config{.ev_count = 256};
  config.ev_layout = {.kind = EvLayoutKind::fields, .port_bit = 28, .uplink_bits = 2};
  const EvProfile profile = make_auto_profile(config, 4, KeyedRandom(1, "qp"), 3);
  EXPECT_EQ(std::set<Ev>(profile.value.begin(), profile.value.end()).size(), 256U);
  const EvLayout& layout = config.ev_layout;
  std::map<std::pair<int, std::uint32_t>, std::size_t> on;
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    const Ev ev = profile.value[i];
    EXPECT_EQ(ev >> 28 & 3, profile.plane[i]);
    for (const EvBits& bits : {layout.source_plane(), layout.t1_plane(), layout.destination_plane()}) {
      EXPECT_EQ(bits.of(ev), profile.plane[i]);
    }
    ++on[{profile.plane[i], layout.uplink().of(ev)}];
  }
  EXPECT_EQ(on.size(), 4U * 3U);
  for (const auto& [where, evs] : on) EXPECT_NEAR(static_cast<double>(evs), 64.0 / 3, 1) << where.second;
}

TEST(AutoProfile, RefusesPlanesWithoutAnEv) {
  const ProtocolConfig config{.ev_count = 3};
  EXPECT_THROW(make_auto_profile(config, 4, KeyedRandom(1, "qp")), std::invalid_argument);
  EXPECT_THROW(make_auto_profile(config, 0, KeyedRandom(1, "qp")), std::invalid_argument);
}

const EvFormat kStev = stev({{16, 0, 0xFFFF}, {16, 0, 0xFFFF}});

TEST(ExplicitProfile, TakesThePlanesInTurnAndKeepsTheirOrder) {
  const std::vector<ExplicitEv> evs{{wide(10, 32), 1}, {wide(11, 32), 1}, {wide(20, 32), 2}, {wide(21, 32), 2}};
  const EvProfile profile = make_explicit_profile(evs, kStev, 2);
  EXPECT_EQ(profile.value, (std::vector<Ev>{10, 20, 11, 21}));
  EXPECT_EQ(profile.plane, (std::vector<std::uint8_t>{0, 1, 0, 1}));
  EXPECT_EQ(profile.path[1], wide(20, 32));
}

TEST(ExplicitProfile, AddressesAreEchoedByPosition) {
  const EvFormat srv6{EvKind::srv6, {{64, 0, ~0ULL}, {64, 0, 0}}};
  WideEv first = wide(0xFC00'0001'0101'0202ULL, 64);
  first.append(7, 64);
  WideEv second = wide(0xFC00'0001'0101'0303ULL, 64);
  second.append(7, 64);
  const EvProfile profile = make_explicit_profile(std::vector<ExplicitEv>{{first, 2}, {second, 1}}, srv6, 2);
  EXPECT_EQ(profile.value, (std::vector<Ev>{1, 0}));
  EXPECT_EQ(profile.path, (std::vector<WideEv>{second, first}));
}

TEST(ExplicitProfile, RefusalsByCause) {
  const auto make = [](std::vector<ExplicitEv> evs, std::uint32_t planes, EvLimits limits) {
    return fault_of([&] { make_explicit_profile(evs, kStev, planes, limits); });
  };
  const WideEv a = wide(1, 32), b = wide(2, 32), c = wide(3, 32), d = wide(4, 32);
  EXPECT_EQ(make({}, 2, {}), EvProfileFault::no_ev);
  EXPECT_EQ(make({{a, 0}}, 2, {}), EvProfileFault::unknown_port);
  EXPECT_EQ(make({{a, 3}}, 2, {}), EvProfileFault::unknown_port);
  EXPECT_EQ(make({{a, 1}, {b, 1}, {c, 2}}, 2, {}), EvProfileFault::unequal_planes);
  EXPECT_EQ(make({{a, 1}, {b, 2}}, 2, {.ev_count_align = 4}), EvProfileFault::not_aligned);
  EXPECT_EQ(make({{a, 1}, {b, 2}, {c, 1}, {d, 2}}, 2, {.ev_max_count_profile = 3}), EvProfileFault::too_many);
  EXPECT_EQ(make({{wide(1, 33), 1}}, 1, {}), EvProfileFault::too_wide);
  EXPECT_EQ(make({{a, 1}, {a, 2}}, 2, {}), EvProfileFault::duplicate);
}

TEST(GeneratedProfile, ExpandsEachRangeThroughItsPort) {
  const EvFormat format = stev({{8, 0xA0, 0x03}, {8, 0, 0x80}});
  const std::vector<EvRange> ranges{{.first = 1, .count = 2, .port = 1}, {.first = 6, .count = 2, .port = 2}};
  const EvProfile profile = make_generated_profile(ranges, format, 2, {.ev_count_align = 4, .ev_max_count_profile = 4});
  // EVs 001, 110, 010, 111: two bits into the first field, one into the second.
  EXPECT_EQ(profile.value, (std::vector<Ev>{0xA080, 0xA300, 0xA100, 0xA380}));
  EXPECT_EQ(profile.plane, (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

TEST(GeneratedProfile, AnAddressIsEchoedByItsEv) {
  const EvFormat format{EvKind::srv6, {{32, 0xFC00'0001, 0}, {16, 0x0800, 0x00FF}}};
  const EvProfile profile =
      make_generated_profile(std::vector<EvRange>{{.first = 0x41, .count = 2, .port = 1}}, format, 1);
  EXPECT_EQ(profile.value, (std::vector<Ev>{0x41, 0x42}));
  EXPECT_EQ(profile.path[1].number(), 0xFC00'0001'0842ULL);
}

TEST(GeneratedProfile, RefusesARangeBeyondTheChosenBits) {
  const EvFormat format = stev({{8, 0, 0x0F}});
  const auto make = [](EvRange range, const EvFormat& with) {
    return fault_of([&] { make_generated_profile(std::vector<EvRange>{range}, with, 1); });
  };
  EXPECT_EQ(make({.first = 15, .count = 2}, format), EvProfileFault::too_wide);
  const EvFormat all{EvKind::srv6, {{64, 0, ~0ULL}}};
  EXPECT_EQ(make({.first = 0xFFFF'FFFF, .count = 2}, all), EvProfileFault::too_wide);
  EXPECT_EQ(make({.first = ~0ULL, .count = 2}, all), EvProfileFault::too_wide);
}

}  // namespace
}  // namespace mrc
