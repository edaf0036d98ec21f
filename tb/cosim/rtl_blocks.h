// The blocks that have RTL: what --rtl and --shadow may select, how a NIC gets them, and their benches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cosim/bench/stream_bench.h"
#include "cosim/rtl_block.h"

namespace mrc {

/// In the order of the data path.
const std::vector<RtlBlock>& rtl_blocks();
std::vector<std::string> rtl_block_names();

/// As RtlBlock::add of `selection.block`.
void add_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl);
void add_recorded_rtl(const RtlSelection& selection, const ScenarioConfig& scenario,
                      const cosim::TraceRecorder& recorder, NicRtl& rtl);

namespace cosim {

/// `size`: "small", where every corner is reached, or "default", the scenario's. Throws std::invalid_argument for a
/// block whose bench is not built.
std::unique_ptr<BlockModel> make_bench_model(const std::string& block, const std::string& size);

/// As make_bench_model(); null for a block or size that is unknown.
std::unique_ptr<StreamBench> make_bench(const std::string& block, const std::string& size);

}  // namespace cosim
}  // namespace mrc
