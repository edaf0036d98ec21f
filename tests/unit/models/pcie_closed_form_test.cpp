// Effective PCIe bandwidth against transfer size: what the model moves, against a closed form that is written down here
// from the published model (Neugebauer et al., SIGCOMM 2018) and the specification, and that knows nothing of
// sc_models/pcie/pcie_law.h.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pcie_bench.h"

namespace mrc {
namespace {

/// Link rate in Gb/s that is left for TLPs, MPS 256, written out: raw rate * encoding * (1 - ACK - UpdateFC - SKP).
/// The ACK limits are those of the base specification for 8 GT/s and above and MPS 256: 214, 203 and 168 symbol times.
double published_gbps(std::uint32_t generation, std::uint32_t lanes) {
  const double raw = std::exp2(generation);  // 8 GT/s in Gen3, twice as much in each that follows
  if (generation >= 6) return raw * lanes * 236 / 256;
  const double limit = lanes == 4 ? 214 : lanes == 8 ? 203 : 168;
  return raw * lanes * 128 / 130 * (1 - 8 / limit - 8 / limit - 4.0 / 1538);
}

/// Pieces of [address, address + bytes) when cut at multiples of `block`: byte by byte, so that no formula is shared.
std::uint32_t pieces(std::uint64_t address, std::uint32_t bytes, std::uint32_t block) {
  std::uint32_t count = 1;
  for (std::uint64_t at = address + 1; at < address + bytes; ++at) count += at % block == 0;
  return count;
}

double closed_form_write(std::uint32_t generation, double link_gbps, std::uint64_t address, std::uint32_t bytes) {
  const double header = generation >= 6 ? 16 : 24;
  return link_gbps * bytes / (bytes + header * pieces(address, bytes, 256));
}

double closed_form_read(std::uint32_t generation, double link_gbps, std::uint64_t address, std::uint32_t bytes) {
  const double upstream = pieces(address, bytes, 512) * (generation >= 6 ? 16.0 : 24.0);
  const double downstream = bytes + pieces(address, bytes, 256) * (generation >= 6 ? 12.0 : 20.0);
  return link_gbps * bytes / std::max(upstream, downstream);
}

struct Transfer {
  std::uint32_t generation;
  std::uint32_t lanes;
  std::uint32_t bytes;
  std::uint32_t offset;
};

PcieConfig config_for(const Transfer& t) {
  PcieConfig config;
  config.generation = t.generation;
  config.lanes = t.lanes;
  config.mps_bytes = 256;
  config.mrrs_bytes = 512;
  // The published form is that of the link: neither tags nor credits bind.
  config.read_tags = 4096;
  config.completion_buffer_bytes = 8 << 20;
  config.non_posted_header_credits = 4096;
  config.posted_header_credits = 4096;
  config.posted_data_credits = 65'536;
  return config;
}

class ClosedForm : public testing::TestWithParam<Transfer> {};

TEST_P(ClosedForm, ReadsAndWritesFollowThePublishedModel) {
  const Transfer& t = GetParam();
  const PcieConfig config = config_for(t);
  const double link = published_gbps(t.generation, t.lanes);
  pcie_bench::Bench reads("reads", config, {t.bytes, t.offset, 20'000}, {});
  pcie_bench::Bench writes("writes", config, {}, {t.bytes, t.offset, 20'000});
  pcie_bench::run();
  const double read = reads.reader.gbps();
  const double write = writes.writer.gbps();
  const double read_law = closed_form_read(t.generation, link, t.offset, t.bytes);
  const double write_law = closed_form_write(t.generation, link, t.offset, t.bytes);
  fmt::print("Gen{} x{:<2} {:5} B +{:<3} read {:7.2f} Gb/s, closed form {:7.2f}; write {:7.2f}, closed form {:7.2f}\n",
             t.generation, t.lanes, t.bytes, t.offset, read, read_law, write, write_law);
  EXPECT_NEAR(read / read_law, 1.0, 0.02);
  EXPECT_NEAR(write / write_law, 1.0, 0.02);
}

std::vector<Transfer> transfers() {
  std::vector<Transfer> all;
  for (const std::uint32_t bytes : {64, 65, 128, 256, 257, 512, 768, 1024, 1500, 2048, 4096, 8192}) {
    all.push_back({3, 8, bytes, 0});
    if (bytes >= 256) all.push_back({3, 8, bytes, 64});
  }
  all.push_back({3, 8, 1024, 13});
  for (const std::uint32_t generation : {3, 4, 5, 6, 7}) {
    for (const std::uint32_t lanes : {4, 8, 16}) {
      // One request leaves per cycle: up to Gen7 x16 that is below the line for 512 B and more.
      for (const std::uint32_t bytes : {512, 1500, 4096}) all.push_back({generation, lanes, bytes, 0});
      all.push_back({generation, lanes, 4096, 64});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sizes, ClosedForm, testing::ValuesIn(transfers()), [](const auto& test) {
  const Transfer& sent = test.param;
  return fmt::format("Gen{}x{}_{}B_at{}_{}", sent.generation, sent.lanes, sent.bytes, sent.offset, test.index);
});

TEST(PublishedRate, Gen3x8IsWhatThePaperPrints) {
  EXPECT_NEAR(published_gbps(3, 8), 57.88, 0.005);
  PcieConfig config;
  config.generation = 3;
  config.lanes = 8;
  EXPECT_NEAR(pcie_law(config).gbps, 57.88, 0.005);
}

// ACK limits in symbol times of the base specification's table for 8 GT/s, as the published model prints them.
TEST(PublishedRate, AckIntervalsAreThoseOfTheSpecification) {
  struct Row {
    std::uint32_t lanes;
    std::vector<int> limits;  // MPS 128 … 4096
  };
  for (const Row& row : {Row{4, {169, 214, 250, 378, 634, 1146}}, Row{8, {163, 203, 182, 246, 374, 630}},
                         Row{16, {144, 168, 182, 246, 374, 630}}}) {
    std::uint32_t mps = 128;
    for (const int limit : row.limits) {
      EXPECT_EQ(dllp_interval_bytes(row.lanes, mps), limit) << "x" << row.lanes << " MPS " << mps;
      mps *= 2;
    }
  }
}

/// The specification's rules on completions, whatever the policy: in order, none empty or above MPS, all but the last
/// end at a multiple of the RCB.
TEST(CompletionSplit, KeepsTheRulesAtEveryAddressAndLength) {
  for (const CompletionSplit split :
       {CompletionSplit::rcb, CompletionSplit::mps_aligned, CompletionSplit::mps, CompletionSplit::first_rcb}) {
    for (const std::uint32_t rcb : {64u, 128u}) {
      PcieConfig config;
      config.completion_split = split;
      config.rcb_bytes = rcb;
      for (std::uint64_t address = 0; address < 300; address += 7) {
        for (std::uint32_t bytes = 1; bytes <= 1100; bytes += 13) {
          std::uint64_t at = address;
          std::uint32_t left = bytes;
          std::uint32_t count = 0;
          while (left > 0) {
            const std::uint32_t piece = completion_bytes(config, at, left, count == 0);
            ASSERT_GT(piece, 0u);
            ASSERT_LE(piece, config.mps_bytes);
            at += piece;
            left -= piece;
            ASSERT_TRUE(left == 0 || at % rcb == 0);
            ++count;
          }
          ASSERT_EQ(count, completion_count(config, address, bytes));
        }
      }
    }
  }
}

TEST(CompletionSplit, SixtyFourBytesOffTheAlignment) {
  PcieConfig config;
  const auto cut = [&](CompletionSplit split) {
    config.completion_split = split;
    return completion_count(config, 64, 512);
  };
  EXPECT_EQ(cut(CompletionSplit::rcb), 8u);
  EXPECT_EQ(cut(CompletionSplit::mps_aligned), 3u);  // 192 + 256 + 64
  EXPECT_EQ(cut(CompletionSplit::mps), 2u);          // 256 + 256
  EXPECT_EQ(cut(CompletionSplit::first_rcb), 4u);    // 64 + 128 + 256 + 64
}

}  // namespace
}  // namespace mrc
