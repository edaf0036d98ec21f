#include "cosim/bench/contract_checker.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace mrc::cosim {
namespace {

bool offered(const Port& port) {
  return port.valid.get() != 0;
}
bool is_level(const Dut& dut, const std::string& name) {
  const auto has = [&](const std::vector<Field>& fields) {
    return std::any_of(fields.begin(), fields.end(), [&](const Field& field) { return field.name == name; });
  };
  return has(dut.constants) || has(dut.state);
}
/// Of a port: "PORT.valid", "PORT.ready", "PORT.fields".
bool is_source(const Dut& dut, const std::string& name) {
  return std::any_of(dut.ports.begin(), dut.ports.end(), [&](const Port& port) {
    const bool in = port.direction == Direction::in;
    return (in && (name == port.name + ".valid" || name == port.name + ".fields")) ||
           (!in && name == port.name + ".ready");
  });
}

}  // namespace

ContractChecker::ContractChecker(RtlContract contract, const Dut& dut) : contract_(std::move(contract)) {
  ways_to_.resize(dut.ports.size());
  ready_rule_.resize(dut.ports.size());
  for (const RtlContract::Way& rule : contract_.ways) {
    const Way way{&rule, port_named(dut, rule.from, Direction::in, rule.line),
                  port_named(dut, rule.to, Direction::out, rule.line)};
    ways_to_[way.out].push_back(ways_.size());
    ways_.push_back(way);
  }
  for (std::size_t i = 0; i < contract_.ready.size(); ++i) {
    const RtlContract::Ready& rule = contract_.ready[i];
    ready_rule_[port_named(dut, rule.port, Direction::in, rule.line)] = i;
    for (const std::string& source : rule.depends_on) {
      if (is_source(dut, source) || is_level(dut, source)) continue;
      throw std::invalid_argument(
          fmt::format("{}: ready.{}: the block has no {}", contract_.place(rule.line), rule.port, source));
    }
  }
  begin();
}

std::size_t ContractChecker::port_named(const Dut& dut, const std::string& name, Direction direction,
                                        std::uint64_t line) const {
  std::string known;
  for (std::size_t i = 0; i < dut.ports.size(); ++i) {
    if (dut.ports[i].direction != direction) continue;
    if (dut.ports[i].name == name) return i;
    known += (known.empty() ? "" : ", ") + dut.ports[i].name;
  }
  throw std::invalid_argument(fmt::format("{}: the block has no {} stream {}; there are: {}", contract_.place(line),
                                          direction == Direction::in ? "input" : "output", name, known));
}

void ContractChecker::begin() {
  inputs_.assign(ways_to_.size(), {});
  last_answer_.assign(ways_to_.size(), kNever);
  disturbed_ = kNever;
  any_taken_ = false;
}

Breach ContractChecker::breach(const Dut& dut, std::size_t port, const char* rule, std::uint64_t line, std::string says,
                               std::uint64_t allowed, std::uint64_t actual) const {
  return {dut.ports[port].name, rule, contract_.place(line), std::move(says), allowed, actual};
}

std::optional<Breach> ContractChecker::reset_without_edge(const Dut& dut, const std::vector<bool>& valid_before) const {
  if (contract_.reset_kind_line == 0) return std::nullopt;
  for (std::size_t i = 0; i < dut.ports.size(); ++i) {
    if (dut.ports[i].direction == Direction::in || !valid_before[i]) continue;
    const bool valid = offered(dut.ports[i]);
    if (contract_.asynchronous_reset && valid)
      return breach(dut, i, "reset.kind", contract_.reset_kind_line, "asynchronous: valid falls before a clock edge", 0,
                    1);
    if (!contract_.asynchronous_reset && !valid)
      return breach(dut, i, "reset.kind", contract_.reset_kind_line, "synchronous: valid stays until a clock edge", 1,
                    0);
  }
  return std::nullopt;
}

std::optional<Breach> ContractChecker::reset_done(const Dut& dut) const {
  for (std::size_t i = 0; i < dut.ports.size(); ++i) {
    if (dut.ports[i].direction == Direction::in || !offered(dut.ports[i])) continue;
    return breach(dut, i, "reset.cycles", contract_.reset_cycles_line,
                  fmt::format("no valid output after {} cycles of reset", contract_.reset_cycles), 0, 1);
  }
  return std::nullopt;
}

std::optional<Breach> ContractChecker::initialization(const Dut& dut, const Way& way) const {
  const CycleRange& cycles = contract_.initialization;
  if (cycles.line == 0 || inputs_[way.in].seen_ready || any_taken_) return std::nullopt;
  if (dut.ports[way.in].ready.get() != 0) {
    if (cycle_ >= cycles.at_least) return std::nullopt;
    return breach(dut, way.in, "initialization_cycles", cycles.line, fmt::format("at least {}", cycles.at_least),
                  cycles.at_least, cycle_);
  }
  // With another input offered, it may be that one's turn.
  bool others_turn = false;
  for (std::size_t i = 0; i < dut.ports.size(); ++i) {
    others_turn = others_turn || (i != way.in && dut.ports[i].direction == Direction::in && offered(dut.ports[i]));
  }
  if (cycle_ < cycles.at_most || others_turn) return std::nullopt;
  return breach(dut, way.in, "initialization_cycles", cycles.line, fmt::format("at most {}", cycles.at_most),
                cycles.at_most, cycle_ + 1);
}

std::optional<Breach> ContractChecker::input_cycle(const Dut& dut, const Way& way) {
  const CycleRange& interval = way.rule->interval;
  const Port& port = dut.ports[way.in];
  Input& input = inputs_[way.in];
  if (!offered(port)) {
    input.waits_since = kNever;
    return std::nullopt;
  }
  if (input.waits_since == kNever) input.waits_since = cycle_;
  if (port.ready.get() != 0) {
    if (input.last_taken == kNever || cycle_ - input.last_taken >= interval.at_least) return std::nullopt;
    return breach(dut, way.in, "interval_cycles", interval.line, fmt::format("at least {}", interval.at_least),
                  interval.at_least, cycle_ - input.last_taken);
  }
  const std::uint64_t waited = cycle_ - input.waits_since + 1;
  if (!interval.bounded() || waited < interval.at_most || !input.seen_ready || !calm_since(input.waits_since))
    return std::nullopt;
  return breach(dut, way.in, "interval_cycles", interval.line, fmt::format("at most {}", interval.at_most),
                interval.at_most, waited + 1);
}

std::optional<Breach> ContractChecker::cycle(const Dut& dut, std::uint64_t cycle) {
  cycle_ = cycle;
  std::size_t inputs_offered = 0;
  for (const Port& port : dut.ports) {
    const bool in = port.direction == Direction::in;
    if (in && offered(port)) ++inputs_offered;
    if (!in && offered(port) && port.ready.get() == 0) disturbed_ = cycle;
  }
  if (inputs_offered > 1) disturbed_ = cycle;
  std::optional<Breach> found;
  for (const Way& way : ways_) {
    if (!found) found = initialization(dut, way);
    if (!found) found = input_cycle(dut, way);
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (dut.ports[i].direction == Direction::out || dut.ports[i].ready.get() == 0) continue;
    inputs_[i].seen_ready = true;
    if (!offered(dut.ports[i])) continue;
    inputs_[i].last_taken = cycle;
    inputs_[i].waits_since = kNever;
    any_taken_ = true;
  }
  return found;
}

std::optional<Breach> ContractChecker::answered(const Dut& dut, std::size_t out_port, std::size_t in_port,
                                                std::uint64_t taken_cycle, bool first) {
  const std::uint64_t before = std::exchange(last_answer_[out_port], cycle_);
  if (!first) return std::nullopt;
  for (const std::size_t number : ways_to_[out_port]) {
    const Way& way = ways_[number];
    const CycleRange& latency = way.rule->latency;
    if (way.in != in_port || latency.line == 0) continue;
    if (cycle_ - taken_cycle < latency.at_least) {
      return breach(dut, out_port, "latency_cycles", latency.line, fmt::format("at least {}", latency.at_least),
                    latency.at_least, cycle_ - taken_cycle);
    }
    // What is behind another answer is due that long after it.
    const std::uint64_t start = before == kNever ? taken_cycle : std::max(taken_cycle, before);
    if (!latency.bounded() || cycle_ - start <= latency.at_most || !calm_since(start)) continue;
    return breach(dut, out_port, "latency_cycles", latency.line, fmt::format("at most {}", latency.at_most),
                  latency.at_most, cycle_ - start);
  }
  return std::nullopt;
}

std::optional<Breach> ContractChecker::held(const Dut& dut, std::size_t out_port, std::size_t in_port,
                                            std::uint64_t transfers) const {
  for (const std::size_t number : ways_to_[out_port]) {
    const RtlContract::Way& rule = *ways_[number].rule;
    if (ways_[number].in != in_port || rule.places == 0 || transfers <= rule.places) continue;
    return breach(dut, in_port, "places", rule.places_line,
                  fmt::format("at most {} that wait for {}", rule.places, rule.to), rule.places, transfers);
  }
  return std::nullopt;
}

std::optional<Breach> ContractChecker::compare(Dut& dut, const std::string& source, const std::vector<bool>& ready,
                                               const Port* own) const {
  const bool own_valid = own != nullptr && offered(*own);
  dut.settle();
  if (own != nullptr && offered(*own) != own_valid) {
    return Breach{own->name, "valid",   contract_.file, "valid does not depend on the ready of its stream",
                  own_valid, !own_valid};
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (dut.ports[i].direction == Direction::out || !ready_rule_[i]) continue;
    if ((dut.ports[i].ready.get() != 0) == ready[i]) continue;
    const RtlContract::Ready& rule = contract_.ready[*ready_rule_[i]];
    if (std::find(rule.depends_on.begin(), rule.depends_on.end(), source) != rule.depends_on.end()) continue;
    return breach(dut, i, "ready", rule.line, fmt::format("ready does not depend on {}", source), ready[i], !ready[i]);
  }
  return std::nullopt;
}

std::optional<Breach> ContractChecker::dependences(Dut& dut) const {
  std::vector<bool> ready;
  for (const Port& port : dut.ports) ready.push_back(port.ready.get() != 0);
  std::optional<Breach> found;
  for (const Port& port : dut.ports) {
    if (found) break;
    const bool in = port.direction == Direction::in;
    const Pin& pin = in ? port.valid : port.ready;
    const std::uint64_t level = pin.get();
    pin.set(level != 0 ? 0 : 1);
    if (pin.bound()) found = compare(dut, port.name + (in ? ".valid" : ".ready"), ready, in ? nullptr : &port);
    pin.set(level);
    if (!in || found) continue;
    Transaction values;
    port.sample(values);
    port.drive(Transaction(values.size(), 0));
    found = compare(dut, port.name + ".fields", ready, nullptr);
    port.drive(values);
  }
  dut.settle();
  return found;
}

}  // namespace mrc::cosim
