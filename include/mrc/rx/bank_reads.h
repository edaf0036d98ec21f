// Banks of a receive window that are read one after the other: what the PSN tracker's time depends on.
#pragma once

#include <cstdint>

#include "mrc/rx/psn_tracker.h"
#include "mrc/types.h"

namespace mrc {

/// Banks that are read one after the other for a packet that was placed at `psn`; `tracker` as it is afterwards.
inline std::uint32_t banks_of_advance(const PsnTracker& tracker, Psn psn) {
  const Psn edge = tracker.expected_psn();
  if (psn_distance(edge, psn) <= 0) return 1;
  constexpr Psn bank = PsnTracker::kBankPsns;
  const auto left = static_cast<std::uint32_t>(psn_distance(edge & ~(bank - 1), psn & ~(bank - 1))) / bank;
  // The edge is at the beginning of a bank that may have no entry for it.
  const bool untouched = edge % bank == 0 && (tracker.ooo_count() == 0 || !tracker.bank_held(edge));
  return 1 + left - (untouched ? 1 : 0);
}
/// And for a SACK's bitmap from `base` on.
inline std::uint32_t banks_of_sack(const PsnTracker& tracker, Psn base) {
  constexpr Psn bank = PsnTracker::kBankPsns;
  const bool second = base % bank > bank - 64 && tracker.ooo_count() > 0;
  return second && tracker.bank_held(psn_add(base, bank)) ? 2 : 1;
}

}  // namespace mrc
