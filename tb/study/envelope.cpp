#include "study/envelope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "fabric/fault_timeline.h"
#include "fabric/topology.h"
#include "mrc/random.h"
#include "parameters/toml_file.h"
#include "study/axis.h"
#include "study/setting_key.h"
#include "traffic/flow_csv.h"

namespace mrc {
namespace {

constexpr std::int64_t kMostSeeds = 1'000'000;

/// Four digits: a scenario is also read by people.
double rounded(double value) {
  return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

/// What a generated trace is made of, with the range that its keys may have and the value where one is not given.
struct TrafficKey {
  std::string_view name;
  double minimum;
  double maximum;
  double otherwise;
  bool whole;
  bool mild_is_high;
};
constexpr std::array<TrafficKey, 6> kTraffic{{{"messages", 1, 100'000, 16, true, false},
                                              {"bytes", 1, 1e9, 1'048'576, true, true},
                                              {"spread", 1, 1e6, 1, false, false},
                                              {"burst", 1, 100'000, 100'000, true, false},
                                              {"gap_us", 0, 1e6, 0, false, false},
                                              {"reverse", 0, 1, 0, false, false}}};

NodeId node_of(const std::string& key) {
  return static_cast<NodeId>(std::strtoul(key.c_str() + std::string_view("node.nic").size(), nullptr, 10));
}

ParameterValue scenario_value(const ScenarioConfig& scenario, const std::string& key) {
  const Parameter& parameter = *find_parameter(parameter_part(key));
  const bool all = parameter.name == key;
  return parameter.get(scenario, all ? scenario.node_default : scenario.node(node_of(key)));
}

std::string toml_text(const ParameterValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? to_string(value) : fmt::format("\"{}\"", *text);
}

}  // namespace

double FactorRange::number(double position) const {
  const double value = logarithmic() ? low * std::pow(high / low, position) : low + position * (high - low);
  return std::clamp(whole ? std::round(value) : rounded(value), low, high);
}

std::string FactorRange::text(double position) const {
  if (values.empty()) return whole ? fmt::format("{:.0f}", number(position)) : fmt::format("{}", number(position));
  const auto at = static_cast<std::size_t>(position * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

double FactorRange::position(double number) const {
  if (low == high) return 0;
  const double at = logarithmic() ? std::log(number / low) / std::log(high / low) : (number - low) / (high - low);
  return std::clamp(at, 0.0, 1.0);
}

double FactorRange::snapped(double at) const {
  if (values.empty()) return position(number(at));
  const auto count = static_cast<double>(values.size());
  return (std::min(std::floor(at * count), count - 1) + 0.5) / count;
}

class EnvelopeReader {
 public:
  EnvelopeReader(Envelope& envelope, std::string path) : envelope_(envelope), path_(std::move(path)) {}

  void read() {
    const toml::table root = read_toml(path_);
    refuse_unknown(root, "", {"parameters", "seeds", "fault", "faults_at_once", "traffic"});
    if (const toml::node* node = root.get("parameters")) read_parameters(table_of(*node, "parameters"), "");
    if (const toml::node* node = root.get("seeds")) read_seeds(table_of(*node, "seeds"));
    if (const toml::node* node = root.get("faults_at_once"))
      envelope_.faults_at_once_ = static_cast<std::size_t>(integer(*node, "faults_at_once", 1, 100));
    if (const toml::node* node = root.get("fault")) read_faults(*node);
    if (const toml::node* node = root.get("traffic")) read_traffic(table_of(*node, "traffic"));
    if (envelope_.factors_.empty())
      throw ParameterError(path_, "declares nothing; expected [parameters], [seeds], [[fault]] or [traffic]");
    std::ostringstream text;
    text << root;
    envelope_.text_ = text.str();
  }

 private:
  using Check = std::function<ParameterValue(const ParameterValue&, const std::string& place)>;

  std::string place(const toml::node& node) const { return place_of(path_, node.source()); }

  const toml::table& table_of(const toml::node& node, const std::string& name) const {
    if (const toml::table* table = node.as_table()) return *table;
    throw ParameterError(place(node), fmt::format("{}: expected a table", name));
  }

  void refuse_unknown(const toml::table& table, const std::string& prefix,
                      const std::vector<std::string>& allowed) const {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
      throw ParameterError(place_of(path_, key.source()),
                           fmt::format("unknown key {}{}; allowed: {}; nearest: {}", prefix, name,
                                       fmt::join(allowed, ", "), nearest(name, allowed)));
    }
  }

  double number(const toml::node& node, const std::string& name) const {
    const ParameterValue value = scalar_of(node, name, place(node));
    if (std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value)) return number_of(value);
    throw ParameterError(place(node), fmt::format("{}: expected a number", name));
  }

  std::int64_t integer(const toml::node& node, const std::string& name, std::int64_t low, std::int64_t high) const {
    const auto value = node.value_exact<std::int64_t>();
    if (value && *value >= low && *value <= high) return *value;
    throw ParameterError(place(node), fmt::format("{}: expected a whole number, {} … {}", name, low, high));
  }

  const toml::node& required(const toml::table& table, const std::string& name, const std::string& key) const {
    if (const toml::node* node = table.get(key)) return *node;
    throw ParameterError(place(table), fmt::format("{}: expected {{min = …, max = …}} or {{values = […]}}", name));
  }

  /// {min, max} or {values}. `check` says what an end or a value may be.
  FactorRange range(const toml::table& table, const std::string& name, const Check& check, bool numbers) const {
    FactorRange range;
    if (const toml::node* node = table.get("values")) {
      const toml::array* values = node->as_array();
      if (values == nullptr || values->empty() || table.contains("min") || table.contains("max"))
        throw ParameterError(place(*node), fmt::format("{}: expected {{values = [a, b, …]}} and nothing else", name));
      for (const toml::node& value : *values)
        range.values.push_back(toml_text(check(scalar_of(value, name, place(value)), place(value))));
      return range;
    }
    const toml::node& low = required(table, name, "min");
    const toml::node& high = required(table, name, "max");
    if (!numbers) throw ParameterError(place(low), fmt::format("{} takes no range; give {{values = […]}}", name));
    range.low = number_of(check(scalar_of(low, name + ".min", place(low)), place(low)));
    range.high = number_of(check(scalar_of(high, name + ".max", place(high)), place(high)));
    if (range.low > range.high)
      throw ParameterError(place(low), fmt::format("{}: min = {} is above max = {}", name, range.low, range.high));
    return range;
  }

  void read_parameters(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
      const toml::table* inner = node.as_table();
      const bool is_range = inner == nullptr || inner->contains("min") || inner->contains("max") ||
                            inner->contains("values") || inner->contains("relative_to");
      if (!is_range && !inner->empty()) {
        read_parameters(*inner, name);
      } else {
        read_parameter(name, node, place_of(path_, key.source()));
      }
    }
  }

  void read_parameter(const std::string& key, const toml::node& node, const std::string& at) {
    const Parameter& parameter = parameter_of_key(key, at);
    const toml::table* table = node.as_table();
    if (table == nullptr)
      throw ParameterError(at, fmt::format("{}: expected {{min = …, max = …}} or {{values = […]}}", key));
    if (key == "seed" || key == "traffic.trace")
      throw ParameterError(at, fmt::format("{} is varied by [{}]", key, key == "seed" ? "seeds" : "traffic"));
    refuse_unknown(*table, key + ".", {"min", "max", "values", "relative_to"});
    const bool numbers = parameter.type == ParameterType::integer || parameter.type == ParameterType::real;
    Factor factor{.kind = Factor::Kind::parameter, .name = key, .key = key, .range = {}};
    if (const toml::node* base = table->get("relative_to")) {
      read_relative(factor, *table, *base);
    } else {
      const auto check = [&](const ParameterValue& value, const std::string& where) {
        return checked_value(parameter, value, where);
      };
      factor.range = range(*table, key, check, numbers);
      factor.range.whole = parameter.type == ParameterType::integer;
      // Parameters are set as the command line takes them, without quotes.
      for (std::string& value : factor.range.values) std::erase(value, '"');
      set_usual(factor.range, scenario_value(envelope_.scenario_, key));
    }
    envelope_.factors_.push_back(std::move(factor));
  }

  /// A multiple of another parameter's value.
  void read_relative(Factor& factor, const toml::table& table, const toml::node& base) {
    const std::string where = place(base);
    const auto name = base.value_exact<std::string>();
    if (!name) throw ParameterError(where, factor.key + ".relative_to: expected the name of a parameter");
    for (const std::string& key : {factor.key, *name}) {
      const ParameterType type = parameter_of_key(key, where).type;
      if (type != ParameterType::integer && type != ParameterType::real)
        throw ParameterError(where, fmt::format("{}: relative_to needs numbers", key));
    }
    const auto check = [&](const ParameterValue& value, const std::string& at) -> ParameterValue {
      if (number_of(value) > 0) return number_of(value);
      throw ParameterError(at, fmt::format("{}: a multiple of {} is a number above 0", factor.key, *name));
    };
    factor.relative_to = *name;
    factor.range = range(table, factor.key, check, true);
    set_usual(factor.range, number_of(scenario_value(envelope_.scenario_, factor.key)) /
                                number_of(scenario_value(envelope_.scenario_, *name)));
  }

  static void set_usual(FactorRange& range, const ParameterValue& value) {
    if (range.values.empty()) {
      const double now = number_of(value);
      range.usual = range.position(now);
      range.inside = now >= range.low && now <= range.high;
      return;
    }
    const auto at = std::find(range.values.begin(), range.values.end(), to_string(value));
    range.inside = at != range.values.end();
    const auto index = static_cast<double>(range.inside ? at - range.values.begin() : 0);
    range.usual = (index + 0.5) / static_cast<double>(range.values.size());
  }

  void read_seeds(const toml::table& table) {
    refuse_unknown(table, "seeds.", {"first", "count"});
    if (const toml::node* first = table.get("first"))
      envelope_.first_seed_ = static_cast<std::uint64_t>(integer(*first, "seeds.first", 0, INT64_MAX - kMostSeeds));
    const toml::node* count = table.get("count");
    if (count == nullptr) throw ParameterError(place(table), "seeds.count is missing");
    Factor factor{.kind = Factor::Kind::seed, .name = "seed", .range = {}};
    const std::int64_t seeds = integer(*count, "seeds.count", 1, kMostSeeds);
    for (std::int64_t i = 0; i < seeds; ++i)
      factor.range.values.push_back(fmt::format("{}", envelope_.first_seed_ + static_cast<std::uint64_t>(i)));
    envelope_.factors_.push_back(std::move(factor));
  }

  void read_faults(const toml::node& node) {
    const toml::array* entries = node.as_array();
    if (entries == nullptr) throw ParameterError(place(node), "fault: expected [[fault]] tables (docs/attack.md)");
    for (const toml::node& entry : *entries) read_fault_entry(table_of(entry, "fault"));
  }

  void read_fault_entry(const toml::table& table) {
    const std::size_t number = envelope_.fault_words_.size();
    envelope_.fault_words_.emplace_back();
    const std::string name = fmt::format("fault {}", number + 1);
    envelope_.factors_.push_back({.kind = Factor::Kind::fault,
                                  .name = name,
                                  .group = number,
                                  .range = {.values = {"absent", "present"}, .usual = 0.25}});
    const auto any = [](const ParameterValue& value, const std::string&) { return value; };
    std::vector<FaultEntry::Key> fixed;
    const std::size_t first = envelope_.factors_.size();
    for (const auto& [key, node] : table) {
      const std::string word(key.str());
      const toml::table* inner = node.as_table();
      if (inner == nullptr) {
        const ParameterValue value = scalar_of(node, name + "." + word, place(node));
        fixed.push_back({word, value, place(node)});
        envelope_.fault_words_.back().emplace_back(word, toml_text(value));
        continue;
      }
      if (word == "kind") throw ParameterError(place(node), "fault.kind: one [[fault]] has one kind, as text");
      refuse_unknown(*inner, "fault." + word + ".", {"min", "max", "values"});
      Factor factor{.kind = Factor::Kind::fault, .name = name + "." + word, .key = word, .group = number, .range = {}};
      factor.range = range(*inner, "fault." + word, any, true);
      const toml::node* low = inner->get("min");
      factor.range.whole = low != nullptr && low->is_integer() && inner->get("max")->is_integer();
      if (word == "share") factor.range.usual = 1;
      envelope_.factors_.push_back(std::move(factor));
    }
    for (std::size_t i = first; i < envelope_.factors_.size(); ++i) check_fault(table, fixed, first, i);
    if (first == envelope_.factors_.size()) check_fault(table, fixed, first, first);
  }

  /// Reads the fault as a scenario would, with each value of factor `varied` and the others at their milder ends.
  void check_fault(const toml::table& table, const std::vector<FaultEntry::Key>& fixed, std::size_t first,
                   std::size_t varied) const {
    const std::vector<Factor>& factors = envelope_.factors_;
    const std::size_t values =
        varied < factors.size() ? std::max<std::size_t>(2, factors[varied].range.values.size()) : 1;
    for (std::size_t i = 0; i < values; ++i) {
      FaultEntry entry{place(table), fixed};
      for (std::size_t k = first; k < factors.size(); ++k) {
        const double end = factors[k].range.values.empty()
                               ? static_cast<double>(i)
                               : (static_cast<double>(i) + 0.5) / static_cast<double>(values);
        const std::string text = factors[k].range.text(k == varied ? end : factors[k].range.usual);
        entry.keys.push_back({factors[k].key, value_of_text(text), place(*table.get(factors[k].key))});
      }
      ScenarioConfig scenario = envelope_.scenario_;
      scenario.faults = {read_fault(entry)};
      FaultTimeline(scenario, Topology(scenario));
    }
  }

  static ParameterValue value_of_text(const std::string& text) {
    const toml::table parsed = parse_toml("value = " + text, "value");
    return scalar_of(*parsed.get("value"), "value", "value");
  }

  void read_traffic(const toml::table& table) {
    std::vector<std::string> allowed{"pairs"};
    for (const TrafficKey& key : kTraffic) allowed.emplace_back(key.name);
    refuse_unknown(table, "traffic.", allowed);
    read_pairs(table.get("pairs"));
    envelope_.factors_.push_back(
        {.kind = Factor::Kind::traffic, .name = "traffic", .range = {.values = {"trace", "generated"}, .usual = 0.25}});
    for (const TrafficKey& key : kTraffic) {
      Factor factor{
          .kind = Factor::Kind::traffic, .name = fmt::format("traffic.{}", key.name), .key = std::string(key.name)};
      const toml::node* node = table.get(key.name);
      if (node != nullptr) factor.range = traffic_range(*node, key, factor.name);
      if (node == nullptr) factor.range.low = factor.range.high = key.otherwise;
      factor.range.usual = key.mild_is_high ? 1 : 0;
      if (factor.range.low == factor.range.high) {
        envelope_.traffic_[factor.key] = factor.range.low;
      } else {
        envelope_.factors_.push_back(std::move(factor));
      }
    }
  }

  FactorRange traffic_range(const toml::node& node, const TrafficKey& key, const std::string& name) const {
    const auto check = [&](const ParameterValue& value, const std::string& where) {
      const bool is_number = std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
      if (is_number && number_of(value) >= key.minimum && number_of(value) <= key.maximum) return value;
      throw ParameterError(where, fmt::format("{} = {} is not allowed; allowed: {} … {}", name, to_string(value),
                                              key.minimum, key.maximum));
    };
    FactorRange found;
    if (const toml::table* table = node.as_table()) {
      refuse_unknown(*table, name + ".", {"min", "max"});
      found = range(*table, name, check, true);
    } else {
      found.low = found.high = number_of(check(scalar_of(node, name, place(node)), place(node)));
    }
    found.whole = key.whole;
    return found;
  }

  void read_pairs(const toml::node* node) {
    envelope_.pairs_ = {{0, 1}};
    if (node == nullptr) return;
    const auto refuse = [&](const toml::node& what) {
      throw ParameterError(place(what),
                           fmt::format("traffic.pairs: expected [[source, destination], …], different, 0 … {}",
                                       envelope_.scenario_.fabric.nics - 1));
    };
    const toml::array* pairs = node->as_array();
    if (pairs == nullptr || pairs->empty()) refuse(*node);
    envelope_.pairs_.clear();
    for (const toml::node& entry : *pairs) {
      const toml::array* pair = entry.as_array();
      if (pair == nullptr || pair->size() != 2) refuse(entry);
      const auto source = pair->get(0)->value_exact<std::int64_t>();
      const auto target = pair->get(1)->value_exact<std::int64_t>();
      const auto inside = [&](const auto& rank) {
        return rank && *rank >= 0 && *rank < envelope_.scenario_.fabric.nics;
      };
      if (!inside(source) || !inside(target) || *source == *target) refuse(entry);
      envelope_.pairs_.emplace_back(static_cast<std::uint32_t>(*source), static_cast<std::uint32_t>(*target));
    }
  }

  Envelope& envelope_;
  std::string path_;
};

Envelope::Envelope(const std::string& path, const RunPlanner& planner)
    : scenario_(planner.scenario({})), first_seed_(planner.first_seed()) {
  EnvelopeReader(*this, path).read();
}

double Envelope::position(const AttackPoint& point, std::size_t factor) const {
  return point[factor] == kUsual ? factors_[factor].range.usual : point[factor];
}

bool Envelope::present(const AttackPoint& point, Factor::Kind kind, std::size_t group) const {
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    if (factors_[i].kind == kind && factors_[i].group == group && factors_[i].decides_presence())
      return position(point, i) >= 0.5;
  }
  return false;
}

AttackPoint Envelope::tidy(AttackPoint point) const {
  std::vector<std::size_t> faults;
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    if (factors_[i].kind == Factor::Kind::fault && factors_[i].decides_presence() && position(point, i) >= 0.5)
      faults.push_back(i);
  }
  std::stable_sort(faults.begin(), faults.end(), [&](std::size_t a, std::size_t b) { return point[a] > point[b]; });
  for (std::size_t i = faults_at_once_; i < faults.size(); ++i) point[faults[i]] = kUsual;
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    const Factor& factor = factors_[i];
    const bool absent = factor.optional() && !present(point, factor.kind, factor.group);
    if (absent || factor.range.text(position(point, i)) == factor.range.text(factor.range.usual)) point[i] = kUsual;
    if (point[i] != kUsual) point[i] = factor.range.snapped(point[i]);
  }
  return point;
}

double Envelope::parameter_number(const AttackPoint& point, const std::string& key) const {
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    if (factors_[i].key == key && factors_[i].kind == Factor::Kind::parameter &&
        (point[i] != kUsual || !factors_[i].range.inside))
      return std::strtod(value(point, i).c_str(), nullptr);
  }
  return number_of(scenario_value(scenario_, key));
}

std::string Envelope::value(const AttackPoint& point, std::size_t factor) const {
  const Factor& f = factors_[factor];
  if (f.relative_to.empty()) return f.range.text(position(point, factor));
  const Parameter& parameter = *find_parameter(parameter_part(f.key));
  const double multiple = f.range.values.empty() ? f.range.number(position(point, factor))
                                                 : std::strtod(f.range.text(position(point, factor)).c_str(), nullptr);
  const double number = rounded(multiple * parameter_number(point, f.relative_to));
  return number_text(parameter, std::clamp(number, parameter.minimum, parameter.maximum));
}

std::string Envelope::flows(const AttackPoint& point) const {
  std::map<std::string, double> given = traffic_;
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    if (factors_[i].kind == Factor::Kind::traffic && !factors_[i].key.empty())
      given[factors_[i].key] = std::strtod(value(point, i).c_str(), nullptr);
  }
  const auto messages = static_cast<std::size_t>(given.at("messages"));
  const auto burst = static_cast<std::size_t>(given.at("burst"));
  KeyedRandom random(first_seed_, "attack.flows");
  std::string text(kFlowCsvHeader);
  text += '\n';
  for (std::size_t i = 0; i < messages; ++i) {
    auto [source, target] = pairs_[i % pairs_.size()];
    if (random.uniform() < given.at("reverse")) std::swap(source, target);
    const double shorter = std::pow(given.at("spread"), -random.uniform());
    const double start_us = static_cast<double>(i / burst) * given.at("gap_us");
    const std::int64_t bytes = std::max<std::int64_t>(1, std::llround(given.at("bytes") * shorter));
    text += fmt::format("{},{},{},{},{}\n", start_us, source, target, bytes, i);
  }
  return text;
}

AttackCase Envelope::draw(const AttackPoint& point) const {
  AttackCase drawn{.settings = {}, .seed = first_seed_, .flows = ""};
  std::vector<std::string> faults(fault_words_.size());
  bool generated = false;
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    const Factor& factor = factors_[i];
    switch (factor.kind) {
      case Factor::Kind::parameter: {
        const bool follows =
            !factor.relative_to.empty() &&
            parameter_number(point, factor.relative_to) != number_of(scenario_value(scenario_, factor.relative_to));
        if (point[i] != kUsual || !factor.range.inside || follows)
          drawn.settings.emplace_back(factor.key, value(point, i));
        break;
      }
      case Factor::Kind::seed:
        drawn.seed = std::strtoull(value(point, i).c_str(), nullptr, 10);
        break;
      case Factor::Kind::fault:
        if (present(point, factor.kind, factor.group) && !factor.key.empty())
          faults[factor.group] += fmt::format(", {} = {}", factor.key, value(point, i));
        break;
      case Factor::Kind::traffic:
        generated = present(point, factor.kind, 0);
        break;
    }
  }
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (!present(point, Factor::Kind::fault, i)) continue;
    std::string words;
    for (const auto& [key, value] : fault_words_[i])
      words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", key, value);
    drawn.settings.emplace_back(fmt::format("fault.attack{}", i + 1), fmt::format("{{{}{}}}", words, faults[i]));
  }
  if (!generated) return drawn;
  drawn.flows = flows(point);
  // What the scenario does to its own trace is not meant for this one.
  for (const auto& [key, value] :
       Settings{{"traffic.format", "flow_csv"}, {"traffic.rows", "0"}, {"traffic.byte_scale", "1"}}) {
    const bool varied =
        std::any_of(factors_.begin(), factors_.end(), [&, k = key](const Factor& f) { return f.key == k; });
    if (!varied) drawn.settings.emplace_back(key, value);
  }
  return drawn;
}

Settings Envelope::differences(const AttackPoint& point) const {
  Settings all;
  for (const auto& [key, value] : draw(point).settings) {
    if (!key.starts_with("traffic.")) all.emplace_back(key, value);
  }
  for (std::size_t i = 0; i < factors_.size(); ++i) {
    const Factor& factor = factors_[i];
    const bool of_traffic = factor.kind == Factor::Kind::traffic && present(point, factor.kind, 0);
    const bool own_traffic =
        factor.kind == Factor::Kind::parameter && factor.key.starts_with("traffic.") && point[i] != kUsual;
    const bool other_seed = factor.kind == Factor::Kind::seed && point[i] != kUsual;
    if (of_traffic || own_traffic || other_seed) all.emplace_back(factor.name, value(point, i));
  }
  return all;
}

}  // namespace mrc
