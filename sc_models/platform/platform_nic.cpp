#include "platform/platform_nic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "parameters/transport.h"
#include "pcie/pcie_latency.h"
#include "platform/queue_entries.h"

namespace mrc {
namespace {

constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint32_t kQpWords = 16;
constexpr std::uint32_t kLargestSqLog2 = 16;
constexpr std::uint32_t kMostQps = 16'384;
constexpr NodeId kNobody = ~NodeId{0};
/// Packets between the wire and the receiver's bitmap at one instant, with room.
constexpr std::uint32_t kPacketsBehindTheBitmap = 256;

std::uint32_t half(std::uint64_t value, bool upper) {
  return static_cast<std::uint32_t>(upper ? value >> 32 : value);
}

void require(bool ok, const std::string& why) {
  if (!ok) throw std::invalid_argument("PlatformNic: " + why);
}

PlatformOptions checked(const PlatformOptions& options) {
  require(options.qps >= 1 && options.qps <= kMostQps, fmt::format("qps = {}; 1 … {}", options.qps, kMostQps));
  require(options.memory_regions >= 1 && options.memory_regions <= kMostMemoryRegions,
          fmt::format("memory_regions = {}; 1 … {}", options.memory_regions, kMostMemoryRegions));
  const std::uint32_t entries = options.completion_queue_entries;
  require(std::has_single_bit(entries) && entries >= 2 && entries <= 65'536,
          fmt::format("completion_queue_entries = {}; a power of two, 2 … 65536", entries));
  return options;
}

std::uint32_t packets_to_keep(const ScenarioConfig& scenario) {
  std::uint32_t staged = scenario.node_default.nic.dma_write.queue_entries;
  for (const auto& [id, node] : scenario.node_override) staged = std::max(staged, node.nic.dma_write.queue_entries);
  return scenario.protocol.mpr_units * kMprUnitPsns + staged + kPacketsBehindTheBitmap;
}

ScenarioOverrides without_trace(ScenarioOverrides overrides) {
  overrides.assignments.push_back("traffic.trace=none");
  return overrides;
}

}  // namespace

ScenarioConfig load_platform_scenario(const std::string& path, const ScenarioOverrides& overrides) {
  return load_scenario(path, without_trace(overrides));
}

ScenarioConfig default_platform_scenario(const std::vector<std::string>& assignments) {
  return make_scenario(without_trace({assignments, std::nullopt}));
}

PlatformNic::PlatformNic(const sc_core::sc_module_name& name, const ScenarioConfig& scenario, NodeId node,
                         Fabric& fabric, const PlatformOptions& options)
    : sc_module(name),
      csr_socket("csr_socket"),
      dma_socket("dma_socket"),
      scenario_(scenario),
      options_(checked(options)),
      topology_(fabric.topology()),
      quantum_ps_(Fabric::quantum_ps(scenario)),
      mmio_ps_(std::max(ps_from_ns(scenario.node(node).host.doorbell_ns), quantum_ps_)),
      wheel_("wheel", scenario.run.kernel, quantum_ps_),
      context_(node, scenario),
      transport_(make_node_transport(context_)),
      no_memory_(PayloadMode::reference, KeyedRandom(scenario.seed, "none")),
      mmio_("mmio", wheel_, *this),
      dma_("dma", dma_socket, *this, options.dma),
      completions_(kUnlisted, "host.completion_queue", options.completion_queue_entries),
      payload_(options.qps, packets_to_keep(scenario), scenario.protocol.mtu_bytes),
      pages_(options.qps),
      written_(kQpBlock / kWordBytes + options.qps * kQpWords),
      effective_(written_.size()),
      region_rkey_(options.memory_regions),
      region_valid_(options.memory_regions) {
  const NodeConfig& config = context_.config;
  require(transport_of(scenario).has_detailed_nic,
          fmt::format("transport = \"{}\"; a platform's NIC has boxes, and this transport has none",
                      scenario.node_default.transport));
  require(
      !scenario.protocol.encryption.on(),
      "protocol.encryption.framing: the QPs of a platform's NIC are connected while it runs and have no keys; allowed "
      "is none");
  require(node < scenario.fabric.nics, fmt::format("node {}; the fabric has {}", node, scenario.fabric.nics));
  require(config.nic.wqe_fetch.wqe_bytes >= kLeastWqeBytes,
          fmt::format("nic.wqe_fetch.wqe_bytes = {}; at least {}", config.nic.wqe_fetch.wqe_bytes, kLeastWqeBytes));
  require(config.nic.completion.cqe_bytes >= kLeastCqeBytes,
          fmt::format("nic.completion.cqe_bytes = {}; at least {}", config.nic.completion.cqe_bytes, kLeastCqeBytes));
  require(
      ps_from_ns(shortest_read_ns(config.pcie)) >= quantum_ps_,
      fmt::format("pcie.read_latency_mean_ns = {} with read_latency_p99_ns = {} draws reads of {:.0f} ns, shorter than "
                  "the quantum of {} ns by which the NIC runs ahead (run.quantum_ns)",
                  config.pcie.read_latency_mean_ns, config.pcie.read_latency_p99_ns, shortest_read_ns(config.pcie),
                  static_cast<double>(quantum_ps_) / 1000.0));
  csr_socket.register_b_transport(this, &PlatformNic::b_transport);
  csr_socket.register_transport_dbg(this, &PlatformNic::transport_dbg);
  wqe_buffers_.resize(std::size_t{options_.qps} * config.nic.wqe_fetch.batch * config.nic.wqe_fetch.wqe_bytes);
  transport_->reserve(options_.qps);
  for (std::uint32_t i = 0; i < options_.qps; ++i) transport_->add_qp().peer = kNobody;
  context_.host_port = this;
  nic_ = std::make_unique<Nic>("nic", wheel_, context_, no_memory_, fabric.links_of(node), NicRtl());
  nic_->pcie().connect(*this, quantum_ps_);
  nic_->completion().connect(completions_);
  completions_.connect(&mmio_);
}

PlatformNic::~PlatformNic() = default;

std::vector<std::string> PlatformNic::describe_waits() const {
  std::vector<std::string> lines;
  const TimePs now = sc_core::sc_time_stamp().value();
  for (const Qp& qp : context_.qps) {
    if (!qp.sender || qp.sender->messages_pending() == 0) continue;
    lines.push_back(
        fmt::format("{} QP {} to nic{} waits for {}", name(), qp.number, qp.peer, qp.sender->describe_wait(now)));
  }
  return lines;
}

// ---- registers

PlatformNic::Address PlatformNic::find(std::uint64_t offset) const {
  if (offset >= register_bytes()) return {};
  const auto at = static_cast<std::uint32_t>(offset);
  if (at < kMemoryRegionBlock) return {find_register(RegisterBlock::global, at), 0};
  if (at >= kQpBlock) {
    return {find_register(RegisterBlock::qp, (at - kQpBlock) % kQpStride), (at - kQpBlock) / kQpStride};
  }
  const std::uint32_t index = (at - kMemoryRegionBlock) / kMemoryRegionStride;
  if (index >= options_.memory_regions) return {};
  return {find_register(RegisterBlock::memory_region, (at - kMemoryRegionBlock) % kMemoryRegionStride), index};
}

std::uint32_t* PlatformNic::stored(std::vector<std::uint32_t>& bank, std::uint32_t offset) {
  if (offset < kQpBlock) return &bank[offset / kWordBytes];
  const std::uint32_t qp = (offset - kQpBlock) / kQpStride;
  return &bank[kQpBlock / kWordBytes + qp * kQpWords + (offset - kQpBlock) % kQpStride / kWordBytes];
}

std::uint32_t PlatformNic::effective(std::uint32_t offset) const {
  auto* self = const_cast<PlatformNic*>(this);
  return *self->stored(self->effective_, offset);
}

std::uint64_t PlatformNic::effective64(std::uint32_t offset) const {
  return effective(offset) | std::uint64_t{effective(offset + kWordBytes)} << 32;
}

std::uint32_t PlatformNic::global_value(std::uint32_t offset) const {
  const NodeConfig& config = context_.config;
  const NodeCounters& nic = context_.counters;
  if (offset >= reg::data_packets_lo) {
    const std::array<std::uint64_t, 12> counters{
        nic.data_packets,    nic.data_payload_bytes, nic.retransmitted,      nic.delivered,
        nic.delivered_bytes, nic.duplicates,         nic.corrupted_received, nic.trimmed_received,
        nic.sacks_sent,      nic.nacks_sent,         dma_.counters().reads,  dma_.counters().writes};
    const std::uint32_t word = (offset - reg::data_packets_lo) / kWordBytes;
    return half(counters[word / 2], word % 2 == 1);
  }
  switch (offset) {
    case reg::device_id:
      return kDeviceId;
    case reg::version:
      return kRegisterMapVersion;
    case reg::node_id:
      return context_.node;
    case reg::qp_count:
      return options_.qps;
    case reg::memory_region_count:
      return options_.memory_regions;
    case reg::port_count:
      return config.nic.ports;
    case reg::port_gbps:
      return static_cast<std::uint32_t>(config.nic.port_gbps);
    case reg::mtu_bytes:
      return scenario_.protocol.mtu_bytes;
    case reg::wqe_bytes:
      return config.nic.wqe_fetch.wqe_bytes;
    case reg::cqe_bytes:
      return config.nic.completion.cqe_bytes;
    case reg::cq_entries:
      return options_.completion_queue_entries;
    case reg::receive_queue_depth:
      return scenario_.protocol.receive_queue_depth;
    case reg::status: {
      const bool failed = std::any_of(context_.qps.begin(), context_.qps.end(),
                                      [](const Qp& qp) { return qp.sender && qp.sender->state() == QpState::error; });
      return (error_status_ != 0 ? 1U : 0U) | (completions_.full() ? 2U : 0U) | (failed ? 4U : 0U);
    }
    case reg::error_status:
      return error_status_;
    case reg::error_qp:
      return error_qp_;
    case reg::error_address_lo:
      return half(error_address_, false);
    case reg::error_address_hi:
      return half(error_address_, true);
    case reg::error_count:
      return error_count_;
    case reg::cq_head:
      return cq_visible_;
    default:
      return 0;
  }
}

std::uint32_t PlatformNic::qp_value(std::uint32_t offset, const Address& address) const {
  const Qp& qp = context_.qps[address.index];
  switch (offset) {
    case reg::qp::state:
      return static_cast<std::uint32_t>(qp.sender ? qp.sender->state() : QpState::reset);
    case reg::qp::sq_head:
      return pages_[address.index].taken;
    case reg::qp::receives_posted:
      return qp.receiver ? qp.receiver->receives_posted() : 0;
    case reg::qp::number:
      return qp.number;
    default:
      return 0;
  }
}

std::uint32_t PlatformNic::value_of(std::uint32_t offset, const Address& address) const {
  if (address.info->access == RegisterAccess::rw) {
    auto* self = const_cast<PlatformNic*>(this);
    return *self->stored(self->written_, offset);
  }
  return address.info->block == RegisterBlock::qp ? qp_value(address.info->offset, address) : global_value(offset);
}

// ---- csr_socket

tlm::tlm_response_status PlatformNic::check(const tlm::tlm_generic_payload& payload) const {
  const std::uint64_t first = payload.get_address();
  const std::uint32_t bytes = payload.get_data_length();
  if (first >= register_bytes()) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const bool words = (bytes == kWordBytes || bytes == 2 * kWordBytes) && first % bytes == 0;
  if (!words || payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  for (std::uint32_t i = 0; i < bytes; i += kWordBytes) {
    const Address address = find(first + i);
    if (address.info == nullptr) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const RegisterAccess access = address.info->access;
    if (payload.is_read() && access == RegisterAccess::wo) return tlm::TLM_COMMAND_ERROR_RESPONSE;
    if (payload.is_write() && access == RegisterAccess::ro) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  }
  return tlm::TLM_OK_RESPONSE;
}

void PlatformNic::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  payload.set_dmi_allowed(false);
  const tlm::tlm_response_status status = check(payload);
  payload.set_response_status(status);
  if (status != tlm::TLM_OK_RESPONSE || payload.get_command() == tlm::TLM_IGNORE_COMMAND) return;
  const auto first = static_cast<std::uint32_t>(payload.get_address());
  if (payload.is_write()) {
    // Posted: the initiator goes on at once, the NIC sees it when it has come there.
    last_mmio_ = std::max<TimePs>(last_mmio_, (sc_core::sc_time_stamp() + delay).value() + mmio_ps_);
    for (std::uint32_t i = 0; i < payload.get_data_length(); i += kWordBytes) {
      std::uint32_t value = 0;
      std::memcpy(&value, payload.get_data_ptr() + i, kWordBytes);
      *stored(written_, first + i) = value;
      mmio_.add(last_mmio_, MmioAction::Kind::register_write, first + i, value);
    }
    return;
  }
  // A read goes there behind earlier writes, looks, and comes back. One delta cycle later the wheel has run.
  sc_core::wait(delay + mmio_latency());
  sc_core::wait(sc_core::SC_ZERO_TIME);
  delay = mmio_latency();
  for (std::uint32_t i = 0; i < payload.get_data_length(); i += kWordBytes) {
    const std::uint32_t value = value_of(first + i, find(first + i));
    std::memcpy(payload.get_data_ptr() + i, &value, kWordBytes);
  }
}

unsigned int PlatformNic::transport_dbg(tlm::tlm_generic_payload& payload) {
  // A debug write would need time to take effect, so there is none.
  if (!payload.is_read()) return 0;
  for (unsigned int i = 0; i < payload.get_data_length(); ++i) {
    const std::uint64_t at = payload.get_address() + i;
    const Address address = find(at / kWordBytes * kWordBytes);
    if (address.info == nullptr) return i;
    const bool hidden = address.info->access == RegisterAccess::wo;
    const std::uint32_t value =
        hidden ? 0 : value_of(static_cast<std::uint32_t>(at / kWordBytes * kWordBytes), address);
    payload.get_data_ptr()[i] = static_cast<unsigned char>(value >> 8 * (at % kWordBytes));
  }
  return payload.get_data_length();
}

// ---- what writes do, on the NIC's wheel

bool PlatformNic::apply(TimePs now, const MmioAction& action, Box& box) {
  switch (action.kind) {
    case MmioAction::Kind::register_write:
      return write_register(now, action.where, action.value, box);
    case MmioAction::Kind::completion_visible:
      context_.tx_work.end(now);
      return true;
    case MmioAction::Kind::qp_failed:
      nic_->sack_processor().responder_failed(now, context_.qps[action.where]);
      return true;
  }
  return true;
}

bool PlatformNic::write_register(TimePs now, std::uint32_t offset, std::uint32_t value, Box& box) {
  const Address address = find(offset);
  const std::uint32_t in_block = address.info->offset;
  if (address.info->block == RegisterBlock::qp && in_block == reg::qp::sq_doorbell) {
    return ring(now, address.index, value, box);
  }
  *stored(effective_, offset) = value;
  if (address.info->block == RegisterBlock::memory_region) {
    if (in_block == reg::region::control) set_region(address.index, value);
    return true;
  }
  if (address.info->block == RegisterBlock::qp) {
    if (in_block == reg::qp::control) command_qp(now, address.index, value);
    if (in_block != reg::qp::receive_doorbell) return true;
    Qp& qp = context_.qps[address.index];
    if (!qp.receiver) {
      error(DeviceError::doorbell_not_connected, address.index, 0);
    } else if (!qp.receiver->post_receive(value)) {
      error(DeviceError::receives, address.index, 0);
    }
    return true;
  }
  if (in_block == reg::cq_tail) take_completions(now, value);
  if (in_block == reg::cq_arm) arm_interrupt(now, value);
  if (in_block == reg::error_status) error_status_ &= ~value;
  return true;
}

void PlatformNic::command_qp(TimePs now, std::uint32_t index, std::uint32_t command) {
  Qp& qp = context_.qps[index];
  if (command == kQpConnect && !qp.sender) {
    connect_qp(index);
  } else if (command == kQpToError && qp.sender) {
    nic_->sack_processor().responder_failed(now, qp);
  } else {
    error(DeviceError::bad_command, index, 0);
  }
}

void PlatformNic::connect_qp(std::uint32_t index) {
  const auto value = [&](std::uint32_t offset) { return effective(qp_register(index, offset)); };
  const std::uint32_t log2 = value(reg::qp::sq_log2);
  const std::uint32_t peer = value(reg::qp::peer_node);
  const std::uint32_t psns = value(reg::qp::send_psn) | value(reg::qp::receive_psn);
  if (log2 > kLargestSqLog2 || peer >= scenario_.fabric.nics || psns > kPsnMask) {
    error(DeviceError::bad_command, index, 0);
    return;
  }
  pages_[index] = {.sq_base = effective64(qp_register(index, reg::qp::sq_base_lo)), .sq_mask = (1U << log2) - 1};
  Qp& qp = context_.qps[index];
  qp.peer = peer;
  qp.peer_number = value(reg::qp::peer_qp);
  qp.route = topology_.route(context_.node, peer);
  const KeyedRandom random(scenario_.seed, fmt::format("nic{}.qp{}.reverse_paths", context_.node, qp.number));
  qp.reverse_paths =
      std::make_unique<ReversePaths>(context_.config.nic.ports, random, scenario_.protocol.ev_layout, qp.route.uplinks);
  transport_->add_requestor(qp, value(reg::qp::send_psn));
  transport_->add_responder(qp, value(reg::qp::receive_psn));
}

bool PlatformNic::ring(TimePs now, std::uint32_t index, std::uint32_t posted, Box& box) {
  Qp& qp = context_.qps[index];
  QpPage& page = pages_[index];
  if (!qp.sender) {
    error(DeviceError::doorbell_not_connected, index, 0);
    return true;
  }
  if (posted - page.taken > page.sq_mask + 1) {
    error(DeviceError::doorbell_overrun, index, 0);
    return true;
  }
  if (nic_->doorbell().queue().full()) {
    nic_->doorbell().queue().wait_room(now, box);
    return false;
  }
  for (; page.posted != posted; ++page.posted) {
    qp.send_queue.post({});  // its content is in the platform's memory
    context_.tx_work.begin(now);
  }
  nic_->open_account(now);
  nic_->doorbell().queue().push(now, index, now);
  return true;
}

void PlatformNic::set_region(std::uint32_t index, std::uint32_t control) {
  if (region_valid_[index]) context_.protection.remove(region_rkey_[index]);
  region_valid_[index] = (control & 1) != 0;
  if (!region_valid_[index]) return;
  region_rkey_[index] = effective(region_register(index, reg::region::rkey));
  context_.protection.add({.va = effective64(region_register(index, reg::region::va_lo)),
                           .bytes = effective64(region_register(index, reg::region::bytes_lo)),
                           .rkey = region_rkey_[index],
                           .domain = NodeTransport::kDomain,
                           .remote_write = (control & 2) != 0});
}

void PlatformNic::take_completions(TimePs now, std::uint32_t tail) {
  if (tail - cq_taken_ > cq_visible_ - cq_taken_) {
    error(DeviceError::cq_tail, 0xFFFF'FFFF, tail);
    return;
  }
  for (; cq_taken_ != tail; ++cq_taken_) completions_.pop(now);
}

void PlatformNic::arm_interrupt(TimePs now, std::uint32_t seen) {
  interrupt_seen_ = seen;
  interrupt_armed_ = cq_written_ == seen;
  if (!interrupt_armed_) interrupt(now + ps_from_ns(context_.config.pcie.write_latency_ns));
}

void PlatformNic::interrupt(TimePs at) {
  if ((effective(reg::msi_control) & 1) == 0) return;
  const std::uint32_t data = effective(reg::msi_data);
  std::array<std::byte, kWordBytes> bytes{};
  std::memcpy(bytes.data(), &data, kWordBytes);
  dma_.write(at, effective64(reg::msi_address_lo), bytes.data(), kWordBytes, DmaEngine::WriteKind::interrupt);
}

void PlatformNic::error(DeviceError error, std::uint32_t qp, std::uint64_t address) {
  if (error_status_ == 0) {
    error_qp_ = qp;
    error_address_ = address;
  }
  error_status_ |= 1U << static_cast<unsigned>(error);
  ++error_count_;
}

// ---- HostPort: what the boxes want of the host

void PlatformNic::read(TimePs at, const HostRead& request) {
  dma_.read(at, request);
}

void PlatformNic::write(TimePs at, std::uint64_t address, const std::byte* source, std::uint32_t bytes) {
  dma_.write(at, address, source, bytes, DmaEngine::WriteKind::payload);
}

std::byte* PlatformNic::payload_buffer(std::uint32_t qp, std::uint32_t psn) {
  return payload_.place(qp, psn);
}

bool PlatformNic::poisoned(const std::byte* payload) const {
  return payload_.poisoned(payload);
}

std::uint64_t PlatformNic::wqe_address(std::uint32_t qp) const {
  const QpPage& page = pages_[qp];
  return page.sq_base + std::uint64_t{page.taken & page.sq_mask} * context_.config.nic.wqe_fetch.wqe_bytes;
}

std::uint32_t PlatformNic::wqes_in_a_row(std::uint32_t qp) const {
  const QpPage& page = pages_[qp];
  return page.sq_mask + 1 - (page.taken & page.sq_mask);
}

std::byte* PlatformNic::wqe_buffer(std::uint32_t qp) {
  const WqeFetchConfig& config = context_.config.nic.wqe_fetch;
  return wqe_buffers_.data() + std::size_t{qp} * config.batch * config.wqe_bytes;
}

bool PlatformNic::take_wqes(Qp& qp) {
  const std::uint32_t index = context_.index_of(qp);
  QpPage& page = pages_[index];
  const std::uint32_t wqe_bytes = context_.config.nic.wqe_fetch.wqe_bytes;
  bool valid = true;
  for (std::uint32_t i = 0; i < qp.wqes_in_fetch; ++i, ++page.taken) {
    WorkRequest& request = qp.send_queue.waiting_at(i);
    if (!page.wqes_refused && decode_wqe(wqe_buffer(index) + std::size_t{i} * wqe_bytes, request)) continue;
    if (!page.wqes_refused) error(DeviceError::bad_wqe, index, wqe_address(index));
    request.bytes = 1;  // it is flushed, and nothing is sent
    valid = false;
  }
  page.wqes_refused = false;
  return valid;
}

std::uint64_t PlatformNic::context_address(std::uint32_t qp) const {
  return effective64(reg::context_base_lo) + std::uint64_t{qp} * context_.config.nic.qp_scheduler.context_bytes;
}

std::uint64_t PlatformNic::cqe_address() const {
  const std::uint32_t entry = cq_written_ & (options_.completion_queue_entries - 1);
  return effective64(reg::cq_base_lo) + std::uint64_t{entry} * context_.config.nic.completion.cqe_bytes;
}

void PlatformNic::complete(TimePs at, const Cqe& cqe) {
  std::vector<std::byte> bytes(context_.config.nic.completion.cqe_bytes);
  const bool receive = cqe.kind == Cqe::Kind::receive;
  encode_cqe({.id = cqe.id,
              .qp = context_.qps[cqe.qp].number,
              .immediate = cqe.immediate,
              .status = cqe.status,
              .receive = receive,
              .phase = cqe_phase(cq_written_, options_.completion_queue_entries)},
             bytes.data());
  dma_.write(at, cqe_address(), bytes.data(), static_cast<std::uint32_t>(bytes.size()),
             DmaEngine::WriteKind::completion);
  ++cq_written_;
  if (!receive) mmio_.add(at, MmioAction::Kind::completion_visible, 0, 0);
  if (!interrupt_armed_ || cq_written_ == interrupt_seen_) return;
  interrupt_armed_ = false;
  interrupt(at);
}

// ---- DmaListener: what the platform answered

std::uint32_t PlatformNic::qp_of_read(const HostRead& request) {
  const NicConfig& config = context_.config.nic;
  if (request.into == nullptr) {
    const std::uint64_t context = request.address - effective64(reg::context_base_lo);
    return static_cast<std::uint32_t>(context / config.qp_scheduler.context_bytes);
  }
  const std::byte* wqes = wqe_buffers_.data();
  if (request.into >= wqes && request.into < wqes + wqe_buffers_.size()) {
    const auto at = static_cast<std::size_t>(request.into - wqes);
    const auto qp = static_cast<std::uint32_t>(at / (config.wqe_fetch.batch * config.wqe_fetch.wqe_bytes));
    pages_[qp].wqes_refused = true;
    return qp;
  }
  const std::uint32_t qp = *payload_.owner(request.into);
  payload_.poison(qp, request.into);
  return qp;
}

void PlatformNic::read_ended(const HostRead& request, TimePs at, bool ok) {
  if (!ok) {
    const std::uint32_t qp = qp_of_read(request);
    error(DeviceError::dma_read, qp, request.address);
    mmio_.add(at + request.return_ps, MmioAction::Kind::qp_failed, qp, 0);
  }
  nic_->pcie().host_answered(request, at);
}

void PlatformNic::write_ended(const DmaTransaction& write, TimePs, bool ok) {
  // A posted write has no answer on the bus: the error is told, and no QP can be named.
  if (!ok) error(DeviceError::dma_write, 0xFFFF'FFFF, write.get_address());
  if (write.completion) ++cq_visible_;
}

}  // namespace mrc
