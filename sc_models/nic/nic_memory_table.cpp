// What the NIC's memories were used for, beside what the parameters make them.
#include <map>
#include <string>

#include "nic/nic.h"

namespace mrc::timing {
namespace {

/// Tables that are read and written together with a modelled memory.
const std::map<std::string, MemoryId>& memory_of() {
  static const std::map<std::string, MemoryId> table{
      {"qp_scheduler.context_cache", MemoryId::qp_context},
      {"qp_scheduler.context_tags", MemoryId::qp_context},
      {"wqe_fetch.prefetch", MemoryId::wqe_prefetch},
      {"retransmit_buffer.records", MemoryId::retransmit_records},
      {"retransmit_buffer.payload", MemoryId::retransmit_payload},
      {"path_table", MemoryId::path_table},
      {"path_table.scan", MemoryId::path_table},
      {"congestion.state", MemoryId::congestion},
      {"psn_tracker.bitmap", MemoryId::bitmap},
      {"psn_tracker.message_ends", MemoryId::bitmap},
      {"psn_tracker.bank_map", MemoryId::bitmap},
      {"parser.packet_buffer", MemoryId::packet_buffer},
      {"rx_staging", MemoryId::rx_staging},
      {"pcie.completion_buffer", MemoryId::completion_buffer},
      {"port.tx_fifo", MemoryId::port_fifo},
      {"completion.queue", MemoryId::completion_queue},
  };
  return table;
}

const std::map<std::string, SmallTable>& small_table_of() {
  static const std::map<std::string, SmallTable> table{
      {"srv6_encap.template", SmallTable::encap_template}, {"control_queue.reverse_paths", SmallTable::reverse_paths},
      {"retransmit_timer", SmallTable::retransmit_timer},  {"probe_engine.turns", SmallTable::probe_turns},
      {"psn_tracker.free_banks", SmallTable::free_banks},
  };
  return table;
}

void fill(SramResult& row, const MemoryStructure& memory, TimePs end) {
  row.measured = true;
  row.reads = memory.reads();
  row.writes = memory.writes();
  row.mean_accesses_per_cycle = memory.mean_accesses_per_cycle(end);
  row.peak_accesses_per_cycle = memory.peak();
  row.conflict_stalls = memory.conflict_stalls();
  row.conflict_stall_cycles = memory.conflict_stall_cycles();
  row.corrected_errors = memory.corrected_errors();
  row.uncorrected_errors = memory.uncorrected_errors();
}

}  // namespace

std::vector<SramResult> Nic::memory_table(const NicScale& scale, TimePs end) const {
  std::vector<SramResult> rows = sram_table(context_.config, context_.scenario.protocol, scale);
  const double cycles = static_cast<double>(end) / static_cast<double>(context_.clock.period_ps());
  const auto mean = [&](const SramResult& row) {
    return cycles > 0 ? static_cast<double>(row.reads + row.writes) / cycles / row.instances : 0;
  };
  std::map<std::string, std::vector<const Occupancy*>> queues;
  for (const Occupancy* buffer : buffers()) {
    const bool of_port = buffer->name().starts_with("port") && buffer->name().find('.') != std::string::npos;
    queues[of_port ? "port" + buffer->name().substr(buffer->name().find('.')) : buffer->name()].push_back(buffer);
  }
  for (SramResult& row : rows) {
    if (const auto memory = memory_of().find(row.structure); memory != memory_of().end()) {
      fill(row, context_.memories[memory->second], end);
    } else if (const auto small = small_table_of().find(row.structure); small != small_table_of().end()) {
      const AccessCounter& counter = context_.memories[small->second];
      row.measured = true;
      row.reads = counter.total();
      row.peak_accesses_per_cycle = counter.peak();
      row.mean_accesses_per_cycle = mean(row);
    } else if (const auto queue = queues.find(row.structure); queue != queues.end()) {
      row.measured = true;
      for (const Occupancy* buffer : queue->second) {
        row.reads += buffer->reads().total();
        row.writes += buffer->writes().total();
        row.peak_accesses_per_cycle =
            std::max(row.peak_accesses_per_cycle, buffer->reads().peak() + buffer->writes().peak());
      }
      row.mean_accesses_per_cycle = mean(row);
    }
  }
  return rows;
}

}  // namespace mrc::timing
