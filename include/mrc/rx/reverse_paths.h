// EVs for control packets: one per plane, updated from SACKs and probes of the other direction (paper 2.4).
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "mrc/control/path_table.h"
#include "mrc/ev_layout.h"
#include "mrc/random.h"
#include "mrc/types.h"

namespace mrc {

class ReversePaths {
 public:
  /// Starts with one random EV per plane; `uplinks`: of the way to the peer, among which an EV selects.
  ReversePaths(std::uint32_t planes, KeyedRandom random, const EvLayout& layout = {}, std::uint32_t uplinks = 1)
      : planes_(planes) {
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      evs_[plane] = layout.fitted(static_cast<Ev>(random.next()), plane, uplinks);
    }
    turn_ = static_cast<std::uint32_t>(random.below(planes_));
  }

  struct Choice {
    Ev ev = 0;
    std::uint8_t plane = 0;
    bool found = false;
  };
  /// The next plane in turn among `ports` (bit p = port p) and its EV; `found` is false if `ports` has none of its
  /// planes.
  Choice pick(std::uint32_t ports) {
    for (std::uint32_t i = 0; i < planes_; ++i) {
      const std::uint32_t plane = (turn_ + i) % planes_;
      if ((ports & reachable_ & (1U << plane)) == 0) continue;
      turn_ = plane + 1;
      return {evs_[plane], static_cast<std::uint8_t>(plane), true};
    }
    return {};
  }
  /// A packet on `ev` arrived over plane `plane`: control packets use this EV from now on.
  void confirm(std::uint8_t plane, Ev ev) { evs_[plane] = ev; }
  void set_port_status(std::uint32_t reachable_mask) { reachable_ = reachable_mask; }
  /// True if pick() finds a plane among `ports`.
  bool has_one(std::uint32_t ports) const {
    const std::uint32_t planes = planes_ >= 32 ? ~0U : (1U << planes_) - 1;
    return (ports & reachable_ & planes) != 0;
  }

 private:
  std::uint32_t planes_;
  std::uint32_t turn_ = 0;
  std::uint32_t reachable_ = ~0U;
  std::array<Ev, PathTable::kMostPlanes> evs_{};
};

}  // namespace mrc
