// Memories in a running NIC: their ports cost time, their errors never cost a byte, completions are moderated in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>

#include "nic/nic_memories.h"
#include "two_nics.h"

namespace mrc {
namespace {

const SramResult& row(const RunResult& result, const std::string& structure) {
  const auto found = std::find_if(result.sram.begin(), result.sram.end(),
                                  [&](const SramResult& r) { return r.structure == structure; });
  if (found == result.sram.end()) throw std::out_of_range(structure);
  return *found;
}

std::string top_cause(const RunResult& result) {
  for (const LimitResult& limit : result.limits) {
    if (limit.cause != "framing" && limit.cause != "unattributed") return limit.cause;
  }
  return "";
}

TEST(Floorplan, EveryStructureIsCountedAndDefaultsHoldLineRate) {
  const RunResult result = run(pair(), writes(256, 1 << 20));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_GT(result.goodput_gbps, 0.985 * result.framing_limit_gbps);
  for (const SramResult& r : result.sram) EXPECT_TRUE(r.measured) << r.structure;
  // 64 Ki packets of 4 KiB through 1,024 bits: 32 words in, 32 out.
  EXPECT_EQ(row(result, "pcie.completion_buffer").reads, 65'536U * 32);
  EXPECT_EQ(row(result, "pcie.completion_buffer").writes, 65'536U * 32);
  EXPECT_GT(row(result, "pcie.completion_buffer").mean_accesses_per_cycle, 1.4);
}

TEST(Floorplan, ARunListsTheMemoriesThatBoxesDeclareWithoutOne) {
  ScenarioConfig scenario = pair();
  scenario.node_default.nic.retransmit_buffer.store = RetransmitStore::payload;
  scenario.node_default.nic.completion.moderation_count = 4;
  scenario.node_default.nic.completion.moderation_us = 1;
  const RunResult result = run(scenario, writes(4, 4'096));
  const std::vector<SramResult> declared =
      floorplan({scenario.node_default, scenario.protocol, {.qps = 1, .destinations = 1}});
  ASSERT_EQ(result.sram.size(), declared.size());
  for (std::size_t i = 0; i < declared.size(); ++i) {
    EXPECT_EQ(result.sram[i].structure, declared[i].structure);
    EXPECT_EQ(result.sram[i].bits, declared[i].bits) << declared[i].structure;
    EXPECT_EQ(result.sram[i].fields, declared[i].fields) << declared[i].structure;
  }
}

TEST(Floorplan, BuffersOfEntriesAreAsDeepAsTheirMemory) {
  const RunResult result = run(pair(), writes(4, 4'096));
  std::set<std::string> compared;
  for (const BufferResult& buffer : result.buffers) {
    if (buffer.node != "nic0" || buffer.unit == "bytes") continue;
    const std::string name = buffer.name.starts_with("port0.") ? "port" + buffer.name.substr(5) : buffer.name;
    const auto memory =
        std::find_if(result.sram.begin(), result.sram.end(), [&](const SramResult& r) { return r.structure == name; });
    if (memory == result.sram.end()) continue;
    EXPECT_EQ(buffer.capacity, memory->depth) << name;
    compared.insert(name);
  }
  for (const SramResult& r : result.sram) {
    const bool compared_or_other = compared.contains(r.structure) || !r.structure.ends_with(".queue");
    EXPECT_TRUE(compared_or_other) << r.structure;
  }
  EXPECT_TRUE(compared.contains("port.control_fifo"));
}

TEST(Floorplan, OneBankOfTheCompletionBufferIsNamed) {
  ScenarioConfig scenario = pair();
  scenario.node_default.nic.memory.completion_buffer.banks = 1;
  const RunResult result = run(scenario, writes(64, 1 << 20));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_LT(result.goodput_gbps, 520.0) << "1,024 Gb/s in and out of one port";
  EXPECT_GT(row(result, "pcie.completion_buffer").conflict_stalls, 3'000U);
  EXPECT_EQ(top_cause(result), "sram.pcie.completion_buffer");
}

TEST(Floorplan, OneBankOfTheReceiversStagingIsNamedAtTheSender) {
  ScenarioConfig scenario = pair();
  NodeConfig receiver = scenario.node_default;
  receiver.nic.memory.rx_staging.banks = 1;
  scenario.node_override.emplace(1, receiver);
  const RunResult result = run(scenario, writes(64, 1 << 20));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_LT(result.goodput_gbps, 560.0);
  const bool named = std::any_of(result.limits.begin(), result.limits.end(), [](const LimitResult& limit) {
    return limit.cause == "receiver.sram.rx_staging" && limit.gbps > 50;
  });
  EXPECT_TRUE(named);
}

TEST(PayloadStore, ARetransmissionTakesItsBytesFromSramAndNotFromPcie) {
  ScenarioConfig scenario = pair();
  scenario.fabric.loss_rate = 0.02;
  const Workload workload = writes(64, 1 << 20);
  scenario.node_default.nic.retransmit_buffer.store = RetransmitStore::payload;
  const RunResult stored = run(scenario, workload);
  EXPECT_EQ(stored.status, RunStatus::complete);
  EXPECT_EQ(stored.bytes.corrupted, 0U);
  EXPECT_GT(stored.packets.retransmitted, 100U);
  // Each payload came over PCIe once, whatever was retransmitted.
  EXPECT_EQ(row(stored, "pcie.completion_buffer").writes, 64U * 256 * 32);
  EXPECT_EQ(row(stored, "retransmit_buffer.payload").writes, 64U * 256 * 32);
  EXPECT_EQ(row(stored, "retransmit_buffer.payload").reads, stored.packets.retransmitted * 32);
}

TEST(PayloadStore, WithDescriptorsItIsReadAgain) {
  ScenarioConfig scenario = pair();
  scenario.fabric.loss_rate = 0.02;
  const RunResult again = run(scenario, writes(64, 1 << 20));
  EXPECT_EQ(again.status, RunStatus::complete);
  EXPECT_EQ(row(again, "pcie.completion_buffer").writes, (64U * 256 + again.packets.retransmitted) * 32);
}

struct Injection {
  const char* name;
  MemoryConfig NicMemoryConfig::*memory;
  double per_gbit;
  const char* effect;  ///< part of the event's text
  bool may_end_a_qp;
  friend void PrintTo(const Injection& value, std::ostream* out) { *out << value.name; }
};
class Uncorrectable : public ::testing::TestWithParam<Injection> {};

TEST_P(Uncorrectable, MemoryStaysEqualOrTheQpEndsWithTheReason) {
  ScenarioConfig scenario = pair();
  scenario.fabric.loss_rate = 0.005;
  scenario.node_default.nic.retransmit_buffer.store = RetransmitStore::payload;
  (scenario.node_default.nic.memory.*GetParam().memory).uncorrectable_per_gbit = GetParam().per_gbit;
  const RunResult result = run(scenario, writes(64, 1 << 18, true));
  EXPECT_EQ(result.bytes.corrupted, 0U);
  ASSERT_FALSE(result.events.empty());
  EXPECT_EQ(result.events.front().what, "uncorrectable memory error");
  const bool says_what = std::any_of(result.events.begin(), result.events.end(), [](const EventResult& event) {
    return event.effect.find(GetParam().effect) != std::string::npos;
  });
  EXPECT_TRUE(says_what) << result.events.front().effect;
  if (result.status != RunStatus::complete) {
    EXPECT_TRUE(GetParam().may_end_a_qp);
    EXPECT_EQ(result.status, RunStatus::failed);
    ASSERT_FALSE(result.details.empty());
    EXPECT_GT(result.messages.failed, 0U);
  } else {
    EXPECT_EQ(result.messages.completed, 64U);
    EXPECT_EQ(result.bytes.delivered, result.bytes.offered);
  }
}

using M = NicMemoryConfig;
INSTANTIATE_TEST_SUITE_P(
    In, Uncorrectable,
    ::testing::Values(Injection{"QpContext", &M::qp_context, 2'000, "re-read over PCIe", false},
                      Injection{"WqePrefetch", &M::wqe_prefetch, 100'000, "re-read over PCIe", false},
                      Injection{"RetransmitRecords", &M::retransmit_records, 2'000, "its state is lost", true},
                      Injection{"RetransmitPayload", &M::retransmit_payload, 2'000'000, "re-read over PCIe", false},
                      Injection{"PathTable", &M::path_table, 20'000, "rebuilt from the profile", false},
                      Injection{"Congestion", &M::congestion, 2'000, "its state is lost", true},
                      Injection{"Bitmap", &M::bitmap, 5'000, "what has arrived is lost", true},
                      Injection{"PacketBuffer", &M::packet_buffer, 100, "is dropped", false},
                      Injection{"RxStaging", &M::rx_staging, 40, "", true},
                      Injection{"CompletionBuffer", &M::completion_buffer, 100, "inverted ICRC", false},
                      Injection{"PortFifo", &M::port_fifo, 100, "inverted ICRC", false},
                      Injection{"CompletionQueue", &M::completion_queue, 1'000'000, "is rebuilt", false}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Correctable, IsCorrectedCountedAndCostsNoByte) {
  ScenarioConfig scenario = pair();
  for (MemoryConfig M::*memory : {&M::qp_context, &M::retransmit_records, &M::path_table, &M::bitmap, &M::rx_staging,
                                  &M::completion_buffer, &M::port_fifo, &M::packet_buffer}) {
    (scenario.node_default.nic.memory.*memory).correctable_per_gbit = 20'000;
  }
  const RunResult result = run(scenario, writes(16, 1 << 20));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.bytes.corrupted, 0U);
  EXPECT_GT(row(result, "pcie.completion_buffer").corrected_errors, 1'000U);
  EXPECT_EQ(row(result, "pcie.completion_buffer").uncorrected_errors, 0U);
  EXPECT_TRUE(result.events.empty());
}

TEST(Completions, EachIsAWriteOfItsOwnByDefault) {
  const RunResult result = run(pair(), writes(200, 4'096, true));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.completions.cqes, 400U);
  EXPECT_EQ(result.completions.writes, 400U);
}

TEST(Completions, ModerationGathersThemAndTheTimerEndsTheWait) {
  ScenarioConfig scenario = pair();
  scenario.traffic.outstanding_messages = 64;
  scenario.node_default.nic.completion.moderation_count = 8;
  scenario.node_default.nic.completion.moderation_us = 5;
  // 203: the last ones are fewer than eight, so that only the timer lets them go. The memory of each received message
  // is compared when its sender hears of it.
  const RunResult result = run(scenario, writes(203, 4'096, true));
  EXPECT_EQ(result.status, RunStatus::complete);
  EXPECT_EQ(result.completions.cqes, 406U);
  EXPECT_LT(result.completions.writes, 406U / 4);
  EXPECT_GE(result.completions.writes, 406U / 8);
  EXPECT_EQ(result.bytes.corrupted, 0U);
}

TEST(Completions, AFullCompletionQueueHoldsThemBack) {
  ScenarioConfig scenario = pair();
  scenario.traffic.outstanding_messages = 64;
  scenario.node_default.nic.completion.cq_entries = 1;
  const RunResult result = run(scenario, writes(400, 4'096));
  EXPECT_EQ(result.status, RunStatus::complete);
  double blocked = 0;
  for (const LedgerResult& ledger : result.ledger) {
    if (ledger.box != "completion" || ledger.node != "nic0") continue;
    const auto found = ledger.blocked.find("completion.cq_entries");
    if (found != ledger.blocked.end()) blocked = found->second;
  }
  EXPECT_GT(blocked, 0.5);
}

TEST(Buffers, AllAreThereWithAHistogramThatAddsUp) {
  const RunResult result = run(pair(), writes(16, 1 << 20));
  std::set<std::string> names;
  for (const BufferResult& buffer : result.buffers) {
    if (buffer.node != "nic0") continue;
    EXPECT_TRUE(names.insert(buffer.name).second) << buffer.name;
    double sum = 0;
    for (const BufferResult::Bin& bin : buffer.histogram) sum += bin.share;
    EXPECT_NEAR(sum, 1.0, 1e-9) << buffer.name;
  }
  for (const char* name : {"doorbell.queue",
                           "qp_scheduler.ready",
                           "qp_scheduler.context_cache",
                           "qp_scheduler.grants",
                           "wqe_fetch.requests",
                           "wqe_fetch.prefetch",
                           "segmenter.queue",
                           "payload_fetch.queue",
                           "pcie.read_queue",
                           "pcie.read_tags",
                           "pcie.completion_buffer",
                           "pcie.posted_data_credits",
                           "spray_scheduler.queue",
                           "retransmit_buffer.entries",
                           "retransmit_buffer.bytes",
                           "retransmit_buffer.queue",
                           "port0.tx_fifo",
                           "port7.control_fifo",
                           "parser.queue",
                           "psn_tracker.queue",
                           "psn_tracker.bitmap",
                           "rx_staging",
                           "dma_write.queue",
                           "ack_coalescer.queue",
                           "ack_coalescer.transport_acks",
                           "control_queue",
                           "sack_processor.queue",
                           "probe_engine.outstanding",
                           "completion.queue",
                           "host.completion_queue"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace mrc
