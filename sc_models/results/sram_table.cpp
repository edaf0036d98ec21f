#include "results/sram_table.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace mrc {
namespace {

std::string name_of(MemoryPorts ports) {
  static constexpr std::array<std::string_view, 3> names{"1rw", "1r1w", "2rw"};
  return std::string(names[static_cast<std::size_t>(ports)]);
}

std::uint64_t check_bits(std::uint64_t width, const NicMemoryConfig& technology) {
  if (technology.ecc == EccScheme::none) return 0;
  const std::uint64_t rest = width % technology.ecc_word_bits;
  const std::uint64_t whole = width / technology.ecc_word_bits * secded_bits(technology.ecc_word_bits);
  return whole + (rest == 0 ? 0 : secded_bits(static_cast<std::uint32_t>(rest)));
}

void estimate_area(SramResult& row, bool two_ports, const NicMemoryConfig& technology) {
  constexpr double um2_per_mm2 = 1e6;
  const auto bits = static_cast<double>(row.bits + row.ecc_bits);
  row.register_file = row.bits / row.instances <= technology.register_file_bits;
  if (row.register_file) {
    row.area_mm2 = bits * technology.register_um2_per_bit / um2_per_mm2;
    return;
  }
  const double cell = technology.bitcell_um2 * (two_ports ? technology.dual_port_factor : 1.0);
  const double periphery = technology.bank_overhead_um2 * row.banks * row.instances;
  row.area_mm2 = (bits * cell / technology.array_efficiency + periphery) / um2_per_mm2;
}

SramResult row_of(const MemoryDeclaration& memory, const NicMemoryConfig& technology) {
  SramResult row;
  row.structure = memory.name;
  row.instances = memory.geometry.instances;
  row.depth = memory.geometry.depth;
  row.banks = memory.geometry.banks;
  row.ports = name_of(memory.geometry.ports);
  row.width_bits = memory.width_bits();
  for (const MemoryField& field : memory.fields) {
    if (field.bits == 0) continue;
    row.fields += fmt::format("{}{} {}", row.fields.empty() ? "" : " + ", field.name, field.bits);
  }
  const std::uint64_t words = row.depth * row.instances;
  row.bits = words * row.width_bits;
  row.ecc_bits = words * check_bits(row.width_bits, technology);
  estimate_area(row, memory.geometry.ports != MemoryPorts::one_rw, technology);
  return row;
}

}  // namespace

std::uint32_t secded_bits(std::uint32_t data_bits) {
  std::uint32_t hamming = 1;
  while ((1ULL << hamming) < std::uint64_t{data_bits} + hamming + 1) ++hamming;
  return hamming + 1;
}

std::vector<SramResult> sram_table(const MemoryDeclarations& declared, const NicMemoryConfig& technology) {
  std::vector<SramResult> rows;
  rows.reserve(declared.rows().size());
  for (const MemoryDeclaration& memory : declared.rows()) rows.push_back(row_of(memory, technology));
  return rows;
}

}  // namespace mrc
