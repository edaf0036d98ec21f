// What a NIC has to look up before it touches registered memory: the key of the region (MPT), the place of the page
// (MTT), and the host's translation of it where the NIC asks for that itself (ATS). It caches all three; what it does
// not have is a PCIe read. A limited number of these is under way, others wait for one of them to end.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "mrc/types.h"
#include "parameters/config.h"
#include "pcie/lru_sets.h"

namespace mrc {

/// In the order in which they are looked up.
enum class LookupTable : std::uint8_t { keys, pages, translations };
inline constexpr std::size_t kLookupTables = 3;

/// One entry, or the entries that a read brings together.
struct LookupEntry {
  LookupTable table = LookupTable::keys;
  std::uint64_t number = 0;
  friend auto operator<=>(const LookupEntry&, const LookupEntry&) = default;
};

/// Who wants memory, and reads what is missing.
class LookupUser {
 public:
  virtual ~LookupUser() = default;
  /// A read for this entry is to leave; fetched() follows.
  virtual void fetch(TimePs now, const LookupEntry& entry) = 0;
  /// The access with this number may go on.
  virtual void looked_up(TimePs now, std::uint64_t access) = 0;
};

struct LookupCounts {
  std::uint64_t lookups = 0;
  std::uint64_t misses = 0;
};

class NicLookups {
 public:
  NicLookups(const PcieConfig& config, LookupUser& user);

  /// Something is looked up.
  static bool wanted(const PcieConfig& config);

  /// Memory that software has registered: a region of its own, and looked up.
  void add_region(std::uint64_t address, std::uint64_t bytes) { regions_.emplace(address, bytes); }
  bool is_registered(std::uint64_t address) const;

  /// An access to registered memory: looked_up() is called, at once where all is here. False: it waits.
  bool look_up(TimePs now, std::uint64_t address, std::uint32_t bytes, std::uint64_t access);
  /// The table that an access waits for. Precondition: it waits.
  LookupTable waits_for(std::uint64_t access) const;
  void fetched(TimePs now, const LookupEntry& entry);

  /// The memory tables' read of an entry: where, and how much.
  std::uint64_t table_address(const LookupEntry& entry) const;
  std::uint32_t table_bytes(const LookupEntry& entry) const;

  const LookupCounts& counts(LookupTable table) const { return counts_[static_cast<std::size_t>(table)]; }

 private:
  struct Access {
    std::uint64_t number = 0;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::size_t table = 0;      ///< that it has come to
    std::uint32_t missing = 0;  ///< entries of it
  };
  struct Fetch {
    std::vector<std::uint64_t> accesses;  ///< that wait for it
    bool stale = false;                   ///< what it brings has been invalidated
  };

  bool uses(std::size_t table) const { return caches_[table].first > 0; }
  /// First and last entry of the access in a table.
  std::pair<std::uint64_t, std::uint64_t> entries_of(const Access& access) const;
  /// True: it has passed all tables.
  bool advance(TimePs now, Access& access);
  void miss(TimePs now, const LookupEntry& entry, std::uint64_t access);
  /// Software deregisters one region after another.
  void invalidate_until(TimePs now);
  void invalidate(std::uint64_t address, std::uint64_t bytes);

  PcieConfig::MemoryTable tables_;
  PcieConfig::AddressTranslation translation_;
  LookupUser& user_;
  std::array<std::pair<std::uint64_t, LruSets>, kLookupTables> caches_;  ///< entries of each, 0: not looked up
  std::array<std::uint64_t, kLookupTables> unit_bytes_{};                ///< of memory that an entry is for
  std::map<std::uint64_t, std::uint64_t> regions_;                       ///< bytes by address
  std::map<std::uint64_t, Access> waiting_;                              ///< by number
  std::map<LookupEntry, Fetch> under_way_;                               ///< asked for, or in line
  std::deque<LookupEntry> line_;                                         ///< for one of the fetches to end
  std::uint32_t fetches_ = 0;
  std::uint32_t most_fetches_;
  TimePs deregister_every_;
  TimePs next_deregistration_;
  std::uint64_t next_region_ = 0;  ///< address: that and what is behind it is deregistered next
  std::array<LookupCounts, kLookupTables> counts_{};
};

}  // namespace mrc
