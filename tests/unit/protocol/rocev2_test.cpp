#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "mrc/random.h"
#include "mrc/rocev2/cnp_generator.h"
#include "mrc/rocev2/ecmp_hash.h"
#include "mrc/rocev2/rc_requestor.h"
#include "mrc/rocev2/rc_responder.h"
#include "packet_of.h"

namespace mrc {
namespace {

constexpr std::uint32_t kMtu = 4096;
constexpr std::uint32_t kRkey = 77;
constexpr ProtectionDomain kDomain = 5;

WorkRequest write_of(std::uint64_t id, std::uint32_t bytes, bool immediate = false) {
  return {
      .id = id, .remote_address = id << 32, .rkey = kRkey, .bytes = bytes, .immediate = 100, .write_imm = immediate};
}

TransportAckFields ack() {
  return {.msn = 0, .syndrome = kRcAck};
}
TransportAckFields nak(std::uint8_t syndrome = kRcNakSequenceError) {
  return {.msn = 0, .syndrome = syndrome};
}

class RcRequestorTest : public testing::Test {
 protected:
  RcRequestor make(Psn first_psn = 0) { return RcRequestor(config, DcqcnConfig{}, 800.0, first_psn); }
  /// PSNs of all that may be sent, the pace waited for.
  std::vector<Psn> send_all(RcRequestor& requestor) {
    std::vector<Psn> psns;
    for (;; now = requestor.next_send_time()) {
      const SendGate gate = requestor.gate(std::max(now, requestor.next_send_time()));
      if (gate != SendGate::ready) return psns;
      now = std::max(now, requestor.next_send_time());
      psns.push_back(requestor.take(now).psn);
    }
  }

  RcConfig config;
  TimePs now = 0;
};

TEST_F(RcRequestorTest, SegmentsOverTheWrapOfThePsn) {
  RcRequestor requestor = make(0xFF'FFFE);
  ASSERT_EQ(requestor.post(write_of(1, 3 * kMtu + 1, true), 0), PostStatus::posted);
  std::vector<SendPlan> plans;
  while (requestor.gate(now = requestor.next_send_time()) == SendGate::ready) plans.push_back(requestor.take(now));
  ASSERT_EQ(plans.size(), 4U);
  constexpr std::array<Psn, 4> psns{0xFF'FFFE, 0xFF'FFFF, 0, 1};
  constexpr std::array<Opcode, 4> opcodes{Opcode::write_first, Opcode::write_middle, Opcode::write_middle,
                                          Opcode::write_last_imm};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plans[i].psn, psns[i]);
    EXPECT_EQ(plans[i].opcode, opcodes[i]);
    EXPECT_EQ(plans[i].va, (1ULL << 32) + i * kMtu);
    EXPECT_EQ(plans[i].payload_bytes, i < 3 ? kMtu : 1U);
    EXPECT_EQ(plans[i].dma_length, 3 * kMtu + 1);
    EXPECT_EQ(plans[i].ack_request, i == 3);
    EXPECT_FALSE(plans[i].retransmission);
  }
  EXPECT_EQ(requestor.inflight_bytes(), 3U * kMtu + 1);
  const AckResult result = requestor.on_ack(1, ack(), now);
  EXPECT_EQ(result.records_freed, 4U);
  EXPECT_EQ(requestor.inflight_bytes(), 0U);
  EXPECT_EQ(requestor.unacked_psn(), 2U);
  Completion completion;
  ASSERT_TRUE(requestor.pop_completion(completion));
  EXPECT_EQ(completion.id, 1U);
  EXPECT_EQ(completion.status, CompletionStatus::success);
  EXPECT_FALSE(requestor.pop_completion(completion));
}

TEST_F(RcRequestorTest, RefusesAnEmptyMessage) {
  EXPECT_EQ(make().post(write_of(1, 0), 0), PostStatus::bad_length);
}

TEST_F(RcRequestorTest, WindowInPacketsAndItsAckRequest) {
  config.window_packets = 3;
  RcRequestor requestor = make();
  requestor.post(write_of(1, 10 * kMtu), 0);
  EXPECT_FALSE(requestor.take(now).ack_request);
  EXPECT_FALSE(requestor.take(now).ack_request);
  EXPECT_TRUE(requestor.take(now).ack_request);
  EXPECT_EQ(requestor.gate(kPsPerUs), SendGate::blocked_mpr);
  requestor.on_ack(0, ack(), now);
  EXPECT_EQ(requestor.gate(kPsPerUs), SendGate::ready);
}

TEST_F(RcRequestorTest, WindowInBytesLetsOnePacketThrough) {
  config.window_bytes = 2 * kMtu + 1;
  RcRequestor requestor = make();
  requestor.post(write_of(1, 10 * kMtu), 0);
  EXPECT_EQ(send_all(requestor).size(), 2U);
  EXPECT_EQ(requestor.gate(kPsPerUs), SendGate::blocked_cwnd);
  requestor.on_ack(1, ack(), now);
  config.window_bytes = 1;
  EXPECT_EQ(send_all(requestor).size(), 1U);
}

TEST_F(RcRequestorTest, PaceIsTheLineRate) {
  RcRequestor requestor = make();
  requestor.post(write_of(1, 2 * kMtu), 0);
  const SendPlan plan = requestor.take(0);
  // 8 bits over 800 Gb/s are 10 ps.
  EXPECT_EQ(requestor.next_send_time(), plan.nominal_bytes * 10ULL);
  EXPECT_EQ(requestor.gate(requestor.next_send_time() - 1), SendGate::blocked_cwnd);
  EXPECT_EQ(requestor.gate(requestor.next_send_time()), SendGate::ready);
}

TEST_F(RcRequestorTest, SequenceErrorSendsAllAfterTheGapAgain) {
  RcRequestor requestor = make();
  requestor.post(write_of(1, 4 * kMtu), 0);
  requestor.post(write_of(2, 6 * kMtu), 0);
  EXPECT_EQ(send_all(requestor).size(), 10U);
  const AckResult result = requestor.on_ack(5, nak(), now);
  EXPECT_EQ(result.records_freed, 5U);
  EXPECT_EQ(result.declared_lost, 5U);
  EXPECT_TRUE(requestor.next_is_retransmission());
  EXPECT_EQ(requestor.inflight_bytes(), 0U);
  EXPECT_EQ(send_all(requestor), (std::vector<Psn>{5, 6, 7, 8, 9}));
  EXPECT_EQ(requestor.counters().retransmissions, 5U);
  Completion completion;
  ASSERT_TRUE(requestor.pop_completion(completion));
  EXPECT_EQ(completion.id, 1U);
  EXPECT_FALSE(requestor.has_completion());
}

TEST_F(RcRequestorTest, AnAckOvertakesTheRetransmission) {
  RcRequestor requestor = make();
  requestor.post(write_of(1, 6 * kMtu), 0);
  send_all(requestor);
  requestor.on_ack(2, nak(), now);
  requestor.on_ack(4, ack(), now);
  EXPECT_EQ(requestor.next_psn(), 5U);
  EXPECT_EQ(send_all(requestor), (std::vector<Psn>{5}));
}

TEST_F(RcRequestorTest, OldAndImpossibleAcksChangeNothing) {
  RcRequestor requestor = make();
  requestor.post(write_of(1, 6 * kMtu), 0);
  send_all(requestor);
  requestor.on_ack(3, ack(), now);
  for (const AckResult& result : {requestor.on_ack(2, ack(), now), requestor.on_ack(2, nak(), now),
                                  requestor.on_ack(6, ack(), now), requestor.on_ack(0x80'0000, nak(), now)}) {
    EXPECT_EQ(result.records_freed, 0U);
    EXPECT_EQ(result.declared_lost, 0U);
  }
  EXPECT_EQ(requestor.unacked_psn(), 4U);
  EXPECT_FALSE(requestor.next_is_retransmission());
}

TEST_F(RcRequestorTest, TimeoutGoesBackThenFails) {
  config.timeout_exponent = 1;
  config.retry_count = 2;
  RcRequestor requestor = make();
  requestor.post(write_of(1, 2 * kMtu), 0);
  requestor.post(write_of(2, 1), 0);
  EXPECT_EQ(requestor.next_deadline(), kNever);
  send_all(requestor);
  EXPECT_EQ(requestor.next_deadline(), 8'192'000U);
  EXPECT_EQ(requestor.on_deadline(8'191'999).declared_lost, 0U);
  for (std::uint32_t retry = 1; retry <= 2; ++retry) {
    now = requestor.next_deadline();
    EXPECT_EQ(requestor.on_deadline(now).declared_lost, 3U);
    EXPECT_EQ(requestor.retries(), retry);
    EXPECT_EQ(requestor.next_deadline(), kNever);
    EXPECT_EQ(send_all(requestor), (std::vector<Psn>{0, 1, 2}));
  }
  requestor.on_deadline(requestor.next_deadline());
  EXPECT_EQ(requestor.state(), QpState::error);
  EXPECT_EQ(requestor.gate(now), SendGate::in_error);
  EXPECT_EQ(requestor.next_deadline(), kNever);
  EXPECT_EQ(requestor.on_deadline(kNever).declared_lost, 0U);
  EXPECT_EQ(requestor.on_ack(0, ack(), now).records_freed, 0U);
  requestor.post(write_of(3, 1), now);
  constexpr std::array<CompletionStatus, 3> statuses{CompletionStatus::retry_exceeded, CompletionStatus::flushed,
                                                     CompletionStatus::flushed};
  for (std::uint64_t id = 1; id <= 3; ++id) {
    Completion completion;
    ASSERT_TRUE(requestor.pop_completion(completion));
    EXPECT_EQ(completion.id, id);
    EXPECT_EQ(completion.status, statuses[id - 1]);
  }
  EXPECT_EQ(requestor.counters().timeouts, 3U);
  EXPECT_EQ(requestor.messages_pending(), 0U);
}

TEST_F(RcRequestorTest, ProgressResetsTheRetriesAndTheTimer) {
  config.timeout_exponent = 0;
  RcRequestor requestor = make();
  requestor.post(write_of(1, 2 * kMtu), 0);
  send_all(requestor);
  requestor.on_deadline(requestor.next_deadline());
  send_all(requestor);
  EXPECT_EQ(requestor.retries(), 1U);
  requestor.on_ack(0, ack(), 9'000'000);
  EXPECT_EQ(requestor.retries(), 0U);
  EXPECT_EQ(requestor.next_deadline(), 9'000'000U + 4'096'000U);
}

TEST_F(RcRequestorTest, RemoteAccessErrorEndsTheQueuePair) {
  RcRequestor requestor = make();
  requestor.post(write_of(1, kMtu), 0);
  requestor.post(write_of(2, kMtu), 0);
  send_all(requestor);
  requestor.on_ack(1, nak(kRcNakRemoteAccess), now);
  EXPECT_EQ(requestor.state(), QpState::error);
  Completion completion;
  ASSERT_TRUE(requestor.pop_completion(completion));
  EXPECT_EQ(completion.status, CompletionStatus::success);
  ASSERT_TRUE(requestor.pop_completion(completion));
  EXPECT_EQ(completion.status, CompletionStatus::remote_operation_error);
}

class RcResponderTest : public testing::Test {
 protected:
  void SetUp() override { protection.add({.va = 0, .bytes = 1 << 20, .rkey = kRkey, .domain = kDomain}); }
  RcRxDecision accept(RcResponder& responder, Psn psn, bool ack_request = false, Opcode opcode = Opcode::write_middle) {
    Packet packet;
    packet.opcode = opcode;
    packet.psn = psn;
    packet.rkey = kRkey;
    packet.payload_bytes = 100;
    packet.ack_request = ack_request;
    return responder.accept(packet, {}, 0);
  }

  RcConfig config;
  ProtectionTable protection;
};

TEST_F(RcResponderTest, AcknowledgesEachNthPacketAndOnRequest) {
  config.ack_every_packets = 3;
  RcResponder responder(config, 0xFF'FFFF, protection, kDomain);
  EXPECT_FALSE(accept(responder, 0xFF'FFFF).respond);
  EXPECT_FALSE(accept(responder, 0).respond);
  const RcRxDecision third = accept(responder, 1);
  EXPECT_TRUE(third.place);
  EXPECT_TRUE(third.respond);
  EXPECT_EQ(third.answer_psn, 1U);
  EXPECT_EQ(third.answer.syndrome, kRcAck);
  EXPECT_FALSE(accept(responder, 2).respond);
  EXPECT_TRUE(accept(responder, 3, true).respond);
  EXPECT_FALSE(accept(responder, 4).respond);
  EXPECT_FALSE(accept(responder, 5).respond);
  EXPECT_TRUE(accept(responder, 6).respond);
}

TEST_F(RcResponderTest, OneNakAGapAndNothingOutOfOrderIsWritten) {
  RcResponder responder(config, 10, protection, kDomain);
  accept(responder, 10);
  const RcRxDecision first = accept(responder, 12);
  EXPECT_FALSE(first.place);
  EXPECT_TRUE(first.respond);
  EXPECT_EQ(first.answer_psn, 11U);
  EXPECT_EQ(first.answer.syndrome, kRcNakSequenceError);
  EXPECT_FALSE(accept(responder, 13).respond);
  EXPECT_TRUE(accept(responder, 11).place);
  EXPECT_TRUE(accept(responder, 13).respond);
  EXPECT_EQ(responder.counters().naks, 2U);
  EXPECT_EQ(responder.counters().out_of_sequence, 3U);
  EXPECT_EQ(responder.expected_psn(), 12U);
}

TEST_F(RcResponderTest, DuplicatesAreAcknowledgedAndNotWritten) {
  RcResponder responder(config, 0, protection, kDomain);
  accept(responder, 0);
  accept(responder, 1);
  const RcRxDecision again = accept(responder, 0);
  EXPECT_FALSE(again.place);
  EXPECT_TRUE(again.respond);
  EXPECT_EQ(again.answer_psn, 1U);
  EXPECT_EQ(again.answer.syndrome, kRcAck);
  EXPECT_EQ(responder.counters().duplicates, 1U);
}

TEST_F(RcResponderTest, WithoutRoomThePacketIsLost) {
  RcResponder responder(config, 0, protection, kDomain);
  Packet packet;
  packet.rkey = kRkey;
  packet.payload_bytes = 1;
  for (const RxResources& resources :
       {RxResources{.packet_buffer_available = false}, RxResources{.other_resource_available = false}}) {
    const RcRxDecision decision = responder.accept(packet, resources, 0);
    EXPECT_FALSE(decision.place);
    EXPECT_FALSE(decision.respond);
  }
  EXPECT_EQ(responder.expected_psn(), 0U);
  EXPECT_EQ(responder.counters().no_buffer, 2U);
}

TEST_F(RcResponderTest, AProtectionFaultWritesNothingAndEndsTheQueuePair) {
  RcResponder responder(config, 0, protection, kDomain + 1);
  const RcRxDecision decision = accept(responder, 0);
  EXPECT_FALSE(decision.place);
  EXPECT_EQ(decision.answer.syndrome, kRcNakRemoteAccess);
  EXPECT_TRUE(responder.in_error());
  EXPECT_FALSE(accept(responder, 0).respond);
  EXPECT_EQ(responder.counters().protection_faults, 1U);
}

TEST_F(RcResponderTest, ImmediatesInOrderOfTheirMessages) {
  RcResponder responder(config, 0, protection, kDomain);
  Packet packet;
  packet.opcode = Opcode::write_only_imm;
  packet.rkey = kRkey;
  packet.payload_bytes = 1;
  for (std::uint32_t i = 0; i < 3; ++i) {
    packet.psn = i;
    packet.msn = static_cast<std::uint16_t>(i);
    packet.immediate = 1000 + i;
    EXPECT_EQ(responder.accept(packet, {}, 0).closes_messages, 1U);
  }
  ReceiveCompletion completion;
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(responder.pop_receive(completion));
    EXPECT_EQ(completion.immediate, 1000 + i);
    EXPECT_EQ(completion.msn, i);
  }
  EXPECT_FALSE(responder.pop_receive(completion));
}

/// A sender and a receiver over a channel that loses, doubles, delays and marks what each seed says.
class RcWorld {
 public:
  RcWorld(std::uint64_t seed, double loss, double duplication, TimePs jitter)
      : random_(seed, "channel"), loss_(loss), duplication_(duplication), jitter_(jitter) {
    config_.timeout_exponent = 3;
    config_.retry_count = 1'000;
    config_.window_packets = 1 + static_cast<std::uint32_t>(random_.below(64));
    config_.ack_every_packets = 1 + static_cast<std::uint32_t>(random_.below(20));
    protection_.add({.va = 0, .bytes = ~0ULL, .rkey = kRkey, .domain = kDomain});
  }

  void run() {
    const Psn first = 0xFF'FFF0;
    RcRequestor requestor(config_, dcqcn_, kLineGbps, first);
    RcResponder responder(config_, first, protection_, kDomain);
    CnpGenerator cnps(dcqcn_);
    constexpr std::uint64_t kMessages = 20;
    for (std::uint64_t id = 0; id < kMessages; ++id) {
      const auto bytes = static_cast<std::uint32_t>(1 + random_.below(8 * kMtu));
      requestor.post(write_of(id, bytes, true), 0);
      sizes_.push_back(bytes);
    }
    std::uint64_t completed = 0;
    while (completed < kMessages && ++steps_ < 1'000'000) {
      while (requestor.gate(now_) == SendGate::ready) send(to_responder_, packet_of(requestor.take(now_)));
      ASSERT_LE(requestor.rate().rate_gbps(), kLineGbps);
      ASSERT_GE(requestor.rate().rate_gbps(), dcqcn_.least_rate_gbps);
      ASSERT_LE(requestor.rate().target_gbps(), kLineGbps);
      const TimePs next = next_time(requestor);
      ASSERT_NE(next, kNever) << "nothing can happen any more";
      now_ = next;
      if (requestor.next_deadline() <= now_) requestor.on_deadline(now_);
      deliver(responder, cnps);
      hear(requestor);
      for (Completion completion; requestor.pop_completion(completion); ++completed) {
        ASSERT_EQ(completion.id, completed);
        ASSERT_EQ(completion.status, CompletionStatus::success);
      }
    }
    EXPECT_EQ(completed, kMessages);
    EXPECT_EQ(message_, kMessages);
    ReceiveCompletion received;
    for (std::uint64_t id = 0; id < kMessages; ++id) {
      ASSERT_TRUE(responder.pop_receive(received));
      EXPECT_EQ(received.msn, id);
    }
  }

 private:
  static constexpr double kLineGbps = 100.0;
  struct Answer {
    Psn psn = 0;
    TransportAckFields aeth{};
    bool cnp = false;
  };

  template <typename Item>
  void send(std::multimap<TimePs, Item>& channel, const Item& item) {
    const int copies = (random_.chance(loss_) ? 0 : 1) + (random_.chance(duplication_) ? 1 : 0);
    for (int i = 0; i < copies; ++i) channel.emplace(now_ + kPsPerUs + random_.below(jitter_ + 1), item);
  }
  TimePs next_time(const RcRequestor& requestor) const {
    TimePs next = requestor.next_deadline();
    if (!to_responder_.empty()) next = std::min(next, to_responder_.begin()->first);
    if (!to_requestor_.empty()) next = std::min(next, to_requestor_.begin()->first);
    if (requestor.next_send_time() > now_) next = std::min(next, requestor.next_send_time());
    return next;
  }
  void deliver(RcResponder& responder, CnpGenerator& cnps) {
    for (auto it = to_responder_.begin(); it != to_responder_.end() && it->first <= now_;
         it = to_responder_.erase(it)) {
      const RcRxDecision decision = responder.accept(it->second, {}, now_);
      if (decision.place) place(it->second);
      if (decision.respond) send(to_requestor_, Answer{decision.answer_psn, decision.answer});
      if (cnps.on_packet(random_.chance(0.05) ? Ecn::ce : Ecn::ect0, now_)) send(to_requestor_, Answer{.cnp = true});
    }
  }
  /// Bytes arrive in order and once: each write begins where the last ended.
  void place(const Packet& packet) {
    ASSERT_LT(message_, sizes_.size());
    ASSERT_EQ(packet.va, (message_ << 32) + offset_);
    offset_ += packet.payload_bytes;
    if (offset_ < sizes_[message_]) return;
    ++message_;
    offset_ = 0;
  }
  void hear(RcRequestor& requestor) {
    for (auto it = to_requestor_.begin(); it != to_requestor_.end() && it->first <= now_;
         it = to_requestor_.erase(it)) {
      if (it->second.cnp) {
        requestor.on_cnp(now_);
      } else {
        requestor.on_ack(it->second.psn, it->second.aeth, now_);
      }
    }
  }

  KeyedRandom random_;
  double loss_;
  double duplication_;
  TimePs jitter_;
  RcConfig config_;
  DcqcnConfig dcqcn_{.alpha_period_ps = 5 * kPsPerUs, .increase_period_ps = 3 * kPsPerUs, .increase_bytes = 50'000};
  ProtectionTable protection_;
  TimePs now_ = 0;
  std::multimap<TimePs, Packet> to_responder_;
  std::multimap<TimePs, Answer> to_requestor_;
  std::vector<std::uint32_t> sizes_;
  std::uint64_t message_ = 0;
  std::uint32_t offset_ = 0;
  std::uint64_t steps_ = 0;
};

TEST(RcProperty, EachByteOnceAndInOrderOverAnyChannel) {
  for (std::uint64_t seed = 1; seed <= 300 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    KeyedRandom faults(seed, "faults");
    RcWorld(seed, 0.2 * faults.uniform(), 0.1 * faults.uniform(), faults.below(4) * kPsPerUs).run();
  }
}

TEST(Ecmp, AFlowKeepsItsPathAndFlowsSpread) {
  std::array<std::uint32_t, 16> hits{};
  for (QpNumber qp = 3; qp < 16'003; ++qp) {
    const FlowTuple flow{.source = {1, 2}, .destination = {3, 4}, .source_port = rc_source_port(qp, 9)};
    EXPECT_GE(flow.source_port, 49'152U);
    const std::uint32_t path = ecmp_path(flow, 1, 16);
    EXPECT_EQ(path, ecmp_path(flow, 1, 16));
    ++hits.at(path);
  }
  for (const std::uint32_t hit : hits) EXPECT_NEAR(hit, 1'000, 200);
}

TEST(Ecmp, EachWordOfTheTupleAndTheSaltCount) {
  const FlowTuple flow{.source = {1, 2}, .destination = {3, 4}, .source_port = 50'000};
  std::vector<FlowTuple> others(7, flow);
  others[0].source.high = 9;
  others[1].source.low = 9;
  others[2].destination.high = 9;
  others[3].destination.low = 9;
  others[4].source_port = 9;
  others[5].destination_port = 9;
  others[6].protocol = 6;
  for (const FlowTuple& other : others) EXPECT_NE(ecmp_hash(other, 1), ecmp_hash(flow, 1));
  EXPECT_NE(ecmp_hash(flow, 2), ecmp_hash(flow, 1));
  EXPECT_EQ(ecmp_path(flow, 1, 1), 0U);
}

TEST(Cnp, OneAnInterval) {
  CnpGenerator cnps(DcqcnConfig{});
  EXPECT_FALSE(cnps.on_packet(Ecn::ect0, 0));
  EXPECT_TRUE(cnps.on_packet(Ecn::ce, 1));
  EXPECT_FALSE(cnps.on_packet(Ecn::ce, 50 * kPsPerUs));
  EXPECT_TRUE(cnps.on_packet(Ecn::ce, 50 * kPsPerUs + 1));
}

TEST(Dcqcn, FirstCutHalvesAndAlphaFollows) {
  Dcqcn rate(DcqcnConfig{}, 100.0);
  EXPECT_EQ(rate.next_timer(), kNever);
  rate.on_cnp(0);
  EXPECT_DOUBLE_EQ(rate.rate_gbps(), 50.0);
  EXPECT_DOUBLE_EQ(rate.target_gbps(), 100.0);
  EXPECT_DOUBLE_EQ(rate.alpha(), 1.0);
  // One period without a CNP: alpha is 255/256, the rate has made its first step of fast recovery.
  EXPECT_EQ(rate.next_timer(), 55 * kPsPerUs);
  rate.on_timer(55 * kPsPerUs);
  EXPECT_DOUBLE_EQ(rate.alpha(), 255.0 / 256.0);
  EXPECT_DOUBLE_EQ(rate.rate_gbps(), 75.0);
  rate.on_cnp(60 * kPsPerUs);
  EXPECT_DOUBLE_EQ(rate.target_gbps(), 75.0);
  EXPECT_DOUBLE_EQ(rate.rate_gbps(), 75.0 * (1.0 - 255.0 / 512.0));
  EXPECT_DOUBLE_EQ(rate.alpha(), 255.0 / 256.0 * 255.0 / 256.0 + 1.0 / 256.0);
}

TEST(Dcqcn, FiveHalvingsThenAdditiveIncrease) {
  DcqcnConfig config;
  config.additive_gbps = 1.0;
  Dcqcn rate(config, 100.0);
  rate.on_cnp(0);
  rate.on_cnp(0);
  // Target 50, current 25. Five steps halve the distance to 50, then the target itself moves.
  double current = 25.0;
  for (std::uint64_t step = 1; step <= 5; ++step) {
    rate.on_timer(step * 55 * kPsPerUs);
    current = (current + 50.0) / 2;
    EXPECT_DOUBLE_EQ(rate.rate_gbps(), current);
    EXPECT_DOUBLE_EQ(rate.target_gbps(), 50.0);
  }
  for (std::uint64_t step = 6; step <= 8; ++step) {
    rate.on_timer(step * 55 * kPsPerUs);
    EXPECT_DOUBLE_EQ(rate.target_gbps(), 50.0 + static_cast<double>(step) - 5);
  }
}

TEST(Dcqcn, TimerAndBytesTogetherReachHyperIncrease) {
  DcqcnConfig config;
  config.additive_gbps = 1.0;
  config.hyper_gbps = 3.0;
  config.increase_bytes = 1'000;
  Dcqcn rate(config, 100.0);
  rate.on_cnp(0);
  rate.on_cnp(0);
  rate.on_timer(6 * 55 * kPsPerUs);
  EXPECT_DOUBLE_EQ(rate.target_gbps(), 51.0);
  rate.on_sent(5'000, 6 * 55 * kPsPerUs);
  EXPECT_DOUBLE_EQ(rate.target_gbps(), 56.0);
  rate.on_sent(1'000, 6 * 55 * kPsPerUs);
  EXPECT_DOUBLE_EQ(rate.target_gbps(), 59.0);
}

TEST(Dcqcn, StaysBetweenItsBoundsAndComesBackToLineRate) {
  Dcqcn rate(DcqcnConfig{}, 100.0);
  for (int i = 0; i < 50; ++i) rate.on_cnp(0);
  EXPECT_DOUBLE_EQ(rate.rate_gbps(), 0.010);
  EXPECT_TRUE(rate.limited());
  double before = rate.rate_gbps();
  for (TimePs now = 0; rate.limited(); now = rate.next_timer()) {
    rate.on_timer(now);
    rate.on_sent(1'000'000, now);
    EXPECT_GE(rate.rate_gbps(), before);
    EXPECT_LE(rate.rate_gbps(), rate.target_gbps());
    before = rate.rate_gbps();
  }
  EXPECT_DOUBLE_EQ(rate.rate_gbps(), 100.0);
  EXPECT_DOUBLE_EQ(rate.alpha(), 1.0);
  EXPECT_EQ(rate.next_timer(), kNever);
}

}  // namespace
}  // namespace mrc
