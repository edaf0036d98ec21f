// Interface that replaces the ready list and the context cache of qp_scheduler, one operation after the other. The
// Verilated RTL implements it.
#pragma once

#include <cstdint>
#include <optional>

#include "mrc/tx/context_slots.h"

namespace mrc {

/// What a block is built for. A scenario with other sizes is refused.
struct QpSchedulerSizes {
  std::uint32_t qps = 0;
  std::uint32_t slots = 0;
};

/// What became of a turn, or of a lookup by the receiving side.
struct ContextReply {
  std::uint32_t qp = 0;
  ContextLookup lookup = ContextLookup::here;
  std::uint32_t slot = 0;                ///< where the context is here, or is fetched to
  std::optional<std::uint32_t> evicted;  ///< QP whose slot a fetch takes
  std::uint32_t quantum_bytes = 0;       ///< of the grant of a turn
  std::uint32_t latency_cycles = 0;      ///< from the beginning of the turn or the lookup to the answer

  friend bool operator==(const ContextReply&, const ContextReply&) = default;
};

class QpSchedulerEngine {
 public:
  virtual ~QpSchedulerEngine() = default;
  virtual void activate(std::uint32_t qp) = 0;
  /// The QP that has waited for longest gets its turn; `room`: a read could begin.
  virtual ContextReply turn(bool room) = 0;
  /// The turn of a QP that found its context is over. `again`: it wants another.
  virtual void give_back(std::uint32_t qp, std::uint32_t slot, bool again) = 0;
  virtual ContextReply look(std::uint32_t qp, bool room) = 0;
  /// A context has come. `list`: the QP is to get its turn; `used`: nobody waits for it who would use it first.
  virtual void fill(std::uint32_t qp, bool list, bool used) = 0;
  virtual void drop(std::uint32_t qp) = 0;
  virtual std::uint64_t cycles() const = 0;
};

}  // namespace mrc
