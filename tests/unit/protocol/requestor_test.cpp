#include "mrc/tx/requestor.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "mrc/random.h"
#include "mrc/tx/retransmit_buffer.h"

namespace mrc {
namespace {

constexpr std::uint32_t kMtu = 4'096;
constexpr std::uint32_t kNominal = 4'184;  // 8 + 36 + 4096 + 4 + 40
constexpr TimePs kTimeout = 32'768'000;    // 1.024 us x 2^5

/// A window that stays, and a note of what it was told.
class NotingWindow final : public CongestionControl {
 public:
  explicit NotingWindow(std::uint64_t bytes) { cwnd_bytes_ = bytes; }
  void on_ack(const AckSample& sample) override { acks.push_back(sample); }
  void on_trim(const TrimSample& sample) override {
    trims.push_back(sample);
    trimmed_bytes += sample.bytes;
    last_hops += sample.last_hop ? 1 : 0;
  }
  void on_refusal(std::uint32_t bytes, TimePs) override { refused_bytes += bytes; }
  void on_loss(std::uint32_t bytes, TimePs) override { lost_bytes += bytes; }

  std::vector<AckSample> acks;
  std::vector<TrimSample> trims;
  std::uint64_t trimmed_bytes = 0;
  std::uint64_t refused_bytes = 0;
  std::uint64_t lost_bytes = 0;
  int last_hops = 0;
};

class RequestorTest : public testing::Test {
 protected:
  void start(std::uint64_t cwnd_bytes = 100'000'000, Psn first_psn = 0) {
    paths =
        std::make_unique<PathTable>(make_auto_profile(config, 4, KeyedRandom(1, "p")), config, 4, KeyedRandom(1, "s"));
    window = std::make_unique<NotingWindow>(cwnd_bytes);
    requestor = std::make_unique<Requestor>(config, *paths, *window, first_psn);
    bring_up(*requestor);
  }
  void post(std::uint64_t id, std::uint32_t bytes, bool write_imm = false) {
    WorkRequest request{.id = id, .local_address = 1'000, .remote_address = 1ULL << 40, .rkey = 7, .bytes = bytes};
    request.immediate = 55;
    request.write_imm = write_imm;
    ASSERT_EQ(requestor->post(request, now), PostStatus::posted);
  }
  SendPlan send(EvIndex ev = 0) {
    EXPECT_EQ(requestor->gate(now), SendGate::ready);
    const SendPlan plan = requestor->take(now);
    requestor->transmitted(plan.psn, ev, now);
    return plan;
  }
  std::vector<Psn> send_all() {
    std::vector<Psn> psns;
    while (requestor->gate(now) == SendGate::ready) psns.push_back(send().psn);
    return psns;
  }
  AckResult sack(Psn cack, std::uint64_t bitmap = 0) {
    return requestor->on_sack({.sack_bitmap = bitmap, .cack_psn = cack & kPsnMask, .sack_offset = 1}, now);
  }
  AckResult nack(Psn psn, NackReason reason, Ev entropy = 0) {
    return requestor->on_nack({.nack_psn = psn, .entropy = entropy, .reason = reason}, now);
  }
  AckResult transport_ack(std::uint32_t msn) { return requestor->on_transport_ack({.msn = msn}, now); }
  std::vector<Completion> completions() {
    std::vector<Completion> all;
    for (Completion completion; requestor->pop_completion(completion);) all.push_back(completion);
    return all;
  }

  ProtocolConfig config = [] {
    ProtocolConfig c;
    c.mpr_units = 1;
    c.ev_count = 16;
    c.ev_active = 8;
    return c;
  }();
  TimePs now = 1'000;
  std::unique_ptr<PathTable> paths;
  std::unique_ptr<NotingWindow> window;
  std::unique_ptr<Requestor> requestor;
};

TEST_F(RequestorTest, PlansOfAMessageOverTheWrap) {
  start(100'000'000, 0xFF'FFFE);
  post(1, 1);
  post(2, 3 * kMtu + 5, true);
  SendPlan plan = send();
  EXPECT_EQ(plan.opcode, Opcode::write_only);
  EXPECT_EQ(plan.payload_bytes, 1U);
  EXPECT_EQ(plan.nominal_bytes, 92U);
  EXPECT_EQ(plan.msn, 0U);
  constexpr std::array<Psn, 4> psns{0xFF'FFFF, 0, 1, 2};
  constexpr std::array<Opcode, 4> opcodes{Opcode::write_first, Opcode::write_middle, Opcode::write_middle,
                                          Opcode::write_last_imm};
  for (std::uint32_t i = 0; i < 4; ++i) {
    plan = send();
    EXPECT_EQ(plan.psn, psns[i]);
    EXPECT_EQ(plan.opcode, opcodes[i]);
    EXPECT_EQ(plan.va, (1ULL << 40) + i * kMtu);
    EXPECT_EQ(plan.local_address, 1'000U + i * kMtu);
    EXPECT_EQ(plan.dma_length, 3 * kMtu + 5);
    EXPECT_EQ(plan.rkey, 7U);
    EXPECT_EQ(plan.immediate, 55U);
    EXPECT_EQ(plan.msn, 1U);
    EXPECT_EQ(plan.rqmsn, 0U);
    EXPECT_EQ(plan.payload_bytes, i < 3 ? kMtu : 5U);
    EXPECT_EQ(plan.nominal_bytes, i < 3 ? kNominal : 8U + 40 + 8 + 4 + 40);
    EXPECT_EQ(plan.ack_request, i == 3) << "the last of what software asked for";
    EXPECT_FALSE(plan.retransmission);
  }
  EXPECT_EQ(requestor->gate(now), SendGate::idle);
  EXPECT_EQ(window->inflight_bytes(), 92U + 3 * kNominal + 100);
}

TEST_F(RequestorTest, ImmediatesAreNumberedAmongThemselves) {
  start();
  post(1, 1, true);
  post(2, 1);
  post(3, 1, true);
  EXPECT_EQ(send().rqmsn, 0U);
  send();
  const SendPlan third = send();
  EXPECT_EQ(third.rqmsn, 1U);
  EXPECT_EQ(third.msn, 2U);
}

TEST_F(RequestorTest, AnEmptyMessageIsRefused) {
  start();
  EXPECT_EQ(requestor->post({.id = 1, .bytes = 0}, now), PostStatus::bad_length);
  EXPECT_EQ(requestor->gate(now), SendGate::idle);
}

TEST_F(RequestorTest, SendsInRtsOnly) {
  start();
  Requestor other(config, *paths, *window, 0);
  const WorkRequest request{.id = 1, .bytes = 1};
  EXPECT_EQ(other.modify(QpState::rts), ModifyStatus::illegal_transition);
  for (const QpState next : {QpState::init, QpState::rtr, QpState::rts}) {
    EXPECT_EQ(other.post(request, now), PostStatus::not_ready_to_send);
    EXPECT_EQ(other.gate(now), SendGate::idle);
    EXPECT_EQ(other.modify(next), ModifyStatus::changed);
    EXPECT_EQ(other.state(), next);
  }
  EXPECT_EQ(other.modify(QpState::rts), ModifyStatus::illegal_transition);
  EXPECT_EQ(other.post(request, now), PostStatus::posted);
  EXPECT_EQ(other.gate(now), SendGate::ready);
}

TEST_F(RequestorTest, AStepToErrorFlushesWhatIsPending) {
  start();
  post(1, 3 * kMtu);
  post(2, kMtu);
  send();
  send();
  AckResult freed;
  EXPECT_EQ(requestor->modify(QpState::error, freed), ModifyStatus::changed);
  EXPECT_EQ(freed.records_freed, 2U);
  EXPECT_EQ(window->inflight_bytes(), 0U);
  EXPECT_EQ(requestor->gate(now), SendGate::in_error);
  EXPECT_EQ(requestor->next_deadline(), kNever);
  post(3, kMtu);
  const std::vector<Completion> done = completions();
  ASSERT_EQ(done.size(), 3U);
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(done[i].id, i + 1);
    EXPECT_EQ(done[i].status, CompletionStatus::flushed);
  }
  EXPECT_EQ(requestor->modify(QpState::rts), ModifyStatus::illegal_transition);
}

TEST_F(RequestorTest, MprIsAWindowInPackets) {
  start();
  post(1, 200 * kMtu);
  EXPECT_EQ(send_all().size(), 128U);
  EXPECT_EQ(requestor->gate(now), SendGate::blocked_mpr);
  EXPECT_EQ(requestor->describe_wait(now), "acknowledgement of PSN 0: 128 PSNs in the window of 128");
  // What is received above the hole does not move the window.
  sack(-1, 0b1110);
  EXPECT_EQ(requestor->gate(now), SendGate::blocked_mpr);
  sack(1);
  EXPECT_EQ(send_all(), (std::vector<Psn>{128, 129, 130, 131}));
}

TEST_F(RequestorTest, DynamicMprFollowsTheSack) {
  config.dynamic_mpr = true;
  config.mpr_units = 2;
  start();
  post(1, 1'000 * kMtu);
  EXPECT_EQ(send_all().size(), 256U);
  requestor->on_sack({.cack_psn = 99, .mpr = 1}, now);
  EXPECT_EQ(requestor->window_psns(), 128U);
  EXPECT_EQ(requestor->gate(now), SendGate::blocked_mpr);
  // Retransmissions wait as well while they lie beyond the smaller window.
  nack(250, NackReason::no_bitmap);
  EXPECT_TRUE(requestor->next_is_retransmission());
  EXPECT_EQ(requestor->gate(now), SendGate::blocked_mpr);
  requestor->on_sack({.cack_psn = 199, .mpr = 4}, now);
  EXPECT_EQ(send().psn, 250U);
  EXPECT_EQ(send_all().size(), 456U);
}

TEST_F(RequestorTest, AnOvertakenSackGrantsNothing) {
  config.dynamic_mpr = true;
  start();
  post(1, 200 * kMtu);
  send_all();
  requestor->on_sack({.cack_psn = 99, .mpr = 1}, now);
  requestor->on_sack({.cack_psn = 98, .mpr = 8}, now);
  EXPECT_EQ(requestor->window_psns(), 128U);
  requestor->on_sack({.cack_psn = 99, .mpr = 8}, now);
  EXPECT_EQ(requestor->window_psns(), 1'024U);
}

TEST_F(RequestorTest, AGrantOfNothingOrWithoutTheCapabilityLeavesTheWindow) {
  start();
  requestor->on_sack({.mpr = 4}, now);
  EXPECT_EQ(requestor->window_psns(), 128U);
  config.dynamic_mpr = true;
  requestor->on_sack({.mpr = 0}, now);
  EXPECT_EQ(requestor->window_psns(), 128U);
}

TEST_F(RequestorTest, AWindowShorterThanTheRespondersTriggerAsksForEverySack) {
  start(3 * kNominal);
  post(1, 10 * kMtu);
  EXPECT_TRUE(send().ack_request);
  EXPECT_TRUE(send().ack_request);
}

TEST_F(RequestorTest, ATrimBringsTheRttOfItsPacketWhereThatIsClear) {
  start();
  post(1, 2 * kMtu);
  send_all();
  now += 7'000'000;
  nack(0, NackReason::trimmed);
  EXPECT_EQ(window->trims.back().rtt_ps, 7'000'000U);
  send();
  now += 5'000'000;
  nack(0, NackReason::trimmed_lasthop);
  EXPECT_EQ(window->trims.back().rtt_ps, 5'000'000U) << "the first copy's NACK has come";
  send();
  now += 6'000'000;
  nack(0, NackReason::trimmed);
  EXPECT_EQ(window->trims.back().rtt_ps, 6'000'000U) << "both copies before have had their NACK";
}

TEST_F(RequestorTest, CongestionWindowIsInBytes) {
  config.sack_threshold_bytes = 3 * kNominal;
  start(3 * kNominal);
  post(1, 10 * kMtu);
  EXPECT_FALSE(send().ack_request);
  EXPECT_FALSE(send().ack_request);
  EXPECT_TRUE(send().ack_request) << "less than an MTU of window is left";
  EXPECT_EQ(requestor->gate(now), SendGate::blocked_cwnd);
  EXPECT_EQ(requestor->describe_wait(now), "congestion window: 12552 of 12552 B in flight, last cut by initial");
  sack(0);
  EXPECT_EQ(send_all().size(), 1U);
  nack(2, NackReason::no_resource);
  EXPECT_EQ(send_all().size(), 1U);
  EXPECT_EQ(requestor->counters().retransmissions, 1U);
  nack(1, NackReason::no_resource);
  window->charge(kNominal);
  EXPECT_EQ(requestor->gate(now), SendGate::blocked_cwnd) << "retransmissions obey the window";
}

TEST_F(RequestorTest, WriteImmInFlightAreLimited) {
  config.max_write_imm = 2;
  start();
  for (std::uint64_t id = 1; id <= 3; ++id) post(id, 2 * kMtu, true);
  EXPECT_EQ(send_all().size(), 4U);
  EXPECT_EQ(requestor->gate(now), SendGate::blocked_write_imm);
  EXPECT_EQ(requestor->describe_wait(now), "2 WRITE_IMM in flight");
  sack(3);
  EXPECT_EQ(requestor->gate(now), SendGate::blocked_write_imm) << "a SACK completes nothing";
  transport_ack(1);
  EXPECT_EQ(send_all().size(), 2U);
}

// PSN 0-11 sent, 5 and 8 lost: cack 4, offset 1, bitmap 0,1,1,0,1,1,1.
TEST_F(RequestorTest, SackOfTheSpecificationsExample) {
  start();
  post(1, 12 * kMtu);
  send_all();
  const AckResult result = sack(4, 0b1110110);
  EXPECT_EQ(result.records_freed, 10U);
  EXPECT_TRUE(result.advanced);
  EXPECT_EQ(requestor->unacked_psn(), 5U);
  EXPECT_EQ(window->inflight_bytes(), 2U * kNominal);
  const AckResult again = sack(4, 0b1110110);
  EXPECT_EQ(again.records_freed, 0U);
  EXPECT_FALSE(again.advanced);
  sack(11);
  EXPECT_EQ(window->inflight_bytes(), 0U);
  EXPECT_EQ(requestor->unacked_psn(), 12U);
  EXPECT_TRUE(completions().empty()) << "a SACK is not a completion";
}

TEST_F(RequestorTest, ASackOfWhatWasNeverSentIsHarmless) {
  start();
  post(1, 4 * kMtu);
  send_all();
  sack(500, ~0ULL);
  EXPECT_EQ(window->inflight_bytes(), 0U);
  EXPECT_EQ(requestor->unacked_psn(), 4U);
}

TEST_F(RequestorTest, TransportAcksCompleteInOrderAndCoverTheirPackets) {
  start();
  for (std::uint64_t id = 1; id <= 3; ++id) post(id, 2 * kMtu);
  send_all();
  EXPECT_EQ(transport_ack(2).records_freed, 4U);
  EXPECT_EQ(window->inflight_bytes(), 2U * kNominal);
  auto done = completions();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].id, 1U);
  EXPECT_EQ(done[1].id, 2U);
  EXPECT_EQ(done[1].status, CompletionStatus::success);
  transport_ack(1);
  transport_ack(2);
  transport_ack(9);
  EXPECT_FALSE(requestor->has_completion());
  transport_ack(3);
  EXPECT_TRUE(requestor->has_completion());
  EXPECT_EQ(requestor->messages_pending(), 0U);
  EXPECT_EQ(requestor->describe_wait(now), "work");
}

TEST_F(RequestorTest, ATransportAckDoesNotCompleteWhatIsNotSent) {
  start(2 * kNominal);
  post(1, kMtu);
  post(2, 3 * kMtu);
  send_all();
  transport_ack(2);
  EXPECT_EQ(completions().size(), 1U);
  EXPECT_EQ(requestor->messages_pending(), 1U);
}

TEST_F(RequestorTest, ARetransmissionGivesNoRttByParameter) {
  config.rtt_of_retransmissions = false;
  start();
  post(1, 2 * kMtu);
  send_all();
  nack(1, NackReason::trimmed);
  send();
  requestor->on_sack({.cack_psn = 0, .ack_psn_offset = 1}, now + 7'000);
  EXPECT_EQ(window->acks.back().rtt_ps, 0U) << "it passed the queue of data";
}

TEST_F(RequestorTest, RttComesFromTheOnlyCopyThatCanHaveArrived) {
  start();
  post(1, 4 * kMtu);
  send_all();
  now += 5'000;
  requestor->on_sack({.cack_psn = 0, .ack_psn_offset = 0}, now);
  EXPECT_EQ(window->acks.back().rtt_ps, 5'000U);
  requestor->on_sack({.sack_bitmap = 0b10, .cack_psn = 0, .sack_offset = 1, .ack_psn_offset = 2}, now);
  EXPECT_EQ(window->acks.back().rtt_ps, 5'000U);
  requestor->on_sack({.cack_psn = 0, .ack_psn_offset = 0}, now);
  EXPECT_EQ(window->acks.back().rtt_ps, 0U) << "not in the buffer any more";
  requestor->on_sack({.cack_psn = 0, .ack_psn_offset = 1, .probe = true}, now);
  EXPECT_EQ(window->acks.back().rtt_ps, 0U) << "the offset is a probe's id";
  nack(1, NackReason::trimmed);
  send();
  requestor->on_sack({.cack_psn = 0, .ack_psn_offset = 1}, now + 7'000);
  EXPECT_EQ(window->acks.back().rtt_ps, 7'000U) << "the first copy was trimmed";
  now = requestor->next_deadline();
  requestor->on_deadline(now);
  send_all();
  requestor->on_sack({.cack_psn = 2, .ack_psn_offset = 1}, now + 7'000);
  EXPECT_EQ(window->acks.back().rtt_ps, 0U) << "which of two copies it answers is unknown";
  nack(3, NackReason::trimmed);
  send();
  requestor->on_sack({.cack_psn = 2, .ack_psn_offset = 1}, now + 7'000);
  EXPECT_EQ(window->acks.back().rtt_ps, 0U) << "the first copy may still arrive";
}

TEST_F(RequestorTest, ReceivedBytesGrowModulo24BitsOf256) {
  start();
  const auto newly = [&](std::uint32_t units) {
    requestor->on_sack({.rcvd_bytes = units}, now);
    return window->acks.back().newly_received_bytes;
  };
  EXPECT_EQ(newly(10), 2'560U);
  EXPECT_EQ(newly(7), 0U) << "an older SACK";
  EXPECT_EQ(newly(12), 512U);
  EXPECT_EQ(newly(0x7F'FFFF), (0x7F'FFFFULL - 12) * 256);
  EXPECT_EQ(newly(0xFF'FFF0), (0xFF'FFF0ULL - 0x7F'FFFF) * 256);
  EXPECT_EQ(newly(0x10), 0x20U * 256);
}

TEST_F(RequestorTest, SackTellsThePathAndTheWindowWhatHappened) {
  start();
  post(1, 4 * kMtu);
  send_all();
  requestor->on_sack({.entropy = paths->value(2), .rcv_cwnd_pen = 9, .mark = PathMark::skip_once, .restore_cwnd = true},
                     now);
  EXPECT_EQ(paths->state(2), EvState::skip);
  EXPECT_TRUE(window->acks.back().ecn);
  EXPECT_EQ(window->acks.back().receiver_penalty, 9U);
  EXPECT_TRUE(window->acks.back().restore_cwnd);
  requestor->on_sack({.entropy = paths->value(3), .mark = PathMark::always_skip}, now);
  EXPECT_EQ(paths->state(3), EvState::assumed_bad);
  Ev unknown = 0;
  while (paths->find(unknown) != kNoEv) ++unknown;
  requestor->on_sack({.entropy = unknown, .mark = PathMark::always_skip}, now);
  EXPECT_EQ(paths->count(EvState::assumed_bad), 1U);
  EXPECT_EQ(requestor->counters().sacks, 3U);
}

TEST_F(RequestorTest, TrimmedIsSentAgainAndItsEvSkipped) {
  start();
  post(1, 4 * kMtu);
  for (EvIndex ev = 0; ev < 4; ++ev) send(ev);
  const AckResult result = nack(2, NackReason::trimmed, paths->value(2));
  EXPECT_EQ(result.declared_lost, 1U);
  EXPECT_EQ(paths->state(2), EvState::skip);
  EXPECT_EQ(window->trimmed_bytes, kNominal);
  EXPECT_EQ(window->last_hops, 0);
  EXPECT_EQ(window->inflight_bytes(), 3U * kNominal);
  const SendPlan plan = send();
  EXPECT_EQ(plan.psn, 2U);
  EXPECT_TRUE(plan.retransmission);
  EXPECT_EQ(plan.va, (1ULL << 40) + 2 * kMtu);
  EXPECT_EQ(plan.opcode, Opcode::write_middle);
  EXPECT_EQ(window->inflight_bytes(), 4U * kNominal);
}

TEST_F(RequestorTest, OtherReasonsLeaveTheEvAlone) {
  start();
  post(1, 8 * kMtu);
  for (EvIndex ev = 0; ev < 8; ++ev) send(ev);
  Psn psn = 0;
  for (const NackReason reason : {NackReason::trimmed_lasthop, NackReason::no_bitmap, NackReason::no_pkt_buffer,
                                  NackReason::no_resource, NackReason::psn_oor_window}) {
    EXPECT_EQ(nack(psn, reason, paths->value(static_cast<EvIndex>(psn))).declared_lost, 1U);
    ++psn;
  }
  EXPECT_EQ(window->trimmed_bytes, kNominal);
  EXPECT_EQ(window->last_hops, 1);
  EXPECT_EQ(window->refused_bytes, 4 * kNominal);
  EXPECT_EQ(window->last_cut(), CutCause::out_of_window);
  EXPECT_EQ(paths->count(EvState::good), 16U);
  EXPECT_EQ(requestor->retries(), 5U) << "one counter for all of them";
  EXPECT_EQ(requestor->counters().nack_losses, 5U);
}

TEST_F(RequestorTest, NacksOfUnknownOrAcknowledgedPacketsChangeNothing) {
  start();
  post(1, 4 * kMtu);
  send_all();
  sack(-1, 0b0010);
  EXPECT_EQ(nack(1, NackReason::trimmed).declared_lost, 0U);
  EXPECT_EQ(nack(4, NackReason::trimmed).declared_lost, 0U);
  EXPECT_EQ(nack(2, NackReason::trimmed, 0).declared_lost, 1U);
  EXPECT_EQ(nack(2, NackReason::trimmed, 0).declared_lost, 0U) << "it waits for its retransmission already";
  EXPECT_EQ(requestor->retries(), 1U);
}

TEST_F(RequestorTest, RetransmissionsGoFirstAndOldestFirst) {
  start();
  post(1, 8 * kMtu);
  for (int i = 0; i < 6; ++i) send();
  for (const Psn psn : {5U, 1U, 3U}) nack(psn, NackReason::no_bitmap);
  EXPECT_EQ(send_all(), (std::vector<Psn>{1, 3, 5, 6, 7}));
}

TEST_F(RequestorTest, FivePacketsThatOvertookMeanLoss) {
  start(2 * kNominal * 100);
  config.gap_cwnd_factor = 0.001;
  post(1, 20 * kMtu);
  for (int i = 0; i < 20; ++i) send(1);
  EXPECT_EQ(sack(-1, 0b0001'1110).declared_lost, 0U) << "four";
  const AckResult result = sack(-1, 0b0011'1110);
  EXPECT_EQ(result.declared_lost, 1U);
  EXPECT_EQ(requestor->counters().gap_losses, 1U);
  EXPECT_EQ(paths->state(1), EvState::assumed_bad);
  EXPECT_EQ(window->lost_bytes, kNominal);
  EXPECT_EQ(send().psn, 0U);
}

// 1.5 x 8 packets of window is 12; without the clamp at MPR / 2 = 64 a large window would never infer.
TEST_F(RequestorTest, TheThresholdGrowsWithTheWindowUpToHalfTheMpr) {
  start(8 * kMtu);
  post(1, 8 * kMtu);
  for (int i = 0; i < 7; ++i) send();
  EXPECT_EQ(sack(-1, 0b0111'1110).declared_lost, 0U);
  start();
  post(2, 128 * kMtu);
  for (int i = 0; i < 128; ++i) send();
  EXPECT_EQ(sack(-1, ~1ULL).declared_lost, 0U);
  EXPECT_EQ(requestor->on_sack({.sack_bitmap = 1, .cack_psn = kPsnMask, .sack_offset = 65}, now).declared_lost, 1U);
}

TEST_F(RequestorTest, LossThatWasNotOneLeavesNothingInFlight) {
  start();
  config.gap_cwnd_factor = 0;
  post(1, 10 * kMtu);
  send_all();
  EXPECT_EQ(sack(-1, 0b11'1111'1110).declared_lost, 1U);
  EXPECT_EQ(window->inflight_bytes(), 0U);
  sack(9);
  EXPECT_EQ(requestor->counters().spurious_losses, 1U);
  EXPECT_EQ(window->inflight_bytes(), 0U);
  EXPECT_FALSE(requestor->next_is_retransmission());
}

// Timestamps in units of 128 ns: sent at 65,530, back at 65,541 = 5 modulo 2^16.
TEST_F(RequestorTest, RttByTimestampOverItsWrap) {
  config.rtt_source = RttSource::timestamp;
  start();
  now = 65'541ULL * 128'000;
  requestor->on_sack({.tx_timestamp = 65'530}, now);
  EXPECT_EQ(window->acks.back().rtt_ps, 11U * 128'000);
  config.timestamp_in_us = true;
  now = 9'000'000;
  requestor->on_sack({.tx_timestamp = 2}, now);
  EXPECT_EQ(window->acks.back().rtt_ps, 7'000'000U);
}

// Packet 0 times out again and again; packet 1, sent later, starts at the default all the same.
TEST_F(RequestorTest, BackoffByPacket) {
  config.timeout_backoff = TimeoutBackoff::packet;
  config.linear_retries = 1;
  start();
  post(1, 2 * kMtu);
  send();
  for (const TimePs wait : {1, 1, 2, 4}) {
    ASSERT_EQ(requestor->next_deadline(), now + wait * kTimeout);
    now += wait * kTimeout;
    EXPECT_EQ(requestor->on_deadline(now).declared_lost, 1U);
    EXPECT_EQ(send().psn, 0U);
  }
  EXPECT_EQ(requestor->next_deadline(), now + 8 * kTimeout);
  EXPECT_EQ(send().psn, 1U);
  EXPECT_EQ(requestor->next_deadline(), now + kTimeout);
  const TimePs sent = now;
  now += kTimeout;
  EXPECT_EQ(requestor->on_deadline(now).declared_lost, 1U);
  EXPECT_EQ(send().psn, 1U);
  sack(kPsnMask, 0b10);
  EXPECT_EQ(requestor->next_deadline(), sent + 8 * kTimeout);
}

TEST_F(RequestorTest, BackoffByQp) {
  config.linear_retries = 1;
  start();
  post(1, 2 * kMtu);
  send();
  for (const TimePs wait : {1, 1, 2}) {
    ASSERT_EQ(requestor->next_deadline(), now + wait * kTimeout);
    now += wait * kTimeout;
    requestor->on_deadline(now);
    send();
  }
  now += 4 * kTimeout - 1;
  EXPECT_EQ(requestor->on_deadline(now).declared_lost, 0U);
  EXPECT_EQ(send().psn, 1U);
  now += 1;
  EXPECT_EQ(requestor->on_deadline(now).declared_lost, 1U);
  EXPECT_EQ(requestor->next_deadline(), now - 1 + 8 * kTimeout);
}

TEST_F(RequestorTest, LinearThenExponentialTimeouts) {
  config.linear_retries = 2;
  start();
  post(1, kMtu);
  EXPECT_EQ(requestor->next_deadline(), kNever);
  constexpr std::array<TimePs, 6> waits{1, 1, 1, 2, 4, 8};
  for (const TimePs wait : waits) {
    send(1);
    EXPECT_EQ(requestor->next_deadline(), now + wait * kTimeout);
    EXPECT_EQ(requestor->on_deadline(requestor->next_deadline() - 1).declared_lost, 0U);
    now = requestor->next_deadline();
    EXPECT_EQ(requestor->on_deadline(now).declared_lost, 1U);
  }
  EXPECT_EQ(requestor->counters().timeouts, 6U);
  EXPECT_EQ(requestor->counters().timeout_losses, 6U);
  EXPECT_EQ(requestor->retries(), 6U);
}

TEST_F(RequestorTest, ProgressResetsTheRetries) {
  start();
  config.linear_retries = 0;
  post(1, 2 * kMtu);
  send_all();
  now = requestor->next_deadline();
  EXPECT_EQ(requestor->on_deadline(now).declared_lost, 2U);
  EXPECT_EQ(requestor->retries(), 1U) << "one timeout, however many packets";
  send_all();
  EXPECT_EQ(requestor->next_deadline(), now + 2 * kTimeout);
  sack(0);
  EXPECT_EQ(requestor->retries(), 0U);
  EXPECT_EQ(requestor->next_deadline(), now + kTimeout);
}

TEST_F(RequestorTest, TooManyRetriesEndTheQueuePair) {
  config.linear_retries = 1;
  config.exponential_retries = 2;
  start();
  post(1, 2 * kMtu);
  post(2, kMtu);
  for (int retry = 0; retry < 4; ++retry) {
    EXPECT_EQ(requestor->state(), QpState::rts);
    send_all();
    now = requestor->next_deadline();
    requestor->on_deadline(now);
  }
  EXPECT_EQ(requestor->state(), QpState::error);
  EXPECT_EQ(requestor->gate(now), SendGate::in_error);
  EXPECT_EQ(requestor->next_deadline(), kNever);
  EXPECT_EQ(requestor->describe_wait(now), "nothing: it is in error");
  EXPECT_EQ(window->inflight_bytes(), 0U);
  ASSERT_EQ(requestor->post({.id = 3, .bytes = 1}, now), PostStatus::posted);
  const auto done = completions();
  ASSERT_EQ(done.size(), 3U);
  EXPECT_EQ(done[0].status, CompletionStatus::retry_exceeded);
  EXPECT_EQ(done[1].status, CompletionStatus::flushed);
  EXPECT_EQ(done[2].id, 3U);
  EXPECT_EQ(done[2].status, CompletionStatus::flushed);
}

TEST_F(RequestorTest, NacksDrawOnTheSameCounterAndEndInTheSameError) {
  config.linear_retries = 1;
  config.exponential_retries = 1;
  start();
  post(1, kMtu);
  for (int i = 0; i < 3; ++i) {
    send_all();
    nack(0, NackReason::no_bitmap);
  }
  ASSERT_EQ(requestor->state(), QpState::error);
  EXPECT_EQ(completions().front().status, CompletionStatus::retry_exceeded);
}

TEST_F(RequestorTest, AnUnexpectedEventIsNotRetried) {
  start();
  post(1, 4 * kMtu);
  send_all();
  nack(2, NackReason::unexp_event);
  EXPECT_EQ(requestor->state(), QpState::error);
  EXPECT_EQ(window->inflight_bytes(), 0U);
  EXPECT_EQ(completions().front().status, CompletionStatus::remote_operation_error);
}

TEST_F(RequestorTest, AMissingTransportAckIsAskedForByTheLastPacketAgain) {
  start();
  post(1, 2 * kMtu, true);
  send_all();
  now += 1'000;
  sack(1);
  EXPECT_EQ(requestor->describe_wait(now), "the transport ACK of message 0");
  EXPECT_EQ(requestor->next_deadline(), now + kTimeout);
  now = requestor->next_deadline();
  requestor->on_deadline(now);
  EXPECT_TRUE(requestor->next_is_retransmission());
  EXPECT_EQ(requestor->next_deadline(), kNever) << "it is about to be sent";
  EXPECT_EQ(requestor->describe_wait(now), "the NIC's pipeline, to send PSN 2");
  const SendPlan plan = send();
  EXPECT_EQ(plan.psn, 1U);
  EXPECT_TRUE(plan.retransmission);
  EXPECT_TRUE(plan.ack_request);
  EXPECT_EQ(plan.opcode, Opcode::write_last_imm);
  EXPECT_EQ(plan.va, (1ULL << 40) + kMtu);
  EXPECT_EQ(window->inflight_bytes(), 0U) << "below the window, not charged";
  transport_ack(1);
  EXPECT_EQ(completions().size(), 1U);
  EXPECT_EQ(requestor->next_deadline(), kNever);
}

TEST_F(RequestorTest, SaysWhatItWaitsFor) {
  start();
  post(1, 2 * kMtu);
  EXPECT_EQ(requestor->describe_wait(now), "the NIC's pipeline, to send PSN 0");
  send_all();
  EXPECT_EQ(requestor->describe_wait(now), "acknowledgement of PSN 0, 0 timeouts");
  nack(1, NackReason::trimmed);
  EXPECT_EQ(requestor->describe_wait(now), "the NIC's pipeline, to send PSN 1");
}

}  // namespace
}  // namespace mrc
