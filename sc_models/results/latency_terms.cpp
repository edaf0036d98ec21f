#include "results/latency_terms.h"

#include <algorithm>

#include "mrc/packet.h"
#include "pcie/pcie_law.h"

namespace mrc {
namespace {

/// How far a term may lie from the model's value in real systems; where nothing is public, wide on purpose.
struct Range {
  double low_ns = 0;
  double high_ns = 0;
};

class Account {
 public:
  explicit Account(const ScenarioConfig& scenario)
      : scenario_(scenario),
        nic_(scenario.node_default.nic),
        pcie_(scenario.node_default.pcie),
        host_(scenario.node_default.host),
        law_(pcie_law(pcie_)) {}

  std::vector<LatencyTerm> terms(std::uint32_t bytes) {
    Packet packet;
    packet.payload_bytes = bytes;
    packet.opcode = Opcode::write_only_imm;
    const double frame_bytes = wire_bytes(packet, scenario_.protocol.encapsulation);
    const double cable_ns = scenario_.fabric.cable_delay_ns;
    const double mac_ns = nic_.port.mac_fec_latency_ns;
    const double transmit_cycles =
        nic_.qp_scheduler.pipeline.latency_cycles + nic_.segmenter.pipeline.latency_cycles +
        nic_.payload_fetch.pipeline.latency_cycles + nic_.spray_scheduler.pipeline.latency_cycles +
        nic_.retransmit_buffer.pipeline.latency_cycles + nic_.srv6_encap.pipeline.latency_cycles;
    const double receive_cycles = nic_.parser.pipeline.latency_cycles + nic_.psn_tracker.pipeline.latency_cycles +
                                  nic_.dma_write.pipeline.latency_cycles;
    add("post", host_.post_ns, {50, 200}, "assumption", "host.post_ns");
    add("doorbell", host_.doorbell_ns, {150, 500}, "assumption", "host.doorbell_ns");
    // The scheduler sees the doorbell, asks for the WQE, and one cycle later the request is there.
    const double to_wqe_cycles = nic_.doorbell.pipeline.latency_cycles + 1.0;
    scaled("qp_scheduler", cycles_ns(to_wqe_cycles), "nic.doorbell, nic.core_clock_ghz");
    const double wqe_ns = read_ns(nic_.wqe_fetch.wqe_bytes) + cycles_ns(nic_.wqe_fetch.pipeline.latency_cycles);
    add("wqe_read", wqe_ns, {400, 1600}, "assumption", "pcie.read_latency_mean_ns, nic.wqe_fetch");
    const bool is_inline = bytes <= nic_.wqe_fetch.inline_bytes;
    const double payload_ns = read_ns(bytes) + payload_read_extra_ns(scenario_.accelerator);
    add("payload_read", is_inline ? 0 : payload_ns, is_inline ? Range{0, 0} : Range{400, 1600}, "assumption",
        is_inline ? "nic.wqe_fetch.inline_bytes: it is in the WQE" : "pcie.read_latency_mean_ns");
    scaled("transmit_boxes", cycles_ns(transmit_cycles), "nic.*.latency_cycles, nic.core_clock_ghz");
    add("mac_fec_transmit", mac_ns, {50, 200}, "assumption", "nic.port.mac_fec_latency_ns");
    const double serialize_ns = frame_bytes * 8.0 / nic_.port_gbps;
    add("serialization", serialize_ns, {serialize_ns, serialize_ns}, "spec", "nic.port_gbps, frame length");
    add("cables", 2 * cable_ns, {20, 500}, "assumption", "fabric.cable_delay_ns, to the T0 and from it");
    const bool whole = scenario_.fabric.forwarding == SwitchForwarding::store_and_forward;
    add("switch", scenario_.fabric.switch_latency_ns + (whole ? serialize_ns : 0), {250, 900}, "calibrated",
        "fabric.switch_latency_ns");
    add("mac_fec_receive", mac_ns, {50, 200}, "assumption", "nic.port.mac_fec_latency_ns");
    scaled("receive_boxes", cycles_ns(receive_cycles), "nic.*.latency_cycles, nic.core_clock_ghz");
    // Data and the CQE behind it, then the way of the last to memory.
    const double write_bytes = bytes + nic_.completion.cqe_bytes + 2.0 * law_.write_overhead;
    add("posted_write", cycles_ns(pcie_.write_cycles) + tlp_ns(write_bytes) + pcie_.write_latency_ns, {200, 900},
        "assumption", "pcie.write_latency_ns, data and CQE");
    add("poll", host_.poll_ns, {20, 150}, "assumption", "host.poll_ns");
    if (scenario_.accelerator.payload_memory == PayloadMemory::gpu_direct) {
      add("flush", scenario_.accelerator.direct_flush_ns, {0, 2000}, "assumption", "accelerator.direct_flush_ns");
    }
    add("residual", host_.residual_ns, {host_.residual_ns, host_.residual_ns}, "calibrated", "host.residual_ns");
    return std::move(terms_);
  }

 private:
  double cycles_ns(double cycles) const { return cycles / nic_.core_clock_ghz; }
  double tlp_ns(double bytes) const { return bytes * 8.0 / law_.gbps; }
  /// pcie_dma, request on its way up, latency of host memory, completion on its way down, pcie_dma.
  double read_ns(double bytes) const {
    return cycles_ns(pcie_.request_cycles) + tlp_ns(law_.read_overhead) + pcie_.read_latency_mean_ns +
           tlp_ns(bytes + law_.completion_overhead) + cycles_ns(pcie_.report_cycles);
  }
  void add(const char* term, double ns, Range range, const char* source, const char* from) {
    terms_.push_back({term, ns, std::min(ns, range.low_ns), std::max(ns, range.high_ns), source, from});
  }
  /// Boxes whose RTL is not written: from half to twice the cycles.
  void scaled(const char* term, double ns, const char* from) { add(term, ns, {ns / 2, ns * 2}, "assumption", from); }

  const ScenarioConfig& scenario_;
  const NicConfig& nic_;
  const PcieConfig& pcie_;
  const HostConfig& host_;
  PcieLaw law_;
  std::vector<LatencyTerm> terms_;
};

}  // namespace

std::vector<LatencyTerm> latency_terms(const ScenarioConfig& scenario, std::uint32_t bytes) {
  return Account(scenario).terms(bytes);
}

}  // namespace mrc
