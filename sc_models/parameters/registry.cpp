#include "parameters/registry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <type_traits>

#include <fmt/format.h>

namespace mrc {
namespace {

using enum ParameterSource;

// The words of each enumeration, in the order of its values.
template <typename Enum>
std::vector<std::string> words_of();
template <>
std::vector<std::string> words_of<KernelMode>() {
  return {"wheel", "methods"};
}
template <>
std::vector<std::string> words_of<PayloadMode>() {
  return {"bytes", "reference"};
}
template <>
std::vector<std::string> words_of<RetransmitStore>() {
  return {"descriptor", "payload"};
}
template <>
std::vector<std::string> words_of<SwitchForwarding>() {
  return {"cut_through", "store_and_forward"};
}
template <>
std::vector<std::string> words_of<FabricRouting>() {
  return {"usid", "ecmp"};
}
template <>
std::vector<std::string> words_of<NicChoice>() {
  return {"channel", "stripe"};
}
template <>
std::vector<std::string> words_of<PayloadMemory>() {
  return {"host", "gpu_direct", "staged"};
}
template <>
std::vector<std::string> words_of<SwitchScheduling>() {
  return {"strict", "weighted"};
}
template <>
std::vector<std::string> words_of<CompletionSplit>() {
  return {"rcb", "mps_aligned", "mps"};
}
template <>
std::vector<std::string> words_of<PcieStepping>() {
  return {"train", "tlp"};
}
template <>
std::vector<std::string> words_of<CompletionOrder>() {
  return {"out_of_order", "in_order"};
}
template <>
std::vector<std::string> words_of<MemoryPorts>() {
  return {"1rw", "1r1w", "2rw"};
}
template <>
std::vector<std::string> words_of<EccScheme>() {
  return {"none", "secded"};
}
template <>
std::vector<std::string> words_of<Fidelity>() {
  return {"detailed", "endpoint"};
}
template <>
std::vector<std::string> words_of<Encapsulation>() {
  return {"none", "srv6", "srv6_srh"};
}
template <>
std::vector<std::string> words_of<EvHalfOrder>() {
  return {"low_to_source_port", "high_to_source_port"};
}
template <>
std::vector<std::string> words_of<OutOfWindow>() {
  return {"drop", "nack"};
}
template <>
std::vector<std::string> words_of<SkipDuration>() {
  return {"rest_of_rotation", "one_rotation", "fixed_time"};
}
template <>
std::vector<std::string> words_of<ProbeSkipState>() {
  return {"skip", "good"};
}
template <>
std::vector<std::string> words_of<PathFeedback>() {
  return {"adaptive", "oblivious"};
}
template <>
std::vector<std::string> words_of<TimeoutBackoff>() {
  return {"qp", "packet"};
}
template <>
std::vector<std::string> words_of<RttSource>() {
  return {"send_time_table", "timestamp"};
}
template <>
std::vector<std::string> words_of<PathTableScope>() {
  return {"qp", "destination", "profile"};
}
template <>
std::vector<std::string> words_of<CongestionScope>() {
  return {"destination", "qp"};
}

template <>
std::vector<std::string> words_of<AllReduceAlgorithm>() {
  return {"ring", "halving_doubling", "double_binary_tree", "hierarchical"};
}
template <>
std::vector<std::string> words_of<AllToAllAlgorithm>() {
  return {"direct", "paced"};
}

struct Range {
  double minimum = 0;
  double maximum = 0;
};

template <typename Field>
ParameterType type_of() {
  if constexpr (std::is_same_v<Field, bool>) return ParameterType::boolean;
  if constexpr (std::is_enum_v<Field>) return ParameterType::word;
  if constexpr (std::is_floating_point_v<Field>) return ParameterType::real;
  if constexpr (std::is_same_v<Field, std::string>) return ParameterType::text;
  return ParameterType::integer;
}

template <typename Field>
ParameterValue to_value(const Field& field) {
  if constexpr (std::is_same_v<Field, bool> || std::is_same_v<Field, std::string>)
    return field;
  else if constexpr (std::is_enum_v<Field>)
    return words_of<Field>()[static_cast<std::size_t>(field)];
  else if constexpr (std::is_floating_point_v<Field>)
    return static_cast<double>(field);
  else
    return static_cast<std::int64_t>(field);
}

template <typename Field>
void from_value(Field& field, const ParameterValue& value) {
  if constexpr (std::is_same_v<Field, bool>)
    field = std::get<bool>(value);
  else if constexpr (std::is_same_v<Field, std::string>)
    field = std::get<std::string>(value);
  else if constexpr (std::is_enum_v<Field>) {
    const auto words = words_of<Field>();
    field = static_cast<Field>(std::find(words.begin(), words.end(), std::get<std::string>(value)) - words.begin());
  } else if constexpr (std::is_floating_point_v<Field>)
    field = std::get<double>(value);
  else
    field = static_cast<Field>(std::get<std::int64_t>(value));
}

/// The table under construction. `field` is a function from a configuration to a reference to the field.
class Table {
 public:
  template <typename FieldOf>
  void node(std::string name, FieldOf field, std::string_view unit, Range range, std::string_view meaning,
            ParameterSource source) {
    using Field = std::remove_reference_t<decltype(field(std::declval<NodeConfig&>()))>;
    Parameter& p = add<Field>(std::move(name), unit, range, meaning, source);
    p.per_node = true;
    p.get = [field](const ScenarioConfig&, const NodeConfig& config) {
      return to_value(field(const_cast<NodeConfig&>(config)));
    };
    p.set = [field](ScenarioConfig&, NodeConfig& config, const ParameterValue& value) {
      from_value(field(config), value);
    };
  }
  template <typename FieldOf>
  void scenario(std::string name, FieldOf field, std::string_view unit, Range range, std::string_view meaning,
                ParameterSource source) {
    using Field = std::remove_reference_t<decltype(field(std::declval<ScenarioConfig&>()))>;
    Parameter& p = add<Field>(std::move(name), unit, range, meaning, source);
    p.get = [field](const ScenarioConfig& config, const NodeConfig&) {
      return to_value(field(const_cast<ScenarioConfig&>(config)));
    };
    p.set = [field](ScenarioConfig& config, NodeConfig&, const ParameterValue& value) {
      from_value(field(config), value);
    };
  }
  /// A time that the model keeps in picoseconds and people write in nanoseconds.
  template <typename FieldOf>
  void scenario_ns(std::string name, FieldOf field, Range range, std::string_view meaning, ParameterSource source) {
    Parameter& p = add<double>(std::move(name), "ns", range, meaning, source);
    p.get = [field](const ScenarioConfig& config, const NodeConfig&) {
      return ParameterValue(static_cast<double>(field(const_cast<ScenarioConfig&>(config))) / 1000.0);
    };
    p.set = [field](ScenarioConfig& config, NodeConfig&, const ParameterValue& value) {
      field(config) = static_cast<TimePs>(std::llround(std::get<double>(value) * 1000.0));
    };
  }
  /// The parameter added last takes only these.
  void only(std::vector<std::string> words) { parameters_.back().words = std::move(words); }

  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  template <typename Field>
  Parameter& add(std::string name, std::string_view unit, Range range, std::string_view meaning,
                 ParameterSource source) {
    Parameter p{.name = std::move(name),
                .type = type_of<Field>(),
                .unit = unit,
                .minimum = range.minimum,
                .maximum = range.maximum,
                .words = {},
                .meaning = meaning,
                .source = source,
                .per_node = false,
                .get = {},
                .set = {}};
    if constexpr (std::is_enum_v<Field>) p.words = words_of<Field>();
    parameters_.push_back(std::move(p));
    return parameters_.back();
  }

  std::vector<Parameter> parameters_;
};

// A parameter is named like its field, so that the name is written once.
#define MRC_NODE(field, unit, minimum, maximum, meaning, source) \
  t.node(                                                        \
      #field, [](NodeConfig & c) -> auto& { return c.field; }, unit, {minimum, maximum}, meaning, source)
#define MRC_SCENARIO(field, unit, minimum, maximum, meaning, source) \
  t.scenario(                                                        \
      #field, [](ScenarioConfig & c) -> auto& { return c.field; }, unit, {minimum, maximum}, meaning, source)
// A box's pipeline; `source` says whether its RTL was measured.
#define MRC_PIPELINE(box, source)                                                                               \
  t.node(                                                                                                       \
      #box ".latency_cycles", [](NodeConfig & c) -> auto& { return c.box.pipeline.latency_cycles; }, "cycles",  \
      {1, 10'000}, "cycles from taking an item to its result", source);                                         \
  t.node(                                                                                                       \
      #box ".initiation_interval_cycles",                                                                       \
      [](NodeConfig & c) -> auto& { return c.box.pipeline.initiation_interval_cycles; }, "cycles", {1, 10'000}, \
      "cycles from taking an item to taking the next, at least", source)

// A memory of the floorplan: its banks and ports, and the errors it is given.
#define MRC_MEMORY(name)                                                                                              \
  MRC_NODE(nic.memory.name.banks, "SRAM banks", 1, 64, "banks, each with its own ports", assumption);                 \
  t.only({"1", "2", "4", "8", "16", "32", "64"});                                                                     \
  MRC_NODE(nic.memory.name.ports, "", 0, 0, "of a bank: one access a cycle, a read and a write, or two", assumption); \
  MRC_NODE(nic.memory.name.correctable_per_gbit, "1/Gbit", 0, 1e9, "errors of one bit, per 2^30 bits accessed",       \
           assumption);                                                                                               \
  MRC_NODE(nic.memory.name.uncorrectable_per_gbit, "1/Gbit", 0, 1e9, "errors of two bits, per 2^30 bits accessed",    \
           assumption)

constexpr double k1M = 1 << 20;
constexpr double k1G = 1 << 30;

void run_parameters(Table& t) {
  MRC_SCENARIO(seed, "", 0, 9.2e18, "key of every random draw; the same seed gives the same run", assumption);
  MRC_SCENARIO(transport, "", 0, 0,
               "transport of all nodes; rocev2: the baseline; ideal: serialization and a fixed latency only, the bound",
               spec);
  t.only({"mrc", "rocev2", "ideal"});
  MRC_SCENARIO(run.max_time_us, "us", 1, 1e9, "simulated time after which the run ends as partial", assumption);
  MRC_SCENARIO(run.stall_us, "us", 10, 1e9,
               "simulated time without any message's progress that ends the run as stalled", assumption);
  MRC_SCENARIO(run.node_under_test, "", 0, 0, "node that goodput, limits and message times speak of", assumption);
  MRC_SCENARIO(run.kernel, "", 0, 0,
               "wheel: one event wheel a NIC, ahead of the kernel; methods: one process a box (slow, for checking)",
               assumption);
  MRC_SCENARIO(run.quantum_ns, "ns", 0, 1e6, "how far a wheel runs ahead; 0: the shortest link delay", assumption);
}

void traffic_parameters(Table& t) {
  MRC_SCENARIO(traffic.trace, "", 0, 0, "trace file, or a pattern with {rank}; relative to the scenario file",
               assumption);
  MRC_SCENARIO(traffic.format, "", 0, 0, "format of the trace; auto: recognised by content", assumption);
  t.only({"auto", "chakra", "goal", "astra_text", "htsim_cm", "flow_csv"});
  MRC_SCENARIO(
      traffic.placement, "", 0, 0,
      "linear: rank i sits on nic<i / ranks_per_nic>, or on nics_per_rank NICs from nic<i nics_per_rank> on; rails: "
      "the i-th NICs of all hosts are neighbours; or a list of each rank's NICs, as \"3,0,2,1\"",
      assumption);
  MRC_SCENARIO(traffic.ranks_per_nic, "ranks", 1, 64, "ranks behind a NIC; they exchange data by the scale-up fabric",
               assumption);
  MRC_SCENARIO(traffic.nics_per_rank, "NICs", 1, 16, "NICs of each accelerator, driven by the same software",
               assumption);
  MRC_SCENARIO(traffic.nic_choice, "", 0, 0,
               "with several NICs a rank; channel: a collective's channel c, like a rank's c-th other message, takes "
               "NIC c modulo their number at both ends; stripe: each message is cut into a piece for each",
               assumption);
  MRC_SCENARIO(traffic.buffer_bytes, "bytes", 65'536, 16 * k1M, "registered memory a side and peer, reused by messages",
               assumption);
  MRC_SCENARIO(traffic.outstanding_messages, "messages", 1, 65'536, "work requests posted and not completed, a peer",
               assumption);
  MRC_SCENARIO(traffic.qps_per_peer, "QPs", 1, 16'384, "QPs between two nodes, used in turn", assumption);
  MRC_SCENARIO(traffic.offset_bytes, "bytes", 0, 4'096, "added to the 4 KiB aligned addresses of all buffers",
               assumption);
  MRC_SCENARIO(traffic.ranks, "ranks", 0, 131'072, "ranks of a trace that stands for all; 0: as many as it says",
               assumption);
  MRC_SCENARIO(traffic.rows, "rows", 0, 1e9,
               "only the first so many flows, connections, layers, or nodes of one Chakra file; 0: all", assumption);
  MRC_SCENARIO(
      traffic.background, "", 0, 0,
      "traces played beside the job on ranks of their own from the start, separated by commas; their ranks sit "
      "behind the job's, or on its NICs where a name ends in @0",
      assumption);
  MRC_SCENARIO(traffic.byte_scale, "", 1e-6, 1e6, "factor on the bytes of each message and collective", assumption);
  MRC_SCENARIO(traffic.collective.all_reduce, "", 0, 0, "algorithm of all-reduces", assumption);
  MRC_SCENARIO(traffic.collective.all_to_all, "", 0, 0,
               "direct: all messages at once; paced: traffic.collective.window of them", assumption);
  MRC_SCENARIO(traffic.collective.channels, "channels", 1, 64, "parts of a buffer that go side by side", assumption);
  MRC_SCENARIO(traffic.collective.chunk_bytes, "bytes", 0, 16 * k1G,
               "longest message of rings, trees and chains; 0: a share whole", assumption);
  MRC_SCENARIO(traffic.collective.ranks_per_host, "ranks", 1, 1'024, "inner group of the hierarchical all-reduce",
               assumption);
  MRC_SCENARIO(traffic.collective.window, "messages", 1, 65'536, "messages a rank of a paced all-to-all has under way",
               assumption);
  MRC_SCENARIO(traffic.collective.skew, "", 0, 4,
               "the k-th most popular rank gets 1/k^skew of an all-to-all's bytes; 0: all the same", assumption);
}

void accelerator_parameters(Table& t) {
  MRC_SCENARIO(accelerator.kernel_launch_ns, "ns", 0, 1e6, "launch of a kernel whose stream is idle", assumption);
  MRC_SCENARIO(accelerator.collective_launch_ns, "ns", 0, 1e6,
               "from a collective's turn until its first message is posted", assumption);
  MRC_SCENARIO(accelerator.scale_up_gbps, "Gb/s", 1, 1e6, "rate of a message between two ranks of one NIC", assumption);
  MRC_SCENARIO(accelerator.scale_up_latency_ns, "ns", 1, 1e6, "latency of a message between two ranks of one NIC",
               assumption);
  MRC_SCENARIO(accelerator.payload_memory, "", 0, 0,
               "host: payload is where the NIC's reads and writes are those of host memory; gpu_direct: in the "
               "accelerator, reached over PCIe peer to peer; staged: copied to host memory before a message is posted, "
               "and back when it has come",
               assumption);
  MRC_SCENARIO(accelerator.direct_read_ns, "ns", 0, 1e5,
               "with gpu_direct, what a payload read takes longer than one of host memory", assumption);
  MRC_SCENARIO(accelerator.direct_flush_ns, "ns", 0, 1e5,
               "with gpu_direct, from a receive's completion until a read has shown that its bytes are there",
               assumption);
  MRC_SCENARIO(accelerator.copy_gbps, "Gb/s", 1, 1e6, "with staged, rate of a rank's copies, one at a time a direction",
               assumption);
  MRC_SCENARIO(accelerator.copy_latency_ns, "ns", 0, 1e6, "with staged, of a copy, beside its bytes", assumption);
}

void nic_parameters(Table& t) {
  t.node(
      "fidelity", [](NodeConfig & c) -> auto& { return c.fidelity; }, "", {0, 0},
      "detailed: all boxes of the NIC; endpoint: the same protocol at line rate, cheap enough for thousands",
      assumption);
  MRC_NODE(nic.core_clock_ghz, "GHz", 0.1, 5, "clock of the NIC's boxes", assumption);
  MRC_NODE(nic.datapath_bits, "bit", 128, 4'096, "width of the packet datapath", assumption);
  t.only({"128", "256", "512", "1024", "2048", "4096"});
  MRC_NODE(nic.ports, "ports", 1, 8, "ports, each in a plane of its own", paper);
  MRC_NODE(nic.port_gbps, "Gb/s", 1, 1'600, "line rate of a port", paper);

  MRC_PIPELINE(nic.doorbell, assumption);
  MRC_NODE(nic.doorbell.queue_entries, "entries", 1, k1M, "doorbell writes on the NIC, not looked at yet", assumption);
  MRC_PIPELINE(nic.qp_scheduler, assumption);
  MRC_NODE(nic.qp_scheduler.quantum_bytes, "bytes", 256, k1G, "payload that a QP may send before the next one's turn",
           assumption);
  MRC_NODE(
      nic.qp_scheduler.ack_request_at_turn_end, "", 0, 0,
      "AckReq in the last packet before other QPs' turns: a SACK that waits for more bytes may come after the timeout",
      assumption);
  MRC_NODE(nic.qp_scheduler.context_cache_entries, "entries", 1, k1M,
           "QP contexts held on the NIC; a miss is a PCIe read", assumption);
  MRC_NODE(nic.qp_scheduler.context_bytes, "bytes", 64, 4'096, "size of a QP context", assumption);
  MRC_PIPELINE(nic.wqe_fetch, assumption);
  MRC_NODE(nic.wqe_fetch.prefetch_depth, "WQEs", 1, 4'096, "WQEs of a QP read ahead of the segmenter", assumption);
  MRC_NODE(nic.wqe_fetch.wqe_bytes, "bytes", 16, 1'024, "size of a WQE in host memory", assumption);
  MRC_NODE(nic.wqe_fetch.inline_bytes, "bytes", 0, 988,
           "messages up to this length travel in their WQE, and no payload is read; 0: none", assumption);
  MRC_NODE(nic.wqe_fetch.batch, "WQEs", 1, 64, "WQEs read at once, at most", assumption);
  MRC_PIPELINE(nic.segmenter, assumption);
  MRC_NODE(nic.segmenter.queue_entries, "entries", 1, 65'536, "packets between segmenter and payload_fetch",
           assumption);
  MRC_PIPELINE(nic.payload_fetch, assumption);
  MRC_NODE(nic.payload_fetch.queue_entries, "entries", 1, 65'536, "packets whose payload is read or waits for a path",
           assumption);
  MRC_PIPELINE(nic.spray_scheduler, measured);
  MRC_NODE(nic.spray_scheduler.queue_entries, "entries", 1, 65'536,
           "packets between spray_scheduler and retransmit_buffer", assumption);
  MRC_NODE(
      nic.spray_scheduler.order_buffers, "orders", 1, 2,
      "scan orders that a path table holds, 2 as our RTL: the next comes in beside the packets, an EV a cycle; with 1 "
      "no packet is served meanwhile",
      measured);
  MRC_PIPELINE(nic.retransmit_buffer, measured);
  MRC_NODE(nic.retransmit_buffer.store, "", 0, 0,
           "descriptor: payload is read again over PCIe; payload: it is kept in SRAM", assumption);
  MRC_NODE(nic.retransmit_buffer.entries, "entries", 1, k1M, "packets sent and not acknowledged, of all QPs",
           assumption);
  MRC_NODE(nic.retransmit_buffer.bytes, "bytes", 16'384, 1024 * k1M, "payload kept with store = payload", assumption);
  MRC_NODE(nic.retransmit_buffer.queue_entries, "entries", 1, 65'536,
           "packets between retransmit_buffer and srv6_encap", assumption);
  MRC_PIPELINE(nic.srv6_encap, measured);
  MRC_NODE(nic.port.tx_fifo_bytes, "bytes", 512, 64 * k1M, "data on its way to a port, from the choice of the path on",
           assumption);
  MRC_NODE(nic.port.control_fifo_entries, "entries", 1, 65'536, "control packets that wait in front of a port",
           assumption);
  MRC_NODE(nic.port.mac_fec_latency_ns, "ns", 0, 10'000, "MAC and FEC, each direction; adds latency, never bandwidth",
           assumption);
  MRC_NODE(nic.port.down_detect_us, "us", 0, 1e7, "light gone until the NIC sends nothing more through the port",
           assumption);
  MRC_NODE(nic.port.up_detect_us, "us", 0, 1e8, "light back for so long until the NIC uses the port again", assumption);
  MRC_NODE(nic.port.remap_time_us, "us", 0, 1e7,
           "port seen down or up until the walk over the QPs' EV tables begins; published: a few seconds for one NIC",
           assumption);
  MRC_NODE(nic.port.remap_cycles_per_qp, "cycles", 1, k1M, "walk over the EV tables: core cycles a QP", assumption);
  MRC_PIPELINE(nic.parser, assumption);
  MRC_NODE(nic.parser.queue_entries, "entries", 1, 65'536, "received packets in front of the parser", assumption);
  MRC_PIPELINE(nic.psn_tracker, measured);
  MRC_NODE(nic.psn_tracker.bitmap_banks, "banks", 1, k1M, "128-bit banks for PSNs received out of order, of all QPs",
           assumption);
  MRC_NODE(nic.psn_tracker.queue_entries, "entries", 1, 65'536, "packets between parser, psn_tracker and dma_write",
           assumption);
  MRC_NODE(nic.rx_staging.bytes, "bytes", 256, 1024 * k1M, "payload that waits for its write to host memory",
           assumption);
  MRC_PIPELINE(nic.dma_write, assumption);
  MRC_NODE(nic.dma_write.queue_entries, "entries", 1, k1M,
           "descriptors of packets in rx_staging; without one a packet is refused with NO_RESOURCE", assumption);
  MRC_PIPELINE(nic.ack_coalescer, measured);
  MRC_NODE(nic.ack_coalescer.queue_entries, "entries", 3, 65'536, "answers that are owed and not built", assumption);
  MRC_PIPELINE(nic.control_queue, assumption);
  MRC_NODE(nic.control_queue.entries, "entries", 1, 65'536, "control packets that wait for a port", assumption);
  t.node(
      "nic.sack_processor.latency_cycles",
      [](NodeConfig & c) -> auto& { return c.nic.sack_processor.pipeline.latency_cycles; }, "cycles", {1, 10'000},
      "cycles from taking an item to its result", assumption);
  t.node(
      "nic.sack_processor.initiation_interval_cycles",
      [](NodeConfig & c) -> auto& { return c.nic.sack_processor.pipeline.initiation_interval_cycles; }, "cycles",
      {1, 10'000}, "cycles from taking an item to taking the next; a SACK: one more a PSN it moves past and a bit",
      measured);
  MRC_NODE(nic.sack_processor.queue_entries, "entries", 1, 65'536, "received SACKs, NACKs and ACKs not looked at yet",
           assumption);
  MRC_PIPELINE(nic.probe_engine, assumption);
  MRC_NODE(nic.probe_engine.outstanding_probes, "probes", 1, 16'384, "probes sent and not answered", assumption);
  MRC_PIPELINE(nic.completion, assumption);
  MRC_NODE(nic.completion.queue_entries, "entries", 1, 65'536, "completions that wait for their CQE write", assumption);
  MRC_NODE(nic.completion.cqe_bytes, "bytes", 16, 128, "size of a CQE", assumption);
  MRC_NODE(nic.completion.cq_entries, "entries", 1, k1M,
           "completion queue in host memory; software frees an entry when it polls it", assumption);
  MRC_NODE(nic.completion.moderation_count, "CQEs", 1, 256, "CQEs gathered for one write; 1: each is written at once",
           assumption);
  MRC_NODE(nic.completion.moderation_us, "us", 0, 1e6, "a gathered CQE waits no longer than this", assumption);
}

void memory_parameters(Table& t) {
  MRC_NODE(nic.memory.ecc, "", 0, 0, "check bits of the NIC's memories; secded: corrects one bit, detects two",
           assumption);
  MRC_NODE(nic.memory.ecc_word_bits, "bit", 8, 1'024, "data bits that share check bits", assumption);
  MRC_NODE(nic.memory.scrub_cycles, "cycles", 0, 1'000, "a corrected word is written back: the memory is taken so long",
           assumption);
  MRC_NODE(nic.memory.bitcell_um2, "um2", 0.001, 10, "six-transistor SRAM cell; 0.021: as published for 5 nm",
           assumption);
  MRC_NODE(nic.memory.array_efficiency, "", 0.05, 1, "share of an SRAM macro that is cells", assumption);
  MRC_NODE(nic.memory.dual_port_factor, "", 1, 10, "cell of a memory with two ports, in cells with one", assumption);
  MRC_NODE(nic.memory.bank_overhead_um2, "um2", 0, 1e6, "periphery of an SRAM bank, whatever its size", assumption);
  MRC_NODE(nic.memory.register_file_bits, "bit", 0, 1e9, "memories up to this size are register files", assumption);
  MRC_NODE(nic.memory.register_um2_per_bit, "um2", 0.001, 100, "register file with its multiplexers, a bit",
           assumption);
  MRC_MEMORY(qp_context);
  MRC_MEMORY(wqe_prefetch);
  MRC_MEMORY(retransmit_records);
  MRC_MEMORY(retransmit_payload);
  MRC_MEMORY(path_table);
  MRC_MEMORY(congestion);
  MRC_MEMORY(bitmap);
  MRC_MEMORY(packet_buffer);
  MRC_MEMORY(rx_staging);
  MRC_MEMORY(completion_buffer);
  MRC_MEMORY(port_fifo);
  MRC_MEMORY(completion_queue);
}

void pcie_parameters(Table& t) {
  MRC_NODE(pcie.stepping, "", 0, 0,
           "train: the TLPs of a request in one loop; tlp: an event a TLP (slow, for checking)", assumption);
  MRC_NODE(pcie.generation, "", 3, 6, "PCIe generation: 8, 16, 32, 64 GT/s a lane", paper);
  MRC_NODE(pcie.lanes, "lanes", 4, 16, "lanes of a link", paper);
  t.only({"4", "8", "16"});
  MRC_NODE(pcie.links, "links", 1, 4, "links of the NIC, used as one", assumption);
  MRC_NODE(pcie.mps_bytes, "bytes", 128, 4'096, "max payload size of a TLP", assumption);
  t.only({"128", "256", "512", "1024", "2048", "4096"});
  MRC_NODE(pcie.mrrs_bytes, "bytes", 128, 4'096, "max read request size", assumption);
  t.only({"128", "256", "512", "1024", "2048", "4096"});
  MRC_NODE(pcie.rcb_bytes, "bytes", 64, 128, "read completion boundary", assumption);
  t.only({"64", "128"});
  MRC_NODE(pcie.completion_split, "", 0, 0,
           "where the host cuts completions: at each RCB, at multiples of MPS, or as late as MPS and RCB allow",
           assumption);
  MRC_NODE(pcie.ack_interval_bytes, "bytes", 0, 65'536,
           "link bytes between two ACK DLLPs, Gen3 to Gen5; 0: the specification's latency limit", spec);
  MRC_NODE(pcie.fc_update_interval_bytes, "bytes", 0, 65'536,
           "link bytes between two UpdateFC DLLPs, Gen3 to Gen5; 0: as the ACKs", spec);
  MRC_NODE(pcie.read_tags, "tags", 1, 4'096, "read requests under way", assumption);
  MRC_NODE(pcie.completion_buffer_bytes, "bytes", 4'096, 1024 * k1M,
           "room for read completions, reserved when a read is issued", assumption);
  MRC_NODE(pcie.posted_header_credits, "credits", 1, 65'536, "posted TLPs under way", assumption);
  MRC_NODE(pcie.posted_data_credits, "credits", 8, 1'048'576, "data of posted TLPs under way, in units of 16 B",
           assumption);
  MRC_NODE(pcie.non_posted_header_credits, "credits", 1, 65'536, "read requests whose credit is out", assumption);
  MRC_NODE(pcie.credit_return_ns, "ns", 0, 100'000, "a TLP has left until its credit is back", assumption);
  MRC_NODE(pcie.read_latency_mean_ns, "ns", 1, 1e6, "read request until its first completion, mean", assumption);
  MRC_NODE(pcie.read_latency_p99_ns, "ns", 1, 1e6, "read request until its first completion, 99th percentile",
           assumption);
  MRC_NODE(pcie.write_latency_ns, "ns", 0, 1e6, "last TLP of a write has left until its bytes are visible", assumption);
  MRC_NODE(pcie.request_cycles, "cycles", 0, 10'000, "read taken by pcie_dma until its first request", measured);
  MRC_NODE(pcie.report_cycles, "cycles", 0, 10'000, "last completion of a read until pcie_dma reports it", measured);
  MRC_NODE(pcie.write_cycles, "cycles", 0, 10'000, "write taken by pcie_dma until its first TLP", measured);
  MRC_NODE(pcie.completion_header_credits, "credits", 0, 65'536,
           "completion TLPs under way; 0: infinite, as endpoints do", spec);
  MRC_NODE(pcie.completion_data_credits, "credits", 0, 1'048'576,
           "data of completion TLPs under way, in units of 16 B; 0: infinite, as endpoints do", spec);
  MRC_NODE(pcie.completion_order, "", 0, 0,
           "whether the host answers requests in any order or in theirs; within a request always in order", assumption);
  MRC_NODE(pcie.id_based_ordering, "", 0, 0,
           "read requests carry another requester ID than writes and may pass them (IDO)", assumption);
  MRC_NODE(pcie.relaxed_ordering, "", 0, 0,
           "payload writes may pass others that wait for their address translation (RO); CQEs never do", assumption);
  MRC_NODE(pcie.address_translation.entries, "entries", 0, 1'048'576,
           "pages in the NIC's cache of address translations (ATS); 0: no translation", assumption);
  MRC_NODE(pcie.address_translation.page_bytes, "bytes", 4'096, k1G, "page that a translation covers", assumption);
  t.only({"4096", "65536", "2097152", "1073741824"});
  MRC_NODE(pcie.address_translation.hit_ns, "ns", 0, 10'000, "lookup of a translation that is there", assumption);
  MRC_NODE(pcie.address_translation.miss_ns, "ns", 0, 1e6, "asking the host for a translation", assumption);
  MRC_NODE(pcie.address_translation.outstanding_misses, "misses", 1, 4'096, "translations asked for at once",
           assumption);
  MRC_NODE(pcie.duplicate_completion_rate, "", 0, 0.5, "share of completion TLPs that come twice", assumption);
  MRC_NODE(pcie.poisoned_completion_rate, "", 0, 0.5,
           "share of completion TLPs with the poison bit; the NIC repeats the request", assumption);
  MRC_NODE(pcie.lost_completion_rate, "", 0, 0.5,
           "share of completion TLPs that are lost; the NIC repeats the request after the timeout", assumption);
  MRC_NODE(pcie.completion_timeout_us, "us", 1, 1e6, "read request issued until it is given up and repeated", spec);
}

void host_parameters(Table& t) {
  MRC_NODE(host.payload, "", 0, 0, "bytes: payload is copied and compared; reference: only counted", assumption);
  MRC_NODE(host.post_ns, "ns", 0, 1e6, "building a WQE until the doorbell is written", assumption);
  MRC_NODE(host.doorbell_ns, "ns", 0, 1e6, "doorbell write until the NIC sees it", assumption);
  MRC_NODE(host.poll_ns, "ns", 0, 1e6, "CQE visible until software knows", assumption);
  MRC_NODE(host.residual_ns, "ns", 0, 1e6,
           "software knows that a message has come until what waits for it may start: the part of a published 2-byte "
           "write latency that no other term explains",
           calibrated);
}

void protocol_parameters(Table& t) {
  MRC_SCENARIO(protocol.mtu_bytes, "bytes", 256, 16'384,
               "payload of a packet; the API has 256 to 4,096, more is a what-if", api);
  MRC_SCENARIO(protocol.mpr_units, "128 PSNs", 1, 255, "receive window of a QP", api);
  MRC_SCENARIO(protocol.dynamic_mpr, "", 0, 0, "SACK.mpr resizes the window", spec);
  MRC_SCENARIO(protocol.max_write_imm, "messages", 1, 65'535, "WRITE_IMM messages in flight on a QP", api);
  MRC_SCENARIO(protocol.receive_queue_depth, "receives", 1, 65'536,
               "receives that software keeps posted on a QP; a WRITE_IMM that finds none ends it", assumption);
  MRC_SCENARIO(protocol.timeout_exponent, "", 0, 24, "t: local ACK timeout is 1.024 us * 2^t", assumption);
  MRC_SCENARIO(protocol.timeout_backoff, "", 0, 0,
               "what doubles a timeout: those of the QP since its last progress, or those of the packet itself",
               assumption);
  MRC_SCENARIO(protocol.linear_retries, "retries", 0, 7, "timeouts at the base value before it doubles", api);
  MRC_SCENARIO(protocol.exponential_retries, "retries", 0, 25, "doublings before the QP fails; 25: never", api);
  MRC_SCENARIO(protocol.trim_nack, "", 0, 0, "capability TRIM_NACK", spec);
  MRC_SCENARIO(protocol.encapsulation, "", 0, 0, "outer headers of every packet", spec);
  MRC_SCENARIO(protocol.udp_port, "", 1, 65'535, "UDP destination port", spec);
  MRC_SCENARIO(protocol.ev_half_order, "", 0, 0,
               "half of the EV in the UDP source port, the other is in the flow label (sources disagree)", assumption);
  MRC_SCENARIO(protocol.timestamp_in_us, "", 0, 0, "TSETH.tsr: unit of 1 us instead of 128 ns", spec);
  static constexpr std::array<std::string_view, kTrafficRoles> roles{"control",        "trimmable", "no_trim",
                                                                     "trimmable_retx", "trimmed",   "trimmed_lasthop"};
  for (std::size_t i = 0; i < roles.size(); ++i) {
    t.scenario(
        fmt::format("protocol.dscp_{}", roles[i]), [i](ScenarioConfig & c) -> auto& { return c.protocol.dscp[i]; }, "",
        {0, 63}, "DSCP of the packets in this role", assumption);
  }
  MRC_SCENARIO(protocol.ev_count, "EVs", 1, 4'096, "EVs of a profile, active and backup; a multiple of the ports",
               paper);
  MRC_SCENARIO(protocol.ev_active, "EVs", 1, 4'096, "EVs in use at a time; a multiple of the ports", paper);
  MRC_SCENARIO(protocol.ev_min_active, "EVs", 0, 4'096,
               "floor on EVs in use, counted per plane; 0: a quarter of ev_active", api);
  MRC_SCENARIO(protocol.reshuffle_rotations, "rotations", 0, k1M - 1,
               "after so many the order in which EVs are scanned is drawn anew; 0: never", assumption);
  MRC_SCENARIO(protocol.skip_duration, "", 0, 0, "how long a SKIP EV is passed over", assumption);
  t.scenario_ns(
      "protocol.skip_time_ns", [](ScenarioConfig & c) -> auto& { return c.protocol.skip_time_ps; }, {1, 1e9},
      "with skip_duration = fixed_time", assumption);
  MRC_SCENARIO(protocol.assumed_bad_losses, "losses", 1, 8, "untrimmed losses that make an EV ASSUMED_BAD", paper);
  MRC_SCENARIO(protocol.probe_skip_state, "", 0, 0, "state of an EV whose probe came back CE-marked (sources disagree)",
               assumption);
  t.scenario_ns(
      "protocol.probe_interval_ns", [](ScenarioConfig & c) -> auto& { return c.protocol.probe_interval_ps; },
      {100, 1e12}, "between two probes of an ASSUMED_BAD EV", assumption);
  t.scenario_ns(
      "protocol.probe_timeout_ns", [](ScenarioConfig & c) -> auto& { return c.protocol.probe_timeout_ps; }, {100, 1e12},
      "a probe that is not answered by then is lost", assumption);
  MRC_SCENARIO(protocol.probe_successes, "probes", 1, 255, "good replies in a row that make an EV GOOD again",
               assumption);
  MRC_SCENARIO(protocol.always_skip_threshold, "marks", 0, 65'535,
               "CE marks in a row on an EV for ALWAYS_SKIP; 0: never", assumption);
  MRC_SCENARIO(
      protocol.path_feedback, "", 0, 0,
      "adaptive: SACKs, NACKs and losses change EV states; oblivious: all EVs stay GOOD, a spray to compare with",
      assumption);
  MRC_SCENARIO(protocol.path_table_scope, "", 0, 0, "who shares the states of EVs", assumption);
  MRC_SCENARIO(protocol.congestion_scope, "", 0, 0, "who shares a congestion window", spec);
  MRC_SCENARIO(protocol.gap_cwnd_factor, "", 0.01, 100,
               "loss inference: packets overtaken, as a multiple of the window, at most MPR / 2", assumption);
  MRC_SCENARIO(protocol.gap_min_packets, "packets", 1, 32'640, "loss inference: packets overtaken, at least",
               assumption);
  MRC_SCENARIO(protocol.sack_threshold_bytes, "bytes", 0, 1 << 24, "SACK once more than this has arrived", assumption);
  MRC_SCENARIO(protocol.sack_min_add_bytes, "bytes", 1, 65'536, "what a small packet counts towards it", spec);
  MRC_SCENARIO(protocol.out_of_window, "", 0, 0, "answer to a PSN outside the window (the specification says both)",
               assumption);
  MRC_SCENARIO(protocol.penalty_start_share, "", 0, 1, "share of rx_staging above which SACKs ask for a smaller window",
               assumption);
  MRC_SCENARIO(protocol.penalty_full_share, "", 0, 1,
               "share of rx_staging from which on they ask for the smallest; 0: they never ask", assumption);
  MRC_SCENARIO(protocol.rtt_source, "", 0, 0, "what RTT is measured by", spec);
}

void rocev2_parameters(Table& t) {
  MRC_SCENARIO(rocev2.rc.window_packets, "packets", 1, 1 << 22, "sent and not acknowledged, of a QP", assumption);
  MRC_SCENARIO(rocev2.rc.window_bytes, "bytes", 0, k1G, "as well in payload; 0: no such limit", assumption);
  MRC_SCENARIO(rocev2.rc.ack_every_packets, "packets", 1, 65'536, "the responder acknowledges each n-th packet",
               assumption);
  MRC_SCENARIO(rocev2.rc.timeout_exponent, "", 0, 31, "t: local ACK timeout is 4.096 us * 2^t", assumption);
  MRC_SCENARIO(rocev2.rc.retry_count, "retries", 0, 7, "timeouts and sequence errors in a row before the QP fails",
               spec);
  MRC_SCENARIO(rocev2.dcqcn, "", 0, 0, "DCQCN (Zhu et al., SIGCOMM 2015); false: every flow sends at line rate", paper);
  MRC_SCENARIO(rocev2.rate.g, "", 1e-6, 1,
               "DCQCN: weight of a CNP in alpha; SIGCOMM 2015: 1/256 (NVIDIA's default: 5/1,024 each 1 us)", paper);
  const auto us = [&t](const char* name, auto field, std::string_view meaning) {
    t.scenario_ns(name, field, {100, 1e12}, meaning, paper);
  };
  us(
      "rocev2.rate.alpha_period_ns", [](ScenarioConfig & c) -> auto& { return c.rocev2.rate.alpha_period_ps; },
      "DCQCN: alpha decays once in this time without a CNP; SIGCOMM 2015: 55 us (NVIDIA's default: 1 us)");
  us(
      "rocev2.rate.increase_period_ns", [](ScenarioConfig & c) -> auto& { return c.rocev2.rate.increase_period_ps; },
      "DCQCN: period of the rate timer; SIGCOMM 2015: 55 us (NVIDIA's default: 300 us)");
  us(
      "rocev2.rate.cnp_interval_ns", [](ScenarioConfig & c) -> auto& { return c.rocev2.rate.cnp_interval_ps; },
      "DCQCN: at most one CNP a flow in this time; SIGCOMM 2015: 50 us (NVIDIA's default: 4 us)");
  MRC_SCENARIO(rocev2.rate.increase_bytes, "bytes", 1, 1e12,
               "DCQCN: period of the byte counter; SIGCOMM 2015: 10 MB (NVIDIA's default: 32,767 B)", paper);
  MRC_SCENARIO(rocev2.rate.fast_recovery_steps, "steps", 1, 1'000,
               "DCQCN: F, steps of fast recovery; SIGCOMM 2015: 5 (NVIDIA's default: 1)", paper);
  MRC_SCENARIO(rocev2.rate.additive_gbps, "Gb/s", 0, 1'600,
               "DCQCN: additive increase of a step; SIGCOMM 2015: 40 Mb/s (NVIDIA's default: 5 Mb/s)", paper);
  MRC_SCENARIO(rocev2.rate.hyper_gbps, "Gb/s", 0, 1'600,
               "DCQCN: hyper increase of a step; ten times the additive one, as in NVIDIA's defaults", assumption);
  MRC_SCENARIO(rocev2.rate.least_rate_gbps, "Gb/s", 1e-6, 1'600,
               "DCQCN: a flow is never slower (NVIDIA's default: 1 Mb/s)", assumption);
  MRC_SCENARIO(rocev2.ecn_min_bytes, "bytes", 0, k1G,
               "switches mark from here on, the last hop too; 0: 5 KB at 40 Gb/s, by the link's rate", paper);
  MRC_SCENARIO(rocev2.ecn_max_bytes, "bytes", 0, k1G,
               "switches mark all from here on; 0: 200 KB at 40 Gb/s, by the link's rate", paper);
  MRC_SCENARIO(rocev2.ecn_max_probability, "", 0, 1, "share that is marked just below ecn_max_bytes", paper);
  MRC_SCENARIO(rocev2.pfc, "", 0, 0, "switches pause the senders of data instead of dropping it", paper);
  MRC_SCENARIO(rocev2.pfc_xoff_bytes, "bytes", 4'096, k1G,
               "data that came in through one port and waits in the switch, above which that port's sender is paused",
               assumption);
  MRC_SCENARIO(rocev2.pfc_xon_bytes, "bytes", 0, k1G, "below which it may send again", assumption);
}

void congestion_parameters(Table& t) {
  MRC_SCENARIO(cc.algorithm, "", 0, 0, "congestion control", api);
  t.only({"uet-1.0-nscc", "none"});
  const auto ns = [&t](const char* name, auto field, std::string_view meaning, ParameterSource source) {
    t.scenario_ns(name, field, {0, 1e9}, meaning, source);
  };
  ns(
      "cc.base_rtt_ns", [](ScenarioConfig & c) -> auto& { return c.cc.base_rtt_ps; },
      "network round trip without queues", assumption);
  MRC_SCENARIO(cc.disable_quick_adapt, "", 0, 0, "NSCC without quick adapt", api);
  MRC_SCENARIO(cc.adjust_bytes_threshold, "bytes", 0, k1G, "acknowledged bytes between window updates; 0: 8 MTU", api);
  ns(
      "cc.adjust_period_ns", [](ScenarioConfig & c) -> auto& { return c.cc.adjust_period_ps; },
      "time between window updates; 0: base_rtt", api);
  MRC_SCENARIO(cc.eta_bytes, "bytes", 0, k1G, "constant increase a period; 0: 0.15 MTU * BDP / 150 kB", api);
  MRC_SCENARIO(cc.fi_bytes, "bytes", 0, k1G, "fair increase; 0: 5 MTU * BDP / 150 kB", api);
  MRC_SCENARIO(cc.fi_scale, "", 0, 1e6, "fast increase; 0: 0.25 * BDP / 150 kB", api);
  MRC_SCENARIO(cc.gamma, "", 0, 10, "multiplicative decrease", api);
  MRC_SCENARIO(cc.max_md_jump, "", 0, 1, "largest decrease at once, as a share", api);
  MRC_SCENARIO(cc.max_cwnd_bytes, "bytes", 0, 1024 * k1M, "largest window; 0: 1.5 BDP", api);
  MRC_SCENARIO(cc.min_cwnd_bytes, "bytes", 0, k1G, "smallest window; 0: one MTU", assumption);
  MRC_SCENARIO(cc.initial_cwnd_bytes, "bytes", 0, 1024 * k1M, "first window; 0: the largest", assumption);
  MRC_SCENARIO(cc.qa_gate, "", 0, 31, "quick adapt acts when less than max_cwnd / 2^gate was achieved", api);
  ns(
      "cc.qa_threshold_ns", [](ScenarioConfig & c) -> auto& { return c.cc.qa_threshold_ps; },
      "delay that triggers quick adapt; 0: 4 target delays", api);
  ns(
      "cc.target_delay_ns", [](ScenarioConfig & c) -> auto& { return c.cc.target_delay_ps; },
      "queueing delay aimed at; 0: 0.75 base_rtt with trimming, else 1", api);
  MRC_SCENARIO(cc.delay_ewma_weight, "", 1e-6, 1, "weight of a sample in the average delay", assumption);
  MRC_SCENARIO(cc.trim_cuts_cwnd, "", 0, 0, "a TRIMMED NACK takes its packet off the window", assumption);
  MRC_SCENARIO(cc.last_hop_trim_cuts, "", 0, 0, "with trim_cuts_cwnd: TRIMMED_LASTHOP does so too", assumption);
  MRC_SCENARIO(cc.refusal_triggers_quick_adapt, "", 0, 0,
               "quick adapt looks at the window after a NO_BITMAP, NO_PKT_BUFFER, NO_RESOURCE or PSN_OOR_WINDOW NACK",
               assumption);
  MRC_SCENARIO(cc.loss_triggers_quick_adapt, "", 0, 0,
               "so it does after a packet that is taken for lost; else the packet is taken off the window", assumption);
  MRC_SCENARIO(cc.max_cwnd_follows_rtt, "", 0, 0,
               "max_cwnd shrinks with the smallest RTT seen, as in UEC 1.0; false: MRC's API has it in bytes",
               assumption);
}

void fabric_parameters(Table& t) {
  MRC_SCENARIO(fabric.nics, "NICs", 2, 131'072, "NICs, each with a port in every plane", paper);
  MRC_SCENARIO(fabric.nics_per_t0, "NICs", 1, 2'047,
               "NICs below a T0; all below one T0 a plane make a fabric of one tier", paper);
  MRC_SCENARIO(fabric.t0s_per_plane, "switches", 0, 2'047, "T0s a plane; 0: as many as the NICs need", paper);
  MRC_SCENARIO(fabric.t1s_per_plane, "switches", 0, 2'047,
               "T1s a plane, each with a link to every T0 of its pod; 0: as many a pod as NICs below a T0", paper);
  MRC_SCENARIO(fabric.pods, "pods", 1, 256, "more than one: T2s join them (three tiers, fabric.routing = ecmp)", paper);
  MRC_SCENARIO(fabric.t2s_per_plane, "switches", 0, 65'536, "T2s a plane, with pods; 0: no oversubscription",
               assumption);
  MRC_SCENARIO(fabric.routing, "", 0, 0,
               "usid: static SRv6 uSID tables, the EV chooses the T1; ecmp: each switch hashes addresses and EV",
               paper);
  MRC_SCENARIO(fabric.locator_block, "", 0, 4'294'967'295.0, "32-bit locator block of all uSIDs", assumption);
  MRC_SCENARIO(fabric.cable_delay_ns, "ns", 1, 1e6, "propagation of a NIC's cable", assumption);
  MRC_SCENARIO(fabric.switch_latency_ns, "ns", 0, 1e6, "T0: first bit in until first bit out, without waiting",
               calibrated);
  MRC_SCENARIO(fabric.t1_link_gbps, "Gb/s", 0, 1'600, "rate of the links above T0; 0: as nic.port_gbps", paper);
  MRC_SCENARIO(fabric.t1_cable_delay_ns, "ns", 1, 1e6, "propagation of a cable above T0", assumption);
  MRC_SCENARIO(fabric.t1_switch_latency_ns, "ns", 0, 1e6, "T1 and T2: first bit in until first bit out", assumption);
  MRC_SCENARIO(fabric.forwarding, "", 0, 0, "when a switch starts to send", assumption);
  MRC_SCENARIO(
      fabric.scheduling, "", 0, 0,
      "service of a port's queues: control and trimmed, retransmissions, data; strict in this order or weighted",
      assumption);
  MRC_SCENARIO(fabric.control_weight, "", 1, 10'000, "bytes in turn of control and trimmed packets, weighted",
               assumption);
  MRC_SCENARIO(fabric.retransmission_weight, "", 1, 10'000, "of retransmissions", assumption);
  MRC_SCENARIO(fabric.data_weight, "", 1, 10'000, "of other data", assumption);
  MRC_SCENARIO(fabric.queue_bytes, "bytes", 16'384, 1024 * k1M, "queues of a switch's output port together, at most",
               assumption);
  MRC_SCENARIO(fabric.buffer_bytes, "bytes", 65'536, 1024 * k1M, "buffer of a switch that its ports share", assumption);
  MRC_SCENARIO(fabric.buffer_alpha, "", 0.001, 1024,
               "dynamic threshold: a port holds at most this multiple of what is free in the buffer", assumption);
  MRC_SCENARIO(fabric.ecn, "", 0, 0, "switches mark data that waits behind long queues", paper);
  MRC_SCENARIO(fabric.ecn_last_hop, "", 0, 0, "also at the ports to the NICs", paper);
  MRC_SCENARIO(fabric.ecn_min_bytes, "bytes", 0, 1024 * k1M,
               "queue from which on marking begins; 0: 0.2 of the link's rate * cc.base_rtt_ns", assumption);
  MRC_SCENARIO(fabric.ecn_max_bytes, "bytes", 0, 1024 * k1M, "queue from which on all is marked; 0: 0.8 of it",
               assumption);
  MRC_SCENARIO(fabric.ecn_max_probability, "", 0, 1, "share marked just below fabric.ecn_max_bytes", assumption);
  MRC_SCENARIO(fabric.trim, "", 0, 0, "trim data that would be dropped (with protocol.trim_nack)", paper);
  MRC_SCENARIO(fabric.trim_threshold_bytes, "bytes", 0, 1024 * k1M,
               "data queue beyond which packets are trimmed; 0: rate * cc.base_rtt_ns, on the last hop 1.5 times that",
               assumption);
  MRC_SCENARIO(fabric.trim_bytes, "bytes", 74, 256, "frame bytes that trimming keeps, at least up to BTH", assumption);
  MRC_SCENARIO(fabric.loss_rate, "", 0, 1, "probability that a packet is lost on its NIC's link into the fabric",
               assumption);
  MRC_SCENARIO(fabric.trim_rate, "", 0, 1, "probability that a data packet is trimmed there", assumption);
  MRC_SCENARIO(fabric.corrupt_rate, "", 0, 1, "probability that a bit of a packet is inverted there", assumption);
  MRC_SCENARIO(fabric.duplicate_rate, "", 0, 1, "probability that a packet arrives twice", assumption);
  MRC_SCENARIO(fabric.ecn_rate, "", 0, 1, "probability that a data packet is CE-marked there", assumption);
}

#undef MRC_NODE
#undef MRC_SCENARIO
#undef MRC_PIPELINE
#undef MRC_MEMORY

std::vector<Parameter> make_parameters() {
  Table t;
  run_parameters(t);
  traffic_parameters(t);
  accelerator_parameters(t);
  nic_parameters(t);
  memory_parameters(t);
  pcie_parameters(t);
  host_parameters(t);
  protocol_parameters(t);
  congestion_parameters(t);
  rocev2_parameters(t);
  fabric_parameters(t);
  return t.take();
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

std::string number(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

/// A number with KiB, MiB or GiB behind it; false if it is none.
bool parse_bytes(std::string_view text, std::int64_t& bytes) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc()) return false;
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
      {{"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}};
  const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == suffix; });
  if (unit == units.end()) return false;
  return !__builtin_mul_overflow(bytes, unit->second, &bytes);
}

/// As in a scenario file: text stands in quotes.
std::string quoted(const ParameterValue& value) {
  const std::string text = to_string(value);
  return std::holds_alternative<std::string>(value) ? '"' + text + '"' : text;
}

[[noreturn]] void refuse(const Parameter& p, const std::string& given, const std::string& place) {
  throw ParameterError(place, fmt::format("{} = {} is not allowed; allowed: {}", p.name, given, p.allowed()));
}

ParameterValue checked_number(const Parameter& p, double value, const ParameterValue& result,
                              const std::string& place) {
  const bool inside = value >= p.minimum && value <= p.maximum;
  const std::string text = to_string(result);
  const bool listed = p.words.empty() || std::find(p.words.begin(), p.words.end(), text) != p.words.end();
  if (!inside || !listed) refuse(p, text, place);
  return result;
}

ParameterValue checked_word(const Parameter& p, const std::string& word, const std::string& place) {
  if (p.words.empty() || std::find(p.words.begin(), p.words.end(), word) != p.words.end()) return word;
  throw ParameterError(place, fmt::format("{} = \"{}\" is not allowed; allowed: {}; nearest: {}", p.name, word,
                                          p.allowed(), nearest(word, p.words)));
}

}  // namespace

std::string Parameter::allowed() const {
  if (type == ParameterType::boolean) return "true | false";
  if (!words.empty()) return fmt::format("{}{}{}", fmt::join(words, " | "), unit.empty() ? "" : " ", unit);
  if (type == ParameterType::text) return "text";
  return fmt::format("{} … {}{}{}", number(minimum), number(maximum), unit.empty() ? "" : " ", unit);
}

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all = make_parameters();
  return all;
}

const Parameter* find_parameter(std::string_view name) {
  const auto& all = parameters();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Parameter& p) { return p.name == name; });
  return it == all.end() ? nullptr : &*it;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Who stops early or leaves the beginning away means the shortest that goes on so.
  const auto distance = [&](const std::string& candidate) {
    const bool part = word.size() > 1 && (candidate.starts_with(word) || candidate.ends_with(word));
    return std::pair(part ? 0 : 1, part ? candidate.size() : edit_distance(word, candidate));
  };
  const auto it =
      std::min_element(candidates.begin(), candidates.end(),
                       [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  return it == candidates.end() ? std::string() : *it;
}

std::string nearest_parameter(std::string_view name) {
  std::vector<std::string> names;
  for (const Parameter& p : parameters()) names.push_back(p.name);
  return nearest(name, names);
}

ParameterValue checked_value(const Parameter& p, const ParameterValue& value, const std::string& place) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const auto* text = std::get_if<std::string>(&value);
  switch (p.type) {
    case ParameterType::boolean:
      if (std::holds_alternative<bool>(value)) return value;
      break;
    case ParameterType::integer: {
      if (integer != nullptr) return checked_number(p, static_cast<double>(*integer), *integer, place);
      std::int64_t bytes = 0;
      if (text != nullptr && p.unit == "bytes" && parse_bytes(*text, bytes))
        return checked_number(p, static_cast<double>(bytes), bytes, place);
      break;
    }
    case ParameterType::real:
      if (integer != nullptr)
        return checked_number(p, static_cast<double>(*integer), static_cast<double>(*integer), place);
      if (real != nullptr && std::isfinite(*real)) return checked_number(p, *real, *real, place);
      break;
    case ParameterType::word:
    case ParameterType::text:
      if (text != nullptr) return checked_word(p, *text, place);
      break;
  }
  throw ParameterError(place, fmt::format("{} = {} is not of type {}; allowed: {}{}", p.name, quoted(value),
                                          to_string(p.type), p.allowed(),
                                          p.type == ParameterType::integer && p.unit == "bytes"
                                              ? " (as a number, or as text with KiB, MiB, GiB)"
                                              : ""));
}

ParameterValue parse_value(const Parameter& p, std::string_view text, const std::string& place) {
  const auto parsed = [&](auto number_of) -> ParameterValue {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number_of);
    if (error != std::errc() || end != text.data() + text.size()) return std::string(text);
    return number_of;
  };
  switch (p.type) {
    case ParameterType::boolean:
      if (text == "true" || text == "false") return text == "true";
      break;
    case ParameterType::integer:
      return checked_value(p, parsed(std::int64_t{}), place);
    case ParameterType::real:
      return checked_value(p, parsed(double{}), place);
    default:
      break;
  }
  return checked_value(p, std::string(text), place);
}

std::string to_string(const ParameterValue& value) {
  struct Printer {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return number(v); }
    std::string operator()(const std::string& v) const { return v; }
  };
  return std::visit(Printer{}, value);
}

std::string_view to_string(ParameterSource source) {
  static constexpr std::array<std::string_view, 6> names{"spec",     "api",        "paper",
                                                         "measured", "assumption", "calibrated"};
  return names[static_cast<std::size_t>(source)];
}

std::string_view to_string(ParameterType type) {
  static constexpr std::array<std::string_view, 5> names{"boolean", "integer", "real", "word", "text"};
  return names[static_cast<std::size_t>(type)];
}

}  // namespace mrc
