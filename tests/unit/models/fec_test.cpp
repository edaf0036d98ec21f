// FEC in closed form against sums by hand, and frames on links against the closed form.
#include "fabric/fec.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "fabric/link_errors.h"

namespace mrc {
namespace {

/// The tail by its definition, each term from the one before.
double tail_by_recursion(std::uint32_t n, std::uint32_t corrected, long double p) {
  long double term = std::pow(1 - p, static_cast<long double>(n));
  long double tail = 0;
  for (std::uint32_t wrong = 1; wrong <= n; ++wrong) {
    term *= (n - wrong + 1) * p / (wrong * (1 - p));
    if (wrong > corrected) tail += term;
  }
  return static_cast<double>(tail);
}

TEST(Fec, CodesCorrectHalfOfTheirParity) {
  EXPECT_EQ(fec_code(Fec::rs544_514).corrected(), 15U);
  EXPECT_EQ(fec_code(Fec::rs528_514).corrected(), 7U);
  EXPECT_EQ(fec_code(Fec::rs272_258).corrected(), 7U);
  EXPECT_NEAR(fec_code(Fec::rs544_514).overhead(), 0.0584, 1e-4);
}

TEST(Fec, WhatACodewordLosesIsTheBinomialTail) {
  for (const Fec fec : {Fec::rs272_258, Fec::rs528_514, Fec::rs544_514}) {
    const FecCode code = fec_code(fec);
    for (const double rate : {1e-5, 1e-4, 2.4e-4, 1e-3, 5e-3}) {
      const long double wrong = 1 - std::pow(1 - static_cast<long double>(rate), 10.0L);
      const double expected = tail_by_recursion(code.symbols, code.corrected(), wrong);
      EXPECT_NEAR(codeword_failure(code, rate) / expected, 1, 1e-6) << code.symbols << " at " << rate;
    }
  }
}

TEST(Fec, AnchorsOfTheStandard) {
  // IEEE 802.3bs asks for a frame loss ratio below 6.2e-11 (64 B frames) behind KP4 at a bit error rate of 2.4e-4.
  EXPECT_LT(frame_loss(fec_code(Fec::rs544_514), 2.4e-4, 84), 6.2e-11);
  // Without a code a frame is lost with any wrong bit.
  EXPECT_NEAR(frame_loss(fec_code(Fec::none), 1e-9, 1'000), 8e-6, 1e-10);
  EXPECT_EQ(frame_loss(fec_code(Fec::rs544_514), 0, 4'262), 0);
}

TEST(Fec, FramesOnALinkAreDamagedAsOftenAsTheClosedFormSays) {
  FabricConfig fabric;
  fabric.fec = Fec::rs528_514;
  fabric.bit_error_rate = 1e-3;
  const LinkErrors errors(fabric, 7);
  const double expected = frame_loss(fec_code(fabric.fec), fabric.bit_error_rate, 4'262);
  ASSERT_GT(expected, 0.001);
  constexpr int frames = 400'000;
  int damaged = 0;
  for (int i = 0; i < frames; ++i) damaged += errors.damages(1'000 + 340'960ULL * i, 3, 4'262, 0) ? 1 : 0;
  const double deviation = std::sqrt(frames * expected * (1 - expected));
  EXPECT_NEAR(damaged, frames * expected, 4 * deviation);
}

TEST(Fec, ACableWithARateOfItsOwnHasThatAlone) {
  FabricConfig fabric;
  fabric.bit_error_rate = 1e-6;
  LinkErrors errors(fabric, 7);
  errors.set_rate({2, 3}, 1e-5, 8);
  errors.set_rate({3}, 0, 8);
  constexpr int frames = 100'000;
  const auto damaged = [&](std::uint32_t link) {
    int count = 0;
    for (int i = 0; i < frames; ++i) count += errors.damages(1'000 + 340'960ULL * i, link, 4'262, 0) ? 1 : 0;
    return count;
  };
  for (const auto& [link, rate] : std::vector<std::pair<std::uint32_t, double>>{{1, 1e-6}, {2, 1e-5}}) {
    const double expected = frames * -std::expm1(8.0 * 4'262 * std::log1p(-rate));
    EXPECT_NEAR(damaged(link), expected, 4 * std::sqrt(expected)) << link;
  }
  EXPECT_EQ(damaged(3), 0);
}

/// docs/links.md has a table that another program has computed.
TEST(Fec, ThePageHasWhatTheModelComputes) {
  std::ifstream page(MRCSIM_LINKS_PAGE);
  ASSERT_TRUE(page);
  const std::vector<Fec> codes{Fec::none, Fec::rs272_258, Fec::rs528_514, Fec::rs544_514};
  int rows = 0;
  for (std::string line; std::getline(page, line);) {
    double rate = 0;
    std::array<double, 4> losses{};
    if (std::sscanf(line.c_str(), "| %le | %le | %le | %le | %le |", &rate, &losses[0], &losses[1], &losses[2],
                    &losses[3]) != 5) {
      continue;
    }
    ++rows;
    for (std::size_t i = 0; i < codes.size(); ++i)
      EXPECT_NEAR(frame_loss(fec_code(codes[i]), rate, 4'262) / losses[i], 1, 0.051) << line;
  }
  EXPECT_EQ(rows, 5);
}

}  // namespace
}  // namespace mrc
