// Interface that replaces the ready list and the context cache of qp_scheduler, one operation after the other or
// clocked by its pins. The Verilated RTL implements it.
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

/// The grant of a turn comes back.
struct GrantReturn {
  std::uint32_t qp = 0;
  std::uint32_t slot = 0;
  bool again = false;  ///< the QP wants another turn
};

/// A context has come.
struct ContextFill {
  std::uint32_t qp = 0;
  bool list = false;  ///< the QP is to get its turn
  bool used = false;  ///< nobody waits for it who would use it first
};

/// By pins: what is offered in a cycle, the same until it is taken, and what is taken. Grants and answers to the
/// receiving side always are.
struct QpSchedulerInputs {
  std::optional<std::uint32_t> activated;
  std::optional<GrantReturn> returned;
  std::optional<std::uint32_t> looked_up;
  std::optional<ContextFill> filled;
  std::optional<std::uint32_t> dropped;
  bool run = false;          ///< turns may begin
  bool read_room = false;    ///< PCIe takes one more read
  bool takes_fetch = false;  ///< a fetch that has begun is read now
};

/// By pins: what happened in a cycle.
struct QpSchedulerOutputs {
  // Of what was offered, this was taken.
  bool activated = false;
  bool returned = false;
  bool looked_up = false;
  bool filled = false;
  bool dropped = false;

  bool pick = false;         ///< a turn began
  std::uint32_t listed = 0;  ///< QPs that wait for their turn
  std::uint32_t held = 0;    ///< slots in use

  // What came out, in which only the fields of the port are set.
  std::optional<ContextReply> turn;
  std::optional<ContextReply> grant;
  std::optional<ContextReply> seen;
  std::optional<ContextReply> fetch;  ///< is there; with takes_fetch it is taken
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
  /// A cycle of the clock. By pins only; operations above may come before the first.
  virtual QpSchedulerOutputs clock(const QpSchedulerInputs& inputs) = 0;
  virtual std::uint64_t cycles() const = 0;
};

}  // namespace mrc
