// What the control and credit ports of spray_scheduler are told: words of rtl/common/mrc_pkg.sv.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cosim/mrc_pkg.h"
#include "cosim/spray_scheduler/ports.h"
#include "mrc/control/path_table.h"

namespace mrc {

static_assert(rtl::is_ev_state<EvState>() && rtl::is_path_event<PathEvent>(3) && rtl::is_skip_duration<SkipDuration>());

inline spray_scheduler_ports::Csr spray_csr(rtl::SprayCsr op, std::uint32_t slot, std::uint64_t index,
                                            std::uint64_t word) {
  return {.op = static_cast<std::uint64_t>(op), .slot = slot, .index = index, .wdata = word};
}

inline rtl::SprayLimits spray_limits(const PathTable& table) {
  const ProtocolConfig& config = table.config();
  return {.reshuffle_rotations = config.reshuffle_rotations,
          .probe_successes = config.probe_successes,
          .assumed_bad_losses = config.assumed_bad_losses,
          .oblivious = config.path_feedback == PathFeedback::oblivious,
          .probe_marked_skips = config.probe_skip_state == ProbeSkipState::skip,
          .skip_duration = static_cast<std::uint64_t>(config.skip_duration),
          .least_active = std::min(table.least_active_a_plane(), 511U),
          .most_active = table.most_active_a_plane(),
          .ev_count = table.size()};
}

/// Where the EVs of a profile lie in a table of `buckets` (a power of two, more than EVs): by the low bits of the
/// value, or in the next bucket that is free. kNoEv: empty.
inline std::vector<EvIndex> spray_buckets(const EvProfile& profile, std::uint32_t buckets) {
  std::vector<EvIndex> table(buckets, kNoEv);
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    std::uint32_t at = profile.value[i] & (buckets - 1);
    while (table[at] != kNoEv) at = (at + 1) & (buckets - 1);
    table[at] = static_cast<EvIndex>(i);
  }
  return table;
}

/// What the control port has to be told before tables are opened. `evs`: that the block is built for.
inline std::vector<spray_scheduler_ports::Csr> spray_set_up(const EvProfile& profile, const PathTable& example,
                                                            std::uint32_t evs) {
  std::vector<spray_scheduler_ports::Csr> words;
  const auto add = [&](rtl::SprayCsr op, std::uint64_t index, std::uint64_t word) {
    words.push_back(spray_csr(op, 0, index, word));
  };
  add(rtl::SprayCsr::limits, 0, spray_limits(example).word());
  add(rtl::SprayCsr::skip_time, 0, example.config().skip_time_ps);
  for (std::size_t i = 0; i < profile.value.size(); ++i) {
    add(rtl::SprayCsr::profile, i, std::uint64_t{profile.plane[i]} << 32 | profile.value[i]);
  }
  const std::vector<EvIndex> buckets = spray_buckets(profile, 2 * evs);
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    add(rtl::SprayCsr::bucket, i, buckets[i] == kNoEv ? 0 : evs | buckets[i]);
  }
  return words;
}

/// The settings of a run's path tables, each handed to `set` by its name.
template <typename Set>
void set_path_table_settings(const PathTable& table, const Set& set) {
  const ProtocolConfig& config = table.config();
  set("planes", table.planes());
  set("ev_count", table.size());
  set("ev_active", config.ev_active);
  set("ev_min_active", config.ev_min_active);
  set("reshuffle_rotations", config.reshuffle_rotations);
  set("probe_successes", config.probe_successes);
  set("assumed_bad_losses", config.assumed_bad_losses);
  set("path_feedback", static_cast<std::uint64_t>(config.path_feedback));
  set("probe_skip_state", static_cast<std::uint64_t>(config.probe_skip_state));
  set("skip_duration", static_cast<std::uint64_t>(config.skip_duration));
  set("skip_time_ps", config.skip_time_ps);
}

inline constexpr unsigned kSprayCreditBits = 28;

/// Sets a plane's field of the credit port, which was 0, in its 32-bit words.
template <typename Words>
void set_spray_credit(Words& words, std::size_t plane, std::uint64_t bytes) {
  const std::size_t at = plane * kSprayCreditBits;
  const std::uint64_t field = (bytes & ((1U << kSprayCreditBits) - 1)) << (at % 32);
  words[at / 32] |= static_cast<std::uint32_t>(field);
  if (field >> 32 != 0) words[at / 32 + 1] |= static_cast<std::uint32_t>(field >> 32);
}

/// Room that comes back, by plane, as the credit port has it: in 32-bit words.
template <typename Bytes>
std::vector<std::uint64_t> spray_credit_words(const Bytes& bytes, std::uint32_t planes) {
  std::vector<std::uint64_t> words((planes * kSprayCreditBits + 31) / 32, 0);
  for (std::size_t plane = 0; plane < bytes.size(); ++plane) set_spray_credit(words, plane, bytes[plane]);
  return words;
}

}  // namespace mrc
