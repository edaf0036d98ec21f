// A command of retransmit_buffer as a transfer of its bench's first port.
#pragma once

#include "cosim/bench/ports.h"
#include "mrc/tx/retransmit_command.h"

namespace mrc::cosim {

/// Fields in the order of make_retransmit_buffer_dut().
inline Transaction transaction_of(const RetransmitCommand& c) {
  return {static_cast<std::uint64_t>(c.op),    c.qp,      c.psn,    c.base, c.bitmap, c.now, c.limit, c.threshold, c.ev,
          static_cast<std::uint64_t>(c.cause), c.message, c.offset, c.bytes};
}

}  // namespace mrc::cosim
