// What is asked of the scoreboard about RTL with a kept bug: it ends at the first mismatch and leaves waves and a
// replay that shows the same again.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "cosim/bench/stream_bench.h"

namespace mrc::cosim {

/// `make_bench()` gives a StreamBench of that RTL. Returns the mismatch; empty fields where there is none, which fails.
template <typename MakeBench>
Mismatch find_kept_bug(MakeBench&& make_bench, CosimOptions options, std::uint64_t most_replay_transfers = 200) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "kept_bug";
  std::filesystem::create_directories(folder);
  options.out = folder.string();
  const CosimReport found = make_bench().run(options);
  EXPECT_EQ(found.mismatches, 1U) << "seed " << options.seed;
  if (!found.first_mismatch) return {};
  EXPECT_LE(found.replay_transfers, most_replay_transfers);
  EXPECT_GT(std::filesystem::file_size(folder / "mismatch.fst"), 0U);

  options.replay = (folder / "mismatch.replay").string();
  const CosimReport again = make_bench().run(options);
  EXPECT_EQ(again.mismatches, 1U);
  EXPECT_EQ(again.first_mismatch ? again.first_mismatch->field : "", found.first_mismatch->field)
      << found.first_mismatch->line();
  return *found.first_mismatch;
}

}  // namespace mrc::cosim
