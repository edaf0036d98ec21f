// Whose turn it is among traffic classes: the highest that is ready, or shares of the bytes by weights (deficit round
// robin). What waits, and where, is the caller's.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "parameters/traffic_classes.h"

namespace mrc {

/// What one place where classes meet remembers of their shares.
struct ClassCredit {
  std::array<std::int64_t, kMostTrafficClasses> bytes{};
  std::uint32_t turn = 0;
};

class ClassTurns {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  /// `quantum_bytes`: that a class of weight 1 gets in a round.
  ClassTurns(const TrafficClasses& classes, std::uint32_t quantum_bytes)
      : on_(classes.on()), strict_(!on_ || classes.strict()) {
    const auto weights = class_weights(classes, "scenario");
    for (std::size_t i = 0; i < weights.size(); ++i) round_[i] = std::int64_t{weights[i]} * quantum_bytes;
  }

  bool on() const { return on_; }
  bool strict() const { return strict_; }
  /// A class among the bits of `ready`; kNone without one, or where the turn is that of a class which is in `active`
  /// and not ready: its packets are on their way, and nobody takes its share meanwhile. `ready` is part of `active`.
  std::uint32_t pick(ClassCredit& credit, std::uint32_t active, std::uint32_t ready) const {
    if (ready == 0) return kNone;
    if (strict_) return static_cast<std::uint32_t>(std::bit_width(ready)) - 1;
    for (std::uint32_t c = 0; c < kMostTrafficClasses; ++c) {
      if ((active >> c & 1) == 0) credit.bytes[c] = 0;
    }
    for (;;) {
      const std::uint32_t entitled = active & with_credit(credit);
      if (entitled != 0) {
        if ((entitled & ready) == 0) return kNone;
        while (((entitled & ready) >> credit.turn & 1) == 0) credit.turn = (credit.turn + 1) % kMostTrafficClasses;
        return credit.turn;
      }
      for (std::uint32_t c = 0; c < kMostTrafficClasses; ++c) {
        if ((active >> c & 1) != 0) credit.bytes[c] += round_[c];
      }
    }
  }
  /// The class has sent this much, or, below 0, less than it was charged.
  void charge(ClassCredit& credit, std::uint32_t traffic_class, std::int64_t bytes) const {
    if (!strict_) credit.bytes[traffic_class] -= bytes;
  }

 private:
  static std::uint32_t with_credit(const ClassCredit& credit) {
    std::uint32_t mask = 0;
    for (std::uint32_t c = 0; c < kMostTrafficClasses; ++c) mask |= (credit.bytes[c] > 0 ? 1U : 0U) << c;
    return mask;
  }

  bool on_;
  bool strict_;
  std::array<std::int64_t, kMostTrafficClasses> round_{};
};

}  // namespace mrc
