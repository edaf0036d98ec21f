// A memory of the NIC with a number of banks and ports: counts its accesses, lets those wait that find every port of
// their bank taken, and gives its cells the errors that the parameters ask for.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/cause.h"
#include "engine/clock_domain.h"
#include "mrc/random.h"
#include "mrc/types.h"
#include "parameters/config.h"

namespace mrc {

enum class MemoryError : std::uint8_t { none, corrected, uncorrectable };

/// What an access met with.
struct MemoryAccess {
  TimePs delay_ps = 0;  ///< later than with a port of its own
  MemoryError error = MemoryError::none;

  bool failed() const { return error == MemoryError::uncorrectable; }
};

/// Words go to the bank of their (folded) address. Streams are the consecutive words of a packet, at most one per
/// cycle, spread over all banks. A bank serves in the order in which it is asked (assumption: no priority among
/// clients).
class alignas(64) MemoryStructure {
 public:
  struct Shape {
    std::string name;
    std::uint32_t width_bits = 1;
    std::uint32_t instances = 1;
    bool streamed = false;
    bool checks_writes = false;  ///< an error can be found when a word is stored, not only when it is read
    Cause cause = {};            ///< of waiting for one of its ports
  };

  MemoryStructure(Shape shape, const MemoryConfig& config, std::uint32_t scrub_cycles, const ClockDomain& clock,
                  KeyedRandom random);

  MemoryAccess read(TimePs now, std::uint64_t address) {
    ++reads_;
    count_words(now);
    return serve(now, read_servers_[bank_of(address)], 1, period_ps_, true);
  }
  MemoryAccess write(TimePs now, std::uint64_t address) {
    ++writes_;
    count_words(now);
    return serve(now, write_servers_[bank_of(address)], 1, period_ps_, shape_.checks_writes);
  }
  /// A word is read, changed and written back; the write takes a cycle of its own that nobody waits for.
  MemoryAccess update(TimePs now, std::uint64_t address) {
    const MemoryAccess access = read(now, address);
    ++writes_;
    TimePs& free_at = write_servers_[bank_of(address)].free_at;
    free_at = std::max(free_at, now + period_ps_) + slot_ps_;
    return access;
  }
  /// `bytes` in consecutive words, at most one per cycle. With a longer `spread_ps` the words are accessed at any time
  /// within it: they use cycles that no other access needs, as long as there are enough.
  MemoryAccess read_stream(TimePs now, std::uint32_t instance, std::uint32_t bytes, TimePs spread_ps = 0) {
    return stream(now, true, instance, bytes, spread_ps);
  }
  MemoryAccess write_stream(TimePs now, std::uint32_t instance, std::uint32_t bytes, TimePs spread_ps = 0) {
    return stream(now, false, instance, bytes, spread_ps);
  }

  const std::string& name() const { return shape_.name; }
  Cause cause() const { return shape_.cause; }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }
  /// Most accesses of an instance that were asked for in one cycle.
  std::uint32_t peak() const { return std::max(peak_, in_cycle_); }
  /// Of one instance, over the cycles up to `end`.
  double mean_accesses_per_cycle(TimePs end) const;
  std::uint64_t conflict_stalls() const { return conflict_stalls_; }
  std::uint64_t conflict_stall_cycles() const { return conflict_stall_cycles_; }
  std::uint64_t corrected_errors() const { return corrected_errors_; }
  std::uint64_t uncorrected_errors() const { return uncorrected_errors_; }

 private:
  static constexpr std::uint64_t kNoError = std::numeric_limits<std::uint64_t>::max();
  /// As many streams of an instance at once are told apart; there is no more to learn after that.
  static constexpr std::uint32_t kLiveStreams = 8;
  /// Ends of streams; a place is used anew when its stream is over, so that there are as many as were ever live at
  /// once.
  struct LiveStreams {
    std::array<TimePs, kLiveStreams> ends{};
    std::uint32_t count = 0;
    std::uint32_t next = 0;  ///< place that is likely to be over first
  };
  /// A bank, or all banks of an instance.
  struct Server {
    TimePs free_at = 0;     ///< its ports take a cycle for each of their accesses
    TimePs background = 0;  ///< time for accesses that may wait for idle cycles
  };
  /// Folded, so that boxes that follow each other at a fixed distance do not meet in a bank for ever.
  std::uint64_t bank_of(std::uint64_t address) const { return (address ^ (address >> 6)) & bank_mask_; }
  /// `best_ps`: how long the access takes when nobody else is served.
  MemoryAccess serve(TimePs now, Server& server, std::uint32_t words, TimePs best_ps, bool checked) {
    TimePs& free_at = server.free_at;
    free_at = std::max(free_at, now) + words * slot_ps_;
    TimePs delay_ps = 0;
    if (free_at > now + best_ps) [[unlikely]]
      delay_ps = conflict(free_at - now - best_ps);
    return checked_access(delay_ps, checked ? words : 0, free_at);
  }
  /// An access of `checked_words` words, late by `delay_ps`, may meet an error.
  MemoryAccess checked_access(TimePs delay_ps, std::uint32_t checked_words, TimePs& free_at) {
    checked_words_ += checked_words;
    if (checked_words_ >= next_error_) [[unlikely]]
      return meet_errors(delay_ps, free_at);
    return {delay_ps, MemoryError::none};
  }
  /// Whole cycles.
  TimePs conflict(TimePs late_ps) {
    const std::uint64_t cycles = (late_ps + period_ps_ - 1) / period_ps_;
    ++conflict_stalls_;
    conflict_stall_cycles_ += cycles;
    return cycles * period_ps_;
  }
  void count_words(TimePs now) {
    if (now - cycle_start_ < period_ps_) {
      ++in_cycle_;
      return;
    }
    peak_ = std::max(peak_, in_cycle_);
    cycle_start_ = now;
    in_cycle_ = 1;
  }
  MemoryAccess stream(TimePs now, bool reading, std::uint32_t instance, std::uint32_t bytes, TimePs spread_ps);
  /// A stream until `end` begins.
  void note_stream(LiveStreams& live, TimePs now, TimePs end) {
    const std::uint32_t place = live.next < live.count ? live.next : 0;
    if (place == live.count || live.ends[place] > now) [[unlikely]] {
      note_more_streams(live, now, end);
      return;
    }
    live.ends[place] = end;
    live.next = place + 1;
  }
  [[gnu::noinline]] void note_more_streams(LiveStreams& live, TimePs now, TimePs end);
  MemoryAccess serve_stream(TimePs now, bool reading, std::uint32_t instance, std::uint32_t words, TimePs spread_ps);
  [[gnu::noinline]] MemoryAccess meet_errors(TimePs delay_ps, TimePs& free_at);
  std::uint64_t draw_gap(double per_gbit);

  // What each access looks at comes first: two cache lines.
  TimePs period_ps_;
  TimePs slot_ps_ = 0;  ///< a cycle, divided by the accesses that a server does in it
  Server* read_servers_ = nullptr;
  Server* write_servers_ = nullptr;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t checked_words_ = 0;
  std::uint64_t next_error_ = kNoError;  ///< the earlier of the two
  TimePs cycle_start_ = 0;
  std::uint32_t in_cycle_ = 0;
  std::uint32_t peak_ = 0;
  std::uint32_t bank_mask_;
  std::uint32_t word_shift_ = 0;           ///< log2 of a word's bytes, of a streamed memory
  std::vector<LiveStreams> live_streams_;  ///< by instance

  Shape shape_;
  MemoryConfig config_;
  std::uint32_t scrub_cycles_;
  std::vector<Server> servers_;
  std::vector<Server> own_write_servers_;  ///< where a bank has a port for each direction
  KeyedRandom random_;
  std::uint64_t conflict_stalls_ = 0;
  std::uint64_t conflict_stall_cycles_ = 0;
  std::uint64_t next_correctable_ = kNoError;
  std::uint64_t next_uncorrectable_ = kNoError;
  std::uint64_t corrected_errors_ = 0;
  std::uint64_t uncorrected_errors_ = 0;
};

}  // namespace mrc
