// The RTL against ring 1: every header byte, every payload byte and the cycles, packet by packet at the three widths.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cosim/srv6_encap/rtl.h"
#include "engine/pin_bridge.h"
#include "mrc/wire/icrc.h"
#include "random_packets.h"

namespace mrc {
namespace {

std::uint64_t output_beats(std::size_t bytes, std::size_t beat_bytes) {
  return (bytes + beat_bytes - 1) / beat_bytes;
}

class Srv6EncapRtl : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Srv6EncapRtl, HeaderAndPayloadOfRandomPackets) {
  const std::size_t beat_bytes = GetParam() / 8;
  const std::uint64_t packets = GetParam() == 1024 ? 60'000 : 25'000;
  const auto engine = make_srv6_encap_rtl(GetParam());
  KeyedRandom random(1, GetParam());
  std::uint64_t cycle = 0;
  for (std::uint64_t i = 0; i < packets; ++i) {
    const Srv6EncapInput input = random_encap_input(random);
    const std::vector<std::byte> inner = random_inner_packet(random, beat_bytes);
    cycle += random.chance(0.3) ? random.below(200) : 0;
    const EncapReply reply = engine->encapsulate(input, inner, cycle);
    const std::uint64_t beats = output_beats(inner.size() + (input.srh ? 64 : 40), beat_bytes);
    ASSERT_EQ(reply.header, outer_ipv6_header(input)) << "packet " << i << " of " << inner.size() << " bytes";
    ASSERT_EQ(reply.srh, input.srh ? segment_routing_header(input) : SrhBytes{});
    ASSERT_TRUE(reply.inner_intact) << "packet " << i << " of " << inner.size() << " bytes";
    ASSERT_GE(reply.accepted_cycle, cycle);
    ASSERT_EQ(reply.first_out_cycle - reply.accepted_cycle, 2U);
    ASSERT_EQ(reply.last_out_cycle - reply.first_out_cycle + 1, beats);
    ASSERT_EQ(reply.next_cycle - reply.accepted_cycle, beats) << inner.size() << " bytes";
    cycle = reply.accepted_cycle;
  }
  RecordProperty("packets", static_cast<int>(packets));
}

TEST_P(Srv6EncapRtl, AppendsTheIcrc) {
  constexpr std::size_t least_bytes = 60;
  const std::size_t beat_bytes = GetParam() / 8;
  const auto engine = make_srv6_encap_rtl(GetParam());
  KeyedRandom random(3, GetParam());
  std::uint64_t cycle = 0;
  for (int i = 0; i < 5'000; ++i) {
    Srv6EncapInput input = random_encap_input(random);
    input.icrc = true;
    std::vector<std::byte> inner = random_inner_packet(random, beat_bytes);
    inner.resize(std::max(inner.size(), least_bytes));
    const EncapReply reply = engine->encapsulate(input, inner, cycle);
    const std::uint64_t beats = output_beats(inner.size() + (input.srh ? 64 : 40) + 4, beat_bytes);
    ASSERT_EQ(reply.header, outer_ipv6_header(input)) << "packet " << i << " of " << inner.size() << " bytes";
    ASSERT_TRUE(reply.inner_intact) << "packet " << i << " of " << inner.size() << " bytes";
    ASSERT_EQ(reply.icrc, wire::icrc(inner, false)) << "packet " << i << " of " << inner.size() << " bytes";
    ASSERT_EQ(reply.first_out_cycle - reply.accepted_cycle, 7U);
    ASSERT_EQ(reply.last_out_cycle - reply.first_out_cycle + 1, beats);
    ASSERT_EQ(reply.next_cycle - reply.accepted_cycle, beats) << inner.size() << " bytes";
    cycle = reply.accepted_cycle;
  }
}
INSTANTIATE_TEST_SUITE_P(Widths, Srv6EncapRtl, ::testing::Values(512U, 1024U, 2048U));

struct PinPacket : EncapItem {};

TEST_P(Srv6EncapRtl, ByPinsPacketsOverlapAndFollowEachOtherWithoutAGap) {
  const std::size_t beat_bytes = GetParam() / 8;
  constexpr std::uint64_t packets = 5'000;
  const auto engine = make_srv6_encap_rtl(GetParam());
  PinBridge<Srv6EncapEngine, PinPacket> pins("srv6_encap", *engine);
  KeyedRandom random(2, GetParam());
  std::uint64_t offered = 0;
  std::uint64_t finished = 0;
  std::uint64_t beats = 0;
  std::uint64_t occupied = 0;
  std::uint64_t cycle = 0;
  for (; finished < packets; ++cycle) {
    if (pins.is_free() && offered < packets) {
      PinPacket packet;
      packet.input = random_encap_input(random);
      packet.inner = random_inner_packet(random, beat_bytes);
      beats += output_beats(packet.inner.size() + (packet.input.srh ? 64 : 40), beat_bytes);
      pins.offer(std::move(packet));
      ++offered;
    }
    const PinCycle at = pins.clock(cycle);
    if (pins.was_occupied()) ++occupied;
    if (at.first_out) {
      ASSERT_EQ(engine->answer().header, outer_ipv6_header(pins.oldest().input));
      ASSERT_EQ(pins.age_of_oldest(cycle), 2U);
    }
    if (!at.last_out) continue;
    const Srv6EncapInput& input = pins.oldest().input;
    ASSERT_EQ(engine->answer().srh, input.srh ? segment_routing_header(input) : SrhBytes{});
    ASSERT_TRUE(engine->answer().inner_intact) << "packet " << finished;
    pins.drop_oldest();
    ++finished;
  }
  EXPECT_EQ(cycle, beats + 2) << "back to back";
  EXPECT_EQ(occupied, beats);
  EXPECT_TRUE(pins.is_idle());
}

TEST(Srv6EncapRtlEngine, RefusesAPacketWithoutBytes) {
  EXPECT_THROW(make_srv6_encap_rtl(1024)->encapsulate({}, {}, 0), std::invalid_argument);
}

TEST(Srv6EncapRtlEngine, RefusesAWidthThatIsNotBuilt) {
  try {
    make_srv6_encap_rtl(256);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "nic.datapath_bits = 256: RTL of srv6_encap is built for 512, 1024 and 2048");
  }
}

}  // namespace
}  // namespace mrc
