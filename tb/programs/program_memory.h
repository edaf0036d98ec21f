// Memory of the programs of one node, as its NIC reads and writes it: registered regions of processes, and bytes that
// software handed over with a work request. An address that the NIC sees has the number of its process above the 48
// bits of the program's own. Nothing but what is registered is ever touched.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "mrc/types.h"
#include "pcie/host_memory.h"

namespace mrc {

class ProgramMemory : public OtherMemory {
 public:
  static constexpr unsigned kAddressBits = 48;
  static constexpr std::uint64_t kAddressMask = (std::uint64_t{1} << kAddressBits) - 1;

  /// `later_ps`: from the time that the NIC gives until programs look at the bytes of a peer.
  explicit ProgramMemory(TimePs later_ps) : later_ps_(later_ps) {}

  /// A process whose memory may be registered; returns its number, from 1; 0 where there were too many.
  std::uint32_t add_process(pid_t pid);
  /// Its memory is never touched again.
  void remove_process(std::uint32_t process);
  static std::uint64_t address(std::uint32_t process, std::uint64_t own) {
    return std::uint64_t{process} << kAddressBits | (own & kAddressMask);
  }

  /// The same range may be registered several times. Returns false if the memory has no room for `bytes` more bytes.
  bool add_region(std::uint32_t process, std::uint64_t own, std::uint64_t bytes);
  void remove_region(std::uint32_t process, std::uint64_t own, std::uint64_t bytes);

  /// Addresses of bytes that are kept here begin with it.
  static constexpr std::uint64_t kKeptBase = std::uint64_t{0xFFFF} << kAddressBits;
  /// Longest of them.
  static constexpr unsigned kMostKeptBits = 24;
  static constexpr std::uint64_t kMostKeptBytes = std::uint64_t{1} << kMostKeptBits;
  /// Room for at most kMostKeptBytes bytes that a peer's NIC writes, until release(). No memory is freed before the
  /// end, as packets under way may point to it.
  std::uint64_t reserve(std::uint64_t bytes);
  /// Likewise, of bytes that are the NIC's until release().
  std::uint64_t keep(const std::byte* from, std::uint64_t bytes);
  void release(std::uint64_t kept);
  /// Of a process, now; false where they cannot be read. Precondition: registered.
  bool copy(std::uint32_t process, std::uint64_t own, std::byte* to, std::uint64_t bytes) const;

  /// Into a process, now; apply() names it next. Precondition: registered.
  void put(std::uint32_t process, std::uint64_t own, const std::byte* from, std::uint64_t bytes);

  // OtherMemory
  const std::byte* read(std::uint64_t address, std::uint64_t bytes) override;
  void write(TimePs at, std::uint64_t address, const std::byte* source, std::uint64_t bytes) override;

  /// When a process sees the next bytes that the NIC wrote; kNever without.
  TimePs next_write() const { return writes_.empty() ? kNever : writes_.begin()->first; }
  /// Writes what is seen at `now`, and of `process` all. Returns the processes that got something, in order of their
  /// numbers.
  std::vector<std::uint32_t> apply(TimePs now, std::uint32_t process = 0);
  /// All that is under way to `process`, before the NIC itself looks at its memory; apply() names it next.
  void settle(std::uint32_t process);
  /// Accesses that found no registered or no mapped memory.
  std::uint64_t faults() const { return faults_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  struct Region {
    std::uint32_t registrations = 0;
    std::unique_ptr<std::byte, Free> mirror;  ///< what the NIC has read
  };
  struct Kept {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t size;  ///< a power of two, its exponent
  };
  struct Write {
    std::uint64_t address;
    std::vector<std::byte> bytes;
  };
  /// The registered region that holds the whole range; null without.
  Region* find(std::uint64_t address, std::uint64_t bytes, std::uint64_t& base);
  void write_now(const Write& write);
  std::byte* at_kept(std::uint64_t kept) const;

  TimePs later_ps_;
  std::vector<pid_t> pids_;                                            ///< by number less one; 0: gone
  std::map<std::pair<std::uint64_t, std::uint64_t>, Region> regions_;  ///< by address and bytes
  std::vector<Kept> kept_;                                             ///< by place
  /// By size; the one released first is taken first.
  std::array<std::deque<std::uint32_t>, kMostKeptBits + 1> free_places_;
  std::multimap<TimePs, Write> writes_;
  std::vector<std::uint32_t> touched_;         ///< processes that got something since apply()
  std::vector<std::vector<std::byte>> spare_;  ///< buffers of writes, used again
  std::uint64_t faults_ = 0;
};

}  // namespace mrc
