// The memories of a NIC as its boxes declare them: what the parameters make, without a run.
#pragma once

#include <vector>

#include "engine/memory_declaration.h"
#include "results/run_result.h"

namespace mrc {

/// Of all boxes, in the order of the pipeline.
MemoryDeclarations nic_memories(const MemoryScope& scope);

/// One row per memory: its size, check bits and an estimate of its area.
std::vector<SramResult> floorplan(const MemoryScope& scope);

}  // namespace mrc
