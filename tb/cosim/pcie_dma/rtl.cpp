#include "cosim/pcie_dma/rtl.h"

#include <fmt/format.h>

#include "Vpcie_dma_512.h"
#include "cosim/pcie_dma/adapter.h"

namespace mrc {
namespace {

constexpr std::uint64_t kMostBytes = (1U << 20) - 1;  // of a read or write

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

}  // namespace

std::unique_ptr<PcieDmaEngine> make_pcie_dma_rtl(const NodeConfig& node, const cosim::TraceRecorder& recorder,
                                                 const RtlContract& contract) {
  require(node.pcie.read_tags == kPcieDmaSizes.tags,
          fmt::format("pcie.read_tags = {}: RTL of pcie_dma is built for {}", node.pcie.read_tags, kPcieDmaSizes.tags));
  require(node.pcie.completion_buffer_bytes == kPcieDmaSizes.completion_buffer_bytes,
          fmt::format("pcie.completion_buffer_bytes = {}: RTL of pcie_dma is built for {}",
                      node.pcie.completion_buffer_bytes, kPcieDmaSizes.completion_buffer_bytes));
  // Reads under way: of payload, and of all else no more than there are tags and places in the queue of reads.
  const std::uint32_t most_payload_reads = kPcieDmaSizes.jobs - kPcieDmaSizes.tags - 8;
  require(node.nic.payload_fetch.queue_entries <= most_payload_reads,
          fmt::format("nic.payload_fetch.queue_entries = {}: RTL of pcie_dma is built for {} at most",
                      node.nic.payload_fetch.queue_entries, most_payload_reads));
  // Their reads pass those that wait, which this block does not do.
  require(node.pcie.memory_table.key_entries == 0 && node.pcie.memory_table.page_entries == 0,
          "pcie.memory_table: RTL of pcie_dma has no lookups; allowed with it: 0 entries");
  require(node.pcie.address_translation.request == TranslationRequest::fixed,
          "pcie.address_translation.request = link: RTL of pcie_dma has no lookups; allowed with it: fixed");
  const std::uint64_t cqes = std::uint64_t{node.nic.completion.moderation_count} * node.nic.completion.cqe_bytes;
  require(cqes <= kMostBytes,
          fmt::format("nic.completion.moderation_count * cqe_bytes = {}: RTL of pcie_dma writes {} B at once at most",
                      cqes, kMostBytes));
  return std::make_unique<PcieDmaAdapter<Vpcie_dma_512, kPcieDmaSizes.tags>>(node.pcie.mrrs_bytes, node.pcie.mps_bytes,
                                                                             recorder, contract);
}

}  // namespace mrc
