// Which keys a set-associative cache holds, least recently used first to leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

namespace mrc {

class LruSets {
 public:
  /// `entries` a multiple of `ways`; 0 ways: fully associative.
  LruSets(std::uint32_t entries, std::uint32_t ways)
      : ways_(ways > 0 ? ways : entries), sets_(entries > 0 ? entries / ways_ : 0) {}

  /// True if it is there; it is then the one used last of its set.
  bool use(std::uint64_t key) {
    const auto found = where_.find(key);
    if (found == where_.end()) return false;
    Set& set = sets_[key % sets_.size()];
    set.splice(set.begin(), set, found->second);
    return true;
  }
  /// Puts a key in that is not there.
  void insert(std::uint64_t key) {
    Set& set = sets_[key % sets_.size()];
    if (set.size() == ways_) {
      where_.erase(set.back());
      set.pop_back();
    }
    set.push_front(key);
    where_[key] = set.begin();
  }
  /// Takes out the keys for which `gone(key)` holds.
  template <typename Gone>
  void erase_if(const Gone& gone) {
    for (Set& set : sets_) {
      for (auto at = set.begin(); at != set.end();) {
        if (!gone(*at)) {
          ++at;
          continue;
        }
        where_.erase(*at);
        at = set.erase(at);
      }
    }
  }

 private:
  using Set = std::list<std::uint64_t>;  ///< used last first

  std::size_t ways_;
  std::vector<Set> sets_;
  std::unordered_map<std::uint64_t, Set::iterator> where_;
};

}  // namespace mrc
