// Which EV a packet takes, of those that may be used. The states of EVs are PathTable's under every policy: what is
// DENIED, ASSUMED_BAD, a backup or on a plane without a free port is never offered. MRC's own rotation is in PathTable;
// the others are a class each, in a file of its own, and a row of path_policy_registry.h.
#pragma once

#include <bit>
#include <cstdint>

#include "mrc/types.h"

namespace mrc {

/// What a packet or a probe on an EV met with.
enum class PathEvent : std::uint8_t {
  delivered,
  ecn,
  always_skip,
  trimmed,
  trimmed_lasthop,
  lost,
  probe_delivered,
  probe_ecn,
  probe_lost
};

/// The EVs that a policy chooses among for one packet: at least one may be used. Costs a look at 64 EVs for each plane
/// that is asked about. Valid during the call of pick().
class PathChoices {
 public:
  /// `good`: per 64 EVs one word for each of `planes` planes, bit i for the i-th of them, set for an active EV that
  /// is GOOD. Planes as bits: `free` has those with a free port, `reachable` these and those whose port is busy.
  PathChoices(const std::uint64_t* good, std::uint32_t words, std::uint32_t planes, std::uint32_t free,
              std::uint32_t reachable)
      : good_(good), words_(words), planes_(planes), free_(free), reachable_(reachable) {}

  /// Active, GOOD, and its plane has a free port.
  bool may_use(EvIndex ev) const { return (word(ev / 64U, free_) >> (ev % 64U) & 1U) != 0; }
  /// Likewise, but its port may be busy: the packet can wait for it.
  bool may_wait_for(EvIndex ev) const { return (word(ev / 64U, reachable_) >> (ev % 64U) & 1U) != 0; }

  /// How many may be used, 1 or more.
  std::uint32_t count() const {
    std::uint32_t n = 0;
    for (std::uint32_t at = 0; at < words_; ++at) n += static_cast<std::uint32_t>(std::popcount(word(at, free_)));
    return n;
  }
  /// The `n`-th of them, 0 … count() - 1, in order of EVs.
  EvIndex nth(std::uint32_t n) const {
    for (std::uint32_t at = 0; at < words_; ++at) {
      std::uint64_t bits = word(at, free_);
      const auto here = static_cast<std::uint32_t>(std::popcount(bits));
      if (n < here) {
        for (; n > 0; --n) bits &= bits - 1;
        return ev_at(at, bits);
      }
      n -= here;
    }
    return kNoEv;
  }
  /// The first that may be used from `ev` on, and after the last EV from the first on.
  EvIndex next_from(EvIndex ev) const {
    const std::uint32_t first = ev / 64U < words_ ? ev / 64U : 0;
    const std::uint64_t from = first == ev / 64U ? ~0ULL << (ev % 64U) : ~0ULL;
    for (std::uint32_t i = 0; i <= words_; ++i) {
      const std::uint32_t at = (first + i) % words_;
      const std::uint64_t bits = word(at, free_) & (i == 0 ? from : ~0ULL);
      if (bits != 0) return ev_at(at, bits);
    }
    return kNoEv;
  }

 private:
  std::uint64_t word(std::uint32_t at, std::uint32_t planes) const {
    std::uint64_t bits = 0;
    for (; planes != 0; planes &= planes - 1) {
      bits |= good_[at * planes_ + static_cast<std::uint32_t>(std::countr_zero(planes))];
    }
    return bits;
  }
  static EvIndex ev_at(std::uint32_t at, std::uint64_t bits) {
    return static_cast<EvIndex>(at * 64U + static_cast<std::uint32_t>(std::countr_zero(bits)));
  }

  const std::uint64_t* good_;
  std::uint32_t words_;
  std::uint32_t planes_;
  std::uint32_t free_;
  std::uint32_t reachable_;
};

class PathPolicy {
 public:
  virtual ~PathPolicy() = default;
  /// One of `choices` that may be used; kNoEv to wait until other ports are free.
  virtual EvIndex pick(const PathChoices& choices, TimePs now) = 0;
  /// What a packet on an EV met with, after PathTable has changed the EV's state.
  virtual void heard(EvIndex, PathEvent, TimePs) {}
};

}  // namespace mrc
