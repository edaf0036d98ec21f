// States of a queue pair and the steps that software may make between them (OCP API: RESET → INIT → RTR → RTS → ERROR).
#pragma once

#include <cstdint>

namespace mrc {

/// rtr: receives; rts: receives and sends; error: refuses and flushes, until the QP is destroyed and created again.
enum class QpState : std::uint8_t { reset, init, rtr, rts, error };

enum class ModifyStatus : std::uint8_t { changed, illegal_transition };

/// One step up at a time; ERROR is reached from any other state and is final.
constexpr bool may_modify(QpState from, QpState to) {
  if (from == QpState::error) return false;
  return to == QpState::error || static_cast<int>(to) == static_cast<int>(from) + 1;
}

/// Takes one half of a QP that is in RESET to RTS.
template <typename Half>
void bring_up(Half& half) {
  for (const QpState next : {QpState::init, QpState::rtr, QpState::rts}) half.modify(next);
}

}  // namespace mrc
