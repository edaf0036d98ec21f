// Bits of on-chip memory that a NIC's structures take, from its parameters.
#pragma once

#include <vector>

#include "parameters/config.h"
#include "results/run_result.h"

namespace mrc {

/// One row a structure; record widths are sums of the fields that ring 1 keeps (assumption where a field's width is
/// open).
inline std::vector<SramResult> sram_table(const NicConfig& nic, const PcieConfig& pcie, const ProtocolConfig& protocol,
                                          std::uint32_t qps) {
  constexpr std::uint64_t record_bits = 24 + 16 + 32 + 13 + 32 + 3;  // PSN, EV index, time, size, message offset, state
  constexpr std::uint64_t ev_bits = 32 + 8 + 2;                      // value, plane, state
  constexpr std::uint64_t tag_bits = 64 + 16;                        // address, length and owner
  std::vector<SramResult> rows;
  rows.push_back({"retransmit_buffer.records", nic.retransmit_buffer.entries * record_bits});
  if (nic.retransmit_buffer.store == RetransmitStore::payload) {
    rows.push_back({"retransmit_buffer.payload", nic.retransmit_buffer.bytes * 8});
  }
  const std::uint64_t tables = protocol.path_table_scope == PathTableScope::profile ? 1 : qps;
  rows.push_back({"path_table", tables * protocol.ev_count * ev_bits});
  rows.push_back({"qp_scheduler.context_cache",
                  std::uint64_t{nic.qp_scheduler.context_cache_entries} * nic.qp_scheduler.context_bytes * 8});
  rows.push_back({"psn_tracker.bitmap", std::uint64_t{nic.psn_tracker.bitmap_banks} * 128});
  rows.push_back({"rx_staging", nic.rx_staging.bytes * 8});
  rows.push_back({"pcie.completion_buffer", pcie.completion_buffer_bytes * 8});
  rows.push_back({"pcie.read_tags", pcie.read_tags * tag_bits});
  rows.push_back({"port.tx_fifo", std::uint64_t{nic.ports} * nic.port.tx_fifo_bytes * 8});
  return rows;
}

}  // namespace mrc
