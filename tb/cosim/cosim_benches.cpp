#include "cosim/cosim_benches.h"

#include <array>

#include "Vack_coalescer_bench.h"
#include "Vack_coalescer_bench_small.h"
#include "Vpcie_dma_bench.h"
#include "Vpcie_dma_bench_small.h"
#include "Vpsn_tracker_bench.h"
#include "Vpsn_tracker_bench_small.h"
#include "Vretransmit_buffer_bench.h"
#include "Vretransmit_buffer_bench_small.h"
#include "Vspray_scheduler_bench.h"
#include "Vspray_scheduler_bench_small.h"
#include "Vsrv6_encap_bench.h"
#include "Vsrv6_encap_bench_small.h"
#include "cosim/ack_coalescer/model.h"
#include "cosim/ack_coalescer/rtl.h"
#include "cosim/pcie_dma/model.h"
#include "cosim/pcie_dma/rtl.h"
#include "cosim/psn_tracker/model.h"
#include "cosim/psn_tracker/rtl.h"
#include "cosim/retransmit_buffer/model.h"
#include "cosim/retransmit_buffer/rtl.h"
#include "cosim/spray_scheduler/model.h"
#include "cosim/srv6_encap/model.h"

namespace mrc::cosim {
namespace {

std::unique_ptr<BlockModel> psn_tracker_model(const std::string& size) {
  if (size == "default") {
    return std::make_unique<PsnTrackerModel>(kPsnTrackerRtl, make_psn_tracker_dut<Vpsn_tracker_bench>);
  }
  return std::make_unique<PsnTrackerModel>(PsnTrackerSizes{64, 32, 4}, make_psn_tracker_dut<Vpsn_tracker_bench_small>);
}
std::unique_ptr<BlockModel> ack_coalescer_model(const std::string& size) {
  if (size == "default") {
    return std::make_unique<AckCoalescerModel>(kAckCoalescerQps, make_ack_coalescer_dut<Vack_coalescer_bench>);
  }
  return std::make_unique<AckCoalescerModel>(64, make_ack_coalescer_dut<Vack_coalescer_bench_small>);
}

std::unique_ptr<BlockModel> retransmit_buffer_model(const std::string& size) {
  if (size == "default") {
    return std::make_unique<RetransmitBufferModel>(kRetransmitBufferSizes,
                                                   make_retransmit_buffer_dut<Vretransmit_buffer_bench>);
  }
  return std::make_unique<RetransmitBufferModel>(RetransmitBufferSizes{16, 64},
                                                 make_retransmit_buffer_dut<Vretransmit_buffer_bench_small>);
}
std::unique_ptr<BlockModel> pcie_dma_model(const std::string& size) {
  if (size == "default") return std::make_unique<PcieDmaModel>(kPcieDmaSizes, make_pcie_dma_dut<Vpcie_dma_bench>);
  return std::make_unique<PcieDmaModel>(kSmallPcieDmaSizes, make_pcie_dma_dut<Vpcie_dma_bench_small>);
}

std::unique_ptr<BlockModel> srv6_encap_model(const std::string& size) {
  if (size == "default") return std::make_unique<Srv6EncapModel>(128, make_srv6_encap_dut<Vsrv6_encap_bench>);
  return std::make_unique<Srv6EncapModel>(64, make_srv6_encap_dut<Vsrv6_encap_bench_small>);
}

std::unique_ptr<BlockModel> spray_scheduler_model(const std::string& size) {
  if (size == "default") {
    return std::make_unique<SpraySchedulerModel>(SpraySizes{1024, 256, 8}, 2U,
                                                 make_spray_scheduler_dut<Vspray_scheduler_bench>);
  }
  return std::make_unique<SpraySchedulerModel>(SpraySizes{4, 16, 4}, 2U,
                                               make_spray_scheduler_dut<Vspray_scheduler_bench_small>);
}

/// A block of ready/valid streams.
struct Entry {
  const char* block;
  std::unique_ptr<BlockModel> (*make_model)(const std::string& size);
};

constexpr std::array kBenches{Entry{"psn_tracker", psn_tracker_model},
                              Entry{"ack_coalescer", ack_coalescer_model},
                              Entry{"retransmit_buffer", retransmit_buffer_model},
                              Entry{"pcie_dma", pcie_dma_model},
                              Entry{"srv6_encap", srv6_encap_model},
                              Entry{"spray_scheduler", spray_scheduler_model}};

SystemcCycles cycles_of(const PipelineConfig& pipeline) {
  return {pipeline.initiation_interval_cycles, pipeline.latency_cycles};
}

}  // namespace

const std::vector<CalibratedBlock>& calibrated_blocks() {
  static const std::vector<CalibratedBlock> blocks{
      {"psn_tracker", 3, psn_tracker_model,
       [](const NodeConfig& config) { return cycles_of(config.nic.psn_tracker.pipeline); }},
      // The box's latency is that of the trigger and of reading the SACK's contents out of psn_tracker.
      {"ack_coalescer", 2, ack_coalescer_model,
       [](const NodeConfig& config) {
         const SystemcCycles box = cycles_of(config.nic.ack_coalescer.pipeline);
         return SystemcCycles{box.occupied, box.latency - config.nic.psn_tracker.pipeline.latency_cycles};
       }},
      // A transfer is a beat.
      {"srv6_encap", 2, srv6_encap_model,
       [](const NodeConfig& config) { return cycles_of(config.nic.srv6_encap.pipeline); }},
      // Its answer register, and the search that goes on behind it.
      {"spray_scheduler", 2, spray_scheduler_model,
       [](const NodeConfig& config) { return cycles_of(config.nic.spray_scheduler.pipeline); }, "",
       SpraySchedulerModel::kSelect, SpraySchedulerModel::kRsp},
      {"retransmit_buffer", 3, retransmit_buffer_model,
       [](const NodeConfig& config) { return cycles_of(config.nic.retransmit_buffer.pipeline); }},
      {"pcie_dma", 2, pcie_dma_model,
       [](const NodeConfig& config) {
         return SystemcCycles{1, config.pcie.request_cycles};
       },
       "read taken → its requests", kReadPort, kRequestPort},
      {"pcie_dma", kPcieDmaSizes.jobs, pcie_dma_model,
       [](const NodeConfig& config) {
         return SystemcCycles{1, config.pcie.report_cycles};
       },
       "completion → report of its read", kCompletionPort, kOrderedPort},
      {"pcie_dma", 2, pcie_dma_model,
       [](const NodeConfig& config) {
         return SystemcCycles{1, config.pcie.write_cycles};
       },
       "write taken → its TLPs", kWritePort, kTlpPort}};
  return blocks;
}

std::vector<std::string> bench_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kBenches) {
    names.emplace_back(entry.block);
  }
  return names;
}

std::unique_ptr<StreamBench> make_bench(const std::string& block, const std::string& size) {
  for (const Entry& entry : kBenches) {
    if (block == entry.block && (size == "small" || size == "default")) {
      return std::make_unique<StreamBench>(block, entry.make_model(size));
    }
  }
  return nullptr;
}

}  // namespace mrc::cosim
