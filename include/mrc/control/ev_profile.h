// The EVs that a QP may use: values and planes, all planes with the same number.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "mrc/control/ev_format.h"
#include "mrc/ev_layout.h"
#include "mrc/protocol_config.h"
#include "mrc/random.h"
#include "mrc/types.h"

namespace mrc {

/// `value[i]` is sent through port `plane[i]` (0-based). Active EVs come first, in order of the planes, then the
/// backups.
struct EvProfile {
  std::vector<Ev> value;
  std::vector<std::uint8_t> plane;
  std::vector<WideEv> path;  ///< path bits of EV i, as its format has them; empty for an AUTO profile
};

/// A profile and where its values are found: what its path tables share.
class EvDirectory {
 public:
  explicit EvDirectory(EvProfile profile)
      : profile_(std::move(profile)), slots_(std::bit_ceil(2 * profile_.value.size()), kNoEv) {
    for (std::size_t i = 0; i < profile_.value.size(); ++i) {
      EvIndex& slot = slots_[slot_of(profile_.value[i])];
      if (slot == kNoEv) slot = static_cast<EvIndex>(i);
    }
  }

  const EvProfile& profile() const { return profile_; }
  /// Position of an EV; kNoEv for a value that is not in the profile.
  EvIndex find(Ev value) const { return slots_[slot_of(value)]; }

 private:
  /// The slot of the EV with this value, or the empty one where it would be.
  std::size_t slot_of(Ev value) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = (std::uint64_t{value} * 0x9E37'79B9'7F4A'7C15ULL >> 32) & mask;
    while (slots_[at] != kNoEv && profile_.value[slots_[at]] != value) at = (at + 1) & mask;
    return at;
  }

  EvProfile profile_;
  std::vector<EvIndex> slots_;  ///< hash table: multiplicative hashing, at most half full
};

/// Limits of a device (OCP API: ev_count_align, ev_max_count_profile; their values are assumptions).
struct EvLimits {
  std::uint32_t ev_count_align = 1;           ///< the number of EVs of a profile is a multiple of this, 1 …
  std::uint32_t ev_max_count_profile = 4096;  ///< EVs per profile, 1 … 65,535
};

/// Why a profile is refused.
enum class EvProfileFault : std::uint8_t {
  no_ev,
  unknown_port,
  unequal_planes,
  not_aligned,
  too_many,
  too_wide,   ///< a value has more bits than its format
  duplicate,  ///< a value occurs twice: the EV of a SACK that echoes it would be ambiguous
};

class EvProfileError : public std::invalid_argument {
 public:
  EvProfileError(EvProfileFault fault, const std::string& message) : std::invalid_argument(message), fault_(fault) {}
  EvProfileFault fault() const { return fault_; }

 private:
  EvProfileFault fault_;
};

/// An EV of an EXPLICIT profile (OCP API): path bits as its format has them, and a port from 1 on.
struct ExplicitEv {
  WideEv value;
  std::uint32_t port = 1;
};

/// EVs first … first + count - 1 of a GENERATED profile, expanded by the format, through one port from 1 on (OCP API;
/// that a range has one port is an assumption).
struct EvRange {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t port = 1;
};

/// Collects EVs by plane and returns them in turn, so that any prefix that is a multiple of the planes is balanced.
class EvProfileBuilder {
 public:
  /// `planes` 1 … 32.
  EvProfileBuilder(std::uint32_t planes, const EvLimits& limits) : limits_(limits), planes_(planes) {}

  /// Throws EvProfileError: unknown_port, duplicate, too_many.
  void add(Ev value, const WideEv& path, std::uint32_t port) {
    if (port < 1 || port > planes_.size()) {
      throw EvProfileError(EvProfileFault::unknown_port,
                           fmt::format("EV {:#x}: port {} is outside 1 to {}", value, port, planes_.size()));
    }
    if (count_ == limits_.ev_max_count_profile) {
      throw EvProfileError(EvProfileFault::too_many,
                           fmt::format("a profile has at most {} EVs", limits_.ev_max_count_profile));
    }
    if (!values_.insert(value).second) {
      throw EvProfileError(EvProfileFault::duplicate, fmt::format("EV {:#x} occurs twice", value));
    }
    planes_[port - 1].push_back({value, path});
    ++count_;
  }

  /// Throws EvProfileError: no_ev, not_aligned, unequal_planes.
  EvProfile build() const {
    if (count_ == 0) throw EvProfileError(EvProfileFault::no_ev, "a profile without an EV");
    if (count_ % limits_.ev_count_align != 0) {
      throw EvProfileError(EvProfileFault::not_aligned,
                           fmt::format("{} EVs are not a multiple of {}", count_, limits_.ev_count_align));
    }
    for (std::size_t plane = 1; plane < planes_.size(); ++plane) {
      if (planes_[plane].size() == planes_[0].size()) continue;
      throw EvProfileError(EvProfileFault::unequal_planes, fmt::format("port {} has {} EVs, port 1 has {}", plane + 1,
                                                                       planes_[plane].size(), planes_[0].size()));
    }
    EvProfile profile;
    for (std::size_t i = 0; i < count_; ++i) {
      const Planned& planned = planes_[i % planes_.size()][i / planes_.size()];
      profile.value.push_back(planned.value);
      profile.plane.push_back(static_cast<std::uint8_t>(i % planes_.size()));
      profile.path.push_back(planned.path);
    }
    return profile;
  }

 private:
  struct Planned {
    Ev value;
    WideEv path;
  };

  EvLimits limits_;
  std::vector<std::vector<Planned>> planes_;
  std::unordered_set<Ev> values_;
  std::size_t count_ = 0;
};

/// AUTO provisioning (OCP API): `ev_count` EVs with random path bits, as many per plane as fit; plane p takes every
/// `planes`-th EV, so that any prefix that is a multiple of the planes is balanced. Values are distinct. Within a plane
/// paths are random (paper 2.1) and every uplink of the NIC's T0 is used once before one is used twice: a failed
/// link affects its share of the EVs, active and backup, and no more (assumption; the paper says only random).
/// `uplinks`: of the T0 in a plane, 1 if the EV selects none. The layout must have room for them. Throws
/// std::invalid_argument if a plane would get no EV.
inline EvProfile make_auto_profile(const ProtocolConfig& config, std::uint32_t planes, KeyedRandom random,
                                   std::uint32_t uplinks = 1) {
  if (planes == 0 || config.ev_count < planes) {
    throw std::invalid_argument(
        fmt::format("{} EVs cannot serve {} planes: one a plane is needed", config.ev_count, planes));
  }
  EvProfile profile;
  const std::uint32_t count = config.ev_count / planes * planes;
  // A random base and an odd stride visit distinct values of the 32-bit space.
  auto value = static_cast<std::uint32_t>(random.next());
  const auto stride = static_cast<std::uint32_t>(random.next()) | 1U;
  std::vector<std::vector<std::uint32_t>> turns(planes, std::vector<std::uint32_t>(uplinks));
  for (auto& turn : turns) std::iota(turn.begin(), turn.end(), 0U);
  std::unordered_set<Ev> taken;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<std::uint32_t>& turn = turns[i % planes];
    const std::uint32_t position = i / planes % uplinks;
    std::swap(turn[position], turn[position + random.below(uplinks - position)]);
    Ev ev = 0;
    do {
      ev = config.ev_layout.ev_for(value, i % planes, turn[position], uplinks);
      value += stride;
    } while (!taken.insert(ev).second);
    profile.value.push_back(ev);
    profile.plane.push_back(static_cast<std::uint8_t>(i % planes));
  }
  return profile;
}

/// EXPLICIT provisioning (OCP API): the listed EVs, by port in their order. A value of at most 32 bits is the EV on the
/// wire; a wider one (SRv6) is echoed by its position in the list (assumption: SACK.entropy has 32 bits). Throws
/// EvProfileError.
inline EvProfile make_explicit_profile(std::span<const ExplicitEv> evs, const EvFormat& format, std::uint32_t planes,
                                       const EvLimits& limits = {}) {
  check_ev_format(format);
  EvProfileBuilder builder(planes, limits);
  for (std::size_t i = 0; i < evs.size(); ++i) {
    const WideEv& path = evs[i].value;
    if (path.width_bits > format.width_bits()) {
      throw EvProfileError(EvProfileFault::too_wide, fmt::format("EV {} of the list has {} bits, its format {}", i,
                                                                 path.width_bits, format.width_bits()));
    }
    const bool on_wire = format.width_bits() <= 32;
    builder.add(on_wire ? static_cast<Ev>(path.number()) : static_cast<Ev>(i), path, evs[i].port);
  }
  return builder.build();
}

/// GENERATED provisioning (OCP API): the ranges' EVs, expanded. An expansion of at most 32 bits is the EV on the wire;
/// of a wider one (SRv6) the EV before expansion is, which then has at most 32 bits (assumption). Throws
/// EvProfileError.
inline EvProfile make_generated_profile(std::span<const EvRange> ranges, const EvFormat& format, std::uint32_t planes,
                                        const EvLimits& limits = {}) {
  check_ev_format(format);
  EvProfileBuilder builder(planes, limits);
  const bool expanded_on_wire = format.width_bits() <= 32;
  const std::uint32_t bits = std::min<std::uint32_t>(format.chosen_bits(), expanded_on_wire ? 64 : 32);
  for (const EvRange& range : ranges) {
    for (std::uint32_t i = 0; i < range.count; ++i) {
      const std::uint64_t ev = range.first + i;
      if (ev < range.first || !fits_in_bits(ev, bits)) {
        throw EvProfileError(EvProfileFault::too_wide,
                             fmt::format("EV {:#x} + {} has more than {} bits", range.first, i, bits));
      }
      const WideEv path = expand_ev(format, ev);
      builder.add(static_cast<Ev>(expanded_on_wire ? path.number() : ev), path, range.port);
    }
  }
  return builder.build();
}

}  // namespace mrc
