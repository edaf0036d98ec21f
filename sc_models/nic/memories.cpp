#include "nic/memories.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "results/sram_table.h"

namespace mrc {

Memories::Memories(const NodeConfig& node, const ProtocolConfig& protocol, std::uint64_t seed,
                   const std::string& name) {
  const NicConfig& nic = node.nic;
  const ClockDomain clock(nic.core_clock_ghz);
  const auto add = [&](MemoryId id, MemoryStructure::Shape shape, const MemoryConfig& config) {
    const KeyedRandom random(seed, fmt::format("{}.memory.{}", name, shape.name));
    memories_[static_cast<std::size_t>(id)] =
        std::make_unique<MemoryStructure>(std::move(shape), config, nic.memory.scrub_cycles, clock, random);
  };
  const NicMemoryConfig& memory = nic.memory;
  const std::vector<SramResult> table = sram_table(node, protocol, {});
  const auto width_of = [&](const std::string& structure) {
    const auto row = std::find_if(table.begin(), table.end(), [&](const auto& r) { return r.structure == structure; });
    return row == table.end() ? nic.datapath_bits : static_cast<std::uint32_t>(row->width_bits);
  };
  const auto word = [&](const char* structure) {
    return MemoryStructure::Shape{.name = structure, .width_bits = width_of(structure)};
  };
  const auto payload = [&](const char* structure, std::uint32_t instances = 1, bool checks_writes = false) {
    return MemoryStructure::Shape{.name = structure,
                                  .width_bits = width_of(structure),
                                  .instances = instances,
                                  .streamed = true,
                                  .checks_writes = checks_writes};
  };
  add(MemoryId::qp_context, word("qp_scheduler.context_cache"), memory.qp_context);
  add(MemoryId::wqe_prefetch, word("wqe_fetch.prefetch"), memory.wqe_prefetch);
  add(MemoryId::retransmit_records, word("retransmit_buffer.records"), memory.retransmit_records);
  add(MemoryId::retransmit_payload, payload("retransmit_buffer.payload"), memory.retransmit_payload);
  add(MemoryId::path_table, word("path_table"), memory.path_table);
  add(MemoryId::congestion, word("congestion.state"), memory.congestion);
  add(MemoryId::bitmap, word("psn_tracker.bitmap"), memory.bitmap);
  add(MemoryId::packet_buffer, payload("parser.packet_buffer"), memory.packet_buffer);
  add(MemoryId::rx_staging, payload("rx_staging", 1, true), memory.rx_staging);
  add(MemoryId::completion_buffer, payload("pcie.completion_buffer"), memory.completion_buffer);
  add(MemoryId::port_fifo, payload("port.tx_fifo", nic.ports), memory.port_fifo);
  add(MemoryId::completion_queue, word("completion.queue"), memory.completion_queue);
  for (AccessCounter& counter : small_) counter.set_cycle(clock.period_ps());
}

}  // namespace mrc
