// The benches of the blocks, by name: what `mrcsim cosim` may run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cosim/bench/stream_bench.h"
#include "parameters/config.h"

namespace mrc::cosim {

std::vector<std::string> bench_names();

/// `size`: "small", where every corner is reached, or "default", the scenario's. Throws std::invalid_argument for a
/// block whose bench is not built.
std::unique_ptr<BlockModel> make_bench_model(const std::string& block, const std::string& size);

/// As make_bench_model(); null for a block or size that is unknown.
std::unique_ptr<StreamBench> make_bench(const std::string& block, const std::string& size);

/// A block whose SystemC box is compared cycle by cycle.
struct CalibratedBlock {
  const char* name;
  std::uint64_t stages;  ///< of the RTL
  /// What the box charges a transfer in this configuration.
  SystemcCycles (*pipeline)(const NodeConfig& config);
  const char* way = "";  ///< through the block, where it has several
  std::size_t in_port = 0;
  std::size_t out_port = 1;
};
const std::vector<CalibratedBlock>& calibrated_blocks();

}  // namespace mrc::cosim
