#include "engine/memory_structure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace mrc {

MemoryStructure::MemoryStructure(Shape shape, const MemoryConfig& config, std::uint32_t scrub_cycles,
                                 const ClockDomain& clock, KeyedRandom random)
    : period_ps_(clock.period_ps()),
      bank_mask_(config.banks - 1),
      live_streams_(shape.streamed ? shape.instances : 0),
      shape_(std::move(shape)),
      config_(config),
      scrub_cycles_(scrub_cycles),
      random_(random) {
  // A stream uses all banks of its instance, so that they are one server; a word has one bank.
  const std::uint32_t ports = config.ports == MemoryPorts::two_rw ? 2 : 1;
  slot_ps_ = period_ps_ / (shape_.streamed ? ports * config.banks : ports);
  word_shift_ = static_cast<std::uint32_t>(std::countr_zero(std::bit_floor(std::max(shape_.width_bits / 8, 1U))));
  servers_.resize(shape_.streamed ? shape_.instances : config.banks);
  read_servers_ = write_servers_ = servers_.data();
  if (config.ports == MemoryPorts::one_r_one_w) {
    own_write_servers_.resize(servers_.size());
    write_servers_ = own_write_servers_.data();
  }
  next_correctable_ = draw_gap(config.correctable_per_gbit);
  next_uncorrectable_ = draw_gap(config.uncorrectable_per_gbit);
  next_error_ = std::min(next_correctable_, next_uncorrectable_);
}

double MemoryStructure::mean_accesses_per_cycle(TimePs end) const {
  if (end == 0) return 0;
  const double cycles = static_cast<double>(end) / static_cast<double>(period_ps_) * shape_.instances;
  return static_cast<double>(reads_ + writes_) / cycles;
}

MemoryAccess MemoryStructure::stream(TimePs now, bool reading, std::uint32_t instance, std::uint32_t bytes,
                                     TimePs spread_ps) {
  const std::uint32_t words = std::max(1U, (bytes + (1U << word_shift_) - 1) >> word_shift_);
  (reading ? reads_ : writes_) += words;
  if (peak_ < kLiveStreams) note_stream(live_streams_[instance], now, now + words * period_ps_);
  return serve_stream(now, reading, instance, words, spread_ps);
}

void MemoryStructure::note_more_streams(LiveStreams& live, TimePs now, TimePs end) {
  for (std::uint32_t i = 0; i < live.count; ++i) {
    if (live.ends[i] > now) continue;
    live.ends[i] = end;
    live.next = i + 1;
    return;
  }
  live.ends[live.count++] = end;
  live.next = 0;
  peak_ = std::max(peak_, live.count);
}

inline MemoryAccess MemoryStructure::serve_stream(TimePs now, bool reading, std::uint32_t instance, std::uint32_t words,
                                                  TimePs spread_ps) {
  const TimePs shortest_ps = words * period_ps_;
  const bool checked = reading || shape_.checks_writes;
  Server& server = (reading ? read_servers_ : write_servers_)[instance];
  if (now > server.free_at) {
    const TimePs paid = std::min(server.background, now - server.free_at);
    server.background -= paid;
    server.free_at += paid;
  }
  if (spread_ps <= shortest_ps) return serve(now, server, words, shortest_ps, checked);
  TimePs delay_ps = 0;
  server.background += words * slot_ps_;
  if (server.background > spread_ps) [[unlikely]] {
    const TimePs late_ps = server.background - spread_ps;
    server.background = spread_ps;
    server.free_at = std::max(server.free_at, now) + late_ps;
    delay_ps = conflict(late_ps);
  }
  return checked_access(delay_ps, checked ? words : 0, server.free_at);
}

std::uint64_t MemoryStructure::draw_gap(double per_gbit) {
  if (per_gbit <= 0) return kNoError;
  constexpr double gbit = 1 << 30;
  const double words = -std::log1p(-random_.uniform()) * gbit / (per_gbit * shape_.width_bits);
  return checked_words_ + static_cast<std::uint64_t>(std::max(1.0, std::min(words, 1e18)));
}

MemoryAccess MemoryStructure::meet_errors(TimePs delay_ps, TimePs& free_at) {
  MemoryAccess access{delay_ps, MemoryError::none};
  while (checked_words_ >= next_error_) {
    if (next_uncorrectable_ <= next_correctable_) {
      ++uncorrected_errors_;
      access.error = MemoryError::uncorrectable;
      next_uncorrectable_ = draw_gap(config_.uncorrectable_per_gbit);
    } else {
      ++corrected_errors_;
      if (access.error == MemoryError::none) access.error = MemoryError::corrected;
      access.delay_ps += scrub_cycles_ * period_ps_;
      free_at += scrub_cycles_ * period_ps_;
      next_correctable_ = draw_gap(config_.correctable_per_gbit);
    }
    next_error_ = std::min(next_correctable_, next_uncorrectable_);
  }
  return access;
}

}  // namespace mrc
