// The RTL against ring 1: every header byte, every payload byte, cycles, handshake, reset.
#include <gtest/gtest.h>
#include <verilated.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "Vsrv6_encap_1024.h"
#include "Vsrv6_encap_2048.h"
#include "Vsrv6_encap_512.h"
#include "cosim/srv6_encap_rtl.h"
#include "random_packets.h"

namespace mrc {
namespace {

std::uint64_t output_beats(std::size_t inner_bytes, std::size_t beat_bytes) {
  return (inner_bytes + 40 + beat_bytes - 1) / beat_bytes;
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
    ASSERT_EQ(reply.header, outer_ipv6_header(input)) << "packet " << i << " of " << inner.size() << " bytes";
    ASSERT_TRUE(reply.inner_intact) << "packet " << i << " of " << inner.size() << " bytes";
    ASSERT_GE(reply.accepted_cycle, cycle);
    ASSERT_EQ(reply.first_out_cycle - reply.accepted_cycle, 2U);
    ASSERT_EQ(reply.last_out_cycle - reply.first_out_cycle + 1, output_beats(inner.size(), beat_bytes));
    ASSERT_EQ(reply.next_cycle - reply.accepted_cycle, output_beats(inner.size(), beat_bytes))
        << inner.size() << " bytes";
    cycle = reply.accepted_cycle;
  }
  RecordProperty("packets", static_cast<int>(packets));
}
INSTANTIATE_TEST_SUITE_P(Widths, Srv6EncapRtl, ::testing::Values(512U, 1024U, 2048U));

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

/// Drives the block beat by beat, with idle input, back-pressure and reset wherever they fall.
template <typename Model, std::size_t kBytes>
class BeatBench {
 public:
  static constexpr std::size_t kBeatBytes = kBytes;

  BeatBench() { reset(); }
  ~BeatBench() { model_.final(); }

  void reset() {
    model_.rst_ni = 0;
    model_.in_valid_i = 0;
    model_.out_ready_i = 0;
    edge();
    edge();
    model_.rst_ni = 1;
    settle();
    EXPECT_EQ(model_.out_valid_o, 0) << "a beat from before the reset";
    waiting_.clear();
    expected_.clear();
    sent_ = 0;
    offering_ = false;
    held_ = false;
    received_.clear();
  }
  void queue(const Srv6EncapInput& input, std::vector<std::byte> inner) {
    std::vector<std::byte> expected(40);
    std::memcpy(expected.data(), outer_ipv6_header(input).data(), 40);
    expected.insert(expected.end(), inner.begin(), inner.end());
    expected_.push_back(std::move(expected));
    waiting_.push_back({input, std::move(inner)});
  }
  bool idle() const { return waiting_.empty() && expected_.empty(); }
  std::size_t queued() const { return waiting_.size(); }
  std::uint64_t delivered() const { return delivered_; }

  /// One cycle; the input is offered and the output taken only if told.
  void cycle(bool offer, bool take) {
    // Once offered, a beat stays until it is taken.
    offering_ = offering_ || (offer && !waiting_.empty());
    drive_input();
    model_.out_ready_i = take ? 1 : 0;
    settle();
    check_stability();
    const bool in_taken = offering_ && model_.in_ready_o != 0;
    if (model_.out_valid_o != 0 && take) take_output();
    edge();
    if (in_taken) input_taken();
  }

 private:
  struct Waiting {
    Srv6EncapInput input;
    std::vector<std::byte> inner;
  };

  void settle() {
    model_.clk_i = 0;
    model_.eval();
  }
  void edge() {
    settle();
    model_.clk_i = 1;
    model_.eval();
  }
  void drive_input() {
    model_.in_valid_i = offering_ ? 1 : 0;
    if (!offering_) return;
    const Waiting& packet = waiting_.front();
    const std::size_t count = std::min(kBeatBytes, packet.inner.size() - sent_);
    std::memcpy(&model_.in_data_i[0], packet.inner.data() + sent_, count);
    model_.in_bytes_i = static_cast<SData>(count);
    model_.in_sop_i = sent_ == 0 ? 1 : 0;
    model_.in_eop_i = sent_ + count == packet.inner.size() ? 1 : 0;
    const Srv6EncapInput& in = packet.input;
    model_.locator_i = in.path.locator;
    for (std::size_t i = 0; i < 3; ++i) {
      model_.usid_i[i] = in.path.usid[2 * i] | static_cast<std::uint32_t>(in.path.usid[2 * i + 1]) << 16;
    }
    model_.usid_count_i = in.path.count;
    model_.uplink_position_i = in.path.uplink_position == UsidTemplate::kNoUplink ? 7 : in.path.uplink_position;
    model_.source_i[0] = static_cast<std::uint32_t>(in.source.low);
    model_.source_i[1] = static_cast<std::uint32_t>(in.source.low >> 32);
    model_.source_i[2] = static_cast<std::uint32_t>(in.source.high);
    model_.source_i[3] = static_cast<std::uint32_t>(in.source.high >> 32);
    model_.flow_label_i = in.flow_label;
    model_.uplink_i = static_cast<SData>(in.uplink);
    model_.payload_length_i = in.payload_length;
    model_.plane_i = in.plane;
    model_.hop_limit_i = in.hop_limit;
    model_.dscp_i = in.dscp;
    model_.ecn_i = static_cast<CData>(in.ecn);
  }
  void input_taken() {
    Waiting& packet = waiting_.front();
    sent_ += std::min(kBeatBytes, packet.inner.size() - sent_);
    offering_ = false;
    if (sent_ < packet.inner.size()) return;
    waiting_.pop_front();
    sent_ = 0;
  }
  /// What was valid and not taken must still be there, unchanged.
  void check_stability() {
    if (held_) {
      ASSERT_EQ(model_.out_valid_o, 1);
      ASSERT_EQ(model_.out_bytes_o, held_bytes_);
      ASSERT_EQ(model_.out_sop_o, held_sop_);
      ASSERT_EQ(model_.out_eop_o, held_eop_);
      ASSERT_EQ(std::memcmp(&model_.out_data_o[0], held_data_.data(), kBeatBytes), 0);
    }
    held_ = model_.out_valid_o != 0 && model_.out_ready_i == 0;
    if (!held_) return;
    held_bytes_ = model_.out_bytes_o;
    held_sop_ = model_.out_sop_o;
    held_eop_ = model_.out_eop_o;
    std::memcpy(held_data_.data(), &model_.out_data_o[0], kBeatBytes);
  }
  void take_output() {
    ASSERT_EQ(model_.out_sop_o != 0, received_.empty());
    const std::size_t at = received_.size();
    received_.resize(at + model_.out_bytes_o);
    std::memcpy(received_.data() + at, &model_.out_data_o[0], model_.out_bytes_o);
    if (model_.out_eop_o == 0) {
      ASSERT_EQ(model_.out_bytes_o, kBeatBytes);
      return;
    }
    ASSERT_FALSE(expected_.empty());
    ASSERT_EQ(received_, expected_.front());
    expected_.pop_front();
    received_.clear();
    ++delivered_;
  }

  VerilatedContext context_;
  Model model_{&context_};
  std::deque<Waiting> waiting_;
  std::deque<std::vector<std::byte>> expected_;
  std::size_t sent_ = 0;
  bool offering_ = false;
  std::vector<std::byte> received_;
  std::uint64_t delivered_ = 0;
  bool held_ = false;
  std::uint32_t held_bytes_ = 0;
  std::uint32_t held_sop_ = 0;
  std::uint32_t held_eop_ = 0;
  std::array<std::byte, kBeatBytes> held_data_{};
};

template <typename Bench>
class Srv6EncapHandshake : public ::testing::Test {};
using Benches = ::testing::Types<BeatBench<Vsrv6_encap_512, 64>, BeatBench<Vsrv6_encap_1024, 128>,
                                 BeatBench<Vsrv6_encap_2048, 256>>;
TYPED_TEST_SUITE(Srv6EncapHandshake, Benches);

TYPED_TEST(Srv6EncapHandshake, IdleInputBackPressureAndReset) {
  TypeParam bench;
  KeyedRandom random(7, "handshake");
  for (int phase = 0; phase < 200; ++phase) {
    const double offer = 0.1 + 0.9 * random.uniform();
    const double take = 0.1 + 0.9 * random.uniform();
    for (std::uint64_t i = 0; i < 20; ++i) {
      bench.queue(random_encap_input(random), random_inner_packet(random, TypeParam::kBeatBytes));
    }
    const std::uint64_t cut_short = random.chance(0.5) ? random.below(300) : ~0ULL;
    for (std::uint64_t cycle = 0; !bench.idle() && cycle < cut_short; ++cycle) {
      bench.cycle(random.chance(offer), random.chance(take));
      ASSERT_FALSE(this->HasFatalFailure());
      ASSERT_LT(cycle, 200'000U) << "the block hangs";
    }
    bench.reset();
  }
  EXPECT_GT(bench.delivered(), 2'000U);
}

TYPED_TEST(Srv6EncapHandshake, BackToBackPacketsTakeAsManyCyclesAsOutputBeats) {
  TypeParam bench;
  KeyedRandom random(9, "throughput");
  constexpr std::uint64_t packets = 500;
  std::uint64_t beats = 0;
  for (std::uint64_t i = 0; i < packets; ++i) {
    std::vector<std::byte> inner = random_inner_packet(random, TypeParam::kBeatBytes);
    beats += output_beats(inner.size(), TypeParam::kBeatBytes);
    bench.queue(random_encap_input(random), std::move(inner));
  }
  std::uint64_t cycles = 0;
  for (; !bench.idle() && cycles <= beats + 2; ++cycles) bench.cycle(true, true);
  EXPECT_EQ(bench.delivered(), packets);
  EXPECT_EQ(cycles, beats + 2) << "two cycles of latency, then a beat each cycle";
}

}  // namespace
}  // namespace mrc
