#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "mrc/control/probes.h"
#include "mrc/random.h"
#include "mrc/rx/ack_coalescer.h"
#include "mrc/rx/protection.h"
#include "mrc/rx/psn_tracker.h"
#include "mrc/rx/receiver_penalty.h"
#include "mrc/rx/responder.h"

namespace mrc {
namespace {

constexpr std::uint32_t kRkey = 0xABCD;
constexpr NodeId kPeer = 5;
constexpr std::uint16_t kPkey = 0x8001;
constexpr ProtectionDomain kDomain = 3;
constexpr std::uint64_t kVa = 0x10'0000;
constexpr std::uint64_t kRegionBytes = 1 << 20;

Packet data_packet(Psn psn, Opcode opcode = Opcode::write_middle, std::uint32_t bytes = 4096) {
  Packet packet;
  packet.opcode = opcode;
  packet.psn = psn;
  packet.source_node = kPeer;
  packet.pkey = kPkey;
  packet.rkey = kRkey;
  packet.va = kVa;
  packet.payload_bytes = bytes;
  packet.ev = 0x1000 + psn;
  packet.tx_timestamp = static_cast<std::uint16_t>(7 * psn);
  return packet;
}

/// As both callers ask: whether a packet of `bytes` owes a probe.
bool owes(EvProbeTurn& turn, const ProtocolConfig& config, TimePs round_trip, TimePs now, std::uint32_t bytes = 4096,
          bool sends = false, bool duplicate = false) {
  return turn.is_due(bytes, now) && owes_ev_probe(turn, duplicate, sends, config, round_trip, now);
}

TEST(EvProbes, OneForEachRoundTripInWhichEnoughWasReceived) {
  ProtocolConfig config;
  config.ev_probe_bytes = 65'536;
  constexpr TimePs kRoundTrip = 8 * kPsPerUs;
  EvProbeTurn turn;
  EXPECT_TRUE(owes(turn, config, kRoundTrip, 100));
  int owed = 0;
  // A packet each half round trip: 64 KiB are sixteen packets.
  for (TimePs i = 1; i <= 32; ++i) owed += owes(turn, config, kRoundTrip, 100 + i * kRoundTrip / 2) ? 1 : 0;
  EXPECT_EQ(owed, 2);
  EXPECT_FALSE(owes(turn, config, kRoundTrip, 101 + 16 * kRoundTrip, 1 << 20));
  EXPECT_TRUE(owes(turn, config, kRoundTrip, 100 + 17 * kRoundTrip));
}

TEST(EvProbes, NoneWhileTheQpHasWorkOfItsOwn) {
  const ProtocolConfig config;
  EvProbeTurn turn;
  EXPECT_FALSE(owes(turn, config, 1000, 6000, 4096, true));
  EXPECT_FALSE(owes(turn, config, 1000, 6999, 4096));
  EXPECT_TRUE(owes(turn, config, 1000, 7000, 4096));
}

// The sender has not heard of the first copy: the path of the answers may be dead, whatever else the QP does.
TEST(EvProbes, ADuplicateOwesOneInEachRoundTrip) {
  const ProtocolConfig config;
  EvProbeTurn turn{.next = 0, .received = 0};
  const auto duplicate_owes = [&](TimePs now) { return owes(turn, config, 1000, now, 64, true, true); };
  EXPECT_TRUE(duplicate_owes(5000));
  EXPECT_FALSE(duplicate_owes(5999));
  EXPECT_TRUE(duplicate_owes(6000));
  for (std::uint32_t i = 0; i < config.ev_probe_repeats; ++i) EXPECT_TRUE(repeats_ev_probe(turn));
  EXPECT_FALSE(repeats_ev_probe(turn));
}

TEST(PsnTracker, FourOutcomes) {
  BitmapPool pool(16);
  PsnTracker tracker(100, 128, pool);
  EXPECT_EQ(tracker.classify(100), PsnOutcome::accept);
  EXPECT_EQ(tracker.classify(99), PsnOutcome::duplicate_below);
  EXPECT_EQ(tracker.classify(psn_add(100, -(1 << 23))), PsnOutcome::duplicate_below);
  EXPECT_EQ(tracker.classify(227), PsnOutcome::accept);
  EXPECT_EQ(tracker.classify(228), PsnOutcome::out_of_window);
  EXPECT_EQ(tracker.classify(240), PsnOutcome::out_of_window);
  tracker.accept(105, false);
  EXPECT_EQ(tracker.classify(105), PsnOutcome::duplicate_above);
  EXPECT_EQ(tracker.classify(104), PsnOutcome::accept);
}

TEST(PsnTracker, EdgeAndMessagesOverTheWrap) {
  BitmapPool pool(16);
  PsnTracker tracker(0xFF'FFFE, 256, pool);
  EXPECT_EQ(tracker.cack_psn(), 0xFF'FFFDU);
  EXPECT_EQ(tracker.accept(0, true), 0U);
  EXPECT_EQ(tracker.accept(1, false), 0U);
  EXPECT_EQ(tracker.accept(2, true), 0U);
  EXPECT_EQ(tracker.ooo_count(), 3U);
  EXPECT_EQ(tracker.highest_psn(), 2U);
  EXPECT_EQ(tracker.accept(0xFF'FFFF, false), 0U);
  EXPECT_EQ(tracker.accept(0xFF'FFFE, true), 3U);
  EXPECT_EQ(tracker.cack_psn(), 2U);
  EXPECT_EQ(tracker.highest_psn(), 2U);
  EXPECT_EQ(tracker.ooo_count(), 0U);
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(PsnTracker, BanksOf128ComeAndGo) {
  BitmapPool pool(4);
  PsnTracker tracker(0, 512, pool);
  tracker.accept(1, false);
  EXPECT_EQ(pool.in_use(), 1U);
  tracker.accept(127, false);
  EXPECT_EQ(pool.in_use(), 1U);
  tracker.accept(128, false);
  EXPECT_EQ(pool.in_use(), 2U);
  tracker.accept(511, false);
  EXPECT_EQ(pool.in_use(), 3U);
  for (Psn psn = 0; psn < 128; ++psn) {
    if (tracker.classify(psn) == PsnOutcome::accept) tracker.accept(psn, false);
  }
  EXPECT_EQ(tracker.expected_psn(), 129U);
  EXPECT_EQ(pool.in_use(), 2U);
  for (Psn psn = 129; psn < 511; ++psn) tracker.accept(psn, false);
  EXPECT_EQ(tracker.expected_psn(), 512U);
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(pool.high_water(), 3U);
}

TEST(PsnTracker, WithoutABankOnlyTheExpectedPacketEnters) {
  BitmapPool pool(1);
  PsnTracker tracker(0, 512, pool);
  tracker.accept(5, false);
  EXPECT_EQ(tracker.classify(6), PsnOutcome::accept);
  EXPECT_EQ(tracker.classify(128), PsnOutcome::no_bitmap);
  EXPECT_EQ(tracker.classify(0), PsnOutcome::accept);
  PsnTracker other(0, 128, pool);
  EXPECT_EQ(other.classify(1), PsnOutcome::no_bitmap);
  EXPECT_EQ(other.classify(0), PsnOutcome::accept);
}

TEST(PsnTracker, AnotherWindowLimitsWhatIsNew) {
  BitmapPool pool(16);
  PsnTracker tracker(0, 512, pool);
  tracker.accept(300, false);
  tracker.set_window(128);
  EXPECT_EQ(tracker.window_psns(), 128U);
  EXPECT_EQ(tracker.classify(127), PsnOutcome::accept);
  EXPECT_EQ(tracker.classify(128), PsnOutcome::out_of_window);
  EXPECT_TRUE(tracker.received(300));
  tracker.set_window(1 << 20);
  EXPECT_GE(tracker.window_psns(), 512U);
}

/// Against a set of what has been received, over the wrap.
TEST(PsnTrackerProperty, AgreesWithASet) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    KeyedRandom random(seed, "tracker");
    BitmapPool pool(64);
    const Psn first = psn_add(0, -static_cast<std::int64_t>(random.below(2'000)));
    PsnTracker tracker(first, 256, pool);
    std::set<std::int64_t> received;  // relative to first, above the edge
    std::int64_t edge = 0;
    for (int i = 0; i < 3'000; ++i) {
      const std::int64_t at = edge + static_cast<std::int64_t>(random.below(300)) - 10;
      const Psn psn = psn_add(first, at);
      const PsnOutcome outcome = tracker.classify(psn);
      if (at < edge) {
        ASSERT_EQ(outcome, PsnOutcome::duplicate_below);
      } else if (at >= edge + 256) {
        ASSERT_EQ(outcome, PsnOutcome::out_of_window);
      } else if (received.contains(at)) {
        ASSERT_EQ(outcome, PsnOutcome::duplicate_above);
      } else {
        ASSERT_EQ(outcome, PsnOutcome::accept);
        // A third of the packets end a message; the edge closes those that it passes.
        const auto ends = [](std::int64_t n) { return n % 3 == 0; };
        received.insert(at);
        std::uint32_t closes = 0;
        for (; received.erase(edge) > 0; ++edge) closes += ends(edge) ? 1 : 0;
        ASSERT_EQ(tracker.accept(psn, ends(at)), closes);
      }
      ASSERT_EQ(tracker.cack_psn(), psn_add(first, edge - 1));
      ASSERT_EQ(tracker.ooo_count(), received.size());
      // Where a SACK's bits begin: the edge, somewhere in the window, or far above all that has arrived.
      for (const std::int64_t base :
           {edge, edge + static_cast<std::int64_t>(random.below(256)), edge + 256 + at % 512}) {
        std::uint64_t bits = 0;
        for (std::int64_t b = 0; b < 64; ++b) bits |= std::uint64_t{received.contains(base + b)} << b;
        ASSERT_EQ(tracker.bitmap_from(psn_add(first, base)), bits);
      }
      std::set<std::uint32_t> banks;
      for (const std::int64_t held : received) banks.insert(psn_add(first, held) / 128);
      ASSERT_GE(pool.in_use(), banks.size());
      ASSERT_LE(pool.in_use(), 3U);
    }
  }
}

class SackTriggersTest : public testing::Test {
 protected:
  /// Why the packet makes a SACK owed, which is then sent.
  std::uint8_t causes(const Packet& packet) {
    const std::uint8_t why = triggers.causes(SackEvent::data, packet);
    if (why != 0) triggers.sent();
    return why;
  }
  ProtocolConfig config;
  SackTriggers triggers{config};
};

TEST_F(SackTriggersTest, SixteenKibIsOneAFifthPacketOf4KiB) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) EXPECT_EQ(causes(data_packet(0)), 0);
    EXPECT_EQ(triggers.counter_bytes(), 16'384U);
    EXPECT_EQ(causes(data_packet(0)), kSackByBytes);
  }
}

TEST_F(SackTriggersTest, SmallPacketsCountAs1KiB) {
  for (int i = 0; i < 16; ++i) EXPECT_EQ(causes(data_packet(0, Opcode::write_only, 1)), 0);
  EXPECT_EQ(causes(data_packet(0, Opcode::write_only, 1)), kSackByBytes);
}

TEST_F(SackTriggersTest, AckRequestMarkAndRetransmissionTriggerAtOnce) {
  Packet packet = data_packet(0);
  packet.ack_request = true;
  EXPECT_EQ(causes(packet), kSackByAckRequest);
  packet = data_packet(0);
  packet.ecn = Ecn::ce;
  EXPECT_EQ(causes(packet), kSackByCe);
  packet = data_packet(0);
  packet.retransmission = true;
  EXPECT_EQ(causes(packet), kSackByRetransmission);
  EXPECT_EQ(causes(data_packet(0)), 0);
  EXPECT_EQ(triggers.counter_bytes(), 4'096U);
  triggers.sent();
  EXPECT_EQ(triggers.counter_bytes(), 0U);
}

TEST(SackBase, RightAboveTheEdgeWhileAllFits) {
  EXPECT_EQ(sack_base(99, 99, {.psn = 99}), 100U);
  EXPECT_EQ(sack_base(99, 163, {.psn = 163, .ce = true}), 100U);
  EXPECT_EQ(sack_base(0xFF'FFFE, 5, {.psn = 5}), 0xFF'FFFFU);
}

TEST(SackBase, OtherwiseTheNewestFitsOrTheMarkedPacketItself) {
  EXPECT_EQ(sack_base(99, 164, {.psn = 164}), 101U);
  EXPECT_EQ(sack_base(99, 200, {.psn = 120}), 137U);
  EXPECT_EQ(sack_base(99, 200, {.psn = 120, .ce = true}), 120U);
  EXPECT_EQ(sack_base(99, 200, {.psn = 120, .ack_request = true}), 120U);
  EXPECT_EQ(sack_base(99, 200, {.psn = 90, .ack_request = true}), 137U);
}

ProtectionTable one_region() {
  ProtectionTable table;
  table.add({.va = kVa, .bytes = kRegionBytes, .rkey = kRkey, .domain = kDomain});
  return table;
}

TEST(Protection, BoundsToTheByte) {
  const ProtectionTable table = one_region();
  const auto check = [&](std::uint64_t va, std::uint32_t bytes) {
    Packet packet = data_packet(0, Opcode::write_only, bytes);
    packet.va = va;
    return table.check(packet, kDomain);
  };
  EXPECT_EQ(check(kVa, 4096), ProtectionFault::none);
  EXPECT_EQ(check(kVa + kRegionBytes - 4096, 4096), ProtectionFault::none);
  EXPECT_EQ(check(kVa + kRegionBytes - 4095, 4096), ProtectionFault::out_of_bounds);
  EXPECT_EQ(check(kVa + kRegionBytes, 1), ProtectionFault::out_of_bounds);
  EXPECT_EQ(check(kVa + kRegionBytes + 1, 1), ProtectionFault::out_of_bounds);
  EXPECT_EQ(check(kVa - 1, 1), ProtectionFault::out_of_bounds);
  EXPECT_EQ(check(~0ULL, 2), ProtectionFault::out_of_bounds);
}

TEST(Protection, ARegionAtTheTopOfTheAddressSpaceDoesNotOverflow) {
  ProtectionTable table;
  table.add({.va = ~0ULL - 4095, .bytes = 4096, .rkey = 1, .domain = kDomain});
  Packet packet = data_packet(0);
  packet.rkey = 1;
  packet.va = ~0ULL - 4095;
  EXPECT_EQ(table.check(packet, kDomain), ProtectionFault::none);
  packet.va += 1;
  EXPECT_EQ(table.check(packet, kDomain), ProtectionFault::out_of_bounds);
  packet.va = 0;
  EXPECT_EQ(table.check(packet, kDomain), ProtectionFault::out_of_bounds);
}

TEST(Protection, KeyDomainAndPermission) {
  ProtectionTable table = one_region();
  table.add({.va = kVa, .bytes = kRegionBytes, .rkey = 9, .domain = kDomain, .remote_write = false});
  Packet packet = data_packet(0);
  EXPECT_EQ(table.check(packet, kDomain + 1), ProtectionFault::wrong_domain);
  packet.rkey = 9;
  EXPECT_EQ(table.check(packet, kDomain), ProtectionFault::no_permission);
  packet.rkey = 10;
  EXPECT_EQ(table.check(packet, kDomain), ProtectionFault::bad_rkey);
  packet.rkey = kRkey;
  table.remove(kRkey);
  EXPECT_EQ(table.check(packet, kDomain), ProtectionFault::bad_rkey);
}

class ResponderTest : public testing::Test {
 protected:
  Responder make(Psn first_psn = 0) {
    Responder responder(config, first_psn, pool, protection, kDomain, {.node = kPeer, .pkey = kPkey});
    bring_up(responder);
    responder.post_receive(config.receive_queue_depth);
    return responder;
  }
  RxDecision accept(Responder& responder, const Packet& packet) { return responder.accept(packet, {}, 0); }

  ProtocolConfig config;
  BitmapPool pool{64};
  ProtectionTable protection = one_region();
};

// PSN 0-11 sent, 5 and 8 lost: cack 4, sack_offset 1, bitmap from PSN 5 on 0,1,1,0,1,1,1.
TEST_F(ResponderTest, SackOfTheSpecificationsExample) {
  Responder responder = make();
  RxDecision last;
  for (Psn psn = 0; psn < 12; ++psn) {
    if (psn == 5 || psn == 8) continue;
    Packet packet = data_packet(psn);
    packet.ack_request = psn == 11;
    last = accept(responder, packet);
    EXPECT_TRUE(last.place);
  }
  ASSERT_TRUE(last.sack);
  const SackFields sack = responder.build_sack(last.trigger, 0);
  EXPECT_EQ(sack.cack_psn, 4U);
  EXPECT_EQ(sack.sack_offset, 1);
  EXPECT_EQ(sack.sack_bitmap, 0b1110110U);
  EXPECT_EQ(sack.ack_psn_offset, 7);
  EXPECT_EQ(sack.ooo_count, 5U);
  EXPECT_EQ(sack.entropy, 0x1000U + 11);
  EXPECT_EQ(sack.tx_timestamp, 77U);
  EXPECT_FALSE(sack.probe);
  EXPECT_EQ(sack.mark, PathMark::none);
}

// Ten packets of 4096 B: 10 x 4184 = 41840 B are 163.4 units of 256 B.
TEST_F(ResponderTest, ReceivedBytesAreNominalAndRoundedUp) {
  Responder responder = make();
  for (Psn psn = 0; psn < 10; ++psn) accept(responder, data_packet(psn));
  EXPECT_EQ(responder.rcvd_bytes(), 41'840U);
  EXPECT_EQ(responder.build_sack({}, 0).rcvd_bytes, 164U);
  accept(responder, data_packet(3));
  EXPECT_EQ(responder.rcvd_bytes(), 41'840U);
}

TEST_F(ResponderTest, AMarkedPacketIsSackedWithSkipOnce) {
  Responder responder = make();
  Packet packet = data_packet(0);
  packet.ecn = Ecn::ce;
  const RxDecision decision = accept(responder, packet);
  ASSERT_TRUE(decision.sack);
  EXPECT_EQ(responder.build_sack(decision.trigger, 0).mark, PathMark::skip_once);
  EXPECT_EQ(responder.counters().ce_marked, 1U);
}

TEST_F(ResponderTest, DuplicatesWriteNothing) {
  Responder responder = make();
  accept(responder, data_packet(0));
  accept(responder, data_packet(2));
  const RxDecision below = accept(responder, data_packet(0));
  EXPECT_EQ(below.outcome, PsnOutcome::duplicate_below);
  EXPECT_FALSE(below.place);
  EXPECT_TRUE(below.sack);
  EXPECT_TRUE(below.repeat_transport_ack);
  const RxDecision above = accept(responder, data_packet(2));
  EXPECT_EQ(above.outcome, PsnOutcome::duplicate_above);
  EXPECT_FALSE(above.place);
  EXPECT_TRUE(above.sack);
  EXPECT_FALSE(above.repeat_transport_ack);
  EXPECT_EQ(responder.counters().duplicates_below, 1U);
  EXPECT_EQ(responder.counters().duplicates_above, 1U);
  EXPECT_EQ(responder.counters().accepted, 2U);
}

TEST_F(ResponderTest, OutsideTheWindowDropOrNack) {
  config.mpr_units = 1;
  Responder responder = make();
  RxDecision decision = accept(responder, data_packet(128));
  EXPECT_EQ(decision.nack, NackReason::psn_oor_window);
  EXPECT_FALSE(decision.place);
  config.out_of_window = OutOfWindow::drop;
  decision = accept(responder, data_packet(140));
  EXPECT_EQ(decision.nack, NackReason::none);
  EXPECT_FALSE(decision.place);
  EXPECT_FALSE(decision.sack);
  EXPECT_EQ(responder.counters().out_of_window, 2U);
}

TEST_F(ResponderTest, WhatTheNicLacksIsTheNacksReason) {
  Responder responder = make();
  const auto reason = [&](const RxResources& resources) {
    const RxDecision decision = responder.accept(data_packet(0), resources, 0);
    EXPECT_FALSE(decision.place);
    return decision.nack;
  };
  EXPECT_EQ(reason({.packet_buffer_available = false}), NackReason::no_pkt_buffer);
  EXPECT_EQ(reason({.packet_buffer_available = false, .other_resource_available = false}), NackReason::no_pkt_buffer);
  EXPECT_EQ(reason({.other_resource_available = false}), NackReason::no_resource);
  EXPECT_EQ(responder.rcvd_bytes(), 0U);
  EXPECT_EQ(responder.tracker().expected_psn(), 0U);
}

TEST_F(ResponderTest, AFullPoolIsNoBitmap) {
  pool = BitmapPool(0);
  Responder responder = make();
  EXPECT_EQ(accept(responder, data_packet(1)).nack, NackReason::no_bitmap);
  EXPECT_TRUE(accept(responder, data_packet(0)).place);
}

TEST_F(ResponderTest, TrimmedPacketsAreNackedWhileMissing) {
  config.mpr_units = 1;
  Responder responder = make();
  accept(responder, data_packet(0));
  accept(responder, data_packet(2));
  const auto trimmed = [&](Psn psn, bool last_hop) {
    Packet packet = data_packet(psn, Opcode::write_middle, 0);
    packet.damage = Damage::trimmed;
    packet.trimmed_at_last_hop = last_hop;
    const RxDecision decision = responder.on_trimmed(packet, 0);
    EXPECT_FALSE(decision.place);
    return decision;
  };
  EXPECT_EQ(trimmed(1, false).nack, NackReason::trimmed);
  EXPECT_EQ(trimmed(1, true).nack, NackReason::trimmed_lasthop);
  const RxDecision below = trimmed(0, false);
  EXPECT_EQ(below.nack, NackReason::none);
  EXPECT_TRUE(below.sack);
  EXPECT_TRUE(below.repeat_transport_ack);
  const RxDecision above = trimmed(2, false);
  EXPECT_EQ(above.nack, NackReason::none);
  EXPECT_TRUE(above.sack);
  EXPECT_FALSE(above.repeat_transport_ack);
  const RxDecision outside = trimmed(129, false);
  EXPECT_EQ(outside.nack, NackReason::none);
  EXPECT_FALSE(outside.sack);
  EXPECT_EQ(responder.counters().trimmed, 5U);
  const NackFields nack = responder.build_nack(data_packet(1), NackReason::trimmed);
  EXPECT_EQ(nack.nack_psn, 1U);
  EXPECT_EQ(nack.entropy, 0x1001U);
  EXPECT_EQ(nack.tx_timestamp, 7U);
  EXPECT_EQ(nack.reason, NackReason::trimmed);
}

TEST_F(ResponderTest, AProbeIsAnsweredWithItsId) {
  Responder responder = make();
  accept(responder, data_packet(0));
  Packet probe = data_packet(0);
  probe.opcode = Opcode::probe_request;
  probe.ev = 0xBEEF;
  probe.probe = {.probe_id = 321};
  const RxDecision decision = responder.on_probe(probe, 0);
  EXPECT_TRUE(decision.sack);
  EXPECT_FALSE(decision.place);
  const SackFields sack = responder.build_sack(decision.trigger, 0);
  EXPECT_TRUE(sack.probe);
  EXPECT_EQ(sack.ack_psn_offset, 321);
  EXPECT_EQ(sack.entropy, 0xBEEFU);
  EXPECT_EQ(sack.cack_psn, 0U);
}

TEST_F(ResponderTest, EachProtectionFaultWritesNothingIsAnsweredAndCounted) {
  protection.add({.va = kVa, .bytes = kRegionBytes, .rkey = 9, .domain = kDomain, .remote_write = false});
  protection.add({.va = kVa, .bytes = kRegionBytes, .rkey = 10, .domain = kDomain + 1});
  const auto fault = [&](auto change, ProtectionFault cause) {
    Responder responder = make();
    Packet packet = data_packet(0);
    change(packet);
    const RxDecision decision = accept(responder, packet);
    EXPECT_FALSE(decision.place);
    EXPECT_FALSE(decision.sack);
    EXPECT_EQ(decision.nack, NackReason::unexp_event);
    EXPECT_EQ(responder.counters().protection_faults[static_cast<std::size_t>(cause)], 1U);
    EXPECT_EQ(responder.state(), QpState::error);
    EXPECT_EQ(responder.counters().accepted, 0U);
    EXPECT_EQ(responder.tracker().expected_psn(), 0U);
    EXPECT_EQ(responder.rcvd_bytes(), 0U);
  };
  fault([](Packet& p) { p.rkey = 8; }, ProtectionFault::bad_rkey);
  fault([](Packet& p) { p.rkey = 9; }, ProtectionFault::no_permission);
  fault([](Packet& p) { p.rkey = 10; }, ProtectionFault::wrong_domain);
  fault([](Packet& p) { p.va = kVa - 1; }, ProtectionFault::out_of_bounds);
}

TEST_F(ResponderTest, AfterAProtectionFaultEverythingIsRefused) {
  Responder responder = make();
  EXPECT_TRUE(accept(responder, data_packet(0, Opcode::write_only)).place);
  Packet bad = data_packet(1);
  bad.rkey = 8;
  accept(responder, bad);
  for (const Psn psn : {0U, 1U, 2U, 5'000U}) {
    const RxDecision decision = accept(responder, data_packet(psn));
    EXPECT_FALSE(decision.admitted);
    EXPECT_FALSE(decision.place);
    EXPECT_FALSE(decision.sack);
    EXPECT_EQ(decision.nack, NackReason::unexp_event);
  }
  Packet trimmed = data_packet(1);
  trimmed.damage = Damage::trimmed;
  EXPECT_EQ(responder.on_trimmed(trimmed, 0).nack, NackReason::unexp_event);
  Packet probe = data_packet(0);
  probe.opcode = Opcode::probe_request;
  EXPECT_FALSE(responder.on_probe(probe, 0).sack);
  EXPECT_EQ(responder.counters().not_receiving, 6U);
  EXPECT_EQ(responder.counters().accepted, 1U);
  ASSERT_TRUE(responder.writes_issued(1).has_value()) << "what was accepted before is still acknowledged";
}

TEST_F(ResponderTest, PacketsOfSomebodyElseAreDroppedAndCounted) {
  Responder responder = make();
  const auto dropped = [&](const RxDecision& decision) {
    EXPECT_FALSE(decision.admitted);
    EXPECT_EQ(decision.nack, NackReason::none);
    EXPECT_FALSE(decision.place);
    EXPECT_FALSE(decision.sack);
    EXPECT_EQ(responder.state(), QpState::rts);
  };
  Packet packet = data_packet(0);
  packet.pkey = kPkey + 1;
  dropped(accept(responder, packet));
  dropped(responder.on_trimmed(packet, 0));
  packet = data_packet(0);
  packet.source_node = kPeer + 1;
  dropped(accept(responder, packet));
  dropped(responder.on_probe(packet, 0));
  packet.psn = 5'000;
  dropped(accept(responder, packet));
  EXPECT_EQ(responder.counters().protection_faults[static_cast<std::size_t>(ProtectionFault::bad_pkey)], 2U);
  EXPECT_EQ(responder.counters().protection_faults[static_cast<std::size_t>(ProtectionFault::wrong_source)], 3U);
  EXPECT_EQ(responder.counters().out_of_window, 0U);
  EXPECT_TRUE(accept(responder, data_packet(0)).place);
}

TEST_F(ResponderTest, ReceivesInRtrAndRtsOnly) {
  Responder responder(config, 0, pool, protection, kDomain, {.node = kPeer, .pkey = kPkey});
  EXPECT_FALSE(responder.post_receive(1)) << "in RESET";
  EXPECT_EQ(responder.modify(QpState::rtr), ModifyStatus::illegal_transition);
  EXPECT_EQ(responder.modify(QpState::init), ModifyStatus::changed);
  const RxDecision early = accept(responder, data_packet(0));
  EXPECT_FALSE(early.place);
  EXPECT_EQ(early.nack, NackReason::none);
  EXPECT_EQ(responder.counters().not_receiving, 1U);
  EXPECT_EQ(responder.modify(QpState::rtr), ModifyStatus::changed);
  EXPECT_TRUE(accept(responder, data_packet(0)).place);
  EXPECT_EQ(responder.modify(QpState::rts), ModifyStatus::changed);
  EXPECT_TRUE(accept(responder, data_packet(1)).place);
  EXPECT_EQ(responder.modify(QpState::error), ModifyStatus::changed);
  EXPECT_EQ(accept(responder, data_packet(2)).nack, NackReason::unexp_event);
  EXPECT_EQ(responder.modify(QpState::error), ModifyStatus::illegal_transition);
  EXPECT_EQ(responder.modify(QpState::reset), ModifyStatus::illegal_transition);
}

class ReceiveQueueTest : public ResponderTest {
 protected:
  RxDecision write_imm(Responder& responder, std::uint16_t number) {
    Packet packet = data_packet(number, Opcode::write_only_imm);
    packet.msn = number;
    packet.rqmsn = number;
    return accept(responder, packet);
  }
};

TEST_F(ReceiveQueueTest, AWriteImmWithoutAReceiveEndsTheQp) {
  config.receive_queue_depth = 2;
  Responder responder = make();
  EXPECT_EQ(responder.receives_posted(), 2U);
  EXPECT_FALSE(responder.post_receive(1)) << "the queue is full";
  EXPECT_TRUE(write_imm(responder, 0).place);
  EXPECT_TRUE(responder.post_receive(1));
  EXPECT_TRUE(write_imm(responder, 2).place);
  EXPECT_TRUE(write_imm(responder, 1).place);
  EXPECT_TRUE(accept(responder, data_packet(3, Opcode::write_only)).place) << "a WRITE needs no receive";
  const RxDecision decision = write_imm(responder, 4);
  EXPECT_FALSE(decision.place);
  EXPECT_EQ(decision.nack, NackReason::unexp_event);
  EXPECT_EQ(responder.state(), QpState::error);
  EXPECT_EQ(responder.counters().receive_overflows, 1U);
  EXPECT_EQ(responder.tracker().expected_psn(), 4U);
}

TEST_F(ReceiveQueueTest, ADuplicateOrRefusedWriteImmTakesNoReceive) {
  config.receive_queue_depth = 1;
  Responder responder = make();
  Packet packet = data_packet(0, Opcode::write_only_imm);
  responder.accept(packet, {.packet_buffer_available = false}, 0);
  EXPECT_EQ(responder.receives_posted(), 1U);
  EXPECT_TRUE(accept(responder, packet).place);
  EXPECT_EQ(responder.receives_posted(), 0U);
  EXPECT_TRUE(accept(responder, packet).sack);
  EXPECT_EQ(responder.state(), QpState::rts);
}

TEST_F(ReceiveQueueTest, MoreWriteImmInFlightThanAgreedEndTheQp) {
  config.max_write_imm = 2;
  Responder responder = make();
  EXPECT_TRUE(write_imm(responder, 1).place);
  EXPECT_EQ(write_imm(responder, 0).closes_messages, 2U);
  responder.writes_issued(2);
  ReceiveCompletion completion;
  ASSERT_TRUE(responder.pop_receive(completion));
  EXPECT_TRUE(write_imm(responder, 2).place) << "one of two is complete";
  EXPECT_EQ(write_imm(responder, 3).nack, NackReason::unexp_event);
  EXPECT_EQ(responder.state(), QpState::error);
  EXPECT_EQ(responder.counters().write_imm_overflows, 1U);
}

TEST_F(ReceiveQueueTest, TheLimitFollowsRqmsnOverItsWrap) {
  config.max_write_imm = 1;
  config.receive_queue_depth = 1;
  Responder responder = make();
  ReceiveCompletion completion;
  for (std::uint32_t i = 0; i < 65'540; ++i) {
    Packet packet = data_packet(i, Opcode::write_only_imm, 1);
    packet.msn = packet.rqmsn = static_cast<std::uint16_t>(i);
    ASSERT_TRUE(accept(responder, packet).place) << i;
    responder.writes_issued(1);
    ASSERT_TRUE(responder.pop_receive(completion));
    ASSERT_TRUE(responder.post_receive(1));
  }
}

TEST_F(ResponderTest, TransportAckFollowsTheWritesThatCloseMessages) {
  Responder responder = make();
  EXPECT_EQ(accept(responder, data_packet(1, Opcode::write_only)).closes_messages, 0U);
  EXPECT_FALSE(responder.writes_issued(0).has_value());
  const RxDecision decision = accept(responder, data_packet(0, Opcode::write_only));
  EXPECT_EQ(decision.closes_messages, 2U);
  const auto ack = responder.writes_issued(decision.closes_messages);
  ASSERT_TRUE(ack.has_value());
  EXPECT_EQ(ack->msn, 2U);
  EXPECT_EQ(ack->syndrome, 0x1FU);
}

TEST_F(ResponderTest, ImmediatesComeOutInTheOrderOfSending) {
  Responder responder = make();
  const auto immediate = [&](Psn psn) {
    Packet packet = data_packet(psn, Opcode::write_only_imm);
    packet.msn = static_cast<std::uint16_t>(psn);
    packet.immediate = 500 + psn;
    return accept(responder, packet).closes_messages;
  };
  ReceiveCompletion completion;
  EXPECT_EQ(immediate(3), 0U);
  EXPECT_EQ(immediate(1), 0U);
  EXPECT_EQ(immediate(2), 0U);
  EXPECT_FALSE(responder.pop_receive(completion));
  EXPECT_EQ(immediate(0), 4U);
  EXPECT_FALSE(responder.pop_receive(completion)) << "before the writes are issued";
  responder.writes_issued(4);
  for (std::uint16_t msn = 0; msn < 4; ++msn) {
    ASSERT_TRUE(responder.pop_receive(completion));
    EXPECT_EQ(completion.msn, msn);
    EXPECT_EQ(completion.immediate, 500U + msn);
  }
  EXPECT_FALSE(responder.pop_receive(completion));
}

TEST_F(ResponderTest, APenaltyRidesInEachSackAndTheFirstAfterItRestores) {
  Responder responder = make();
  const auto sack = [&](std::uint8_t penalty) {
    responder.set_penalty(penalty);
    return responder.build_sack({}, 0);
  };
  EXPECT_FALSE(sack(0).restore_cwnd);
  EXPECT_EQ(sack(64).rcv_cwnd_pen, 64U);
  EXPECT_FALSE(sack(32).restore_cwnd);
  responder.set_penalty(0);
  const SackFields first = sack(0);
  EXPECT_EQ(first.rcv_cwnd_pen, 0U);
  EXPECT_TRUE(first.restore_cwnd);
  EXPECT_FALSE(sack(0).restore_cwnd);
  sack(1);
  responder.set_penalty(0);
  EXPECT_FALSE(sack(1).restore_cwnd) << "the penalty began again before a SACK said otherwise";
}

TEST(ReceiverPenalty, LinearBetweenTheShares) {
  ProtocolConfig config;
  EXPECT_EQ(receiver_penalty(100, 100, config), 0U) << "off";
  config.penalty_start_share = 0.5;
  config.penalty_full_share = 0.9;
  EXPECT_EQ(receiver_penalty(500, 1'000, config), 0U);
  EXPECT_EQ(receiver_penalty(700, 1'000, config), 63U);
  EXPECT_EQ(receiver_penalty(800, 1'000, config), 95U);
  EXPECT_EQ(receiver_penalty(900, 1'000, config), 127U);
  EXPECT_EQ(receiver_penalty(1'000, 1'000, config), 127U);
  config.penalty_start_share = 0.9;
  EXPECT_EQ(receiver_penalty(899, 1'000, config), 0U);
  EXPECT_EQ(receiver_penalty(900, 1'000, config), 127U);
}

TEST_F(ResponderTest, WithoutDynamicMprNothingIsGranted) {
  Responder responder = make();
  EXPECT_EQ(responder.build_sack({}, 0).mpr, 0U);
  EXPECT_EQ(responder.tracker().window_psns(), 1'024U);
  EXPECT_EQ(responder.cack_psn(), 0xFF'FFFFU);
}

// 8 units configured; of 4 banks another QP takes 2.
TEST_F(ResponderTest, DynamicMprGrantsWhatThePoolLeaves) {
  config.dynamic_mpr = true;
  pool = BitmapPool(4);
  Responder responder = make();
  EXPECT_EQ(responder.tracker().window_psns(), 1'024U);
  EXPECT_EQ(responder.build_sack({}, 0).mpr, 4U);
  EXPECT_EQ(responder.tracker().window_psns(), 1'024U) << "what was granted is kept";
  PsnTracker other(0, 512, pool);
  other.accept(1, false);
  other.accept(130, false);
  EXPECT_EQ(responder.build_sack({}, 0).mpr, 2U);
  for (Psn psn = 0; psn < 700; ++psn) ASSERT_TRUE(accept(responder, data_packet(psn)).place);
  EXPECT_EQ(responder.tracker().window_psns(), 324U);
  EXPECT_EQ(accept(responder, data_packet(1'024)).nack, NackReason::psn_oor_window);
  for (Psn psn = 700; psn < 800; ++psn) ASSERT_TRUE(accept(responder, data_packet(psn)).place);
  EXPECT_EQ(responder.tracker().window_psns(), 256U) << "the end moves on once the edge has come up";
  EXPECT_TRUE(accept(responder, data_packet(801)).place);
  EXPECT_EQ(responder.build_sack({}, 0).mpr, 2U) << "a bank of its own counts as left to it";
  pool.take();
  EXPECT_EQ(responder.build_sack({}, 0).mpr, 1U);
  pool.give_back();
  EXPECT_EQ(responder.build_sack({}, 0).mpr, 2U);
}

TEST_F(ResponderTest, AnEmptyPoolStillGrantsOneUnitAndNeverMoreThanConfigured) {
  config.dynamic_mpr = true;
  config.mpr_units = 3;
  Responder rich = make();
  EXPECT_EQ(rich.build_sack({}, 0).mpr, 3U);
  pool = BitmapPool(0);
  Responder poor = make();
  EXPECT_EQ(poor.build_sack({}, 0).mpr, 1U);
  EXPECT_EQ(poor.tracker().window_psns(), 384U);
}

TEST_F(ResponderTest, MarksInARowOnAnEvMakeItAlwaysSkip) {
  config.always_skip_threshold = 3;
  Responder responder = make();
  Psn next = 0;
  const auto mark = [&](Ev ev, Ecn ecn) {
    Packet packet = data_packet(next++);
    packet.ev = ev;
    packet.ecn = ecn;
    packet.ack_request = true;
    return responder.build_sack(accept(responder, packet).trigger, 0).mark;
  };
  EXPECT_EQ(mark(7, Ecn::ce), PathMark::skip_once);
  EXPECT_EQ(mark(7, Ecn::ce), PathMark::skip_once);
  EXPECT_EQ(mark(8, Ecn::ce), PathMark::skip_once) << "another EV";
  EXPECT_EQ(mark(8, Ecn::ect0), PathMark::none);
  EXPECT_EQ(mark(7, Ecn::ce), PathMark::always_skip);
  EXPECT_EQ(mark(7, Ecn::ce), PathMark::skip_once) << "counted anew";
  EXPECT_EQ(mark(7, Ecn::ce), PathMark::skip_once);
  EXPECT_EQ(mark(7, Ecn::ect0), PathMark::none) << "the row is broken";
  EXPECT_EQ(mark(7, Ecn::ce), PathMark::skip_once);
  EXPECT_EQ(mark(7, Ecn::ce), PathMark::skip_once);
  EXPECT_EQ(mark(7, Ecn::ce), PathMark::always_skip);
}

TEST(MarkStreaks, AnEvInTheSamePlaceTakesItOver) {
  const auto place = [](Ev ev) { return mix64(ev) % MarkStreaks::kEntries; };
  Ev rival = 2;
  while (place(rival) != place(1)) ++rival;
  MarkStreaks streaks(2);
  EXPECT_FALSE(streaks.marked(1));
  EXPECT_FALSE(streaks.marked(rival));
  EXPECT_FALSE(streaks.marked(1)) << "forgotten";
  streaks.unmarked(rival);
  EXPECT_TRUE(streaks.marked(1)) << "the other's packet breaks no row";
  MarkStreaks off(0);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(off.marked(1));
  off.unmarked(1);
}

}  // namespace
}  // namespace mrc
