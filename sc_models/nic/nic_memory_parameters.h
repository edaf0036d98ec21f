// The NIC's memories: their technology, and banks, ports and errors of each.
#pragma once

#include <cstdint>

#include "parameters/memory_config.h"

namespace mrc {

class ParameterTable;

/// The memories in the order of the documentation: the name here and in nic.memory.<name>.…, banks and ports by
/// default.
#define MRC_NIC_MEMORIES(MEMORY)             \
  MEMORY(qp_context, 2, one_r_one_w)         \
  MEMORY(wqe_prefetch, 2, one_rw)            \
  MEMORY(retransmit_records, 4, one_r_one_w) \
  MEMORY(retransmit_payload, 4, one_rw)      \
  MEMORY(encrypt_keys, 2, one_r_one_w)       \
  MEMORY(path_table, 2, one_r_one_w)         \
  MEMORY(congestion, 1, two_rw)              \
  MEMORY(decrypt_keys, 2, one_r_one_w)       \
  MEMORY(replay_window, 2, one_r_one_w)      \
  MEMORY(bitmap, 2, one_r_one_w)             \
  MEMORY(packet_buffer, 4, one_rw)           \
  MEMORY(rx_staging, 4, one_rw)              \
  MEMORY(completion_buffer, 4, one_rw)       \
  MEMORY(port_fifo, 2, one_rw)               \
  MEMORY(completion_queue, 1, one_r_one_w)

struct NicMemoryConfig {
  EccScheme ecc = EccScheme::secded;
  std::uint32_t ecc_word_bits = 64;
  std::uint32_t scrub_cycles = 1;
  double bitcell_um2 = 0.021;
  double array_efficiency = 0.6;
  double dual_port_factor = 2.0;
  double bank_overhead_um2 = 500.0;
  std::uint32_t register_file_bits = 16'384;
  double register_um2_per_bit = 0.35;
#define MRC_MEMORY_MEMBER(name, banks, ports) MemoryConfig name{banks, MemoryPorts::ports};
  MRC_NIC_MEMORIES(MRC_MEMORY_MEMBER)
#undef MRC_MEMORY_MEMBER
};

void add_nic_memory_parameters(ParameterTable& table);

}  // namespace mrc
