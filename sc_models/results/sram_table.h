// Rows of the floorplan from what boxes declare: depth x width, ports, banks, check bits and an estimate of the area.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/memory_declaration.h"
#include "results/run_result.h"

namespace mrc {

/// One row per declaration, in their order. A word's width is the sum of its fields: widths are those of the packet
/// format where the field is in a header (spec), else what holds the parameter's range (assumption).
std::vector<SramResult> sram_table(const MemoryDeclarations& declared, const NicMemoryConfig& technology);

/// Check bits of one word of `data_bits` with single error correction and double error detection (Hamming and parity).
std::uint32_t secded_bits(std::uint32_t data_bits);

}  // namespace mrc
