// The bench of `mrcsim cosim` on a model with mutations.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "cosim/bench/stream_bench.h"
#include "cosim/contract.h"
#include "rtl/run_mutants.h"

namespace mrc {

/// The first mismatch within the given number of transfers; empty: none.
inline std::string stream_mismatch(const std::string& block, std::uint64_t transfers,
                                   std::unique_ptr<cosim::BlockModel> model) {
  cosim::CosimOptions options;
  options.count = transfers;
  options.shorten = false;
  std::optional<RtlContract> contract;
  if (!contract_file.empty()) {
    std::stringstream text;
    text << std::ifstream(contract_file).rdbuf();
    contract = parse_contract(text.str(), contract_file);
  }
  const cosim::CosimReport report = cosim::StreamBench(block, std::move(model), std::move(contract)).run(options);
  return report.first_mismatch ? report.first_mismatch->line() : "";
}

}  // namespace mrc
