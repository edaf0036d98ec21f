#include "engine/cause.h"

#include <algorithm>
#include <stdexcept>

namespace mrc {

Cause CauseTable::declare(std::string_view name, const Keys& relieved_by, Taker taker) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.name == name; });
  if (entry == entries_.end()) {
    if (entries_.size() == kMost) throw std::length_error("more causes than CauseTable::kMost");
    entries_.push_back({std::string(name), {}, nullptr});
    entry = entries_.end() - 1;
  }
  if (taker != nullptr) entry->taker = taker;
  Keys& keys = entry->relieved_by;
  for (const std::string& key : relieved_by) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return Cause::at(static_cast<std::size_t>(entry - entries_.begin()));
}

Cause CauseTable::in_front_of(const Box& box) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (box_behind(Cause::at(i)) == &box) return Cause::at(i);
  }
  return {};
}

}  // namespace mrc
