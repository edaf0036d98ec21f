// A node's memory, for the NIC's DMA and for the CPU: byte addressed, with DMI, and a page after it whose writes are
// interrupts. Latency is constant; the NIC side can refuse DMI, wait inside the call, or answer in four phases.
#pragma once

#include <cstdint>
#include <cstring>
#include <systemc>
#include <tlm>
#include <vector>

#include <tlm_utils/simple_target_socket.h>

namespace platform {

struct MemoryOptions {
  std::uint64_t bytes = 64ULL << 20;
  std::uint64_t interrupt_page = 1ULL << 40;  ///< 4 KiB whose writes are interrupts
  sc_core::sc_time latency{80, sc_core::SC_NS};
  bool grants_dmi = true;
  bool waits = false;  ///< the NIC's calls take the latency instead of annotating it
  std::uint64_t spoil_write =
      0;  ///< negative control: the n-th write of the NIC of 64 B or more changes one bit, 0: none
};

class Memory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket_tagged<Memory> nic_socket;
  tlm_utils::simple_target_socket_tagged<Memory> cpu_socket;

  Memory(const sc_core::sc_module_name& name, const MemoryOptions& options)
      : sc_module(name), nic_socket("nic_socket"), cpu_socket("cpu_socket"), options_(options), bytes_(options.bytes) {
    nic_socket.register_b_transport(this, &Memory::b_transport, kNic);
    cpu_socket.register_b_transport(this, &Memory::b_transport, kCpu);
    nic_socket.register_get_direct_mem_ptr(this, &Memory::get_direct_mem_ptr, kNic);
    cpu_socket.register_get_direct_mem_ptr(this, &Memory::get_direct_mem_ptr, kCpu);
    nic_socket.register_transport_dbg(this, &Memory::transport_dbg, kNic);
    cpu_socket.register_transport_dbg(this, &Memory::transport_dbg, kCpu);
  }

  const sc_core::sc_event& interrupt() const { return interrupt_; }
  std::uint64_t interrupts() const { return interrupts_; }
  std::uint64_t transactions_of_nic() const { return transactions_of_nic_; }
  /// Revokes granted DMI.
  void invalidate() { nic_socket->invalidate_direct_mem_ptr(0, options_.bytes - 1); }

 private:
  static constexpr int kNic = 0;
  static constexpr int kCpu = 1;

  void b_transport(int side, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (side == kNic) ++transactions_of_nic_;
    payload.set_response_status(access(side, payload));
    payload.set_dmi_allowed(options_.grants_dmi && payload.is_response_ok() && payload.get_address() < options_.bytes);
    if (side == kNic && options_.waits) {
      sc_core::wait(delay + options_.latency);
      delay = sc_core::SC_ZERO_TIME;
    } else {
      delay += options_.latency;
    }
  }

  tlm::tlm_response_status access(int side, tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const std::uint32_t length = payload.get_data_length();
    if (payload.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    if (payload.get_streaming_width() < length) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (payload.is_write() && address - options_.interrupt_page < 4096) {
      ++interrupts_;
      interrupt_.notify(sc_core::SC_ZERO_TIME);
      return tlm::TLM_OK_RESPONSE;
    }
    if (address > options_.bytes || length > options_.bytes - address) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    if (payload.is_read()) std::memcpy(payload.get_data_ptr(), &bytes_[address], length);
    if (payload.is_write()) std::memcpy(&bytes_[address], payload.get_data_ptr(), length);
    const bool payload_write = side == kNic && payload.is_write() && length > 64;
    if (payload_write && ++payload_writes_ == options_.spoil_write) bytes_[address + length / 2] ^= 1;
    return tlm::TLM_OK_RESPONSE;
  }

  bool get_direct_mem_ptr(int, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    dmi.set_start_address(0);
    dmi.set_end_address(options_.bytes - 1);
    if (!options_.grants_dmi || payload.get_address() >= options_.bytes) return false;
    dmi.set_dmi_ptr(bytes_.data());
    dmi.allow_read_write();
    dmi.set_read_latency(options_.latency);
    dmi.set_write_latency(options_.latency);
    return true;
  }

  unsigned int transport_dbg(int, tlm::tlm_generic_payload& payload) {
    return access(kCpu, payload) == tlm::TLM_OK_RESPONSE ? payload.get_data_length() : 0;
  }

  MemoryOptions options_;
  std::vector<unsigned char> bytes_;
  sc_core::sc_event interrupt_;
  std::uint64_t interrupts_ = 0;
  std::uint64_t transactions_of_nic_ = 0;
  std::uint64_t payload_writes_ = 0;
};

}  // namespace platform
