// Interface that replaces the records of retransmit_buffer, command by command or clocked by its pins. The Verilated
// RTL implements it.
#pragma once

#include <cstdint>

#include "engine/pins_engine.h"
#include "mrc/tx/retransmit_command.h"

namespace mrc {

/// What a block is built for. A scenario with other sizes is refused.
struct RetransmitBufferSizes {
  std::uint32_t qps = 0;  ///< of the NIC
  std::uint32_t records = 0;
  std::uint32_t slots = 0;  ///< contexts in the block
};

class RetransmitBufferEngine : public PinsEngine<RetransmitCommand, RetransmitReply> {
 public:
  /// The reply is valid until the next command.
  virtual const RetransmitReply& run(const RetransmitCommand& command) = 0;
  /// Clock cycles that it was evaluated for.
  virtual std::uint64_t cycles() const = 0;
  /// Of the last command: taken until its result.
  virtual std::uint64_t last_cycles() const = 0;
};

}  // namespace mrc
