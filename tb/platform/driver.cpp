#ifndef SC_INCLUDE_DYNAMIC_PROCESSES
#define SC_INCLUDE_DYNAMIC_PROCESSES
#endif
#include "driver.h"

#include <algorithm>

#include <fmt/format.h>

#include "platform/register_map.h"

namespace platform {
namespace {

// Where things lie in a node's memory.
constexpr std::uint64_t kCompletionQueue = 0x1'0000;
constexpr std::uint64_t kContexts = 0x10'0000;
constexpr std::uint64_t kSendQueues = 0x20'0000;
constexpr std::uint64_t kSendQueueStride = 0x1'0000;
constexpr std::uint64_t kSource = 0x100'0000;
constexpr std::uint64_t kDestination = 0x200'0000;
constexpr std::uint32_t kSendQueueLog2 = 4;
/// Source and destination lie at different offsets of a page, and neither is aligned.
constexpr std::uint64_t kSourceOffset = 3;
constexpr std::uint64_t kDestinationOffset = 61;
constexpr std::uint32_t kReceives = 64;

std::uint32_t rkey_of(std::uint32_t node) {
  return 0xC0DE'0000 + node;
}

std::uint32_t psn_of(std::uint32_t from, std::uint32_t qp) {
  return (0xFFFF00 + from * 4096 + qp * 16) & 0xFFFFFF;
}

/// Byte `i` of a message: every message differs, so that old content cannot pass.
unsigned char pattern(std::uint32_t from, std::uint32_t message, std::uint32_t i) {
  std::uint64_t x = (std::uint64_t{from} << 56) ^ (std::uint64_t{message} << 32) ^ (i / 8);
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
  return static_cast<unsigned char>((x ^ (x >> 31)) >> 8 * (i % 8));
}

}  // namespace

Driver::Driver(const sc_core::sc_module_name& name, std::uint32_t node, std::uint32_t peer, const Plan& plan,
               const sc_core::sc_event& interrupt)
    : sc_module(name),
      registers("registers"),
      memory("memory"),
      node_(node),
      peer_(peer),
      plan_(plan),
      interrupt_(interrupt),
      posted_(plan.qps) {
  sc_core::sc_spawn([this] { run(); }, "run");
}

void Driver::access(tlm_utils::simple_initiator_socket<Driver>& socket, tlm::tlm_command command, std::uint64_t address,
                    void* data, std::uint32_t length) {
  tlm::tlm_generic_payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(length);
  payload.set_streaming_width(length);
  sc_core::sc_time delay;
  socket->b_transport(payload, delay);
  if (payload.is_response_error()) {
    SC_REPORT_FATAL(name(), fmt::format("access at {:#x}: {}", address, payload.get_response_string()).c_str());
  }
  if (delay > sc_core::SC_ZERO_TIME) sc_core::wait(delay);
}

void Driver::write_register(std::uint32_t offset, std::uint32_t value) {
  access(registers, tlm::TLM_WRITE_COMMAND, offset, &value, sizeof value);
}

void Driver::write_register64(std::uint32_t offset, std::uint64_t value) {
  write_register(offset, static_cast<std::uint32_t>(value));
  write_register(offset + 4, static_cast<std::uint32_t>(value >> 32));
}

std::uint32_t Driver::read_register(std::uint32_t offset) {
  std::uint32_t value = 0;
  access(registers, tlm::TLM_READ_COMMAND, offset, &value, sizeof value);
  return value;
}

std::uint64_t Driver::register_value64(std::uint32_t offset) {
  std::uint64_t value = 0;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(offset);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
  payload.set_data_length(sizeof value);
  payload.set_streaming_width(sizeof value);
  registers->transport_dbg(payload);
  return value;
}

std::uint32_t Driver::length(std::uint32_t message) const {
  return message % 3 == 0 ? plan_.bytes : 1 + message * 7919 % plan_.bytes;
}

std::uint64_t Driver::source_of(std::uint32_t message) const {
  return kSource + message % plan_.outstanding * slot_bytes() + kSourceOffset;
}

std::uint64_t Driver::destination_of(std::uint32_t message) const {
  return kDestination + message % (2 * plan_.outstanding) * slot_bytes() + kDestinationOffset;
}

void Driver::Prefix::add(std::uint32_t message) {
  ahead.insert(message);
  while (ahead.erase(length) > 0) ++length;
}

void Driver::connect(std::uint32_t qp) {
  namespace q = mrc::reg::qp;
  const auto at = [&](std::uint32_t offset) { return mrc::qp_register(qp, offset); };
  write_register64(at(q::sq_base_lo), kSendQueues + qp * kSendQueueStride);
  write_register(at(q::sq_log2), kSendQueueLog2);
  write_register(at(q::peer_node), peer_);
  write_register(at(q::peer_qp), read_register(at(q::number)));  // the peer numbers its QPs alike
  write_register(at(q::send_psn), psn_of(node_, qp));
  write_register(at(q::receive_psn), psn_of(peer_, qp));
  write_register(at(q::control), mrc::kQpConnect);
  write_register(at(q::receive_doorbell), kReceives);
  const std::uint32_t state = read_register(at(q::state));
  if (state != 3) SC_REPORT_FATAL(name(), fmt::format("QP {} is in state {}, not RTS", qp, state).c_str());
}

void Driver::set_up() {
  if (read_register(mrc::reg::device_id) != mrc::kDeviceId) SC_REPORT_FATAL(name(), "there is no MRC NIC");
  wqe_bytes_ = read_register(mrc::reg::wqe_bytes);
  cqe_bytes_ = read_register(mrc::reg::cqe_bytes);
  cq_entries_ = read_register(mrc::reg::cq_entries);
  first_qp_ = read_register(mrc::qp_register(0, mrc::reg::qp::number));
  write_register64(mrc::reg::cq_base_lo, kCompletionQueue);
  write_register64(mrc::reg::context_base_lo, kContexts);
  write_register64(mrc::reg::msi_address_lo, plan_.interrupt_page + 16 * node_);
  write_register(mrc::reg::msi_data, node_);
  write_register(mrc::reg::msi_control, plan_.interrupts ? 1 : 0);
  namespace r = mrc::reg::region;
  write_register64(mrc::region_register(0, r::va_lo), kDestination);
  write_register64(mrc::region_register(0, r::bytes_lo), kDestination);
  write_register(mrc::region_register(0, r::rkey), rkey_of(node_));
  write_register(mrc::region_register(0, r::control), 3);
  for (std::uint32_t qp = 0; qp < plan_.qps; ++qp) connect(qp);
}

void Driver::fill(std::uint64_t address, std::uint32_t message) {
  buffer_.resize(length(message));
  for (std::uint32_t i = 0; i < buffer_.size(); ++i) buffer_[i] = pattern(node_, message, i);
  access(memory, tlm::TLM_WRITE_COMMAND, address, buffer_.data(), static_cast<std::uint32_t>(buffer_.size()));
}

void Driver::post(std::uint32_t message) {
  const std::uint64_t source = source_of(message);
  fill(source, message);
  const std::uint32_t qp = message % plan_.qps;
  std::vector<std::byte> wqe(wqe_bytes_);
  mrc::encode_wqe({.id = message,
                   .local_address = source,
                   .remote_address = destination_of(message),
                   .rkey = rkey_of(peer_),
                   .bytes = length(message),
                   .immediate = message,
                   .write_imm = true},
                  wqe.data());
  const std::uint32_t place = posted_[qp] & ((1U << kSendQueueLog2) - 1);
  access(memory, tlm::TLM_WRITE_COMMAND, kSendQueues + qp * kSendQueueStride + std::uint64_t{place} * wqe_bytes_,
         wqe.data(), wqe_bytes_);
  write_register(mrc::qp_register(qp, mrc::reg::qp::sq_doorbell), ++posted_[qp]);
  if (message == 0) first_post_ = sc_core::sc_time_stamp();
}

void Driver::check(std::uint32_t message) {
  buffer_.resize(length(message));
  access(memory, tlm::TLM_READ_COMMAND, destination_of(message), buffer_.data(),
         static_cast<std::uint32_t>(buffer_.size()));
  for (std::uint32_t i = 0; i < buffer_.size(); ++i) {
    const unsigned char sent = pattern(peer_, message, i);
    if (buffer_[i] == sent) continue;
    if (wrong_bytes_++ > 0) continue;
    first_fault_ = fmt::format("message {} from node {}: byte {} is {:#04x}, sent was {:#04x}", message, peer_, i,
                               buffer_[i], sent);
  }
  bytes_received_ += buffer_.size();
}

void Driver::take(const mrc::CompletionEntry& entry) {
  if (entry.receive) {
    last_arrival_ = sc_core::sc_time_stamp();
    check(entry.immediate);
    ++received_;
    received_prefix_.add(entry.immediate);
    write_register(mrc::qp_register(entry.qp - first_qp_, mrc::reg::qp::receive_doorbell), 1);
    return;
  }
  ++sent_;
  sent_prefix_.add(static_cast<std::uint32_t>(entry.id));
  if (entry.status == mrc::CompletionStatus::success) return;
  if (failed_++ > 0) return;
  first_fault_ = fmt::format("message {} to node {}: {}", entry.id, peer_, mrc::to_string(entry.status));
}

bool Driver::poll() {
  const std::uint64_t at = kCompletionQueue + std::uint64_t{cq_index_ % cq_entries_} * cqe_bytes_;
  std::vector<std::byte> cqe(cqe_bytes_);
  access(memory, tlm::TLM_READ_COMMAND, at, cqe.data(), cqe_bytes_);
  const mrc::CompletionEntry entry = mrc::decode_cqe(cqe.data());
  if (entry.phase != mrc::cqe_phase(cq_index_, cq_entries_)) return false;
  write_register(mrc::reg::cq_tail, ++cq_index_);
  take(entry);
  return true;
}

void Driver::run() {
  set_up();
  // The peer may not be set up yet: packets to a QP that is not connected are lost and retransmitted.
  while (!done()) {
    // Message m goes out when message m - outstanding has been sent and the peer's has been received. The peer, by the
    // same rule, has then taken ours up to m - 2 outstanding, which is the number of slots.
    while (next_ < plan_.messages &&
           next_ < std::min(sent_prefix_.length, received_prefix_.length) + plan_.outstanding) {
      post(next_++);
    }
    if (poll()) continue;
    if (!plan_.interrupts) {
      sc_core::wait(100, sc_core::SC_NS);
      continue;
    }
    write_register(mrc::reg::cq_arm, cq_index_);
    sc_core::wait(interrupt_);
  }
}

}  // namespace platform
