#include "nic/nic_memory_parameters.h"

#include "parameters/parameter_table.h"

namespace mrc {

using enum ParameterSource;

template <>
std::vector<std::string> words_of<MemoryPorts>() {
  return {"1rw", "1r1w", "2rw"};
}
template <>
std::vector<std::string> words_of<EccScheme>() {
  return {"none", "secded"};
}

void add_nic_memory_parameters(ParameterTable& table) {
  MRC_NODE(nic.memory.ecc, "", 0, 0, "check bits of the memories; secded: corrects one bit, detects two", assumption);
  MRC_NODE(nic.memory.ecc_word_bits, "bit", 8, 1'024, "data bits per group of check bits", assumption);
  MRC_NODE(nic.memory.scrub_cycles, "cycles", 0, 1'000,
           "cycles for which the write-back of a corrected word occupies the memory", assumption);
  MRC_NODE(nic.memory.bitcell_um2, "um2", 0.001, 10, "area of a six-transistor SRAM cell; 0.021: as published for 5 nm",
           assumption);
  MRC_NODE(nic.memory.array_efficiency, "", 0.05, 1, "share of the area of an SRAM macro taken by cells", assumption);
  MRC_NODE(nic.memory.dual_port_factor, "", 1, 10, "area of a dual-port cell relative to a single-port cell",
           assumption);
  MRC_NODE(nic.memory.bank_overhead_um2, "um2", 0, 1e6,
           "area of the periphery of an SRAM bank, independent of its size", assumption);
  MRC_NODE(nic.memory.register_file_bits, "bit", 0, 1e9, "memories up to this size are register files", assumption);
  MRC_NODE(nic.memory.register_um2_per_bit, "um2", 0.001, 100, "area of a register file with its multiplexers, per bit",
           assumption);

#define MRC_ADD_MEMORY(name, banks, ports) MRC_MEMORY(nic.memory.name);
  MRC_NIC_MEMORIES(MRC_ADD_MEMORY)
#undef MRC_ADD_MEMORY
}

}  // namespace mrc
