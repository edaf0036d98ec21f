// Memories by themselves: their size, their ports, their errors, and what an occupancy measures.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/latency_account.h"
#include "engine/memories.h"
#include "engine/memory_structure.h"
#include "engine/occupancy.h"
#include "nic/nic_memories.h"
#include "results/sram_table.h"

namespace mrc {
namespace {

constexpr TimePs kCycle = 1'000;

MemoryStructure memory(const MemoryConfig& config, bool streamed = false) {
  return {{.name = "x", .width_bits = 1024, .instances = 1, .streamed = streamed},
          config,
          3,
          ClockDomain(1.0),
          KeyedRandom(1, "x")};
}

TEST(MemoryPortsOfABank, OneAccessACycleWithOnePort) {
  MemoryStructure m = memory({1, MemoryPorts::one_rw});
  EXPECT_EQ(m.read(0, 0).delay_ps, 0U);
  EXPECT_EQ(m.write(0, 7).delay_ps, kCycle);
  EXPECT_EQ(m.read(0, 3).delay_ps, 2 * kCycle);
  EXPECT_EQ(m.read(3 * kCycle, 3).delay_ps, 0U);
  EXPECT_EQ(m.conflict_stalls(), 2U);
  EXPECT_EQ(m.conflict_stall_cycles(), 3U);
  EXPECT_EQ(m.peak(), 3U);
  EXPECT_EQ(m.reads(), 3U);
  EXPECT_EQ(m.writes(), 1U);
  EXPECT_DOUBLE_EQ(m.mean_accesses_per_cycle(8 * kCycle), 0.5);
}

TEST(MemoryPortsOfABank, AReadAndAWriteACycleWithAPortForEach) {
  MemoryStructure m = memory({1, MemoryPorts::one_r_one_w});
  EXPECT_EQ(m.read(0, 0).delay_ps, 0U);
  EXPECT_EQ(m.write(0, 0).delay_ps, 0U);
  EXPECT_EQ(m.write(0, 0).delay_ps, kCycle);
}

TEST(MemoryPortsOfABank, AnyTwoACycleWithTwoPorts) {
  MemoryStructure m = memory({1, MemoryPorts::two_rw});
  EXPECT_EQ(m.read(0, 0).delay_ps, 0U);
  EXPECT_EQ(m.read(0, 0).delay_ps, 0U);
  EXPECT_EQ(m.read(0, 0).delay_ps, kCycle);
}

TEST(MemoryBanks, AddressesInDifferentBanksDoNotMeet) {
  MemoryStructure m = memory({4, MemoryPorts::one_rw});
  for (std::uint64_t address = 0; address < 4; ++address) EXPECT_EQ(m.read(0, address).delay_ps, 0U);
  EXPECT_EQ(m.read(0, 1).delay_ps, kCycle);
}

TEST(MemoryBanks, AStreamInAndAStreamOutNeedTwoAccessesACycle) {
  // 4 KiB are 32 words of 1,024 bits.
  MemoryStructure two = memory({2, MemoryPorts::one_rw}, true);
  EXPECT_EQ(two.write_stream(0, 0, 4096).delay_ps, 0U);
  EXPECT_EQ(two.read_stream(0, 0, 4096).delay_ps, 0U);
  EXPECT_EQ(two.peak(), 2U);
  MemoryStructure one = memory({1, MemoryPorts::one_rw}, true);
  EXPECT_EQ(one.write_stream(0, 0, 4096).delay_ps, 0U);
  EXPECT_EQ(one.read_stream(0, 0, 4096).delay_ps, 32 * kCycle);
  EXPECT_EQ(one.reads(), 32U);
}

TEST(MemoryBanks, WhatMayComeAtAnyTimeTakesIdleCyclesFirst) {
  // 32 words within 320 cycles: reads go on, until more is owed than fits.
  MemoryStructure m = memory({1, MemoryPorts::one_rw}, true);
  EXPECT_EQ(m.write_stream(0, 0, 4096, 320 * kCycle).delay_ps, 0U);
  EXPECT_EQ(m.read_stream(0, 0, 4096).delay_ps, 0U);
  EXPECT_EQ(m.write_stream(64 * kCycle, 0, 4096, 48 * kCycle).delay_ps, 0U) << "the first have used the idle cycles";
  EXPECT_EQ(m.write_stream(64 * kCycle, 0, 4096, 48 * kCycle).delay_ps, 16 * kCycle);
  EXPECT_EQ(m.read_stream(64 * kCycle, 0, 4096).delay_ps, 16 * kCycle);
}

TEST(MemoryErrors, ComeAtTheRateThatWasAskedFor) {
  MemoryConfig config{1, MemoryPorts::one_r_one_w};
  config.correctable_per_gbit = 10'000;
  config.uncorrectable_per_gbit = 1'000;
  MemoryStructure m = memory(config);
  std::uint64_t corrected = 0;
  std::uint64_t failed = 0;
  constexpr std::uint64_t words = 4 << 20;  // of 1,024 bits: 4 Gbit
  for (std::uint64_t i = 0; i < words; ++i) {
    const MemoryAccess access = m.read(10 * i * kCycle, 0);
    if (access.error == MemoryError::corrected) {
      ++corrected;
      EXPECT_EQ(access.delay_ps, 3 * kCycle) << "scrubbing";
    }
    failed += access.failed() ? 1 : 0;
  }
  // Five standard deviations.
  EXPECT_NEAR(static_cast<double>(corrected), 40'000.0, 1'000.0);
  EXPECT_NEAR(static_cast<double>(failed), 4'000.0, 320.0);
  EXPECT_EQ(m.uncorrected_errors(), failed);
}

TEST(MemoryErrors, NoneWithoutARate) {
  MemoryStructure m = memory({1, MemoryPorts::one_r_one_w});
  for (std::uint64_t i = 0; i < 1'000; ++i) EXPECT_EQ(m.read(i * kCycle, i).error, MemoryError::none);
}

TEST(Secded, CheckBitsAreThoseOfTheTextbook) {
  EXPECT_EQ(secded_bits(8), 5U);
  EXPECT_EQ(secded_bits(32), 7U);
  EXPECT_EQ(secded_bits(64), 8U);
  EXPECT_EQ(secded_bits(128), 9U);
  EXPECT_EQ(secded_bits(57), 7U);
  EXPECT_EQ(secded_bits(58), 8U);
}

std::map<std::string, SramResult> table(const NodeConfig& node, const NicScale& scale = {},
                                        const ProtocolConfig& protocol = {}) {
  std::map<std::string, SramResult> rows;
  for (const SramResult& row : floorplan({node, protocol, scale})) {
    EXPECT_TRUE(rows.emplace(row.structure, row).second) << row.structure;
  }
  return rows;
}

constexpr PortedMemory kDeclared{.name = "declared", .parameters = "nic.memory.bitmap"};
constexpr PortedMemory kForgotten{.name = "forgotten", .parameters = ""};
constexpr CountedTable kForgottenTable{"forgotten_table"};
constexpr QueueMemory kForgottenQueue{"forgotten_queue"};

TEST(Memories, OneThatABoxTakesAndNoneDeclaresIsRefused) {
  const NodeConfig node;
  MemoryDeclarations declared;
  declared.add(kDeclared, 8, node.nic.memory.bitmap, {{"field", 24}, {"other", 8}});
  CauseTable causes;
  Memories memories(declared, node.nic, 1, "nic0", causes);
  EXPECT_EQ(memories[kDeclared].name(), "declared");
  EXPECT_EQ(causes.name(memories[kDeclared].cause()), "sram.declared");
  EXPECT_THROW(memories[kForgotten], std::logic_error);
  EXPECT_THROW(memories[kForgottenTable], std::logic_error);
  const Occupancy queue(kUnlisted, "forgotten_queue", "entries", 4);
  EXPECT_THROW(memories.count(kForgottenQueue, queue), std::logic_error);
}

TEST(Memories, WidthIsTheSumOfTheFieldsAndATableBesideAddsNoPorts) {
  const NodeConfig node;
  MemoryDeclarations declared;
  declared.add(kDeclared, 8, node.nic.memory.bitmap, {{"field", 24}, {"none", 0}, {"other", 8}});
  declared.add_beside(kDeclared, "beside", {.depth = 8}, {{"tag", 100}});
  const std::vector<SramResult> rows = sram_table(declared, node.nic.memory);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].width_bits, 32U);
  EXPECT_EQ(rows[0].fields, "field 24 + other 8");
  EXPECT_EQ(rows[1].structure, "beside");
  CauseTable causes;
  Memories memories(declared, node.nic, 1, "nic0", causes);
  EXPECT_EQ(memories[kDeclared].name(), "declared");
}

TEST(LatencyAccount, BoxesInARowAreOneTermOfHalfToTwiceTheirCycles) {
  ScenarioConfig scenario;
  scenario.node_default.nic.core_clock_ghz = 0.5;
  LatencyAccount account(scenario, 2);
  account.pass_box(3);
  account.pass_box(4);
  account.add_boxes("first", "x");
  account.add("outside", 10, {12, 20}, "assumption", "y");
  account.pass_box(1);
  account.add_boxes("second", "x");
  const std::vector<LatencyTerm> terms = account.take();
  ASSERT_EQ(terms.size(), 3U);
  EXPECT_EQ(terms[0].ns, 14.0);
  EXPECT_EQ(terms[0].low_ns, 7.0);
  EXPECT_EQ(terms[0].high_ns, 28.0);
  EXPECT_EQ(terms[1].low_ns, 10.0) << "the range holds the value";
  EXPECT_EQ(terms[2].ns, 2.0);
}

TEST(SramTable, BitsAreDepthTimesWidthAndFollowTheParameters) {
  NodeConfig node;
  auto rows = table(node);
  for (const auto& [name, row] : rows) {
    EXPECT_EQ(row.bits, row.depth * row.width_bits * row.instances) << name;
    EXPECT_GT(row.bits, 0U) << name;
    EXPECT_GT(row.ecc_bits, 0U) << name;
    EXPECT_GT(row.area_mm2, 0.0) << name;
    EXPECT_FALSE(row.fields.empty()) << name;
  }
  EXPECT_EQ(rows.at("rx_staging").bits, node.nic.rx_staging.bytes * 8);
  EXPECT_EQ(rows.at("rx_staging").ecc_bits, rows.at("rx_staging").depth * 16 * 8);
  EXPECT_EQ(rows.at("psn_tracker.bitmap").bits, 4096U * 128);
  EXPECT_EQ(rows.at("pcie.completion_buffer").bits, 256U * 1024 * 8);
  EXPECT_EQ(rows.at("port.tx_fifo").bits, 8U * 16384 * 8);
  EXPECT_EQ(rows.at("qp_scheduler.context_cache").bits, 1024U * 256 * 8);
  EXPECT_EQ(rows.count("retransmit_buffer.payload"), 0U);
  node.nic.retransmit_buffer.store = RetransmitStore::payload;
  node.nic.retransmit_buffer.entries *= 2;
  auto larger = table(node);
  EXPECT_EQ(larger.at("retransmit_buffer.payload").bits, node.nic.retransmit_buffer.bytes * 8);
  EXPECT_EQ(larger.at("retransmit_buffer.records").bits, 2 * rows.at("retransmit_buffer.records").bits);
}

TEST(SramTable, TablesWithAnEntryAQpGrowWithTheQps) {
  const auto one = table({}, {.qps = 1, .destinations = 1});
  const auto many = table({}, {.qps = 64, .destinations = 4});
  EXPECT_EQ(many.at("path_table").depth, 64 * one.at("path_table").depth);
  EXPECT_EQ(many.at("retransmit_timer").depth, 64U);
  EXPECT_EQ(many.at("congestion.state").depth, 4U);
  ProtocolConfig shared;
  shared.path_table_scope = PathTableScope::profile;
  EXPECT_EQ(table({}, {.qps = 64, .destinations = 4}, shared).at("path_table").depth, one.at("path_table").depth);
  ProtocolConfig own;
  own.congestion_scope = CongestionScope::qp;
  EXPECT_EQ(table({}, {.qps = 64, .destinations = 4}, own).at("congestion.state").depth, 64U);
}

TEST(SramTable, AreaFollowsCellPortsAndSize) {
  NodeConfig node;
  const double before = table(node).at("rx_staging").area_mm2;
  // 4 Mbit and an eighth of check bits at 0.021 um2 a cell, 60 % of the macro; four banks of 500 um2.
  EXPECT_NEAR(before, (4'194'304.0 * 1.125 * 0.021 / 0.6 + 4 * 500.0) / 1e6, 1e-9);
  node.nic.memory.rx_staging.ports = MemoryPorts::two_rw;
  EXPECT_NEAR(table(node).at("rx_staging").area_mm2, 2 * before - 4 * 500.0 / 1e6, 1e-9);
  node.nic.memory.ecc = EccScheme::none;
  EXPECT_EQ(table(node).at("rx_staging").ecc_bits, 0U);
  const SramResult grants = table(node).at("qp_scheduler.grants");
  EXPECT_TRUE(grants.register_file);
  EXPECT_NEAR(grants.area_mm2, static_cast<double>(grants.bits) * 0.35 / 1e6, 1e-12);
}

TEST(Occupancy, HistogramSharesSumToOneAndP99IsTight) {
  Occupancy occupancy(kUnlisted, "x", "bytes", 16 << 20);
  occupancy.add(0, 70'000);       // for 985
  occupancy.add(985, 500'000);    // 570,000 for 10
  occupancy.add(995, 8'000'000);  // for 5
  double sum = 0;
  for (const Occupancy::Bin& bin : occupancy.histogram(1'000)) sum += bin.share;
  EXPECT_DOUBLE_EQ(sum, 1.0);
  ASSERT_EQ(occupancy.histogram(1'000).size(), 3U);
  EXPECT_NEAR(occupancy.histogram(1'000)[0].share, 0.985, 1e-12);
  EXPECT_GE(occupancy.p99(1'000), 570'000U);
  EXPECT_LE(occupancy.p99(1'000), 570'000U * 65 / 64);
  EXPECT_EQ(occupancy.writes().total(), 0U) << "a level in bytes is no memory by itself";
}

TEST(Occupancy, EveryLevelLiesInItsBin) {
  for (std::uint64_t level = 1; level < 5'000'000; level += 1 + level / 37) {
    Occupancy occupancy(kUnlisted, "x", "bytes", 8 << 20);
    occupancy.add(0, level);
    const std::vector<Occupancy::Bin> bins = occupancy.histogram(10);
    ASSERT_EQ(bins.size(), 1U);
    EXPECT_GE(bins[0].upper, level);
    EXPECT_LE(bins[0].upper, level + level / 64);
  }
}

TEST(AccessCounter, TheMostInOneCycle) {
  AccessCounter counter;
  for (const TimePs at : {0U, 100U, 999U, 1'000U, 5'000U, 5'999U}) counter.count(at);
  EXPECT_EQ(counter.total(), 6U);
  EXPECT_EQ(counter.peak(), 3U);
}

}  // namespace
}  // namespace mrc
