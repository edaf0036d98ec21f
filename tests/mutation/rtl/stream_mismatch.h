// The bench of `mrcsim cosim` on a model with mutations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cosim/bench/stream_bench.h"

namespace mrc {

/// The first mismatch within the given number of transfers; empty: none.
inline std::string stream_mismatch(const std::string& block, std::uint64_t transfers,
                                   std::unique_ptr<cosim::BlockModel> model) {
  cosim::CosimOptions options;
  options.count = transfers;
  options.shorten = false;
  const cosim::CosimReport report = cosim::StreamBench(block, std::move(model)).run(options);
  return report.first_mismatch ? report.first_mismatch->line() : "";
}

}  // namespace mrc
