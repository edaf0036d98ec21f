// Who asks qp_scheduler for the context of a QP, besides the turns of the QPs.
#pragma once

#include <cstdint>

#include "engine/causal_trace.h"
#include "mrc/tx/context_slots.h"
#include "mrc/types.h"

namespace mrc::timing {

/// Gets told that a QP's context is on the NIC.
class ContextClient {
 public:
  virtual ~ContextClient() = default;
  /// It can be used from `done_at` on; `because`: start of the read that brought it. True if something waited for it.
  virtual bool context_here(std::uint32_t qp, TimePs now, TimePs done_at, StartId because) = 0;
  /// Something waits for this context.
  virtual bool waits_for_context(std::uint32_t qp) const = 0;
  /// By pins: the answer to the oldest question of this client.
  virtual void context_seen(ContextLookup lookup, TimePs now) = 0;
};

}  // namespace mrc::timing
