#include "engine/memories.h"

#include <stdexcept>

#include <fmt/format.h>

namespace mrc {

Memories::Memories(const MemoryDeclarations& declared, const NicConfig& nic, std::uint64_t seed,
                   const std::string& name, CauseTable& causes) {
  const ClockDomain clock(nic.core_clock_ghz);
  for (const MemoryDeclaration& row : declared.rows()) {
    if (const auto* const* table = std::get_if<const CountedTable*>(&row.counter)) {
      tables_[*table].set_cycle(clock.period_ps());
    } else if (const auto* const* queue = std::get_if<const QueueMemory*>(&row.counter)) {
      queues_[*queue];
    } else if (row.config != nullptr) {
      const PortedMemory& memory = *std::get<const PortedMemory*>(row.counter);
      const std::string parameters(memory.parameters);
      const Cause cause =
          causes.declare(fmt::format("sram.{}", memory.name), {parameters + ".banks", parameters + ".ports"});
      MemoryStructure::Shape shape{.name = std::string(memory.name),
                                   .width_bits = static_cast<std::uint32_t>(row.width_bits()),
                                   .instances = row.geometry.instances,
                                   .streamed = memory.streamed,
                                   .checks_writes = memory.checks_writes,
                                   .cause = cause};
      const KeyedRandom random(seed, fmt::format("{}.memory.{}", name, memory.name));
      ported_[&memory] =
          std::make_unique<MemoryStructure>(std::move(shape), *row.config, nic.memory.scrub_cycles, clock, random);
    }
  }
}

void Memories::refuse(std::string_view name) {
  throw std::logic_error(fmt::format("{}: a box takes this memory and none declares it", name));
}

}  // namespace mrc
