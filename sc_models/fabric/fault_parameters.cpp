#include "fabric/fault_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mrc {
namespace {

constexpr std::array kKinds{"link_down",  "link_up",       "link_flap",  "link_rate",     "loss",
                            "corruption", "switch_reboot", "plane_loss", "nic_port_loss", "pcie_stall"};
constexpr std::array kPackets{"all", "data", "control", "retransmission"};
/// Far more than any run lasts.
constexpr double kLongestUs = 1e9;
constexpr double kMostOutages = 10'000;

std::vector<std::string> words(const auto& array) {
  return {array.begin(), array.end()};
}

/// Keys of a kind besides at_us, kind and where.
std::vector<std::string> keys_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::link_up:
      return {};
    case FaultKind::link_flap:
      return {"for_us", "period_us", "jitter", "count"};
    case FaultKind::link_rate:
      return {"for_us", "share"};
    case FaultKind::loss:
    case FaultKind::corruption:
      return {"for_us", "probability", "packets", "ev", "ev_index"};
    case FaultKind::switch_reboot:
      return {"for_us", "light"};
    default:
      return {"for_us"};
  }
}

/// The keys of an entry in their types.
class Reader {
 public:
  explicit Reader(const FaultEntry& entry) : entry_(entry) {}

  bool has(const std::string& key) const { return find(key) != nullptr; }

  void require(const std::string& key) const {
    if (!has(key)) throw ParameterError(entry_.place, fmt::format("fault: {} is missing", key));
  }
  std::string text(const std::string& key) const {
    const auto* value = get<std::string>(key);
    if (value == nullptr) throw ParameterError(place_of(key), fmt::format("fault.{}: expected text", key));
    return *value;
  }
  /// The position of the word among `allowed`.
  std::size_t word(const std::string& key, const std::vector<std::string>& allowed) const {
    const std::string given = text(key);
    const auto it = std::find(allowed.begin(), allowed.end(), given);
    if (it != allowed.end()) return static_cast<std::size_t>(it - allowed.begin());
    throw ParameterError(place_of(key), fmt::format("fault.{} = \"{}\" is not allowed; allowed: {}; nearest: {}", key,
                                                    given, fmt::join(allowed, " | "), nearest(given, allowed)));
  }
  double number(const std::string& key, double minimum, double maximum, double otherwise) const {
    if (!has(key)) return otherwise;
    const auto* integer = get<std::int64_t>(key);
    const auto* real = get<double>(key);
    if (integer == nullptr && real == nullptr)
      throw ParameterError(place_of(key), fmt::format("fault.{}: expected a number", key));
    const double value = integer != nullptr ? static_cast<double>(*integer) : *real;
    if (std::isfinite(value) && value >= minimum && value <= maximum) return value;
    throw ParameterError(place_of(key), fmt::format("fault.{} = {} is outside {} … {}", key, value, minimum, maximum));
  }
  std::int64_t integer(const std::string& key, double minimum, double maximum, std::int64_t otherwise) const {
    if (has(key) && get<std::int64_t>(key) == nullptr)
      throw ParameterError(place_of(key), fmt::format("fault.{}: expected a whole number", key));
    return static_cast<std::int64_t>(number(key, minimum, maximum, static_cast<double>(otherwise)));
  }
  bool flag(const std::string& key, bool otherwise) const {
    if (!has(key)) return otherwise;
    const auto* value = get<bool>(key);
    if (value == nullptr) throw ParameterError(place_of(key), fmt::format("fault.{}: expected true or false", key));
    return *value;
  }
  void check_keys(FaultKind kind) const {
    std::vector<std::string> allowed = keys_of(kind);
    allowed.insert(allowed.begin(), {"at_us", "kind", "where"});
    for (const FaultEntry::Key& key : entry_.keys) {
      if (std::find(allowed.begin(), allowed.end(), key.name) != allowed.end()) continue;
      throw ParameterError(key.place,
                           fmt::format("fault.{} is not a key of kind = \"{}\"; allowed: {}; nearest: {}", key.name,
                                       to_string(kind), fmt::join(allowed, ", "), nearest(key.name, allowed)));
    }
  }
  std::string place_of(const std::string& key) const {
    const FaultEntry::Key* found = find(key);
    return found == nullptr ? entry_.place : found->place;
  }

 private:
  const FaultEntry::Key* find(const std::string& key) const {
    const auto it =
        std::find_if(entry_.keys.begin(), entry_.keys.end(), [&](const auto& other) { return other.name == key; });
    return it == entry_.keys.end() ? nullptr : &*it;
  }
  /// Null where the key is missing or has another type.
  template <typename Type>
  const Type* get(const std::string& key) const {
    const FaultEntry::Key* found = find(key);
    return found == nullptr ? nullptr : std::get_if<Type>(&found->value);
  }

  const FaultEntry& entry_;
};

void check_together(const Reader& entry, const FaultConfig& fault) {
  const auto refuse = [&](const std::string& key, const std::string& message) {
    throw ParameterError(entry.place_of(key), message);
  };
  if (fault.kind == FaultKind::link_flap && fault.for_us >= fault.period_us) {
    refuse("for_us", fmt::format("fault.for_us = {}, each outage of a flap, must be below fault.period_us = {}",
                                 fault.for_us, fault.period_us));
  }
  if (fault.ev >= 0 && fault.ev_index >= 0) refuse("ev_index", "fault: ev and ev_index name the same thing; give one");
  if (fault.kind == FaultKind::pcie_stall && fault.for_us == 0) {
    refuse("for_us", "fault: pcie_stall needs for_us: a link that never comes back ends every run");
  }
}

}  // namespace

std::string to_string(FaultKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

FaultConfig read_fault(const FaultEntry& keys) {
  const Reader entry(keys);
  FaultConfig fault;
  fault.place = entry.place_of("where");
  for (const char* key : {"kind", "where", "at_us"}) entry.require(key);
  fault.kind = static_cast<FaultKind>(entry.word("kind", words(kKinds)));
  entry.check_keys(fault.kind);
  fault.where = entry.text("where");
  fault.at_us = entry.number("at_us", 0, kLongestUs, 0);
  // A duration of zero is not a fault; without one the fault lasts.
  fault.for_us = entry.number("for_us", 1e-3, kLongestUs, 0);
  if (fault.kind == FaultKind::link_flap) {
    entry.require("period_us");
    entry.require("count");
    fault.period_us = entry.number("period_us", 1e-3, kLongestUs, 0);
    fault.count = static_cast<std::uint32_t>(entry.integer("count", 1, kMostOutages, 1));
    fault.jitter = entry.number("jitter", 0, 1, 0);
    if (fault.for_us == 0) fault.for_us = fault.period_us / 2;
  }
  if (fault.kind == FaultKind::link_rate) {
    entry.require("share");
    fault.share = entry.number("share", 1e-3, 1, 1);
  }
  fault.probability = entry.number("probability", 0, 1, 1);
  if (entry.has("packets")) fault.packets = static_cast<FaultPackets>(entry.word("packets", words(kPackets)));
  fault.ev = entry.integer("ev", 0, 4'294'967'295.0, -1);
  fault.ev_index = entry.integer("ev_index", 0, 4'095, -1);
  fault.light = entry.flag("light", false);
  check_together(entry, fault);
  return fault;
}

}  // namespace mrc
