#include "cosim/cosim_benches.h"

#include <array>

#include "cosim/pcie_dma/model.h"
#include "cosim/pcie_dma/rtl.h"
#include "cosim/rtl_modules.h"
#include "cosim/spray_scheduler/model.h"

namespace mrc::cosim {
namespace {

/// make_BLOCK_bench_model() of tb/cosim/BLOCK/bench.h.
using MakeBenchModel = std::unique_ptr<BlockModel>(const std::string& size);

constexpr std::array<const char*, 6> kBenches{"psn_tracker", "ack_coalescer", "retransmit_buffer",
                                              "pcie_dma",    "srv6_encap",    "spray_scheduler"};

SystemcCycles cycles_of(const PipelineConfig& pipeline) {
  return {pipeline.initiation_interval_cycles, pipeline.latency_cycles};
}

}  // namespace

const std::vector<CalibratedBlock>& calibrated_blocks() {
  static const std::vector<CalibratedBlock> blocks{
      {"psn_tracker", 3, [](const NodeConfig& config) { return cycles_of(config.nic.psn_tracker.pipeline); }},
      // The box's latency is that of the trigger and of reading the SACK's contents out of psn_tracker.
      {"ack_coalescer", 2,
       [](const NodeConfig& config) {
         const SystemcCycles box = cycles_of(config.nic.ack_coalescer.pipeline);
         return SystemcCycles{box.occupied, box.latency - config.nic.psn_tracker.pipeline.latency_cycles};
       }},
      // A transfer is a beat.
      {"srv6_encap", 2, [](const NodeConfig& config) { return cycles_of(config.nic.srv6_encap.pipeline); }},
      // Its answer register, and the search that goes on behind it.
      {"spray_scheduler", 2, [](const NodeConfig& config) { return cycles_of(config.nic.spray_scheduler.pipeline); },
       "", SpraySchedulerModel::kSelect, SpraySchedulerModel::kRsp},
      {"retransmit_buffer", 3,
       [](const NodeConfig& config) { return cycles_of(config.nic.retransmit_buffer.pipeline); }},
      {"pcie_dma", 2,
       [](const NodeConfig& config) {
         return SystemcCycles{1, config.pcie.request_cycles};
       },
       "read taken → its requests", kReadPort, kRequestPort},
      {"pcie_dma", kPcieDmaSizes.jobs,
       [](const NodeConfig& config) {
         return SystemcCycles{1, config.pcie.report_cycles};
       },
       "completion → report of its read", kCompletionPort, kOrderedPort},
      {"pcie_dma", 2,
       [](const NodeConfig& config) {
         return SystemcCycles{1, config.pcie.write_cycles};
       },
       "write taken → its TLPs", kWritePort, kTlpPort}};
  return blocks;
}

std::vector<std::string> bench_names() {
  std::vector<std::string> names;
  for (const char* block : kBenches) names.emplace_back(block);
  return names;
}

std::unique_ptr<BlockModel> make_bench_model(const std::string& block, const std::string& size) {
  return load_rtl<MakeBenchModel>(RtlModuleKind::cosim, block)(size);
}

std::unique_ptr<StreamBench> make_bench(const std::string& block, const std::string& size) {
  for (const char* known : kBenches) {
    if (block == known && (size == "small" || size == "default")) {
      return std::make_unique<StreamBench>(block, make_bench_model(block, size));
    }
  }
  return nullptr;
}

}  // namespace mrc::cosim
