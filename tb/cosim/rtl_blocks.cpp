#include "cosim/rtl_blocks.h"

namespace mrc {

std::vector<std::string> rtl_block_names() {
  std::vector<std::string> names;
  for (const RtlBlock& block : rtl_blocks()) names.emplace_back(block.name);
  return names;
}

void add_rtl(const RtlSelection& selection, const ScenarioConfig& scenario, NicRtl& rtl) {
  add_recorded_rtl(selection, scenario, {}, rtl);
}

void add_recorded_rtl(const RtlSelection& selection, const ScenarioConfig& scenario,
                      const cosim::TraceRecorder& recorder, NicRtl& rtl) {
  for (const RtlBlock& block : rtl_blocks()) {
    if (selection.block == block.name) block.add(selection, scenario, recorder, rtl);
  }
}

namespace cosim {

std::unique_ptr<BlockModel> make_bench_model(const std::string& block, const std::string& size) {
  // make_BLOCK_bench_model() of tb/cosim/BLOCK/bench.h.
  using MakeBenchModel = std::unique_ptr<BlockModel>();
  return load_rtl<MakeBenchModel>(bench_kind(size), block)();
}

std::unique_ptr<StreamBench> make_bench(const std::string& block, const std::string& size) {
  for (const RtlBlock& known : rtl_blocks()) {
    if (block == known.name && (size == "small" || size == "default")) {
      return std::make_unique<StreamBench>(block, make_bench_model(block, size), rtl_contract(bench_kind(size), block));
    }
  }
  return nullptr;
}

}  // namespace cosim
}  // namespace mrc
