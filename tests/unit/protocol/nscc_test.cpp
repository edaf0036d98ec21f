#include "mrc/control/nscc.h"

#include <gtest/gtest.h>

#include "mrc/control/congestion_registry.h"
#include "mrc/random.h"

namespace mrc {
namespace {

constexpr TimePs kUs = kPsPerUs;

// 100 Gb/s x 12 us = 150,000 B: scaling a = 1, target 9 us, b = 0.75, alpha = 4 x 4096 x 0.75 / 9 us = 1,365.33 B a us.
class NsccTest : public testing::Test {
 protected:
  void SetUp() override {
    config.base_rtt_ps = 12 * kUs;
    config.line_rate_gbps = 100.0;
    config.initial_cwnd_bytes = 100'000;
    config.disable_quick_adapt = true;
  }
  Nscc make() { return Nscc(derive_nscc(config, protocol), protocol); }
  /// A SACK at `now` for `newly` bytes with `delay` above the base RTT.
  static AckSample ack(TimePs now, TimePs delay, std::uint64_t newly, bool ecn = false) {
    return {.now = now, .rtt_ps = 12 * kUs + delay, .newly_received_bytes = newly, .ecn = ecn};
  }
  /// A SACK that counts what has arrived and moves no window: marked, without delay.
  static AckSample arrival(TimePs now, std::uint64_t newly) { return ack(now, 0, newly, true); }
  static TrimSample trim(TimePs now, bool last_hop = false) {
    return {.now = now, .bytes = 4'184, .last_hop = last_hop};
  }
  /// A SACK without an RTT sample.
  static AckSample receipt(TimePs now, std::uint64_t newly, std::uint8_t penalty = 0, bool restore = false) {
    return {.now = now, .newly_received_bytes = newly, .receiver_penalty = penalty, .restore_cwnd = restore};
  }
  /// Only quick adapt moves the window, and would move it to 6,000 B.
  Nscc with_6000_bytes_achieved() {
    config.disable_quick_adapt = false;
    config.adjust_bytes_threshold = 1 << 30;
    config.adjust_period_ps = 1'000'000 * kUs;
    Nscc nscc = make();
    nscc.on_ack(arrival(0, 0));
    nscc.on_ack(arrival(kUs, 6'000));
    return nscc;
  }
  /// Quick adaptation to the 20,000 B that have arrived by 21 us, with `inflight` bytes on their way.
  static void adapt(Nscc& nscc, std::uint32_t inflight) {
    nscc.charge(inflight);
    nscc.on_ack(arrival(0, 0));
    nscc.on_trim(trim(kUs));
    nscc.on_ack(arrival(21 * kUs, 20'000));
    EXPECT_EQ(nscc.cwnd_bytes(), 20'000U);
  }

  CongestionConfig config;
  ProtocolConfig protocol;
};

TEST_F(NsccTest, ChangedConstantsActFromThenOn) {
  config.max_cwnd_bytes = 200'000;
  Nscc nscc = make();
  EXPECT_EQ(nscc.cwnd_bytes(), 100'000U);
  config.max_cwnd_bytes = 50'000;
  nscc.change(derive_nscc(config, protocol));
  EXPECT_EQ(nscc.cwnd_bytes(), 50'000U) << "a smaller bound cuts at once";
  config.max_cwnd_bytes = 200'000;
  nscc.change(derive_nscc(config, protocol));
  EXPECT_EQ(nscc.cwnd_bytes(), 50'000U) << "a larger one is grown into";
  // The smallest RTT seen, 12 us, is not the base RTT any more: the same SACK shows no delay below 20 us.
  config.base_rtt_ps = 20 * kUs;
  config.target_delay_ps = 2 * kUs;
  nscc.change(derive_nscc(config, protocol));
  nscc.on_ack(ack(100 * kUs, 6 * kUs, 50'000));
  EXPECT_GT(nscc.cwnd_bytes(), 50'000U);
}

TEST_F(NsccTest, AChangedLargestWindowFollowsTheRttSeen) {
  config.max_cwnd_follows_rtt = true;
  config.initial_cwnd_bytes = config.max_cwnd_bytes = 200'000;
  Nscc nscc = make();
  nscc.on_ack({.now = 0, .rtt_ps = 6 * kUs, .newly_received_bytes = 1});
  EXPECT_EQ(nscc.cwnd_bytes(), 100'000U);
  config.max_cwnd_bytes = 160'000;
  nscc.change(derive_nscc(config, protocol));
  EXPECT_EQ(nscc.cwnd_bytes(), 80'000U);
}

TEST_F(NsccTest, WithoutAlgorithmNothingChanges) {
  NoCongestionControl none;
  config.max_cwnd_bytes = 1;
  none.change(config);
  EXPECT_TRUE(none.may_send(1 << 30));
}

TEST(NsccConstants, DerivedByTheUecFormulae) {
  struct Row {
    double gbps;
    TimePs rtt;
    double fi, eta;
    std::uint64_t max_cwnd;
    TimePs target;
  };
  const Row rows[] = {{100, 12 * kUs, 20'480, 614.4, 225'000, 9 * kUs},
                      {400, 12 * kUs, 81'920, 2'457.6, 900'000, 9 * kUs},
                      {800, 12 * kUs, 163'840, 4'915.2, 1'800'000, 9 * kUs},
                      {800, 8 * kUs, 109'226.67, 3'276.8, 1'200'000, 6 * kUs}};
  for (const Row& row : rows) {
    CongestionConfig config;
    config.base_rtt_ps = row.rtt;
    config.line_rate_gbps = row.gbps;
    const CongestionConfig derived = derive_nscc(config, ProtocolConfig{});
    EXPECT_NEAR(derived.fi_bytes, row.fi, 0.01);
    EXPECT_NEAR(derived.eta_bytes, row.eta, 0.01);
    EXPECT_NEAR(derived.fi_scale, row.fi / (20.0 * 4'096.0), 1e-6);
    EXPECT_EQ(derived.max_cwnd_bytes, row.max_cwnd);
    EXPECT_EQ(derived.initial_cwnd_bytes, row.max_cwnd);
    EXPECT_EQ(derived.min_cwnd_bytes, 4'096U);
    EXPECT_EQ(derived.target_delay_ps, row.target);
    EXPECT_EQ(derived.qa_threshold_ps, 4 * row.target);
    EXPECT_EQ(derived.adjust_bytes_threshold, 32'768U);
    EXPECT_EQ(derived.adjust_period_ps, row.rtt);
  }
}

TEST(NsccConstants, WithoutTrimmingTheTargetIsTheRttAndGivenValuesStay) {
  ProtocolConfig protocol;
  protocol.trim_nack = false;
  CongestionConfig config;
  config.base_rtt_ps = 12 * kUs;
  config.fi_bytes = 1;
  config.max_cwnd_bytes = 2;
  const CongestionConfig derived = derive_nscc(config, protocol);
  EXPECT_EQ(derived.target_delay_ps, 12 * kUs);
  EXPECT_EQ(derived.fi_bytes, 1.0);
  EXPECT_EQ(derived.max_cwnd_bytes, 2U);
  EXPECT_EQ(derived.initial_cwnd_bytes, 2U);
}

// 20,480 x 40,000 / 100,000.
TEST_F(NsccTest, NoMarkAtTheTargetIsFairIncrease) {
  Nscc nscc = make();
  nscc.on_ack(ack(1, 9 * kUs, 40'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 108'192U);
}

TEST_F(NsccTest, AfterATrimAtTheLastHopTheWindowDoesNotGrowForAWhile) {
  for (const bool holds : {true, false}) {
    config.last_hop_trim_holds = holds;
    config.last_hop_trim_cuts = false;
    Nscc nscc = make();
    nscc.on_trim(trim(kUs, true));
    nscc.on_ack(ack(2 * kUs, 9 * kUs, 40'000));
    EXPECT_EQ(nscc.cwnd_bytes() > 100'000U, !holds);
    const std::uint64_t before = nscc.cwnd_bytes();
    nscc.on_ack(ack(60 * kUs, 9 * kUs, 40'000));
    EXPECT_GT(nscc.cwnd_bytes(), before);
  }
}

// Two windows of one queue, of which one saw it empty before: with a base RTT that is learned they differ in its delay.
TEST_F(NsccTest, TheBaseRttIsAsConfiguredByParameter) {
  for (const bool learned : {true, false}) {
    config.base_rtt_is_learned = learned;
    Nscc early = make();
    Nscc late = make();
    const TimePs empty = config.base_rtt_ps / 2;
    early.on_ack({.now = 1, .rtt_ps = empty, .newly_received_bytes = 1'000});
    for (Nscc* nscc : {&early, &late}) {
      const std::uint64_t before = nscc->cwnd_bytes();
      nscc->on_ack({.now = 2, .rtt_ps = config.base_rtt_ps + 3 * kUs, .newly_received_bytes = 40'000});
      if (nscc == &early) {
        EXPECT_EQ(nscc->cwnd_bytes() - before > 5'000, learned);  // fair increase, 9 us above the empty queue
      } else {
        EXPECT_LT(nscc->cwnd_bytes() - before, 5'000U);
      }
    }
  }
}

// Only a last hop, which does not mark, delays so long without a mark.
TEST_F(NsccTest, NoMarkAtTheTargetIsAMarkByParameter) {
  config.unmarked_delay = UnmarkedDelay::as_marked;
  config.delay_ewma_weight = 1.0;
  Nscc marked = make();
  Nscc unmarked = make();
  for (const TimePs now : {12 * kUs, 24 * kUs}) {
    marked.on_ack(ack(now, 18 * kUs, 1'000, true));
    unmarked.on_ack(ack(now, 18 * kUs, 1'000));
    EXPECT_LT(unmarked.cwnd_bytes(), 100'000U);
    EXPECT_EQ(unmarked.cwnd_bytes(), marked.cwnd_bytes());
  }
  unmarked.on_ack(ack(36 * kUs, 3 * kUs, 1'000));
  EXPECT_GT(unmarked.cwnd_bytes(), marked.cwnd_bytes());
}

// 1,365.33 x (9 - 3) x 40,000 / 100,000 = 3,276.8.
TEST_F(NsccTest, NoMarkBelowTheTargetIsProportionalIncrease) {
  Nscc nscc = make();
  nscc.on_ack(ack(1, 3 * kUs, 40'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 103'276U);
}

TEST_F(NsccTest, AMarkBelowTheTargetChangesNothing) {
  Nscc nscc = make();
  nscc.on_ack(ack(1, 3 * kUs, 40'000, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 100'000U);
}

// 1 - 0.8 x (18 - 9) / 18 = 0.6; the period is over as well, which adds eta = 614.4.
TEST_F(NsccTest, AMarkAboveTheTargetIsMultiplicativeDecreaseOncePerBaseRtt) {
  config.delay_ewma_weight = 1.0;
  Nscc nscc = make();
  nscc.on_ack(ack(12 * kUs, 18 * kUs, 1'000, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 60'614U);
  EXPECT_EQ(nscc.last_cut(), CutCause::ecn);
  nscc.on_ack(ack(24 * kUs - 1, 18 * kUs, 1'000, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 60'614U);
  // 0.6 x 60,614.4 + 614.4.
  nscc.on_ack(ack(24 * kUs, 18 * kUs, 1'000, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 36'983U);
}

TEST_F(NsccTest, OneDecreaseAtMostHalves) {
  config.delay_ewma_weight = 1.0;
  Nscc nscc = make();
  nscc.on_ack(ack(12 * kUs, 90 * kUs, 1'000, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 50'614U);
}

TEST_F(NsccTest, TheAverageDecidesWhetherToDecrease) {
  Nscc nscc = make();
  nscc.on_ack(ack(11 * kUs, 18 * kUs, 0, true));
  EXPECT_DOUBLE_EQ(nscc.average_delay_ps(), 0.0125 * 18e6);
  EXPECT_EQ(nscc.cwnd_bytes(), 100'000U);
}

TEST_F(NsccTest, UnmarkedDelayAboveTheTargetCountsAsAQuarterOfTheBaseRtt) {
  Nscc nscc = make();
  nscc.on_ack(ack(1, 10 * kUs, 0));
  EXPECT_DOUBLE_EQ(nscc.average_delay_ps(), 0.0125 * 3e6);
  nscc.on_ack(ack(1, 9 * kUs, 0));
  EXPECT_DOUBLE_EQ(nscc.average_delay_ps(), 37'500 + 0.0125 * (9e6 - 37'500));
}

// 60,000 B without delay: 1,365.33 x 9 x 60,000 / 100,000 = 7,372.8; with 120,000 B that is more than a window: 0.25 a
// byte.
TEST_F(NsccTest, AWindowWithoutDelayIsFastIncrease) {
  Nscc nscc = make();
  nscc.on_ack(ack(1, 0, 60'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 107'372U);
  nscc.on_ack(ack(1, 0, 60'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 122'372U);
}

// Three trims of 4,184 B take 12,552 B off a window of 60,000 B.
TEST_F(NsccTest, SmallestAndFirstWindowByParameter) {
  config.initial_cwnd_bytes = 60'000;
  for (const std::uint64_t smallest : {0, 50'000}) {
    config.min_cwnd_bytes = smallest;
    Nscc nscc = make();
    EXPECT_EQ(nscc.cwnd_bytes(), 60'000U);
    for (int i = 0; i < 3; ++i) nscc.on_trim(trim(1));
    EXPECT_EQ(nscc.cwnd_bytes(), smallest == 0 ? 47'448U : 50'000U);
  }
}

// Steps of 4 bytes a byte outrun the count of undelayed bytes; only delay ends the mode.
TEST_F(NsccTest, FastIncreaseLastsUntilThereIsDelay) {
  config.fi_scale = 4;
  config.initial_cwnd_bytes = 5'000;
  Nscc nscc = make();
  nscc.on_ack(ack(1, 0, 5'001));
  EXPECT_EQ(nscc.cwnd_bytes(), 25'004U);
  nscc.on_ack(ack(1, 0, 1'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 29'004U);
  nscc.on_ack(ack(1, 2 * kUs, 0));
  nscc.on_ack(ack(1, 0, 1'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 29'004U);
}

TEST_F(NsccTest, DelayEndsTheCountOfUndelayedBytes) {
  Nscc nscc = make();
  nscc.on_ack(ack(1, 0, 60'000));
  nscc.on_ack(ack(1, 2 * kUs, 0));
  nscc.on_ack(ack(1, 0, 60'000));
  // 107,372.8 + 12,288 x 60,000 / 107,372.8.
  EXPECT_EQ(nscc.cwnd_bytes(), 114'239U);
}

TEST_F(NsccTest, IncreaseIsAppliedAboveEightMtuOrAfterThePeriod) {
  Nscc nscc = make();
  nscc.on_ack(ack(1, 9 * kUs, 32'768));
  EXPECT_EQ(nscc.cwnd_bytes(), 100'000U);
  nscc.on_ack(ack(2, 9 * kUs, 1));
  // 20,480 x 32,769 / 100,000 = 6,711.09.
  EXPECT_EQ(nscc.cwnd_bytes(), 106'711U);
  nscc.on_ack(arrival(12 * kUs, 0));
  EXPECT_EQ(nscc.cwnd_bytes(), 107'325U);
  nscc.on_ack(arrival(24 * kUs - 1, 0));
  EXPECT_EQ(nscc.cwnd_bytes(), 107'325U);
  nscc.on_ack(arrival(24 * kUs, 0));
  EXPECT_EQ(nscc.cwnd_bytes(), 107'939U);
}

TEST_F(NsccTest, WithoutAnRttSampleBytesAreOnlyCounted) {
  Nscc nscc = make();
  nscc.on_ack(receipt(12 * kUs, 40'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 100'000U);
  // 20,480 x 1,000 / 100,000 + 614.4: the 41,000 B are over the threshold, but the increase is that of the sample.
  nscc.on_ack(ack(12 * kUs, 9 * kUs, 1'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 100'819U);
}

TEST_F(NsccTest, LossTakesThePacketOffTheWindow) {
  Nscc nscc = make();
  nscc.on_loss(4'184, 1);
  EXPECT_EQ(nscc.cwnd_bytes(), 95'816U);
  EXPECT_EQ(nscc.last_cut(), CutCause::loss);
}

TEST_F(NsccTest, ATrimTakesThePacketOffAsWellByParameter) {
  Nscc nscc = make();
  nscc.on_trim(trim(1));
  EXPECT_EQ(nscc.cwnd_bytes(), 95'816U);
  EXPECT_EQ(nscc.last_cut(), CutCause::trim);
  // The average hears of base RTT + network RTT, a delay of 12 us.
  EXPECT_DOUBLE_EQ(nscc.average_delay_ps(), 0.0125 * 12e6);
  config.trim_cuts_cwnd = false;
  Nscc other = make();
  other.on_trim(trim(1));
  EXPECT_EQ(other.cwnd_bytes(), 100'000U);
}

TEST_F(NsccTest, ATrimAtTheLastHopCutsByParameter) {
  Nscc nscc = make();
  nscc.on_trim(trim(1, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 95'816U);
  EXPECT_EQ(nscc.last_cut(), CutCause::trim);
  config.last_hop_trim_cuts = false;
  Nscc other = make();
  other.on_trim(trim(1, true));
  EXPECT_EQ(other.cwnd_bytes(), 100'000U);
  EXPECT_EQ(other.last_cut(), CutCause::none);
  EXPECT_DOUBLE_EQ(other.average_delay_ps(), 0.0125 * 12e6);
}

TEST_F(NsccTest, ARefusalIsNoDelayAndNoCut) {
  Nscc nscc = make();
  nscc.on_refusal(4'184, 1);
  EXPECT_EQ(nscc.cwnd_bytes(), 100'000U);
  EXPECT_EQ(nscc.average_delay_ps(), 0.0);
  EXPECT_EQ(nscc.last_cut(), CutCause::none);
}

TEST_F(NsccTest, ARefusalTriggersQuickAdaptByParameter) {
  const auto after_refusal = [&] {
    Nscc nscc = with_6000_bytes_achieved();
    nscc.on_refusal(4'184, 21 * kUs);
    return nscc.cwnd_bytes();
  };
  EXPECT_EQ(after_refusal(), 6'000U);
  config.refusal_triggers_quick_adapt = false;
  EXPECT_EQ(after_refusal(), 100'000U);
}

TEST_F(NsccTest, ALossTriggersQuickAdaptByParameter) {
  const auto after_loss = [&] {
    Nscc nscc = with_6000_bytes_achieved();
    nscc.on_loss(4'184, 21 * kUs);
    EXPECT_EQ(nscc.last_cut(), CutCause::loss);
    return nscc.cwnd_bytes();
  };
  EXPECT_EQ(after_loss(), 95'816U);
  config.loss_triggers_quick_adapt = true;
  EXPECT_EQ(after_loss(), 6'000U);
}

// A third of the base RTT: the largest window is a third of 225,000 B, or as it was.
TEST_F(NsccTest, TheLargestWindowFollowsTheSmallestRttByParameter) {
  const auto after_short_rtt = [&] {
    Nscc nscc = make();
    nscc.on_ack({.now = 1, .rtt_ps = 4 * kUs, .newly_received_bytes = 0});
    for (int i = 0; i < 1'000; ++i) nscc.on_ack({.now = 1, .rtt_ps = 4 * kUs, .newly_received_bytes = 60'000});
    return nscc.cwnd_bytes();
  };
  EXPECT_EQ(after_short_rtt(), 225'000U);
  config.max_cwnd_follows_rtt = true;
  EXPECT_EQ(after_short_rtt(), 75'000U);
}

// Of 50,000 B in flight at the quick adaptation 33,264 B arrive, a packet is refused, one lost and one trimmed: the
// next trim counts again.
TEST_F(NsccTest, RefusedAndLostPacketsAreNoLongerIgnoredFeedback) {
  config.disable_quick_adapt = false;
  Nscc nscc = make();
  adapt(nscc, 50'000);
  nscc.on_ack(arrival(22 * kUs, 33'264));
  nscc.on_refusal(4'184, 22 * kUs);
  nscc.on_loss(4'184, 22 * kUs);
  EXPECT_EQ(nscc.cwnd_bytes(), 15'816U);
  nscc.on_trim(trim(22 * kUs));
  EXPECT_EQ(nscc.cwnd_bytes(), 15'816U);
  nscc.on_trim(trim(22 * kUs));
  EXPECT_EQ(nscc.cwnd_bytes(), 11'632U);
}

TEST_F(NsccTest, ClippedToOneMtuAndTheLargestWindow) {
  Nscc nscc = make();
  for (int i = 0; i < 100; ++i) nscc.on_loss(4'184, 1);
  EXPECT_EQ(nscc.cwnd_bytes(), 4'096U);
  for (int i = 0; i < 100; ++i) nscc.on_ack(ack(1, 0, 60'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 225'000U);
}

// 64,000 B in flight, 64 of 128 taken off each of the 64,000 B that arrive in one RTT.
TEST_F(NsccTest, APenaltyOf64DuringOneRttHalvesTheWindow) {
  Nscc nscc = make();
  nscc.charge(64'000);
  for (int i = 0; i < 64; ++i) nscc.on_ack(receipt(1, 1'000, 64));
  EXPECT_EQ(nscc.cwnd_bytes(), 32'000U);
  EXPECT_EQ(nscc.last_cut(), CutCause::penalty);
}

TEST_F(NsccTest, APenaltyOf127LeavesOnePacketARtt) {
  Nscc nscc = make();
  nscc.charge(64'000);
  for (int i = 0; i < 64; ++i) nscc.on_ack(receipt(1, 1'000, 127));
  EXPECT_EQ(nscc.cwnd_bytes(), 4'096U);
}

TEST_F(NsccTest, RestoreBringsTheWindowBackThatWasSavedAtTheStart) {
  Nscc nscc = make();
  nscc.charge(64'000);
  for (int i = 0; i < 3; ++i) nscc.on_ack(receipt(1, 16'000, 64));
  EXPECT_EQ(nscc.cwnd_bytes(), 40'000U);
  nscc.on_ack(receipt(1, 0, 0, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 100'000U);
  nscc.on_ack(receipt(1, 16'000, 64));
  nscc.on_ack(receipt(1, 0));
  EXPECT_EQ(nscc.cwnd_bytes(), 56'000U);
}

// 20,480 x 40,000 / 100,000 would be the fair increase.
TEST_F(NsccTest, NoIncreaseUnderAPenalty) {
  Nscc nscc = make();
  nscc.charge(100'000);
  AckSample sample = ack(1, 9 * kUs, 40'000);
  sample.receiver_penalty = 64;
  nscc.on_ack(sample);
  EXPECT_EQ(nscc.cwnd_bytes(), 80'000U);
}

TEST_F(NsccTest, QuickAdaptFallsToWhatArrived) {
  config.disable_quick_adapt = false;
  Nscc nscc = make();
  nscc.on_ack(arrival(0, 4'096));
  nscc.on_trim(trim(kUs));
  nscc.on_ack(arrival(10 * kUs, 8'192));
  EXPECT_EQ(nscc.cwnd_bytes(), 95'816U);
  // base RTT + target = 21 us later 16,384 B have arrived, less than 225,000 / 8 = 28,125.
  nscc.on_ack(arrival(21 * kUs, 8'192));
  EXPECT_EQ(nscc.cwnd_bytes(), 16'384U);
  EXPECT_EQ(nscc.last_cut(), CutCause::trim);
}

TEST_F(NsccTest, QuickAdaptStaysWhenEnoughArrivedOrNothingIsWrong) {
  config.disable_quick_adapt = false;
  config.adjust_bytes_threshold = 1 << 30;
  config.adjust_period_ps = 1'000'000 * kUs;
  Nscc nscc = make();
  nscc.on_ack(arrival(0, 4'096));
  nscc.on_ack(arrival(21 * kUs, 1'000));
  nscc.on_loss(4'184, 22 * kUs);
  nscc.on_ack(arrival(42 * kUs, 1'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 95'816U);
  nscc.on_trim(trim(43 * kUs));
  nscc.on_ack(arrival(63 * kUs, 28'125));
  EXPECT_EQ(nscc.cwnd_bytes(), 91'632U);
  // What was wrong stays so until it has been adapted to.
  nscc.on_ack(arrival(84 * kUs, 28'124));
  EXPECT_EQ(nscc.cwnd_bytes(), 28'124U);
  nscc.on_ack(arrival(105 * kUs, 1'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 28'124U);
}

TEST_F(NsccTest, QuickAdaptByDelayAndByTrim) {
  config.disable_quick_adapt = false;
  Nscc by_delay = make();
  by_delay.on_ack(arrival(0, 0));
  by_delay.on_ack(ack(21 * kUs, 36 * kUs + 1, 5'000));
  EXPECT_EQ(by_delay.cwnd_bytes(), 5'000U);
  EXPECT_EQ(by_delay.last_cut(), CutCause::quick_adapt);
  Nscc by_trim = make();
  by_trim.on_ack(arrival(0, 0));
  by_trim.on_ack(arrival(kUs, 6'000));
  by_trim.on_trim(trim(21 * kUs));
  EXPECT_EQ(by_trim.cwnd_bytes(), 6'000U);
  EXPECT_EQ(by_trim.last_cut(), CutCause::trim);
}

TEST_F(NsccTest, NoQuickAdaptByTrimsThatDoNotCut) {
  config.disable_quick_adapt = false;
  config.last_hop_trim_cuts = false;
  Nscc nscc = make();
  nscc.on_ack(arrival(0, 0));
  nscc.on_trim(trim(21 * kUs, true));
  nscc.on_ack(arrival(42 * kUs, 0));
  EXPECT_GE(nscc.cwnd_bytes(), 100'000U);
}

// The queue that trimmed and marked them is the one that the window has been set for.
TEST_F(NsccTest, TrimsAndMarksOfWhatWasInFlightAreIgnoredAfterQuickAdapt) {
  config.disable_quick_adapt = false;
  config.delay_ewma_weight = 1.0;
  Nscc nscc = make();
  adapt(nscc, 50'000);
  for (int i = 0; i < 5; ++i) nscc.on_trim(trim(22 * kUs, i % 2 == 0));
  nscc.on_ack(ack(40 * kUs, 18 * kUs, 20'000, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 20'000U);
  // The rest has come: 1 - 0.8 x (18 - 9) / 18 = 0.6 and eta.
  nscc.on_ack(ack(41 * kUs, 18 * kUs, 9'080, true));
  EXPECT_EQ(nscc.cwnd_bytes(), 12'614U);
}

TEST_F(NsccTest, WhatArrivesUnmarkedCountsAfterQuickAdaptAtOnce) {
  config.disable_quick_adapt = false;
  Nscc nscc = make();
  adapt(nscc, 50'000);
  // 20,480 x 10,000 / 20,000 + 614.4.
  nscc.on_ack(ack(40 * kUs, 9 * kUs, 10'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 30'854U);
}

TEST_F(NsccTest, ASmallerRttBecomesTheBase) {
  Nscc nscc = make();
  nscc.on_ack({.now = 1, .rtt_ps = 10 * kUs, .newly_received_bytes = 0});
  // 12 us are 2 us of delay now: 1,365.33 x 7 x 40,000 / 100,000 = 3,822.9.
  nscc.on_ack(ack(1, 0, 40'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 103'822U);
}

// A trimmed packet overtakes the queue: 2 us of delay from 10 us on.
TEST_F(NsccTest, ATrimmedPacketsRttMayBecomeTheBase) {
  Nscc nscc = make();
  nscc.on_trim({.now = 1, .rtt_ps = 10 * kUs, .bytes = 4'184});
  // 1,365.33 x 7 x 40,000 / 95,816 = 3,989.9.
  nscc.on_ack(ack(1, 0, 40'000));
  EXPECT_EQ(nscc.cwnd_bytes(), 99'805U);
}

TEST_F(NsccTest, WindowStaysInItsBoundsUnderAnyFeedback) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    KeyedRandom random(seed, "nscc");
    config.disable_quick_adapt = random.chance(0.3);
    Nscc nscc = make();
    TimePs now = 0;
    for (int i = 0; i < 500; ++i) {
      now += random.below(5 * kUs);
      if (nscc.may_send(4'184)) nscc.charge(4'184);
      if (random.chance(0.5) && nscc.inflight_bytes() > 0) nscc.discharge(4'184);
      switch (random.below(4)) {
        case 0:
          nscc.on_loss(4'184, now);
          break;
        case 1:
          nscc.on_trim({.now = now, .rtt_ps = 12 * kUs, .bytes = 4'184, .last_hop = random.chance(0.5)});
          break;
        default: {
          AckSample sample = ack(now, random.below(40 * kUs), random.below(100'000), random.chance(0.3));
          sample.receiver_penalty = static_cast<std::uint8_t>(random.chance(0.2) ? random.below(128) : 0);
          sample.restore_cwnd = random.chance(0.5);
          nscc.on_ack(sample);
        }
      }
      ASSERT_GE(nscc.cwnd_bytes(), 4'096U);
      ASSERT_LE(nscc.cwnd_bytes(), 225'000U);
    }
  }
}

TEST(Inflight, OnePacketAlwaysMayGo) {
  Nscc nscc(derive_nscc({}, ProtocolConfig{}), ProtocolConfig{});
  while (nscc.may_send(4'184)) nscc.charge(4'184);
  // 1.5 x 800 Gb/s x 8 us = 1,200,000 B hold 286 packets.
  EXPECT_EQ(nscc.inflight_bytes(), 286U * 4'184);
  for (int i = 0; i < 286; ++i) nscc.discharge(4'184);
  EXPECT_EQ(nscc.inflight_bytes(), 0U);
  EXPECT_TRUE(nscc.may_send(100'000'000));
}

TEST(NoCongestionControl, NeverHoldsAnythingBack) {
  CongestionConfig config;
  config.algorithm = "none";
  const auto control = make_congestion_control(config, ProtocolConfig{});
  control->on_ack({});
  control->on_trim({.now = 1, .bytes = 4'096});
  control->on_refusal(4'096, 1);
  control->on_loss(4'096, 1);
  for (int i = 0; i < 1'000'000; ++i) control->charge(4'096);
  EXPECT_TRUE(control->may_send(4'096));
  EXPECT_EQ(control->last_cut(), CutCause::none);
}

/// A user's algorithm: a window of a fixed number of packets.
class FixedWindow final : public CongestionControl {
 public:
  explicit FixedWindow(std::uint64_t bytes) { cwnd_bytes_ = bytes; }
  void on_ack(const AckSample&) override {}
  void on_trim(const TrimSample&) override {}
  void on_refusal(std::uint32_t, TimePs) override {}
  void on_loss(std::uint32_t, TimePs) override {}
};

TEST(CongestionRegistry, FindsAUsersAlgorithmByName) {
  add_congestion_control("fixed-window", [](const CongestionConfig&, const ProtocolConfig& protocol) {
    return std::make_unique<FixedWindow>(3ULL * protocol.mtu_bytes);
  });
  CongestionConfig config;
  config.algorithm = "fixed-window";
  const auto control = make_congestion_control(config, ProtocolConfig{});
  EXPECT_EQ(control->cwnd_bytes(), 3U * 4'096);
  config.algorithm = "uet-1.0-nscc";
  EXPECT_EQ(make_congestion_control(config, ProtocolConfig{})->cwnd_bytes(), 1'200'000U);
}

TEST(CongestionRegistry, AnUnknownNameIsRefusedWithThoseThatExist) {
  CongestionConfig config;
  config.algorithm = "cubic";
  try {
    make_congestion_control(config, ProtocolConfig{});
    FAIL();
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("\"cubic\""), std::string::npos);
    EXPECT_NE(text.find("none"), std::string::npos);
    EXPECT_NE(text.find("uet-1.0-nscc"), std::string::npos);
  }
}

TEST(CutCause, HasItsName) {
  EXPECT_EQ(to_string(CutCause::none), "initial");
  EXPECT_EQ(to_string(CutCause::quick_adapt), "quick_adapt");
  EXPECT_EQ(to_string(CutCause::out_of_window), "out_of_window");
}

// 1.5 x 1 Gb/s x 1 us is 187 B.
TEST(NsccConstants, AWindowHoldsAPacketAtLeast) {
  CongestionConfig config;
  config.base_rtt_ps = kUs;
  config.line_rate_gbps = 1.0;
  EXPECT_EQ(derive_nscc(config, ProtocolConfig{}).max_cwnd_bytes, 4'096U);
}

}  // namespace
}  // namespace mrc
