// The EVs that a QP may use: values and planes, all planes with the same number.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "mrc/protocol_config.h"
#include "mrc/random.h"
#include "mrc/types.h"

namespace mrc {

/// `value[i]` is sent through port `plane[i]` (0-based). Active EVs come first, in order of the planes, then the backups.
struct EvProfile {
  std::vector<Ev> value;
  std::vector<std::uint8_t> plane;
};

/// AUTO provisioning (OCP API): `ev_count` EVs with random path bits, as many a plane as fit; plane p takes every
/// `planes`-th EV, so that any prefix that is a multiple of the planes is balanced. Values are distinct.
/// Throws std::invalid_argument when a plane would get no EV.
inline EvProfile make_auto_profile(const ProtocolConfig& config, std::uint32_t planes, KeyedRandom random) {
  if (planes == 0 || config.ev_count < planes) {
    throw std::invalid_argument(fmt::format("{} EVs cannot serve {} planes: one a plane is needed", config.ev_count, planes));
  }
  EvProfile profile;
  const std::uint32_t count = config.ev_count / planes * planes;
  // A random base and an odd stride visit distinct values of the 32-bit space.
  const auto base = static_cast<std::uint32_t>(random.next());
  const auto stride = static_cast<std::uint32_t>(random.next()) | 1U;
  for (std::uint32_t i = 0; i < count; ++i) {
    profile.value.push_back(base + i * stride);
    profile.plane.push_back(static_cast<std::uint8_t>(i % planes));
  }
  return profile;
}

}  // namespace mrc
