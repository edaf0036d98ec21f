#include "platform/register_map.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "platform/queue_entries.h"

namespace mrc {
namespace {

#define MRC_ROW(BLOCK, name, offset, access, meaning) \
  RegisterInfo{#name, RegisterBlock::BLOCK, offset, RegisterAccess::access, meaning},
#define MRC_GLOBAL_ROW(...) MRC_ROW(global, __VA_ARGS__)
#define MRC_REGION_ROW(...) MRC_ROW(memory_region, __VA_ARGS__)
#define MRC_QP_ROW(...) MRC_ROW(qp, __VA_ARGS__)
constexpr std::array kRegisters{MRC_GLOBAL_REGISTERS(MRC_GLOBAL_ROW) MRC_MEMORY_REGION_REGISTERS(MRC_REGION_ROW)
                                    MRC_QP_REGISTERS(MRC_QP_ROW)};
#undef MRC_ROW
#undef MRC_GLOBAL_ROW
#undef MRC_REGION_ROW
#undef MRC_QP_ROW

constexpr std::string_view to_string(RegisterAccess access) {
  constexpr std::string_view names[] = {"RO", "RW", "WO", "W1C"};
  return names[static_cast<std::size_t>(access)];
}

std::string block_table(RegisterBlock block) {
  std::string table = "| offset | register | access | meaning |\n|---|---|---|---|\n";
  for (const RegisterInfo& info : kRegisters) {
    if (info.block != block) continue;
    const std::string_view meaning = info.meaning.empty() ? "upper half" : info.meaning;
    table += fmt::format("| 0x{:03X} | `{}` | {} | {} |\n", info.offset, info.name, to_string(info.access), meaning);
  }
  return table;
}

std::string entry_table(std::span<const QueueField> fields) {
  std::string table = "| byte | size | field | meaning |\n|---|---|---|---|\n";
  for (const QueueField& field : fields) {
    table += fmt::format("| {} | {} | `{}` | {} |\n", field.offset, field.bytes, field.name, field.meaning);
  }
  return table;
}

}  // namespace

std::span<const RegisterInfo> register_map() {
  return kRegisters;
}

const RegisterInfo* find_register(RegisterBlock block, std::uint32_t offset) {
  const auto it = std::find_if(kRegisters.begin(), kRegisters.end(),
                               [&](const RegisterInfo& info) { return info.block == block && info.offset == offset; });
  return it == kRegisters.end() ? nullptr : &*it;
}

std::string register_map_markdown() {
  std::string text = "# Register map of the MRC NIC\n\n";
  text +=
      "Generated from `sc_models/platform/register_map.h` by `mrcsim_register_map`; a test compares the two. Registers "
      "are "
      "32 bits, little endian, accessed in aligned words of 4 or 8 bytes. RO: read only, WO: write only, W1C: a 1 "
      "clears the bit.\n\n";
  text += "## Global registers, from 0x0000\n\n" + block_table(RegisterBlock::global);
  text += fmt::format("\n## Memory region n, from 0x{:04X} + 0x{:X} n\n\n", kMemoryRegionBlock, kMemoryRegionStride);
  text += block_table(RegisterBlock::memory_region);
  text += fmt::format("\n## QP page n, from 0x{:X} + 0x{:X} n\n\n", kQpBlock, kQpStride);
  text += block_table(RegisterBlock::qp);
  text += "\n## Send queue entry (WQE)\n\n" + entry_table(wqe_fields());
  text += "\n## Completion queue entry (CQE)\n\n" + entry_table(cqe_fields());
  return text;
}

}  // namespace mrc
