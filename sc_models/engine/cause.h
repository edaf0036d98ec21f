// What can hold up an issue slot: a resource, a full queue, a server, a memory's port. A cause is a small number; the
// table of its NIC knows its name and the parameters that relieve it. Whoever can be held up declares its causes when
// it is built and keeps them, so that nothing is looked up by name while packets move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mrc {

class Box;

class Cause {
 public:
  /// None: equal to no declared cause.
  constexpr Cause() = default;
  /// Precondition: `index` is that of a declared cause.
  static constexpr Cause at(std::size_t index) { return Cause(static_cast<std::uint8_t>(index)); }
  constexpr std::uint8_t index() const { return index_; }
  friend constexpr bool operator==(Cause, Cause) = default;

 private:
  constexpr explicit Cause(std::uint8_t index) : index_(index) {}

  std::uint8_t index_ = 0xFF;
};

/// The causes of one NIC, numbered from 0 in the order in which they are declared.
class CauseTable {
 public:
  /// Most causes of a NIC.
  static constexpr std::size_t kMost = 128;
  /// Parameter keys as the registry has them, such as "nic.segmenter.queue_entries".
  using Keys = std::vector<std::string>;

  /// Who takes from a full queue, known once the queue is connected.
  using Taker = Box* const*;

  /// The cause of this name. Who declares a name again means the same cause; its keys are added to those known.
  /// Throws std::length_error beyond kMost.
  Cause declare(std::string_view name, const Keys& relieved_by = {}) { return declare(name, relieved_by, nullptr); }
  /// Of a full queue: what holds up is the box that takes from it, and its own slot tells why.
  Cause declare_full(std::string_view name, Taker taker, const Keys& relieved_by = {}) {
    return declare(name, relieved_by, taker);
  }

  std::size_t size() const { return entries_.size(); }
  const std::string& name(Cause cause) const { return entries_[cause.index()].name; }
  const Keys& relieved_by(Cause cause) const { return entries_[cause.index()].relieved_by; }
  /// The cause of a full queue from which `box` takes; none if it is not declared.
  Cause in_front_of(const Box& box) const;
  /// Null for what is not a full queue.
  const Box* box_behind(Cause cause) const {
    const Taker taker = entries_[cause.index()].taker;
    return taker == nullptr ? nullptr : *taker;
  }

 private:
  struct Entry {
    std::string name;
    Keys relieved_by;
    Taker taker = nullptr;
  };
  Cause declare(std::string_view name, const Keys& relieved_by, Taker taker);

  std::vector<Entry> entries_;
};

/// A value for each cause of a NIC, by Cause::index().
template <typename Value>
using PerCause = std::array<Value, CauseTable::kMost>;

}  // namespace mrc
