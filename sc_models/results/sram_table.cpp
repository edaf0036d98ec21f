#include "results/sram_table.h"

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "mrc/packet.h"
#include "mrc/rx/psn_tracker.h"

namespace mrc {
namespace {

/// Part of a word.
struct Field {
  std::string_view name;
  std::uint64_t bits = 0;
};

/// Bits that count from 0 to `most`.
std::uint64_t bits_for(std::uint64_t most) {
  return std::max<std::uint64_t>(1, std::bit_width(most));
}

// Widths of header fields (OCP MRC 1.0) and of what this NIC keeps about a packet.
constexpr Field kQp{"QP", 24};
constexpr Field kPsn{"PSN", 24};
constexpr Field kMsn{"MSN", 24};
constexpr Field kVa{"VA", 64};
constexpr Field kRkey{"R_Key", 32};
constexpr Field kDmaLength{"DMA length", 32};
constexpr Field kImmediate{"immediate", 32};
constexpr Field kOpcode{"opcode", 8};
constexpr Field kLength{"payload length", 15};  // up to 16,384 B
constexpr Field kEv{"EV", 32};
constexpr Field kPlane{"plane", 3};
constexpr Field kTime{"time", 32};          // 1 ns units, 4.3 s until it wraps
constexpr std::uint64_t kPointerBits = 24;  // into a payload memory, units of 64 B
constexpr std::uint64_t kControlPacketBytes = 128;

struct Shape {
  std::uint64_t depth = 0;
  std::uint32_t instances = 1;
  std::uint32_t banks = 1;
  MemoryPorts ports = MemoryPorts::one_r_one_w;  ///< of a queue: one in, one out
};

class Table {
 public:
  explicit Table(const NicMemoryConfig& memory) : memory_(memory) {}

  void add(std::string structure, const Shape& shape, const std::vector<Field>& fields) {
    SramResult row;
    row.structure = std::move(structure);
    row.instances = shape.instances;
    row.depth = shape.depth;
    row.banks = shape.banks;
    row.ports = name_of(shape.ports);
    for (const Field& field : fields) {
      if (field.bits == 0) continue;
      row.width_bits += field.bits;
      row.fields += fmt::format("{}{} {}", row.fields.empty() ? "" : " + ", field.name, field.bits);
    }
    const std::uint64_t words = row.depth * row.instances;
    row.bits = words * row.width_bits;
    row.ecc_bits = words * check_bits(row.width_bits);
    estimate_area(row, shape.ports != MemoryPorts::one_rw);
    rows_.push_back(std::move(row));
  }
  void add(std::string structure, std::uint64_t depth, const MemoryConfig& config, const std::vector<Field>& fields,
           std::uint32_t instances = 1) {
    add(std::move(structure), {depth, instances, config.banks, config.ports}, fields);
  }

  std::vector<SramResult> take() { return std::move(rows_); }

 private:
  static std::string name_of(MemoryPorts ports) {
    constexpr std::string_view names[] = {"1rw", "1r1w", "2rw"};
    return std::string(names[static_cast<std::size_t>(ports)]);
  }
  std::uint64_t check_bits(std::uint64_t width) const {
    if (memory_.ecc == EccScheme::none) return 0;
    const std::uint64_t rest = width % memory_.ecc_word_bits;
    const std::uint64_t whole = width / memory_.ecc_word_bits * secded_bits(memory_.ecc_word_bits);
    return whole + (rest == 0 ? 0 : secded_bits(static_cast<std::uint32_t>(rest)));
  }
  void estimate_area(SramResult& row, bool two_ports) const {
    constexpr double um2_per_mm2 = 1e6;
    const auto bits = static_cast<double>(row.bits + row.ecc_bits);
    row.register_file = row.bits / row.instances <= memory_.register_file_bits;
    if (row.register_file) {
      row.area_mm2 = bits * memory_.register_um2_per_bit / um2_per_mm2;
      return;
    }
    const double cell = memory_.bitcell_um2 * (two_ports ? memory_.dual_port_factor : 1.0);
    const double periphery = memory_.bank_overhead_um2 * row.banks * row.instances;
    row.area_mm2 = (bits * cell / memory_.array_efficiency + periphery) / um2_per_mm2;
  }

  const NicMemoryConfig& memory_;
  std::vector<SramResult> rows_;
};

/// A packet between segmenter and wire: header fields, where its payload lies, whose it is.
std::vector<Field> transmit_descriptor(std::initializer_list<Field> more = {}) {
  std::vector<Field> fields{
      kQp, kPsn, kVa, kRkey, kDmaLength, kOpcode, kImmediate, kMsn, kLength, {"host address", 64}, {"flags", 4}};
  fields.insert(fields.end(), more);
  return fields;
}

void transmit(Table& t, const NodeConfig& node, const ProtocolConfig& protocol, const NicScale& scale) {
  const NicConfig& nic = node.nic;
  const std::uint64_t width = nic.datapath_bits;
  const auto words = [&](std::uint64_t bytes) { return (bytes * 8 + width - 1) / width; };
  const std::uint64_t contexts = nic.qp_scheduler.context_cache_entries;
  t.add("doorbell.queue", {.depth = nic.doorbell.queue_entries}, {kQp});
  t.add("qp_scheduler.ready", {.depth = scale.qps}, {kQp});
  t.add("qp_scheduler.context_cache", contexts, nic.memory.qp_context,
        {{"QP context", nic.qp_scheduler.context_bytes * 8ULL}});
  t.add("qp_scheduler.context_tags", {.depth = contexts, .banks = nic.memory.qp_context.banks},
        {kQp, {"LRU links", 2 * bits_for(contexts)}, {"valid, loading", 2}});
  t.add("qp_scheduler.grants", {.depth = 4}, {kQp, {"quantum", 30}});
  t.add("wqe_fetch.requests", {.depth = 16}, {kQp, {"WQEs", 7}});
  t.add("wqe_fetch.prefetch", std::uint64_t{scale.qps} * nic.wqe_fetch.prefetch_depth, nic.memory.wqe_prefetch,
        {{"WQE", nic.wqe_fetch.wqe_bytes * 8ULL}});
  t.add("segmenter.queue", {.depth = nic.segmenter.queue_entries}, transmit_descriptor());
  t.add("payload_fetch.queue", {.depth = nic.payload_fetch.queue_entries},
        transmit_descriptor({{"buffer pointer", kPointerBits}}));
  t.add("pcie.read_tags", {.depth = node.pcie.read_tags},
        {{"buffer pointer", kPointerBits}, {"bytes left", 13}, {"job", bits_for(node.pcie.read_tags)}, {"state", 2}});
  t.add("pcie.completion_buffer", words(node.pcie.completion_buffer_bytes), nic.memory.completion_buffer,
        {{"payload", width}});
  const std::uint64_t tables = protocol.path_table_scope == PathTableScope::qp            ? scale.qps
                               : protocol.path_table_scope == PathTableScope::destination ? scale.destinations
                                                                                          : 1;
  t.add("path_table", tables * protocol.ev_count, nic.memory.path_table,
        {kEv,
         kPlane,
         {"state", 2},
         {"active", 1},
         {"losses", 4},
         {"probe successes", 8},
         {"scan position", bits_for(protocol.ev_count - 1)}});
  t.add("path_table.scan", {.depth = tables * protocol.ev_count, .banks = nic.memory.path_table.banks},
        {{"EV index", bits_for(protocol.ev_count - 1)}, {"eligible", 1}});
  t.add("spray_scheduler.queue", {.depth = nic.spray_scheduler.queue_entries},
        transmit_descriptor({{"buffer pointer", kPointerBits}, kEv, kPlane}));
  t.add("retransmit_buffer.records", nic.retransmit_buffer.entries, nic.memory.retransmit_records,
        {kPsn,
         kQp,
         kTime,
         {"EV index", bits_for(protocol.ev_count - 1)},
         {"nominal length", 15},
         {"WQE index", bits_for(nic.wqe_fetch.prefetch_depth)},
         {"message offset", 32},
         {"order of sending", 24},
         {"transmissions", 8},
         {"timeouts", 5},
         {"state", 2},
         {"cause of loss", 4}});
  if (nic.retransmit_buffer.store == RetransmitStore::payload) {
    t.add("retransmit_buffer.payload", words(nic.retransmit_buffer.bytes), nic.memory.retransmit_payload,
          {{"payload", width}});
  }
  t.add("retransmit_buffer.queue", {.depth = nic.retransmit_buffer.queue_entries},
        transmit_descriptor({{"buffer pointer", kPointerBits}, kEv, kPlane}));
  t.add("srv6_encap.template", {.depth = scale.destinations, .ports = MemoryPorts::one_rw}, {{"uSID carrier", 128}});
  t.add("port.tx_fifo", words(nic.port.tx_fifo_bytes), nic.memory.port_fifo, {{"frame", width}}, nic.ports);
  t.add("port.control_fifo", {.depth = nic.port.control_fifo_entries, .instances = nic.ports},
        {{"control packet", kControlPacketBytes * 8}});
}

void receive(Table& t, const NodeConfig& node, const ProtocolConfig& protocol, const NicScale& scale) {
  const NicConfig& nic = node.nic;
  const std::uint64_t width = nic.datapath_bits;
  Packet full;
  full.payload_bytes = protocol.mtu_bytes;
  full.opcode = Opcode::write_only_imm;
  const std::uint64_t frame_words =
      (std::uint64_t{wire_bytes(full, protocol.encapsulation) - kEthernetOverheadBytes} * 8 + width - 1) / width;
  // Payload stays here until rx_staging takes it, or the packet is refused.
  const std::uint64_t packets = nic.parser.queue_entries + nic.psn_tracker.queue_entries;
  t.add("parser.packet_buffer", packets * frame_words, nic.memory.packet_buffer, {{"frame", width}});
  t.add("parser.queue", {.depth = nic.parser.queue_entries},
        {{"buffer pointer", kPointerBits}, {"length", 15}, kPlane});
  const std::vector<Field> header{kQp,
                                  kPsn,
                                  kVa,
                                  kRkey,
                                  kDmaLength,
                                  kOpcode,
                                  kImmediate,
                                  kMsn,
                                  kEv,
                                  kLength,
                                  kPlane,
                                  {"timestamp", 16},
                                  {"ECN, trimmed, AckReq", 4},
                                  {"buffer pointer", kPointerBits}};
  t.add("psn_tracker.queue", {.depth = nic.psn_tracker.queue_entries}, header);
  t.add("psn_tracker.bitmap", nic.psn_tracker.bitmap_banks, nic.memory.bitmap, {{"received", PsnTracker::kBankPsns}});
  t.add("psn_tracker.message_ends", nic.psn_tracker.bitmap_banks, nic.memory.bitmap,
        {{"ends a message", PsnTracker::kBankPsns}});
  t.add("psn_tracker.bank_map", std::uint64_t{scale.qps} * std::bit_ceil(protocol.mpr_units + 1), nic.memory.bitmap,
        {{"bank", bits_for(nic.psn_tracker.bitmap_banks - 1)}, {"held", 1}});
  t.add("psn_tracker.free_banks", {.depth = nic.psn_tracker.bitmap_banks},
        {{"bank", bits_for(nic.psn_tracker.bitmap_banks - 1)}});
  t.add("rx_staging", (nic.rx_staging.bytes * 8 + width - 1) / width, nic.memory.rx_staging, {{"payload", width}});
  t.add("dma_write.queue", {.depth = nic.dma_write.queue_entries},
        {kQp, kVa, kLength, {"messages closed", 8}, {"staging pointer", kPointerBits}});
}

void control(Table& t, const NodeConfig& node, const ProtocolConfig& protocol, const NicScale& scale) {
  const NicConfig& nic = node.nic;
  const CompletionConfig& completion = nic.completion;
  const std::vector<Field> answer{kQp, kPsn, kEv, {"timestamp", 16}, {"kind, reason, marks", 12}};
  t.add("ack_coalescer.queue", {.depth = nic.ack_coalescer.queue_entries}, answer);
  t.add("ack_coalescer.transport_acks", {.depth = nic.ack_coalescer.queue_entries}, {kQp, kMsn});
  t.add("control_queue", {.depth = nic.control_queue.entries}, {{"control packet", kControlPacketBytes * 8}, kQp});
  t.add("control_queue.reverse_paths", {.depth = scale.qps, .ports = MemoryPorts::one_rw},
        {{"EV a plane", 32ULL * nic.ports}, {"turn", 3}});
  t.add("sack_processor.queue", {.depth = nic.sack_processor.queue_entries},
        {kQp,
         {"cumulative PSN", 24},
         {"SACK offset", 16},
         {"bitmap", 64},
         {"triggering PSN", 16},
         kEv,
         {"timestamp", 16},
         {"received bytes", 24},
         {"out of order", 15},
         {"penalty", 7},
         {"MPR", 8},
         {"marks", 4}});
  const std::uint64_t windows = protocol.congestion_scope == CongestionScope::qp ? scale.qps : scale.destinations;
  t.add("congestion.state", windows, nic.memory.congestion,
        {{"window", 32},
         {"in flight", 32},
         {"saved window", 32},
         {"base RTT", 24},
         {"average delay", 24},
         {"increase", 32},
         {"achieved", 32},
         {"received", 32},
         {"undelayed", 32},
         {"ignored", 32},
         {"quick adapt end", 32},
         {"last decrease", 32},
         {"last fulfil", 32},
         {"flags, last cut", 8}});
  t.add("retransmit_timer", {.depth = scale.qps, .banks = 2},
        {{"deadline", 32}, {"timeouts", 5}, {"retries", 5}, {"armed", 1}});
  t.add("probe_engine.outstanding", {.depth = nic.probe_engine.outstanding_probes},
        {kQp, {"deadline", 32}, kEv, {"EV index", bits_for(protocol.ev_count - 1)}, kPlane, {"state", 2}});
  t.add("probe_engine.turns", {.depth = scale.qps}, {{"next probe", 32}, {"turn", bits_for(protocol.ev_count - 1)}});
  t.add("completion.queue", completion.queue_entries, nic.memory.completion_queue,
        {kQp, {"WQE id", 64}, kImmediate, {"kind, status", 4}});
  if (completion.moderation_count > 1) {
    t.add("completion.moderation", {.depth = completion.moderation_count},
          {{"CQE", completion.cqe_bytes * 8ULL}, {"deadline", 32}});
  }
}

}  // namespace

std::uint32_t secded_bits(std::uint32_t data_bits) {
  std::uint32_t hamming = 1;
  while ((1ULL << hamming) < std::uint64_t{data_bits} + hamming + 1) ++hamming;
  return hamming + 1;
}

std::vector<SramResult> sram_table(const NodeConfig& node, const ProtocolConfig& protocol, const NicScale& scale) {
  Table t(node.nic.memory);
  transmit(t, node, protocol, scale);
  receive(t, node, protocol, scale);
  control(t, node, protocol, scale);
  return t.take();
}

}  // namespace mrc
