// A NIC's records with and without something in the place of RTL of retransmit_buffer: which decisions count, what is
// compared, and when it is no longer asked.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "mrc/random.h"
#include "mrc/tx/requestor.h"
#include "mrc/tx/retransmit_reference.h"
#include "nic/tx/retransmit_buffer_rtl_path.h"
#include "nic/tx/send_records.h"

namespace mrc {
namespace {

static_assert(SendStore<SendRecords>);

constexpr std::uint32_t kRecords = 512;
constexpr Psn kFirst = 0xFF'FF00;

/// Ring 1's reference by commands, which may be made to lie.
class ReferenceEngine : public RetransmitBufferEngine {
 public:
  std::function<void(const RetransmitCommand&, RetransmitReply&)> lie;

  const RetransmitReply& run(const RetransmitCommand& command) override {
    reply_ = reference_.run(command);
    if (lie) lie(command, reply_);
    return reply_;
  }
  std::uint64_t cycles() const override { return 0; }
  std::uint64_t last_cycles() const override { return 2; }
  PinCycle clock(const RetransmitCommand* offered, const RetransmitCommand* oldest, bool) override {
    if (oldest != nullptr && oldest != offered) run(*oldest);
    const bool offers = offered != nullptr;
    const bool answers = oldest != nullptr && oldest != offered;
    return {.ready = true, .begun = offers, .taken = offers, .first_out = answers, .last_out = answers};
  }
  const RetransmitReply& answer() const override { return reply_; }

 private:
  RetransmitReference reference_{kRecords};
  RetransmitReply reply_;
};

class SendRecordsTest : public testing::Test {
 protected:
  void attach(RtlMode mode) {
    auto engine = std::make_unique<ReferenceEngine>();
    engine_ = engine.get();
    path_ = std::make_unique<RetransmitBufferRtlPath>(mode, RtlTiming::transaction, std::move(engine),
                                                      RetransmitBufferSizes{4, kRecords, 4}, 0, 1'000, NicConfig{});
    records_.use_rtl(*path_, 3, 0);
  }
  /// `count` packets that have left, one each nanosecond.
  void send(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Psn psn = records_.append(70'000, i * 4'096, 4'222, now_);
      records_.transmitted(psn, 1, now_ += 1'000, 0);
    }
  }
  static Psn psn(std::int32_t index) { return psn_add(kFirst, index); }

  ReferenceEngine* engine_ = nullptr;
  std::unique_ptr<RetransmitBufferRtlPath> path_;
  SendRecords records_{kFirst};
  TimePs now_ = 0;
};

/// What one conversation with a store gives, number by number.
template <typename Store>
std::vector<std::uint64_t> talk(Store& store, std::uint64_t seed) {
  KeyedRandom random(seed, "talk");
  std::vector<std::uint64_t> heard;
  std::vector<Psn> in_pipeline;
  std::uint64_t message = 0xFF00;  // passes 16 bits
  TimePs now = 0;
  const auto acked = [&](const SendRecord& record, bool was_lost) {
    heard.push_back(record.message << 1 | (was_lost ? 1 : 0));
  };
  const auto lost = [&](SendRecord& record) { heard.push_back(record.message_offset); };
  for (int step = 0; step < 3'000; ++step) {
    now += 1'000 * random.below(50);
    const auto in_window = psn_add(store.unacked_psn(), static_cast<std::int32_t>(random.below(store.span() + 1)));
    switch (random.below(8)) {
      case 0:
      case 1:
        if (store.span() >= 200) break;
        message += random.chance(0.2) ? 1 : 0;
        in_pipeline.push_back(store.append(message, static_cast<std::uint32_t>(step) * 64, 100 + step % 4'000, now));
        break;
      case 2:
      case 3:
        if (in_pipeline.empty()) break;
        store.transmitted(in_pipeline.front(), static_cast<EvIndex>(step % 256), now, 0);
        in_pipeline.erase(in_pipeline.begin());
        break;
      case 4:
        heard.push_back(store.acknowledge(psn_add(store.unacked_psn(), static_cast<std::int32_t>(random.below(3)) - 1),
                                          in_window, random.next() & random.next(), now, acked)
                            ? 1
                            : 0);
        break;
      case 5:
        heard.push_back(store.refuse(in_window, CutCause::trim, now) ? 1 : 0);
        break;
      case 6:
        store.lose_overtaken(20, now, lost);
        store.lose_overdue(0, 400'000, now, lost);
        break;
      case 7:
        if (!store.has_lost()) break;
        in_pipeline.push_back(store.take_lost(now));
        heard.push_back(in_pipeline.back());
        heard.push_back(store.at(in_pipeline.back()).message);
        break;
    }
    heard.insert(heard.end(), {store.unacked_psn(), store.next_psn(), store.span(), store.oldest_sent(0)});
  }
  return heard;
}

TEST_F(SendRecordsTest, WithAnEngineThatIsRightAllIsAsInRing1) {
  for (const RtlMode mode : {RtlMode::shadow, RtlMode::rtl}) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      RetransmitBuffer plain(kFirst);
      const std::vector<std::uint64_t> expected = talk(plain, seed);
      SendRecords alone(kFirst);
      ASSERT_EQ(talk(alone, seed), expected) << "without RTL";
      RetransmitBufferRtlPath path(mode, RtlTiming::transaction, std::make_unique<ReferenceEngine>(), {4, kRecords}, 0,
                                   1'000, NicConfig{});
      SendRecords records(kFirst);
      records.use_rtl(path, 3, 0);
      ASSERT_EQ(talk(records, seed), expected) << to_string(mode) << ", seed " << seed;
      ASSERT_EQ(path.mismatches(), 0U) << path.first_mismatch();
      ASSERT_GT(path.transactions(), 1'000U);
    }
  }
}

TEST_F(SendRecordsTest, InShadowRing1DecidesAndAnEngineThatWentAnotherWayIsNotAskedAgain) {
  attach(RtlMode::shadow);
  send(4);
  engine_->lie = [](const RetransmitCommand& command, RetransmitReply& reply) {
    if (command.op == RetransmitOp::nack) reply.hit = false;
  };
  EXPECT_TRUE(records_.refuse(psn(1), CutCause::trim, now_));
  EXPECT_EQ(path_->mismatches(), 1U);
  EXPECT_NE(path_->first_mismatch().find("nack of QP 3, PSN 16776961"), std::string::npos) << path_->first_mismatch();
  const std::uint64_t asked = path_->transactions();
  EXPECT_EQ(records_.take_lost(now_), psn(1));
  send(3);
  EXPECT_EQ(path_->transactions(), asked);
  EXPECT_EQ(path_->mismatches(), 1U);
}

TEST_F(SendRecordsTest, InRtlModeTheEngineDecidesEvenIfItIsWrong) {
  attach(RtlMode::rtl);
  send(4);
  engine_->lie = [](const RetransmitCommand& command, RetransmitReply& reply) {
    if (command.op == RetransmitOp::nack) reply.hit = false;
  };
  EXPECT_FALSE(records_.refuse(psn(1), CutCause::trim, now_));
  EXPECT_EQ(path_->mismatches(), 1U);
  EXPECT_EQ(records_.at(psn(1)).state, RecordState::outstanding);
  const std::uint64_t asked = path_->transactions();
  send(1);
  EXPECT_EQ(path_->transactions(), asked + 2) << "it is asked for append and sent";
}

TEST_F(SendRecordsTest, InRtlModeWhatTheEngineAcknowledgesCounts) {
  attach(RtlMode::rtl);
  send(4);
  engine_->lie = [](const RetransmitCommand& command, RetransmitReply& reply) {
    if (command.op != RetransmitOp::ack) return;
    reply.events.pop_back();
    reply.unacked = psn(1);
  };
  std::vector<std::uint32_t> offsets;
  const bool advanced = records_.acknowledge(
      psn(1), psn(2), 0, now_, [&](const SendRecord& record, bool) { offsets.push_back(record.message_offset); });
  EXPECT_TRUE(advanced);
  EXPECT_EQ(offsets, (std::vector<std::uint32_t>{0})) << "the engine left out the second";
  EXPECT_EQ(records_.unacked_psn(), psn(1));
  EXPECT_EQ(path_->mismatches(), 1U);
}

TEST_F(SendRecordsTest, InRtlModeThePacketThatIsTakenIsTheEngines) {
  attach(RtlMode::rtl);
  send(4);
  EXPECT_TRUE(records_.refuse(psn(1), CutCause::trim, now_));
  EXPECT_TRUE(records_.refuse(psn(2), CutCause::trim, now_));
  engine_->lie = [](const RetransmitCommand& command, RetransmitReply& reply) {
    if (command.op != RetransmitOp::take) return;
    reply.psn = psn(2);
    reply.offset = 77;
    reply.bytes = 88;
  };
  EXPECT_EQ(records_.take_lost(now_), psn(2));
  EXPECT_EQ(records_.at(psn(2)).message, 70'000U) << "16 bits of its number are enough";
  EXPECT_EQ(records_.at(psn(2)).message_offset, 77U);
  EXPECT_EQ(records_.at(psn(2)).nominal_bytes, 88U);
  EXPECT_EQ(records_.oldest_lost(), psn(1));
  EXPECT_EQ(path_->mismatches(), 1U);
}

TEST_F(SendRecordsTest, InRtlModeTheTimerIsTheEngines) {
  attach(RtlMode::rtl);
  send(2);
  EXPECT_EQ(records_.oldest_sent(0), 1'000U);
  engine_->lie = [](const RetransmitCommand&, RetransmitReply& reply) { reply.oldest_sent = 55; };
  send(1);
  EXPECT_EQ(records_.oldest_sent(0), 55U);
  EXPECT_GT(path_->mismatches(), 0U);
}

}  // namespace
}  // namespace mrc
