#include "platform/register_map.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "platform/platform_nic.h"
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

#define MRC_GLOBAL_PART(reg_name, name, high, low, meaning) \
  RegisterField{RegisterBlock::global, reg::reg_name, #name, high, low, meaning},
#define MRC_REGION_PART(reg_name, name, high, low, meaning) \
  RegisterField{RegisterBlock::memory_region, reg::region::reg_name, #name, high, low, meaning},
constexpr std::array kFields{MRC_GLOBAL_FIELDS(MRC_GLOBAL_PART) MRC_MEMORY_REGION_FIELDS(MRC_REGION_PART)};
#undef MRC_GLOBAL_PART
#undef MRC_REGION_PART

#define MRC_QP_VALUE(reg_name, name, value, meaning) \
  RegisterValue{RegisterBlock::qp, reg::qp::reg_name, #name, value, meaning},
constexpr std::array kValues{MRC_QP_VALUES(MRC_QP_VALUE)};
#undef MRC_QP_VALUE

template <typename Part, std::size_t kParts>
std::vector<Part> parts_of(const RegisterInfo& info, const std::array<Part, kParts>& parts) {
  std::vector<Part> found;
  std::ranges::copy_if(parts, std::back_inserter(found),
                       [&](const Part& part) { return part.block == info.block && part.offset == info.offset; });
  return found;
}

std::string_view meaning_of(const RegisterInfo& info) {
  return info.meaning.empty() ? "upper half" : info.meaning;
}

std::string with_parts(const RegisterInfo& info) {
  std::vector<std::string> parts;
  for (const RegisterField& field : parts_of(info, kFields)) {
    const std::string bits =
        field.high == field.low ? fmt::format("bit {}", field.low) : fmt::format("bits {}:{}", field.high, field.low);
    parts.push_back(fmt::format("{} `{}`, {}", bits, field.name, field.meaning));
  }
  for (const RegisterValue& value : parts_of(info, kValues)) {
    parts.push_back(fmt::format("{} `{}`, {}", value.value, value.name, value.meaning));
  }
  if (parts.empty()) return std::string(meaning_of(info));
  return fmt::format("{}: {}", meaning_of(info), fmt::join(parts, "; "));
}

std::string block_table(RegisterBlock block) {
  std::string table = "| offset | register | access | meaning |\n|---|---|---|---|\n";
  for (const RegisterInfo& info : kRegisters) {
    if (info.block != block) continue;
    table += fmt::format("| 0x{:03X} | `{}` | {} | {} |\n", info.offset, info.name, to_string(info.access),
                         with_parts(info));
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

std::string quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

/// Keywords of SystemRDL 2.0 need a backslash to serve as names.
std::string identifier(std::string_view name) {
  constexpr auto words = std::to_array<std::string_view>({"abstract",   "accesstype",  "addressingtype",
                                                          "addrmap",    "alias",       "all",
                                                          "bit",        "boolean",     "bothedge",
                                                          "compact",    "component",   "componentwidth",
                                                          "constraint", "default",     "encode",
                                                          "enum",       "external",    "false",
                                                          "field",      "fullalign",   "hw",
                                                          "inside",     "internal",    "level",
                                                          "longint",    "mem",         "na",
                                                          "negedge",    "nonsticky",   "number",
                                                          "onreadtype", "onwritetype", "posedge",
                                                          "property",   "r",           "rclr",
                                                          "ref",        "reg",         "regalign",
                                                          "regfile",    "rset",        "ruser",
                                                          "rw",         "rw1",         "signal",
                                                          "string",     "struct",      "sw",
                                                          "this",       "true",        "type",
                                                          "unsigned",   "w",           "w1",
                                                          "wclr",       "woclr",       "woset",
                                                          "wot",        "wr",          "wset",
                                                          "wuser",      "wzc",         "wzs",
                                                          "wzt"});
  const bool word = std::ranges::find(words, name) != words.end();
  return fmt::format("{}{}", word ? "\\" : "", name);
}

/// What software and hardware do with a field.
std::string_view systemrdl_access(RegisterAccess access, bool constant) {
  if (constant) return "sw = r; hw = na;";
  switch (access) {
    case RegisterAccess::ro:
      return "sw = r; hw = w;";
    case RegisterAccess::rw:
      return "sw = rw; hw = r;";
    case RegisterAccess::wo:
      return "sw = w; hw = r;";
    case RegisterAccess::w1c:
      return "sw = rw; onwrite = woclr; hw = r; hwset;";
  }
  return {};
}

/// What a register reads always: only those that say what the device is.
std::optional<std::uint32_t> constant_of(const RegisterInfo& info) {
  if (info.block != RegisterBlock::global) return std::nullopt;
  if (info.offset == reg::device_id) return kDeviceId;
  if (info.offset == reg::version) return kRegisterMapVersion;
  return std::nullopt;
}

std::string systemrdl_field(const RegisterInfo& info, const RegisterField& field, const std::string& more) {
  const std::optional<std::uint32_t> constant = constant_of(info);
  const std::uint64_t mask = (std::uint64_t{1} << (field.high - field.low + 1)) - 1;
  std::string reset;
  if (constant) reset = fmt::format(" = 0x{:X}", *constant >> field.low & mask);
  if (info.access == RegisterAccess::rw || info.access == RegisterAccess::w1c) reset = " = 0";
  std::string desc;
  if (!field.meaning.empty()) desc = fmt::format(" desc = {};", quoted(field.meaning));
  return fmt::format("      field {{ {}{}{} }} {}[{}:{}]{};\n", systemrdl_access(info.access, constant.has_value()),
                     desc, more, identifier(field.name), field.high, field.low, reset);
}

std::string systemrdl_register(const RegisterInfo& info) {
  std::string text = fmt::format("    reg {{\n      desc = {};\n", quoted(meaning_of(info)));
  std::string encode;
  if (const std::vector<RegisterValue> values = parts_of(info, kValues); !values.empty()) {
    text += fmt::format("      enum {}_e {{\n", info.name);
    for (const RegisterValue& value : values) {
      text += fmt::format("        {} = {} {{ desc = {}; }};\n", identifier(value.name), value.value,
                          quoted(value.meaning));
    }
    text += "      };\n";
    encode = fmt::format(" encode = {}_e;", info.name);
  }
  std::vector<RegisterField> fields = parts_of(info, kFields);
  if (fields.empty()) fields.push_back({info.block, info.offset, "value", 31, 0, ""});
  for (const RegisterField& field : fields) text += systemrdl_field(info, field, encode);
  return text + fmt::format("    }} {} @0x{:X};\n", identifier(info.name), info.offset);
}

std::string systemrdl_block(RegisterBlock block, std::string_view description, const std::string& place) {
  std::string text = fmt::format("  regfile {{\n    desc = {};\n", quoted(description));
  for (const RegisterInfo& info : kRegisters) {
    if (info.block == block) text += systemrdl_register(info);
  }
  return text + fmt::format("  }} {};\n", place);
}

}  // namespace

std::string_view to_string(RegisterAccess access) {
  constexpr std::string_view names[] = {"RO", "RW", "WO", "W1C"};
  return names[static_cast<std::size_t>(access)];
}

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
      "Generated from `sc_models/platform/register_map.h` by `mrcsim_register_map markdown`; a test compares the two. "
      "[register_map.rdl](register_map.rdl) is the same map in SystemRDL. Registers are 32 bits, little endian, "
      "accessed in aligned words of 4 or 8 bytes. RO: read only, WO: write only, W1C: a 1 clears the bit.\n\n";
  text += "## Global registers, from 0x0000\n\n" + block_table(RegisterBlock::global);
  text += fmt::format("\n## Memory region n, from 0x{:04X} + 0x{:X} n\n\n", kMemoryRegionBlock, kMemoryRegionStride);
  text += block_table(RegisterBlock::memory_region);
  text += fmt::format("\n## QP page n, from 0x{:X} + 0x{:X} n\n\n", kQpBlock, kQpStride);
  text += block_table(RegisterBlock::qp);
  text += "\n## Send queue entry (WQE)\n\n" + entry_table(wqe_fields());
  text += "\n## Completion queue entry (CQE)\n\n" + entry_table(cqe_fields());
  return text;
}

std::string register_map_systemrdl() {
  std::string text =
      "// Generated from sc_models/platform/register_map.h by \"mrcsim_register_map systemrdl\"; a test compares the "
      "two.\n"
      "// SystemRDL 2.0. The parameters are what qp_count and memory_region_count read.\n";
  text += fmt::format(
      "addrmap mrc_nic #(longint unsigned QPS = {}, longint unsigned MEMORY_REGIONS = {}) {{\n"
      "  desc = \"Registers of the MRC NIC, accessed in aligned words of 4 or 8 bytes\";\n"
      "  littleendian;\n  lsb0;\n  default regwidth = 32;\n  default accesswidth = 32;\n\n",
      PlatformOptions{}.qps, PlatformOptions{}.memory_regions);
  text += systemrdl_block(RegisterBlock::global, "the NIC", "global @0x0") + "\n";
  text += systemrdl_block(
              RegisterBlock::memory_region, "a memory region",
              fmt::format("memory_region[MEMORY_REGIONS] @0x{:X} += 0x{:X}", kMemoryRegionBlock, kMemoryRegionStride)) +
          "\n";
  text += systemrdl_block(RegisterBlock::qp, "a page per QP",
                          fmt::format("qp[QPS] @0x{:X} += 0x{:X}", kQpBlock, kQpStride));
  return text + "};\n";
}

}  // namespace mrc
