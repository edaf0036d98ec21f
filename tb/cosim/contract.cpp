#include "cosim/contract.h"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parameters/toml_file.h"

namespace mrc {
namespace {

/// A table of the contract; its messages begin with file and line.
class Table {
 public:
  Table(const toml::table& table, const std::string& file, std::string name)
      : table_(table), file_(file), name_(std::move(name)) {}

  [[noreturn]] void refuse(const toml::node& node, const std::string& why) const {
    throw std::invalid_argument(place_of(file_, node.source()) + ": " + why);
  }
  std::string named(std::string_view key) const {
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
  }

  void allow(std::initializer_list<const char*> keys) const {
    const std::vector<std::string> known(keys.begin(), keys.end());
    for (const auto& [key, node] : table_) {
      const std::string text(key.str());
      if (std::find(known.begin(), known.end(), text) != known.end()) continue;
      refuse(node, fmt::format("{}: unknown; allowed: {}; nearest: {}", named(text), fmt::join(known, ", "),
                               nearest(text, known)));
    }
  }
  const toml::node* find(std::string_view key) const { return table_.get(key); }
  std::uint64_t line(std::string_view key) const {
    const toml::node* node = find(key);
    return node == nullptr ? 0 : node->source().begin.line;
  }
  std::uint64_t number(std::string_view key, std::uint64_t fallback, std::uint64_t least, std::uint64_t most) const {
    const toml::node* node = find(key);
    if (node == nullptr) return fallback;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < static_cast<std::int64_t>(least) || *value > static_cast<std::int64_t>(most)) {
      refuse(*node, fmt::format("{}: allowed: a number from {} to {}", named(key), least, most));
    }
    return static_cast<std::uint64_t>(*value);
  }
  /// The place of the text among `allowed`; 0 without the key.
  std::size_t choice(std::string_view key, std::initializer_list<const char*> allowed) const {
    const toml::node* node = find(key);
    if (node == nullptr) return 0;
    const auto value = node->value_exact<std::string>();
    const auto* found = std::find(allowed.begin(), allowed.end(), value.value_or(""));
    if (!value || found == allowed.end()) {
      refuse(*node, fmt::format("{}: allowed: {}", named(key), fmt::join(allowed, ", ")));
    }
    return static_cast<std::size_t>(found - allowed.begin());
  }
  std::string text(std::string_view key) const {
    const toml::node* node = find(key);
    const auto value = node == nullptr ? std::nullopt : node->value_exact<std::string>();
    if (!value)
      refuse(node == nullptr ? static_cast<const toml::node&>(table_) : *node,
             fmt::format("{}: a text is needed", named(key)));
    return *value;
  }
  CycleRange range(std::string_view key) const {
    CycleRange cycles;
    const toml::node* node = find(key);
    if (node == nullptr) return cycles;
    if (!node->is_table()) {
      refuse(*node, fmt::format("{}: allowed: {{ at_least = CYCLES, at_most = CYCLES }}", named(key)));
    }
    constexpr std::uint64_t most = 1'000'000'000;
    const Table bounds(*node->as_table(), file_, named(key));
    bounds.allow({"at_least", "at_most"});
    cycles.at_least = bounds.number("at_least", cycles.at_least, 0, most);
    cycles.at_most = bounds.number("at_most", cycles.at_most, 0, most);
    if (cycles.at_least > cycles.at_most) refuse(*node, fmt::format("{}: at_least is above at_most", named(key)));
    cycles.line = node->source().begin.line;
    return cycles;
  }
  /// Empty without the key.
  Table table(std::string_view key) const {
    static const toml::table none;
    const toml::node* node = find(key);
    if (node == nullptr) return {none, file_, named(key)};
    if (!node->is_table()) refuse(*node, fmt::format("{}: a table is needed", named(key)));
    return {*node->as_table(), file_, named(key)};
  }
  const toml::table& entries() const { return table_; }

 private:
  const toml::table& table_;
  const std::string& file_;
  std::string name_;
};

RtlContract::Ready ready_of(const Table& table, const std::string& port, const toml::node& node) {
  RtlContract::Ready ready{port, {}, node.source().begin.line};
  const toml::array* list = node.as_array();
  if (list == nullptr)
    table.refuse(node, fmt::format("{}: allowed: a list of \"PORT.valid\", \"PORT.ready\", \"PORT.fields\" and levels",
                                   table.named(port)));
  for (const toml::node& entry : *list) {
    const auto name = entry.value_exact<std::string>();
    if (!name) table.refuse(entry, fmt::format("{}: a text is needed", table.named(port)));
    ready.depends_on.push_back(*name);
  }
  return ready;
}

RtlContract::Way way_of(const Table& table) {
  table.allow({"from", "to", "latency_cycles", "interval_cycles", "order", "places"});
  RtlContract::Way way;
  way.from = table.text("from");
  way.to = table.text("to");
  way.latency = table.range("latency_cycles");
  way.interval = table.range("interval_cycles");
  table.choice("order", {"in_order"});
  way.order_line = table.line("order");
  way.line = table.line("from");
  way.places = table.number("places", 0, 1, 1'000'000);
  way.places_line = table.line("places");
  return way;
}

}  // namespace

RtlContract parse_contract(const std::string& text, const std::string& file) {
  const toml::table root = parse_toml(text, file);
  RtlContract contract;
  contract.file = file;
  const Table top(root, contract.file, "");
  // Clock, pins and parameters are what tb/cosim/rtl_wrapper.py makes the module around a user's of.
  top.allow({"cycles", "clock", "parameters", "pins", "ready", "reset", "way"});
  contract.data_sheet = top.choice("cycles", {"data_sheet", "ranges"}) == 0;
  contract.cycles_line = top.line("cycles");
  const Table reset = top.table("reset");
  reset.allow({"active", "kind", "cycles", "initialization_cycles"});
  reset.choice("active", {"low", "high"});
  contract.asynchronous_reset = reset.choice("kind", {"asynchronous", "synchronous"}) == 0;
  contract.reset_kind_line = reset.line("kind");
  contract.reset_cycles = reset.number("cycles", contract.reset_cycles, 1, kMostResetCycles);
  contract.reset_cycles_line = reset.find("cycles") != nullptr ? reset.line("cycles") : top.line("reset");
  contract.initialization = reset.range("initialization_cycles");
  const Table ready = top.table("ready");
  for (const auto& [port, node] : ready.entries())
    contract.ready.push_back(ready_of(ready, std::string(port.str()), node));
  if (const toml::node* ways = top.find("way")) {
    const toml::array* list = ways->as_array();
    if (list == nullptr || !list->is_homogeneous<toml::table>()) top.refuse(*ways, "way: allowed: one or more [[way]]");
    for (const toml::node& way : *list) contract.ways.push_back(way_of(Table(*way.as_table(), contract.file, "way")));
  }
  return contract;
}

}  // namespace mrc
