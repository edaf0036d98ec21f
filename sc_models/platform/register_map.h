// The NIC's registers as a platform sees them: one table, from which the decoder, the offsets that software uses and
// the documentation are made. 32 bits each, little endian; 64-bit values are a _lo and a _hi register.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mrc {

enum class RegisterAccess : std::uint8_t {
  ro,  ///< a write is answered with TLM_COMMAND_ERROR_RESPONSE
  rw,
  wo,   ///< a read is answered with TLM_COMMAND_ERROR_RESPONSE
  w1c,  ///< a 1 that is written clears the bit
};

/// Registers come in three blocks; those of a memory region and of a QP repeat.
enum class RegisterBlock : std::uint8_t { global, memory_region, qp };

struct RegisterInfo {
  std::string_view name;
  RegisterBlock block;
  std::uint32_t offset;  ///< in its block
  RegisterAccess access;
  std::string_view meaning;
};

/// A part of a register with a meaning of its own.
struct RegisterField {
  RegisterBlock block;
  std::uint32_t offset;  ///< of the register
  std::string_view name;
  unsigned high;  ///< bits
  unsigned low;
  std::string_view meaning;
};

/// A value of a register with a meaning of its own.
struct RegisterValue {
  RegisterBlock block;
  std::uint32_t offset;  ///< of the register
  std::string_view name;
  std::uint32_t value;
  std::string_view meaning;
};

inline constexpr std::uint32_t kMemoryRegionBlock = 0x1000;
inline constexpr std::uint32_t kMemoryRegionStride = 0x20;
inline constexpr std::uint32_t kQpBlock = 0x10000;
/// A page a QP, so that software can hand doorbells to a process of its own.
inline constexpr std::uint32_t kQpStride = 0x1000;
inline constexpr std::uint32_t kMostMemoryRegions = (kQpBlock - kMemoryRegionBlock) / kMemoryRegionStride;

inline constexpr std::uint32_t kDeviceId = 0x4D52'4331;  // "MRC1"
inline constexpr std::uint32_t kRegisterMapVersion = 0x0001'0000;

/// Values of reg::qp::control.
inline constexpr std::uint32_t kQpConnect = 1;
inline constexpr std::uint32_t kQpToError = 2;

// clang-format off
#define MRC_GLOBAL_REGISTERS(X) \
  X(device_id,             0x000, ro,  "0x4D524331, \"MRC1\"") \
  X(version,               0x004, ro,  "version of this map") \
  X(node_id,               0x008, ro,  "number of the NIC in the fabric; peer_node of another NIC") \
  X(qp_count,              0x00C, ro,  "QP pages") \
  X(memory_region_count,   0x010, ro,  "memory region entries") \
  X(port_count,            0x014, ro,  "ports, each in a separate plane") \
  X(port_gbps,             0x018, ro,  "rate of a port in Gb/s, rounded down") \
  X(mtu_bytes,             0x01C, ro,  "largest payload of a packet") \
  X(wqe_bytes,             0x020, ro,  "size of a send queue entry") \
  X(cqe_bytes,             0x024, ro,  "size of a completion queue entry") \
  X(cq_entries,            0x028, ro,  "entries of the completion queue, a power of two") \
  X(receive_queue_depth,   0x02C, ro,  "maximum posted receives per QP") \
  X(status,                0x040, ro,  "present state") \
  X(error_status,          0x044, w1c, "errors since the bit was last cleared") \
  X(error_qp,              0x048, ro,  "QP page of the first error since error_status was last zero; 0xFFFFFFFF: no QP") \
  X(error_address_lo,      0x04C, ro,  "address of that error (DMA access or WQE)") \
  X(error_address_hi,      0x050, ro,  "") \
  X(error_count,           0x054, ro,  "errors since reset, wraps") \
  X(cq_base_lo,            0x060, rw,  "completion queue, cq_entries * cqe_bytes long, zeroed by software, in DMA address space") \
  X(cq_base_hi,            0x064, rw,  "") \
  X(cq_tail,               0x068, rw,  "CQEs taken by software, counted from reset, wraps at 2^32; the NIC stops completing when cq_entries CQEs are not taken") \
  X(cq_head,               0x06C, ro,  "CQEs visible in memory, counted like cq_tail") \
  X(cq_arm,                0x070, wo,  "raise one interrupt as soon as the number of CQEs written differs from this value") \
  X(msi_address_lo,        0x080, rw,  "address of the interrupt write, 4 bytes, after the CQE that it announces") \
  X(msi_address_hi,        0x084, rw,  "") \
  X(msi_data,              0x088, rw,  "data of the interrupt write") \
  X(msi_control,           0x08C, rw,  "interrupts") \
  X(context_base_lo,       0x090, rw,  "base of the QP contexts that are not in the context cache, in DMA address space, qp_count * nic.qp_scheduler.context_bytes long; the NIC reads and writes them, zeros, and ignores their content") \
  X(context_base_hi,       0x094, rw,  "") \
  X(data_packets_lo,       0x100, ro,  "data packets sent, retransmissions included") \
  X(data_packets_hi,       0x104, ro,  "") \
  X(data_bytes_lo,         0x108, ro,  "payload of these packets") \
  X(data_bytes_hi,         0x10C, ro,  "") \
  X(retransmitted_lo,      0x110, ro,  "retransmissions") \
  X(retransmitted_hi,      0x114, ro,  "") \
  X(delivered_lo,          0x118, ro,  "data packets placed in memory") \
  X(delivered_hi,          0x11C, ro,  "") \
  X(delivered_bytes_lo,    0x120, ro,  "payload of these packets") \
  X(delivered_bytes_hi,    0x124, ro,  "") \
  X(duplicates_lo,         0x128, ro,  "data packets received before") \
  X(duplicates_hi,         0x12C, ro,  "") \
  X(corrupted_lo,          0x130, ro,  "packets dropped by ICRC") \
  X(corrupted_hi,          0x134, ro,  "") \
  X(trimmed_lo,            0x138, ro,  "trimmed packets that arrived") \
  X(trimmed_hi,            0x13C, ro,  "") \
  X(sacks_lo,              0x140, ro,  "SACKs sent") \
  X(sacks_hi,              0x144, ro,  "") \
  X(nacks_lo,              0x148, ro,  "NACKs sent") \
  X(nacks_hi,              0x14C, ro,  "") \
  X(dma_reads_lo,          0x150, ro,  "read transactions to the memory of the platform, with or without DMI") \
  X(dma_reads_hi,          0x154, ro,  "") \
  X(dma_writes_lo,         0x158, ro,  "write transactions, including interrupts") \
  X(dma_writes_hi,         0x15C, ro,  "")

#define MRC_MEMORY_REGION_REGISTERS(X) \
  X(va_lo,   0x00, rw, "first byte, in DMA address space") \
  X(va_hi,   0x04, rw, "") \
  X(bytes_lo, 0x08, rw, "length") \
  X(bytes_hi, 0x0C, rw, "") \
  X(rkey,    0x10, rw, "key in the WQE of the peer") \
  X(control, 0x14, rw, "a write applies the registers above")

#define MRC_QP_REGISTERS(X) \
  X(sq_base_lo,       0x00, rw, "send queue, 2^sq_log2 * wqe_bytes long, in DMA address space") \
  X(sq_base_hi,       0x04, rw, "") \
  X(sq_log2,          0x08, rw, "entries of the send queue as a power of two, 0 to 16") \
  X(peer_node,        0x0C, rw, "node_id of the peer") \
  X(peer_qp,          0x10, rw, "number of the QP at the peer") \
  X(send_psn,         0x14, rw, "first PSN sent, 24 bits: receive_psn of the peer") \
  X(receive_psn,      0x18, rw, "first PSN expected, 24 bits: send_psn of the peer") \
  X(control,          0x1C, wo, "command") \
  X(state,            0x20, ro, "state of the QP") \
  X(sq_doorbell,      0x24, wo, "WQEs posted, counted from RESET, wraps at 2^32") \
  X(sq_head,          0x28, ro, "WQEs read by the NIC: their entries may be reused") \
  X(receive_doorbell, 0x2C, wo, "number of additional receives; each WRITE with immediate consumes one") \
  X(receives_posted,  0x30, ro, "posted receives") \
  X(number,           0x34, ro, "number of the QP in peer_qp and CQEs")

// Parts of registers: register, name, highest and lowest bit, meaning. Bits that are in none are zero.
#define MRC_ERROR_STATUS_BITS(X) \
  X(error_status, dma_read,               0, 0, "a DMA read was refused") \
  X(error_status, dma_write,              1, 1, "a DMA write was refused") \
  X(error_status, bad_wqe,                2, 2, "a WQE is not valid") \
  X(error_status, doorbell_overrun,       3, 3, "a doorbell announces more WQEs than the queue holds") \
  X(error_status, doorbell_not_connected, 4, 4, "a doorbell for a QP that is not connected") \
  X(error_status, cq_tail,                5, 5, "cq_tail beyond cq_head") \
  X(error_status, bad_command,            6, 6, "a command that is not possible") \
  X(error_status, receives,               7, 7, "more receives than receive_queue_depth")

#define MRC_GLOBAL_FIELDS(X) \
  X(version,     minor,   15,  0, "increased when registers are added") \
  X(version,     major,   31, 16, "increased when a register changes its meaning") \
  X(status,      error,    0,  0, "error_status is not zero") \
  X(status,      cq_full,  1,  1, "the completion queue is full") \
  X(status,      qp_error, 2,  2, "a QP is in ERROR") \
  MRC_ERROR_STATUS_BITS(X) \
  X(msi_control, enable,   0,  0, "the NIC may raise interrupts")

#define MRC_MEMORY_REGION_FIELDS(X) \
  X(control, valid,      0, 0, "the region can be accessed") \
  X(control, peer_write, 1, 1, "the peer may write")

// Values of registers: register, name, value, meaning.
#define MRC_QP_VALUES(X) \
  X(control, connect,  kQpConnect, "apply the registers above and go from RESET to RTS") \
  X(control, to_error, kQpToError, "go to ERROR, pending work is flushed") \
  X(state,   reset,    0,          "not connected") \
  X(state,   rts,      3,          "ready to send") \
  X(state,   error,    4,          "pending work is flushed")
// clang-format on

/// Offsets in a block, for software and for the decoder.
#define MRC_REGISTER_OFFSET(name, offset, access, meaning) name = offset,
namespace reg {
enum Global : std::uint32_t { MRC_GLOBAL_REGISTERS(MRC_REGISTER_OFFSET) };
namespace region {
enum Region : std::uint32_t { MRC_MEMORY_REGION_REGISTERS(MRC_REGISTER_OFFSET) };
}
namespace qp {
enum Qp : std::uint32_t { MRC_QP_REGISTERS(MRC_REGISTER_OFFSET) };
}
}  // namespace reg
#undef MRC_REGISTER_OFFSET

/// The number of an error is its bit in error_status.
#define MRC_DEVICE_ERROR(register, name, high, low, meaning) name = (low),
enum class DeviceError : std::uint8_t { MRC_ERROR_STATUS_BITS(MRC_DEVICE_ERROR) };
#undef MRC_DEVICE_ERROR

constexpr std::uint32_t region_register(std::uint32_t region, std::uint32_t offset) {
  return kMemoryRegionBlock + region * kMemoryRegionStride + offset;
}
constexpr std::uint32_t qp_register(std::uint32_t qp, std::uint32_t offset) {
  return kQpBlock + qp * kQpStride + offset;
}

/// "RO", "RW", "WO", "W1C".
std::string_view to_string(RegisterAccess access);

std::span<const RegisterInfo> register_map();
/// The register at an offset of its block, null where there is none.
const RegisterInfo* find_register(RegisterBlock block, std::uint32_t offset);
/// The map and the formats of queue entries as Markdown tables.
std::string register_map_markdown();
/// The map in SystemRDL 2.0.
std::string register_map_systemrdl();

}  // namespace mrc
