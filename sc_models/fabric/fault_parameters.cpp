#include "fabric/fault_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parameters/quantity.h"

namespace mrc {
namespace {

constexpr std::array kKinds{"link_down",     "link_up",    "link_flap",     "link_rate",  "loss",  "corruption",
                            "switch_reboot", "plane_loss", "nic_port_loss", "pcie_stall", "drain", "qp_reset"};
constexpr std::array kPackets{"all", "data", "control", "retransmission"};
/// Far more than any run lasts.
constexpr double kLongestUs = 1e9;
constexpr double kMostOutages = 10'000;

std::vector<std::string> words(const auto& array) {
  return {array.begin(), array.end()};
}

const FaultKey& fault_key(std::string_view name) {
  const auto& all = fault_keys();
  return *std::find_if(all.begin(), all.end(), [&](const FaultKey& key) { return key.name == name; });
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
  /// The position of the word among those that the key takes.
  std::size_t word(const std::string& key) const {
    const std::vector<std::string>& allowed = fault_key(key).words;
    const std::string given = text(key);
    const auto it = std::find(allowed.begin(), allowed.end(), given);
    if (it != allowed.end()) return static_cast<std::size_t>(it - allowed.begin());
    throw ParameterError(place_of(key), fmt::format("fault.{} = \"{}\" is not allowed; allowed: {}; nearest: {}", key,
                                                    given, fmt::join(allowed, " | "), nearest(given, allowed)));
  }
  /// Text is a number with a unit.
  double number(const std::string& key, double otherwise) const {
    if (!has(key)) return otherwise;
    const FaultKey& allowed = fault_key(key);
    const auto* integer = get<std::int64_t>(key);
    const auto* real = get<double>(key);
    const auto* written = get<std::string>(key);
    const std::optional<double> quantity = written == nullptr ? std::nullopt : parse_quantity(*written, allowed.unit);
    if (integer == nullptr && real == nullptr && !quantity) {
      throw ParameterError(place_of(key),
                           fmt::format("fault.{}: expected a number{}", key,
                                       written == nullptr ? ""
                                                          : fmt::format(", alone or as text with one of "
                                                                        "the units {}",
                                                                        fmt::join(units_for(allowed.unit), ", "))));
    }
    const double value = quantity ? *quantity : integer != nullptr ? static_cast<double>(*integer) : *real;
    if (std::isfinite(value) && value >= allowed.minimum && value <= allowed.maximum) return value;
    throw ParameterError(place_of(key),
                         fmt::format("fault.{} = {} is outside {} … {}", key, value, allowed.minimum, allowed.maximum));
  }
  std::int64_t integer(const std::string& key, std::int64_t otherwise) const {
    if (has(key) && get<std::int64_t>(key) == nullptr)
      throw ParameterError(place_of(key), fmt::format("fault.{}: expected a whole number", key));
    return static_cast<std::int64_t>(number(key, static_cast<double>(otherwise)));
  }
  bool flag(const std::string& key, bool otherwise) const {
    if (!has(key)) return otherwise;
    const auto* value = get<bool>(key);
    if (value == nullptr) throw ParameterError(place_of(key), fmt::format("fault.{}: expected true or false", key));
    return *value;
  }
  void check_keys(FaultKind kind) const {
    const std::vector<std::string> allowed = fault_keys_of(kind);
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

const std::vector<FaultKey>& fault_keys() {
  using enum ParameterType;
  static const std::vector<FaultKey> keys{
      {"at_us", real, "us", 0, kLongestUs, {}, "when it begins"},
      {"kind", word, "", 0, 0, words(kKinds), "what happens"},
      {"where", text, "", 0, 0, {}, "a port, link, switch, plane or NIC by its name (mrcsim fabric SCENARIO --routes)"},
      {"for_us",
       real,
       "us",
       1e-3,
       kLongestUs,
       {},
       "how long it lasts, or each outage of a flap; without it: to the end"},
      {"period_us", real, "us", 1e-3, kLongestUs, {}, "from the beginning of an outage to that of the next"},
      {"count", integer, "outages", 1, kMostOutages, {}, "outages of a flap"},
      {"jitter", real, "", 0, 1, {}, "share of the rest of the period by which an outage may begin late"},
      {"share", real, "", 1e-3, 1, {}, "remaining share of the line rate"},
      {"probability", real, "", 0, 1, {}, "probability for each packet"},
      {"packets", word, "", 0, 0, words(kPackets), "packets that are affected"},
      {"ev", integer, "", 0, 4'294'967'295.0, {}, "only packets with this entropy value"},
      {"ev_index", integer, "", 0, 4'095, {}, "the same by its position in the EV profile of the sending NIC"},
      {"light", boolean, "", 0, 0, {}, "the ports of the switch keep their signal"},
  };
  return keys;
}

std::vector<std::string> fault_kinds() {
  return words(kKinds);
}

std::vector<std::string> fault_keys_of(FaultKind kind) {
  std::vector<std::string> keys{"at_us", "kind", "where"};
  const auto with = [&](std::initializer_list<const char*> more) {
    keys.insert(keys.end(), more.begin(), more.end());
    return keys;
  };
  switch (kind) {
    case FaultKind::link_up:
    case FaultKind::qp_reset:
      return keys;
    case FaultKind::link_flap:
      return with({"for_us", "period_us", "jitter", "count"});
    case FaultKind::link_rate:
      return with({"for_us", "share"});
    case FaultKind::loss:
    case FaultKind::corruption:
      return with({"for_us", "probability", "packets", "ev", "ev_index"});
    case FaultKind::switch_reboot:
      return with({"for_us", "light"});
    default:
      return with({"for_us"});
  }
}

std::vector<std::string> required_fault_keys_of(FaultKind kind) {
  std::vector<std::string> keys{"kind", "where", "at_us"};
  if (kind == FaultKind::link_flap) keys.insert(keys.end(), {"period_us", "count"});
  if (kind == FaultKind::link_rate) keys.emplace_back("share");
  if (kind == FaultKind::pcie_stall) keys.emplace_back("for_us");
  return keys;
}

FaultConfig read_fault(const FaultEntry& keys) {
  const Reader entry(keys);
  FaultConfig fault;
  fault.place = entry.place_of("where");
  for (const char* key : {"kind", "where", "at_us"}) entry.require(key);
  fault.kind = static_cast<FaultKind>(entry.word("kind"));
  entry.check_keys(fault.kind);
  fault.where = entry.text("where");
  fault.at_us = entry.number("at_us", 0);
  // A duration of zero is not a fault; without one the fault lasts.
  fault.for_us = entry.number("for_us", 0);
  // That a stall needs an end has a sentence of its own.
  if (fault.kind != FaultKind::pcie_stall) {
    for (const std::string& key : required_fault_keys_of(fault.kind)) entry.require(key);
  }
  fault.period_us = entry.number("period_us", 0);
  fault.count = static_cast<std::uint32_t>(entry.integer("count", 1));
  fault.jitter = entry.number("jitter", 0);
  if (fault.kind == FaultKind::link_flap && fault.for_us == 0) fault.for_us = fault.period_us / 2;
  fault.share = entry.number("share", 1);
  fault.probability = entry.number("probability", 1);
  if (entry.has("packets")) fault.packets = static_cast<FaultPackets>(entry.word("packets"));
  fault.ev = entry.integer("ev", -1);
  fault.ev_index = entry.integer("ev_index", -1);
  fault.light = entry.flag("light", false);
  check_together(entry, fault);
  return fault;
}

}  // namespace mrc
