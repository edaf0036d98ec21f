// Fields of memory words that several boxes hold: widths of header fields (OCP MRC 1.0), and of what this NIC keeps
// about a packet on its way.
#pragma once

#include <initializer_list>
#include <vector>

#include "engine/memory_declaration.h"

namespace mrc {

inline constexpr MemoryField kQpField{"QP", 24};
inline constexpr MemoryField kPsnField{"PSN", 24};
inline constexpr MemoryField kMsnField{"MSN", 24};
inline constexpr MemoryField kVaField{"VA", 64};
inline constexpr MemoryField kRkeyField{"R_Key", 32};
inline constexpr MemoryField kDmaLengthField{"DMA length", 32};
inline constexpr MemoryField kImmediateField{"immediate", 32};
inline constexpr MemoryField kOpcodeField{"opcode", 8};
inline constexpr MemoryField kLengthField{"payload length", 15};  // up to 16,384 B
inline constexpr MemoryField kEvField{"EV", 32};
inline constexpr MemoryField kPlaneField{"plane", 3};
inline constexpr std::uint64_t kControlPacketBytes = 128;
inline constexpr MemoryField kControlPacketField{"control packet", kControlPacketBytes * 8};

/// A packet between segmenter and wire: header fields, where its payload lies, whose it is.
inline std::vector<MemoryField> transmit_descriptor(std::initializer_list<MemoryField> more = {}) {
  std::vector<MemoryField> fields{kQpField,     kPsnField,       kVaField,  kRkeyField,   kDmaLengthField,
                                  kOpcodeField, kImmediateField, kMsnField, kLengthField, {"host address", 64},
                                  {"flags", 4}};
  fields.insert(fields.end(), more);
  return fields;
}

}  // namespace mrc
