#include "pcie/pcie_parameters.h"

#include <cmath>

#include <fmt/format.h>

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<CompletionSplit>() {
  return {"rcb", "mps_aligned", "mps", "first_rcb"};
}
template <>
std::vector<std::string> words_of<PcieStepping>() {
  return {"train", "tlp"};
}
template <>
std::vector<std::string> words_of<TranslationRequest>() {
  return {"fixed", "link"};
}
template <>
std::vector<std::string> words_of<CompletionOrder>() {
  return {"out_of_order", "in_order"};
}

std::string contradiction(const PcieConfig& pcie) {
  const std::uint32_t tags = max_tags_per_link(pcie.generation) * pcie.links;
  if (pcie.read_tags > tags) {
    return fmt::format("pcie.read_tags = {} is more than the {} that pcie.generation = {} has on {} link(s)",
                       pcie.read_tags, tags, pcie.generation, pcie.links);
  }
  if (pcie.completion_buffer_bytes < pcie.mrrs_bytes) {
    return fmt::format("pcie.completion_buffer_bytes = {} does not hold one read of pcie.mrrs_bytes = {}",
                       pcie.completion_buffer_bytes, pcie.mrrs_bytes);
  }
  if (pcie.posted_data_credits * 16ULL < pcie.mps_bytes) {
    return fmt::format("pcie.posted_data_credits = {} (16 B each) do not cover one TLP of pcie.mps_bytes = {}",
                       pcie.posted_data_credits, pcie.mps_bytes);
  }
  if (pcie.read_times == nullptr && pcie.read_latency_p99_ns < pcie.read_latency_mean_ns) {
    return fmt::format("pcie.read_latency_p99_ns = {} is below pcie.read_latency_mean_ns = {}",
                       pcie.read_latency_p99_ns, pcie.read_latency_mean_ns);
  }
  if (pcie.read_times == nullptr && shortest_read_ns(pcie) < 0) {
    return fmt::format(
        "pcie.read_latency_p99_ns = {} is too far above pcie.read_latency_mean_ns = {}: the shortest "
        "latency would be negative; at most {:.0f}",
        pcie.read_latency_p99_ns, pcie.read_latency_mean_ns, pcie.read_latency_mean_ns * std::log(100.0));
  }
  if (pcie.completion_data_credits > 0 && pcie.completion_data_credits * 16ULL < pcie.mps_bytes) {
    return fmt::format("pcie.completion_data_credits = {} (16 B each) do not cover one TLP of pcie.mps_bytes = {}",
                       pcie.completion_data_credits, pcie.mps_bytes);
  }
  if (pcie.completion_timeout_us * 1000.0 < 2.0 * pcie.read_latency_p99_ns) {
    return fmt::format(
        "pcie.completion_timeout_us = {} gives up reads that are only slow: at least twice "
        "pcie.read_latency_p99_ns = {}",
        pcie.completion_timeout_us, pcie.read_latency_p99_ns);
  }
  const double dllps = pcie.generation < 6 ? dllp_share(pcie) : 0.0;
  if (dllps > 0.5) {
    return fmt::format(
        "pcie.ack_interval_bytes = {} and pcie.fc_update_interval_bytes = {} leave {:.0f} % of the link "
        "for TLPs; at least half is needed",
        pcie.ack_interval_bytes, pcie.fc_update_interval_bytes, 100.0 * (1.0 - dllps));
  }
  return {};
}

void read_latency_times(PcieConfig& pcie) {
  if (pcie.read_latency_histogram.empty()) return;
  pcie.read_times = std::make_shared<const LatencyHistogram>(pcie.read_latency_histogram);
  pcie.read_latency_mean_ns = pcie.read_times->mean_ns();
  pcie.read_latency_p99_ns = pcie.read_times->quantile_ns(0.99);
}

void add_pcie_parameters(ParameterTable& table) {
  MRC_NODE(pcie.stepping, "", 0, 0,
           "train: the TLPs of a request in one loop; tlp: one event per TLP (slow, for checking)", assumption);
  MRC_NODE(pcie.generation, "", 3, 7, "PCIe generation: 8, 16, 32, 64, 128 GT/s per lane", paper);
  MRC_NODE(pcie.lanes, "lanes", 4, 16, "lanes per link", paper);
  table.only({"4", "8", "16"});
  MRC_NODE(pcie.links, "links", 1, 4, "links of the NIC, used as one", assumption);
  MRC_NODE(pcie.mps_bytes, "bytes", 128, 4'096, "maximum payload size of a TLP (MPS)", assumption);
  table.only({"128", "256", "512", "1024", "2048", "4096"});
  MRC_NODE(pcie.mrrs_bytes, "bytes", 128, 4'096, "maximum read request size (MRRS)", assumption);
  table.only({"128", "256", "512", "1024", "2048", "4096"});
  MRC_NODE(pcie.rcb_bytes, "bytes", 64, 128, "read completion boundary (RCB)", assumption);
  table.only({"64", "128"});
  MRC_NODE(
      pcie.completion_split, "", 0, 0,
      "where the host splits completions: at each RCB, at multiples of MPS, as late as MPS and RCB allow, or the first "
      "at the RCB and the others at multiples of MPS",
      assumption);
  MRC_NODE(pcie.ack_interval_bytes, "bytes", 0, 65'536,
           "link bytes between two ACK DLLPs, Gen3 to Gen5; 0: the latency limit of the specification", spec);
  MRC_NODE(pcie.fc_update_interval_bytes, "bytes", 0, 65'536,
           "link bytes between two UpdateFC DLLPs, Gen3 to Gen5; 0: as the ACKs", spec);
  MRC_NODE(pcie.read_tags, "tags", 1, 4'096, "outstanding read requests", assumption);
  MRC_NODE(pcie.completion_buffer_bytes, "bytes", 4'096, 1024 * k1M,
           "room for read completions, reserved when a read is issued", assumption);
  MRC_NODE(pcie.posted_header_credits, "credits", 1, 65'536, "outstanding posted TLPs", assumption);
  MRC_NODE(pcie.posted_data_credits, "credits", 8, 1'048'576, "data of outstanding posted TLPs, in units of 16 B",
           assumption);
  MRC_NODE(pcie.non_posted_header_credits, "credits", 1, 65'536, "read requests whose credit has not returned",
           assumption);
  MRC_NODE(pcie.credit_return_ns, "ns", 0, 100'000, "time from sending a TLP until its credit returns", assumption);
  table.plausible(100, 1000);
  MRC_NODE(pcie.read_latency_mean_ns, "ns", 1, 1e6, "mean time from a read request to its first completion",
           assumption);
  table.plausible(400, 1600);
  MRC_NODE(pcie.read_latency_p99_ns, "ns", 1, 1e6,
           "99th percentile of the time from a read request to its first completion", assumption);
  table.plausible(600, 4000);
  MRC_NODE(pcie.read_latency_histogram, "", 0, 0,
           "CSV file of measured read latencies, ns,count, relative to the scenario; instead of mean and p99",
           assumption);
  MRC_NODE(pcie.write_latency_ns, "ns", 0, 1e6, "time from sending the last TLP of a write until its bytes are visible",
           assumption);
  table.plausible(200, 900);
  MRC_NODE(pcie.request_cycles, "cycles", 0, 10'000, "cycles from pcie_dma accepting a read to its first request",
           measured);
  MRC_NODE(pcie.report_cycles, "cycles", 0, 10'000,
           "cycles from the last completion of a read to its report by pcie_dma", measured);
  MRC_NODE(pcie.write_cycles, "cycles", 0, 10'000, "cycles from pcie_dma accepting a write to its first TLP", measured);
  MRC_NODE(pcie.completion_header_credits, "credits", 0, 65'536,
           "outstanding completion TLPs; 0: infinite, as endpoints advertise", spec);
  MRC_NODE(pcie.completion_data_credits, "credits", 0, 1'048'576,
           "data of outstanding completion TLPs, in units of 16 B; 0: infinite, as endpoints advertise", spec);
  MRC_NODE(pcie.completion_order, "", 0, 0,
           "order in which the host completes requests: any, or that of the requests; within a request always in order",
           assumption);
  MRC_NODE(pcie.id_based_ordering, "", 0, 0,
           "read requests have a different requester ID than writes and may pass them (IDO)", assumption);
  MRC_NODE(pcie.relaxed_ordering, "", 0, 0,
           "payload writes may pass others that wait for their address translation (relaxed ordering); CQEs never do",
           assumption);
  MRC_NODE(pcie.address_translation.entries, "entries", 0, 1'048'576,
           "pages in the address translation cache of the NIC (ATS); 0: no translation", assumption);
  MRC_NODE(pcie.address_translation.page_bytes, "bytes", 4'096, k1G, "page size of a translation", assumption);
  table.only({"4096", "65536", "2097152", "1073741824"});
  MRC_NODE(pcie.address_translation.hit_ns, "ns", 0, 10'000, "time of a lookup that hits", assumption);
  MRC_NODE(pcie.address_translation.miss_ns, "ns", 0, 1e6, "time of a translation request to the host", assumption);
  MRC_NODE(pcie.address_translation.outstanding_misses, "misses", 1, 4'096, "concurrent translation requests",
           assumption);
  MRC_NODE(pcie.address_translation.request, "", 0, 0,
           "fixed: a miss takes miss_ns; link: it is a request over the link, which the host's IOMMU answers, for the "
           "memory that software has registered",
           assumption);
  MRC_NODE(pcie.memory_table.key_entries, "entries", 0, 1'048'576,
           "keys of regions (MPT) that the NIC caches; a miss is a PCIe read of 64 B; 0: all are in the NIC",
           assumption);
  MRC_NODE(pcie.memory_table.page_entries, "entries", 0, 16'777'216,
           "pages of regions whose place (MTT) the NIC caches; a miss is a PCIe read; 0: all are in the NIC",
           assumption);
  MRC_NODE(pcie.memory_table.page_bytes, "bytes", 4'096, k1G, "page size of the memory table", assumption);
  table.only({"4096", "65536", "2097152", "1073741824"});
  MRC_NODE(pcie.memory_table.pages_per_read, "entries", 1, 16,
           "pages whose entries, of 8 B each, a PCIe read of the memory table brings", assumption);
  table.only({"1", "2", "4", "8", "16"});
  MRC_NODE(pcie.memory_table.outstanding_misses, "misses", 1, 4'096,
           "concurrent reads of the memory table; with key_entries or page_entries also of translations", assumption);
  MRC_NODE(pcie.memory_table.deregister_every_us, "us", 0, 1e6,
           "time from one deregistration of a region to the next; each takes its keys, pages and translations out of "
           "the NIC, and registers it again; 0: never",
           assumption);
  MRC_NODE(pcie.duplicate_completion_rate, "", 0, 0.5, "share of completion TLPs that arrive twice", assumption);
  MRC_NODE(pcie.poisoned_completion_rate, "", 0, 0.5,
           "share of completion TLPs with the poison bit; the NIC retries the request", assumption);
  MRC_NODE(pcie.lost_completion_rate, "", 0, 0.5,
           "share of completion TLPs that are lost; the NIC retries the request after the timeout", assumption);
  MRC_NODE(pcie.completion_timeout_us, "us", 1, 1e6, "time from issuing a read request until it is retried", spec);
}

}  // namespace mrc
