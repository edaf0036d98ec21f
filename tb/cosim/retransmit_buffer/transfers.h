// Commands of retransmit_buffer as transfers of its stream `cmd`.
#pragma once

#include "cosim/retransmit_buffer/ports.h"
#include "mrc/tx/retransmit_command.h"

namespace mrc {

inline retransmit_buffer_ports::Cmd to_cmd(const RetransmitCommand& c) {
  return {.op = static_cast<std::uint64_t>(c.op),
          .qp = c.qp,
          .psn = c.psn,
          .base = c.base,
          .bitmap = c.bitmap,
          .now = c.now,
          .limit = c.limit,
          .threshold = c.threshold,
          .ev = c.ev,
          .cause = static_cast<std::uint64_t>(c.cause),
          .message = c.message,
          .offset = c.offset,
          .bytes = c.bytes};
}

inline RetransmitCommand to_command(const retransmit_buffer_ports::Cmd& c) {
  return {.op = static_cast<RetransmitOp>(c.op),
          .qp = static_cast<std::uint32_t>(c.qp),
          .psn = static_cast<Psn>(c.psn),
          .base = static_cast<Psn>(c.base),
          .bitmap = c.bitmap,
          .now = c.now,
          .limit = c.limit,
          .threshold = static_cast<std::uint32_t>(c.threshold),
          .ev = static_cast<EvIndex>(c.ev),
          .cause = static_cast<CutCause>(c.cause),
          .message = static_cast<std::uint16_t>(c.message),
          .offset = static_cast<std::uint32_t>(c.offset),
          .bytes = static_cast<std::uint16_t>(c.bytes)};
}

}  // namespace mrc
