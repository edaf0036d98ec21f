// The effective configuration as plain structs: what every box reads. Meaning, range and source of each field stand in
// the registry beside this file (`mrcsim params`); the defaults stand here and nowhere else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/collective_schedule.h"
#include "mrc/protocol_config.h"
#include "mrc/rocev2/rc_config.h"
#include "mrc/types.h"

namespace mrc {

/// What a WQE holds besides inline payload: control and remote address segments of 16 B each, 4 B of length.
inline constexpr std::uint32_t kWqeHeaderBytes = 36;

/// How far a node is modelled.
enum class Fidelity : std::uint8_t { detailed, endpoint };
/// Where a retransmission takes its payload from.
enum class RetransmitStore : std::uint8_t { descriptor, payload };
/// Whether payload bytes are copied and compared, or only counted.
enum class PayloadMode : std::uint8_t { bytes, reference };
/// How boxes are executed: on one event wheel a NIC, or as one SC_METHOD each (the oracle of the tests).
enum class KernelMode : std::uint8_t { wheel, methods };
/// Where the host cuts the completions of a read request: at each RCB, at multiples of MPS, or as late as MPS allows
/// (each but the last ends at a multiple of the RCB).
enum class CompletionSplit : std::uint8_t { rcb, mps_aligned, mps };
/// How PCIe is stepped: the TLPs of a request in one loop, or an event each (the oracle of the tests).
enum class PcieStepping : std::uint8_t { train, tlp };
/// Between requests; within one, completions are always in order.
enum class CompletionOrder : std::uint8_t { out_of_order, in_order };
enum class SwitchForwarding : std::uint8_t { cut_through, store_and_forward };
/// How switches find the way: static uSID tables, or a hash of the flow among equal paths.
enum class FabricRouting : std::uint8_t { usid, ecmp };
/// Service among the queues of a switch's port.
enum class SwitchScheduling : std::uint8_t { strict, weighted };
/// What a bank of a memory does in one cycle: one access; a read and a write; two accesses.
/// How the messages of a rank with several NICs are shared among these.
enum class NicChoice : std::uint8_t { channel, stripe };
/// Where an accelerator's payload lies when the NIC reads or writes it.
enum class PayloadMemory : std::uint8_t { host, gpu_direct, staged };
enum class MemoryPorts : std::uint8_t { one_rw, one_r_one_w, two_rw };
enum class EccScheme : std::uint8_t { none, secded };

/// A memory of the NIC as the floorplan has it, and the errors that its cells are given.
struct MemoryConfig {
  std::uint32_t banks = 1;
  MemoryPorts ports = MemoryPorts::one_rw;
  double correctable_per_gbit = 0;    ///< single-bit errors a 2^30 bits read
  double uncorrectable_per_gbit = 0;  ///< double-bit errors a 2^30 bits read
};

/// Fixed pipeline of a box, in cycles of its clock: result after `latency`, next start after `initiation_interval`.
struct PipelineConfig {
  std::uint32_t latency_cycles = 4;
  std::uint32_t initiation_interval_cycles = 1;
};

struct RunConfig {
  double max_time_us = 10'000'000;
  double stall_us = 20'000;  ///< no progress of any message for so long ends the run as stalled
  std::string node_under_test = "nic0";
  KernelMode kernel = KernelMode::wheel;
  double quantum_ns = 0;  ///< how far a wheel runs ahead; 0 = the shortest link delay
};

struct TrafficConfig {
  std::string trace;            ///< path, or path pattern with {rank}
  std::string format = "auto";  ///< auto, chakra, goal, astra_text, htsim_cm, flow_csv
  std::string placement = "linear";
  std::uint32_t ranks_per_nic = 1;
  std::uint32_t nics_per_rank = 1;  ///< one of the two is 1
  NicChoice nic_choice = NicChoice::channel;
  std::uint64_t buffer_bytes = 16ULL << 20;  ///< registered a side and peer
  std::uint32_t outstanding_messages = 16;   ///< posted and not completed, a peer
  std::uint32_t qps_per_peer = 1;
  std::uint64_t offset_bytes = 0;  ///< added to the 4 KiB aligned buffer addresses
  std::uint32_t ranks = 0;         ///< 0 = as many as the trace has
  std::uint64_t rows = 0;          ///< 0 = all
  std::string background;          ///< trace that is played beside; empty: none
  double byte_scale = 1.0;
  CollectiveOptions collective;  ///< its seed is that of the scenario
};

struct NicConfig {
  double core_clock_ghz = 1.0;
  std::uint32_t datapath_bits = 1024;
  std::uint32_t ports = 8;
  double port_gbps = 100.0;

  struct Doorbell {
    PipelineConfig pipeline{4, 1};
    std::uint32_t queue_entries = 256;
  } doorbell;
  struct QpScheduler {
    PipelineConfig pipeline{4, 1};
    std::uint32_t quantum_bytes = 16384;
    bool ack_request_at_turn_end = true;
    std::uint32_t context_cache_entries = 1024;
    std::uint32_t context_bytes = 256;
  } qp_scheduler;
  struct WqeFetch {
    PipelineConfig pipeline{2, 1};
    std::uint32_t prefetch_depth = 8;  ///< WQEs held a QP
    std::uint32_t wqe_bytes = 64;
    std::uint32_t inline_bytes = 0;  ///< messages up to this length lie in their WQE
    std::uint32_t batch = 4;         ///< WQEs a read request
  } wqe_fetch;
  struct Segmenter {
    PipelineConfig pipeline{4, 1};
    std::uint32_t queue_entries = 16;
  } segmenter;
  struct PayloadFetch {
    PipelineConfig pipeline{4, 1};
    std::uint32_t queue_entries = 64;  ///< packets between read issue and spray scheduler
  } payload_fetch;
  struct SprayScheduler {
    PipelineConfig pipeline{2, 1};  ///< as measured at the RTL
    std::uint32_t queue_entries = 8;
    std::uint32_t order_buffers = 2;  ///< scan orders held: with one, no packet is served while a new one comes in
  } spray_scheduler;
  struct RetransmitBuffer {
    PipelineConfig pipeline{3, 2};  ///< as measured; a packet is two commands: its record is made, and it is sent
    RetransmitStore store = RetransmitStore::descriptor;
    std::uint32_t entries = 4096;
    std::uint64_t bytes = 16ULL << 20;  ///< with store = payload
    std::uint32_t queue_entries = 8;
  } retransmit_buffer;
  struct Srv6Encap {
    PipelineConfig pipeline{2, 1};  ///< as measured at the RTL
    std::uint32_t queue_entries = 8;
  } srv6_encap;
  struct Port {
    std::uint32_t tx_fifo_bytes = 16384;
    std::uint32_t control_fifo_entries = 16;
    double mac_fec_latency_ns = 100.0;
    double down_detect_us = 10.0;            ///< light gone until the NIC acts on it
    double up_detect_us = 100.0;             ///< light back until the port is used again
    double remap_time_us = 10.0;             ///< port seen down or up until the walk over the QPs' EV tables begins
    std::uint32_t remap_cycles_per_qp = 16;  ///< of that walk
  } port;
  struct Parser {
    PipelineConfig pipeline{8, 1};
    std::uint32_t queue_entries = 64;
  } parser;
  struct PsnTracker {
    PipelineConfig pipeline{3, 1};      ///< and one cycle more for each further bank that the edge runs into
    std::uint32_t bitmap_banks = 4096;  ///< shared pool of 128-bit banks
    std::uint32_t queue_entries = 64;
  } psn_tracker;
  struct RxStaging {
    std::uint64_t bytes = 512ULL << 10;
  } rx_staging;
  struct DmaWrite {
    PipelineConfig pipeline{4, 1};
    std::uint32_t queue_entries = 512;  ///< descriptors of staged packets
  } dma_write;
  struct AckCoalescer {
    PipelineConfig pipeline{5, 1};  ///< as measured: 2 for the trigger, 3 to read the SACK out of psn_tracker
    std::uint32_t queue_entries = 64;
  } ack_coalescer;
  struct ControlQueue {
    PipelineConfig pipeline{2, 1};
    std::uint32_t entries = 256;
  } control_queue;
  struct SackProcessor {
    PipelineConfig pipeline{8, 10};  ///< interval: as measured at retransmit_buffer; each PSN and bit is one more
    std::uint32_t queue_entries = 256;
  } sack_processor;
  struct ProbeEngine {
    PipelineConfig pipeline{4, 1};
    std::uint32_t outstanding_probes = 256;
  } probe_engine;
  struct Completion {
    PipelineConfig pipeline{4, 1};
    std::uint32_t queue_entries = 256;
    std::uint32_t cqe_bytes = 64;
    std::uint32_t cq_entries = 4096;     ///< of the completion queue in host memory
    std::uint32_t moderation_count = 1;  ///< CQEs written at once
    double moderation_us = 0;            ///< the oldest waits no longer than this
  } completion;
  struct Memory {
    EccScheme ecc = EccScheme::secded;
    std::uint32_t ecc_word_bits = 64;
    std::uint32_t scrub_cycles = 1;
    double bitcell_um2 = 0.021;
    double array_efficiency = 0.6;
    double dual_port_factor = 2.0;
    double bank_overhead_um2 = 500.0;
    std::uint32_t register_file_bits = 16'384;
    double register_um2_per_bit = 0.35;
    MemoryConfig qp_context{2, MemoryPorts::one_r_one_w};
    MemoryConfig wqe_prefetch{2, MemoryPorts::one_rw};
    MemoryConfig retransmit_records{4, MemoryPorts::one_r_one_w};
    MemoryConfig retransmit_payload{4, MemoryPorts::one_rw};
    MemoryConfig path_table{2, MemoryPorts::one_r_one_w};
    MemoryConfig congestion{1, MemoryPorts::two_rw};
    MemoryConfig bitmap{2, MemoryPorts::one_r_one_w};
    MemoryConfig packet_buffer{4, MemoryPorts::one_rw};
    MemoryConfig rx_staging{4, MemoryPorts::one_rw};
    MemoryConfig completion_buffer{4, MemoryPorts::one_rw};
    MemoryConfig port_fifo{2, MemoryPorts::one_rw};
    MemoryConfig completion_queue{1, MemoryPorts::one_r_one_w};
  } memory;
};

struct PcieConfig {
  PcieStepping stepping = PcieStepping::train;
  std::uint32_t generation = 6;
  std::uint32_t lanes = 16;
  std::uint32_t links = 1;
  std::uint32_t mps_bytes = 256;
  std::uint32_t mrrs_bytes = 512;
  std::uint32_t rcb_bytes = 64;
  CompletionSplit completion_split = CompletionSplit::mps_aligned;
  std::uint32_t ack_interval_bytes = 0;        ///< Gen3 … Gen5; 0: the specification's latency limit
  std::uint32_t fc_update_interval_bytes = 0;  ///< likewise
  std::uint32_t read_tags = 512;
  std::uint64_t completion_buffer_bytes = 256ULL << 10;
  std::uint32_t posted_header_credits = 256;
  std::uint32_t posted_data_credits = 4096;  ///< unit 16 B
  std::uint32_t non_posted_header_credits = 256;
  double credit_return_ns = 300.0;
  double read_latency_mean_ns = 1000.0;
  double read_latency_p99_ns = 1600.0;
  double write_latency_ns = 400.0;   ///< last TLP issued to byte visible
  std::uint32_t request_cycles = 2;  ///< read taken until its first request; this and the next two as measured
  std::uint32_t report_cycles = 3;   ///< last completion of a read until it is reported
  std::uint32_t write_cycles = 2;    ///< write taken until its first TLP
  std::uint32_t completion_header_credits = 0;  ///< 0 = infinite, as endpoints advertise
  std::uint32_t completion_data_credits = 0;    ///< unit 16 B; 0 = infinite
  CompletionOrder completion_order = CompletionOrder::out_of_order;
  bool id_based_ordering = false;
  bool relaxed_ordering = false;
  struct AddressTranslation {
    std::uint32_t entries = 0;  ///< 0 = no translation
    std::uint64_t page_bytes = 4096;
    double hit_ns = 0;
    double miss_ns = 1000.0;
    std::uint32_t outstanding_misses = 16;
  } address_translation;
  double duplicate_completion_rate = 0;
  double poisoned_completion_rate = 0;
  double lost_completion_rate = 0;
  double completion_timeout_us = 100.0;
};

struct HostConfig {
  PayloadMode payload = PayloadMode::bytes;
  double post_ns = 100.0;       ///< building a WQE until the doorbell is written
  double doorbell_ns = 300.0;   ///< MMIO write until the NIC sees it
  double poll_ns = 50.0;        ///< CQE visible until software knows
  double residual_ns = 2101.5;  ///< message known until what waits for it starts; fitted, see docs/latency.md
};

struct NodeConfig {
  Fidelity fidelity = Fidelity::detailed;
  NicConfig nic;
  PcieConfig pcie;
  HostConfig host;
};

/// The accelerators behind the NICs.
struct AcceleratorConfig {
  double kernel_launch_ns = 1000;      ///< of a kernel whose stream is idle
  double collective_launch_ns = 2000;  ///< until the first message is posted
  double scale_up_gbps = 3600;         ///< of messages between ranks of one node
  double scale_up_latency_ns = 1000;
  PayloadMemory payload_memory = PayloadMemory::host;
  double direct_read_ns = 300;    ///< with gpu_direct, a payload read beside one of host memory
  double direct_flush_ns = 1000;  ///< with gpu_direct, a message's CQE seen until its bytes are sure to be there
  double copy_gbps = 400;         ///< with staged, a copy between the accelerator's memory and the host's
  double copy_latency_ns = 2000;  ///< with staged, of a copy, beside its bytes
};

/// What a payload read takes longer than one of host memory, in ns.
inline double payload_read_extra_ns(const AcceleratorConfig& accelerator) {
  return accelerator.payload_memory == PayloadMemory::gpu_direct ? accelerator.direct_read_ns : 0;
}

struct FabricConfig {
  std::uint32_t nics = 2;
  std::uint32_t nics_per_t0 = 256;
  std::uint32_t t0s_per_plane = 0;  ///< 0: as many as the NICs need
  std::uint32_t t1s_per_plane = 0;  ///< over all pods; 0: as many a pod as NICs below a T0
  std::uint32_t t2s_per_plane = 0;  ///< with pods; 0: as many uplinks a T1 as it has T0s
  std::uint32_t pods = 1;           ///< more than one: a third tier joins them
  FabricRouting routing = FabricRouting::usid;
  std::uint32_t locator_block = 0xFC00'0001;
  double cable_delay_ns = 150.0;
  double switch_latency_ns = 575.0;
  double t1_link_gbps = 0;  ///< 0: as nic.port_gbps
  double t1_cable_delay_ns = 150.0;
  double t1_switch_latency_ns = 575.0;
  SwitchForwarding forwarding = SwitchForwarding::cut_through;
  SwitchScheduling scheduling = SwitchScheduling::strict;
  std::uint32_t control_weight = 25;  ///< with weighted scheduling
  std::uint32_t retransmission_weight = 25;
  std::uint32_t data_weight = 50;
  std::uint64_t queue_bytes = 2ULL << 20;    ///< a switch output port
  std::uint64_t buffer_bytes = 64ULL << 20;  ///< a switch, shared by its ports
  double buffer_alpha = 1.0;                 ///< dynamic threshold: share of the free buffer that a port may hold
  bool ecn = true;
  bool ecn_last_hop = false;
  std::uint64_t ecn_min_bytes = 0;  ///< 0: 0.2 BDP of the link
  std::uint64_t ecn_max_bytes = 0;  ///< 0: 0.8 BDP
  double ecn_max_probability = 1.0;
  bool trim = true;
  std::uint64_t trim_threshold_bytes = 0;  ///< 0: 1 BDP of the link, 1.5 on the last hop
  std::uint32_t trim_bytes = 128;
  double loss_rate = 0;
  double trim_rate = 0;
  double corrupt_rate = 0;
  double duplicate_rate = 0;
  double ecn_rate = 0;
};

/// The baseline transport, of all nodes with transport = "rocev2", and what its switches do for it.
struct Rocev2Config {
  RcConfig rc;  ///< without its mtu_bytes: protocol.mtu_bytes holds
  bool dcqcn = true;
  DcqcnConfig rate;
  std::uint64_t ecn_min_bytes = 0;  ///< 0: the paper's 5 KB at 40 Gb/s, by the link's rate
  std::uint64_t ecn_max_bytes = 0;  ///< 0: the paper's 200 KB at 40 Gb/s, by the link's rate
  double ecn_max_probability = 0.01;
  bool pfc = true;
  std::uint64_t pfc_xoff_bytes = 512ULL << 10;  ///< of one ingress port in a switch's buffer
  std::uint64_t pfc_xon_bytes = 448ULL << 10;
};

/// What a fault does; the words of [[fault]] kind are the enumerators' names.
enum class FaultKind : std::uint8_t {
  link_down,
  link_up,
  link_flap,
  link_rate,
  loss,
  corruption,
  switch_reboot,
  plane_loss,
  nic_port_loss,
  pcie_stall
};
/// Which packets `loss` and `corruption` meet: writes sent for the first time, writes sent again, or all others.
enum class FaultPackets : std::uint8_t { all, data, control, retransmission };

/// One entry of [[fault]]; meaning and range of its keys stand in docs/faults.md.
struct FaultConfig {
  std::string place;  ///< file and line of its `where`
  FaultKind kind = FaultKind::link_down;
  std::string where;
  double at_us = 0;
  double for_us = 0;     ///< 0: until the run ends; of link_flap: each outage
  double period_us = 0;  ///< link_flap: begin of an outage to begin of the next
  double jitter = 0;     ///< link_flap: share of the rest of the period by which an outage may begin later
  std::uint32_t count = 1;
  double share = 1;        ///< link_rate: of the line rate that is left
  double probability = 1;  ///< loss, corruption: of each packet
  FaultPackets packets = FaultPackets::all;
  std::int64_t ev = -1;        ///< loss, corruption: only packets on this EV; -1: on any
  std::int64_t ev_index = -1;  ///< the same by its position in the sending node's EV profile
  bool light = false;          ///< switch_reboot: its ports stay lit, so that no neighbour sees a port down
};

struct ScenarioConfig {
  std::string name;  ///< file name without its ending
  std::uint64_t seed = 1;
  std::string transport = "mrc";
  RunConfig run;
  TrafficConfig traffic;
  ProtocolConfig protocol;
  CongestionConfig cc;
  FabricConfig fabric;
  Rocev2Config rocev2;
  AcceleratorConfig accelerator;
  NodeConfig node_default;
  std::map<NodeId, NodeConfig> node_override;  ///< whole configuration of the nodes that differ
  std::vector<FaultConfig> faults;

  bool is_rocev2() const { return transport == "rocev2"; }
  const NodeConfig& node(NodeId id) const {
    const auto it = node_override.find(id);
    return it == node_override.end() ? node_default : it->second;
  }
};

}  // namespace mrc
