#include "nic/nic_memories.h"

#include <algorithm>

#include "nic/nic.h"
#include "nic/nic_boxes.h"
#include "results/sram_table.h"

namespace mrc {
namespace {

/// How a memory was used in a run, by what counts its accesses.
struct FillUse {
  const Memories& memories;
  TimePs end;
  double cycles;
  SramResult& row;

  void set_mean() const {
    row.mean_accesses_per_cycle = cycles > 0 ? static_cast<double>(row.reads + row.writes) / cycles / row.instances : 0;
  }
  void operator()(std::monostate) const { row.measured = false; }
  void operator()(const PortedMemory* id) const {
    const MemoryStructure& memory = memories[*id];
    row.reads = memory.reads();
    row.writes = memory.writes();
    row.mean_accesses_per_cycle = memory.mean_accesses_per_cycle(end);
    row.peak_accesses_per_cycle = memory.peak();
    row.conflict_stalls = memory.conflict_stalls();
    row.conflict_stall_cycles = memory.conflict_stall_cycles();
    row.corrected_errors = memory.corrected_errors();
    row.uncorrected_errors = memory.uncorrected_errors();
  }
  void operator()(const CountedTable* id) const {
    const AccessCounter& counter = memories[*id];
    row.reads = counter.total();
    row.peak_accesses_per_cycle = counter.peak();
    set_mean();
  }
  void operator()(const QueueMemory* id) const {
    for (const Occupancy* queue : memories.queues(*id)) {
      row.reads += queue->reads().total();
      row.writes += queue->writes().total();
      row.peak_accesses_per_cycle =
          std::max(row.peak_accesses_per_cycle, queue->reads().peak() + queue->writes().peak());
    }
    set_mean();
  }
};

}  // namespace

MemoryDeclarations nic_memories(const MemoryScope& scope) {
  MemoryDeclarations declared;
  timing::NicBoxes::declare_memories(scope, declared);
  return declared;
}

std::vector<SramResult> floorplan(const MemoryScope& scope) {
  return sram_table(nic_memories(scope), scope.node.nic.memory);
}

std::vector<SramResult> timing::Nic::memory_table(const NicScale& scale, TimePs end) const {
  const MemoryDeclarations declared = nic_memories({context_.config, context_.scenario.protocol, scale});
  std::vector<SramResult> rows = sram_table(declared, context_.config.nic.memory);
  const double cycles = static_cast<double>(end) / static_cast<double>(context_.clock.period_ps());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].measured = true;
    std::visit(FillUse{context_.memories, end, cycles, rows[i]}, declared.rows()[i].counter);
  }
  return rows;
}

}  // namespace mrc
