#include "cosim/bench/stream_bench.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

namespace mrc::cosim {
namespace {

constexpr std::uint64_t kEpisodesAModel = 64;  ///< then another model with another random initial state
constexpr std::uint64_t kStuckCycles = 20'000;
constexpr std::uint64_t kMostTrials = 400;
constexpr std::uint64_t kStarvedCycles = 1'000'000;  ///< in which other streams moved
/// Taken after the last one that was to be given: streams that answer each other can go on for ever.
constexpr std::uint64_t kMostDrained = 100'000;
constexpr const char* kBreach = "breaks the contract";
constexpr const char* kAssertionFails = "fails";
/// Of an assertion that follows one slot or byte: at most this many are followed in turn until one names a mismatch.
constexpr std::uint64_t kMostDraws = 1'000;
/// Episodes in which the contract is probed, and transfers of each.
constexpr std::uint64_t kProbeEpisodes = 4;
constexpr std::uint64_t kProbeTransfers = 200;
constexpr std::uint64_t kFirstProbe = std::uint64_t{1} << 40;  ///< number of the first of them
/// One episode of a long run: no reset for as many transfers as wrap counters of 18 bits.
constexpr std::uint64_t kSoakEpisode = 5;
constexpr std::uint64_t kSoakTransfers = (std::uint64_t{1} << 18) + 4'096;
constexpr std::uint64_t kSoakFromCount = 1'000'000;

KeyedRandom keyed(std::uint64_t seed, std::uint64_t episode, const char* what) {
  return {mix64(seed) ^ episode, what};
}

std::vector<std::pair<std::string, std::uint64_t>> named(const Port& port, const Transaction& values) {
  std::vector<std::pair<std::string, std::uint64_t>> fields;
  for (std::size_t i = 0; i < values.size(); ++i) fields.emplace_back(port.fields[i].name, values[i]);
  return fields;
}

}  // namespace

std::string Mismatch::line() const {
  const std::string at =
      fmt::format("{} {}, cycle {}{}", episode < kFirstProbe ? "episode" : "contract episode", episode % kFirstProbe,
                  cycle, transfer == 0 ? "" : fmt::format(", transfer {}", transfer));
  const std::string failed =
      assertion.name.empty() ? "" : fmt::format("assertion {} fails ({})", assertion.name, assertion.place);
  if (kind == kAssertionFails) return fmt::format("{}: {}", at, failed);
  const std::string too = failed.empty() ? "" : "; " + failed;
  if (kind == kBreach) {
    return fmt::format("{}: {}.{} breaks {}, RTL gave {}{}", at, port, field, contract, actual, too);
  }
  return fmt::format("{}: {}.{} {}: expected {:#x}, RTL gave {:#x}{}{}", at, port, field, kind, expected, actual,
                     contract.empty() ? "" : " (" + contract + ")", too);
}

void TracePart::reset_to_trace(KeyedRandom&, const Dut&, const std::map<std::string, std::uint64_t>&) {
  throw std::logic_error("this block plays no trace");
}

Mismatch StreamBench::mismatch_of(const Breach& breach) const {
  Mismatch mismatch;
  mismatch.kind = kBreach;
  mismatch.cycle = cycle_;
  mismatch.port = breach.port;
  mismatch.field = breach.rule;
  mismatch.expected = breach.allowed;
  mismatch.actual = breach.actual;
  mismatch.contract = fmt::format("{} ({})", breach.place, breach.says);
  return mismatch;
}

Mismatch StreamBench::mismatch_of(const FailedAssertion& failed) const {
  Mismatch mismatch;
  mismatch.kind = kAssertionFails;
  mismatch.cycle = cycle_;
  mismatch.port = "assertion";
  mismatch.field = failed.name;
  mismatch.assertion = failed;
  return mismatch;
}

std::optional<Mismatch> StreamBench::reset(Dut& dut, const Episode& episode) {
  const bool busy = !streams_.empty() && !idle();
  if (resets_ != 0 && !streams_.empty()) model_->coverage.hit(resets_, busy ? 1 : 0);
  streams_.assign(dut.ports.size(), {});
  for (const Port& port : dut.ports) (port.direction == Direction::in ? port.valid : port.ready).set(0);
  KeyedRandom constants = keyed(episode.seed, episode.number, "constants");
  std::vector<bool> valid;
  for (const Port& port : dut.ports) valid.push_back(dut.runs && port.valid.get() != 0);
  dut.key_draws(mix64(mix64(episode.seed) ^ episode.number) ^ episode.draw);
  dut.set_reset(true);
  std::optional<Breach> breach;
  if (checker_) {
    checker_->begin();
    dut.settle();
    breach = checker_->reset_without_edge(dut, valid);
  }
  if (episode.of_run) {
    parts_.trace->reset_to_trace(constants, dut, episode.settings);
  } else {
    model_->reset(constants, dut);
  }
  const std::uint64_t edges = checker_ ? checker_->contract().reset_cycles : 2;
  for (std::uint64_t edge = 0; edge < edges; ++edge) {
    dut.low();
    dut.high();
  }
  if (checker_ && !breach) breach = checker_->reset_done(dut);
  dut.set_reset(false);
  dut.runs = true;
  cycle_ = 0;
  if (vectors_.is_open()) {
    vectors_ << "reset " << episode.number << "\n";
    for (const Field& constant : dut.constants)
      vectors_ << fmt::format("constant {} {:#x}\n", constant.name, constant.pin.get());
  }
  ++report_.resets;
  if (!breach) return std::nullopt;
  return mismatch_of(*breach);
}

bool StreamBench::idle() const {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    if (stream.offering || !stream.expected.empty()) return false;
    // An answer that is due and does not suit may never do.
    if (!stream.replayed.empty() && (!parts_.replay->answers(i) || !is_due(stream.replayed.front()))) return false;
  }
  return true;
}

void StreamBench::offer_inputs(Dut& dut, Episode& episode, bool generating, bool open) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Port& port = dut.ports[i];
    Stream& stream = streams_[i];
    if (port.direction == Direction::out) continue;
    const bool on_pins = stream.offering;
    if (!stream.offering && generating && (open || parts_.replay->answers(i)) && random_.chance(episode.load[i]) &&
        model_->offer(i, random_, stream.values)) {
      stream.offering = true;
      stream.turn = 0;
      episode.offers.push_back({i, cycle_, stream.values});
    }
    while (!stream.offering && !stream.replayed.empty() && is_due(stream.replayed.front())) {
      stream.values = stream.replayed.front().offer->values;
      stream.turn = stream.replayed.front().turn;
      stream.offering = parts_.replay->adapt(i, stream.values);
      if (!stream.offering && parts_.replay->answers(i)) break;
      stream.replayed.pop_front();
      if (!stream.offering && stream.turn != 0) ++turn_;
    }
    if (!stream.offering && episode.of_run && parts_.trace->offers_in_trace(i)) {
      stream.turn = 0;
      stream.offering = model_->offer(i, random_, stream.values);
    }
    port.valid.set(stream.offering ? 1 : 0);
    if (stream.offering && !on_pins) {
      port.drive(stream.values);
      stream.earlier[stream.offers++ % stream.earlier.size()] = stream.values;
    }
    if (!stream.offering && stream.was_offering) show_other_values(port, stream);
    stream.was_offering = stream.offering;
  }
}

void StreamBench::show_other_values(const Port& port, const Stream& stream) const {
  // Of earlier offers, field by field: a pin has no more bits than they need. Drawn by the cycle, so that a replay has
  // them too.
  KeyedRandom random(cycle_, port.name);
  const std::uint64_t known = std::min<std::uint64_t>(stream.offers, stream.earlier.size());
  for (std::size_t i = 0; i < port.fields.size(); ++i) port.fields[i].pin.set(stream.earlier[random.below(known)][i]);
}

void StreamBench::expect(std::vector<std::vector<Transaction>>& expected, std::size_t cause_port,
                         const Transaction& cause) {
  for (std::size_t out = 0; out < expected.size(); ++out) {
    for (Transaction& values : expected[out]) {
      streams_[out].expected.push_back({std::move(values), cause_port, cause, cycle_, taken_});
    }
    expected[out].clear();
  }
}

std::optional<Mismatch> StreamBench::observe(Dut& dut) {
  expected_.resize(streams_.size());
  const std::optional<Difference> difference = parts_.levels->observe(dut, expected_);
  expect(expected_, 0, {});
  if (!difference) return std::nullopt;
  Mismatch mismatch;
  mismatch.kind = "differs";
  mismatch.cycle = cycle_;
  mismatch.port = "block";
  mismatch.field = difference->field;
  mismatch.expected = difference->expected;
  mismatch.actual = difference->actual;
  const bool level = std::any_of(dut.state.begin(), dut.state.end(),
                                 [&](const Field& field) { return field.name == difference->field; });
  if (!level && checker_ && contract_->data_sheet && contract_->cycles_line != 0) {
    mismatch.contract = contract_->place(contract_->cycles_line) + ": cycles = \"data_sheet\"";
  }
  return mismatch;
}

std::optional<Mismatch> StreamBench::check_contract(Dut& dut) {
  std::optional<Breach> breach;
  bool moves = cycle_ % 8 == 0;
  for (const Port& port : dut.ports) moves = moves || (port.direction == Direction::out && port.valid.get() != 0);
  if (probing_ && moves) breach = checker_->dependences(dut);
  if (!breach) breach = checker_->cycle(dut, cycle_);
  if (!breach) return std::nullopt;
  return mismatch_of(*breach);
}

/// Of an output that is new on the wires.
std::optional<Mismatch> StreamBench::check_answer(const Dut& dut, std::size_t port) {
  Stream& stream = streams_[port];
  const Expected& expected = stream.expected.front();
  if (expected.cause.empty()) return std::nullopt;
  std::uint64_t waiting = 0;
  std::uint64_t last = ~std::uint64_t{0};
  for (const Expected& owed : stream.expected) {
    // What is taken in this cycle is not inside yet.
    const bool inside = owed.accepted_cycle < cycle_;
    if (owed.cause_port != expected.cause_port || owed.order == last || !inside) continue;
    last = owed.order;
    ++waiting;
  }
  const bool first = std::exchange(stream.answered_order, expected.order) != expected.order;
  std::optional<Breach> breach = checker_->answered(dut, port, expected.cause_port, expected.accepted_cycle, first);
  if (!breach) breach = checker_->held(dut, port, expected.cause_port, waiting);
  if (!breach) return std::nullopt;
  return mismatch_of(*breach);
}

std::optional<Mismatch> StreamBench::starved(const Dut& dut) {
  constexpr std::size_t no_field = ~std::size_t{0};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    stream.waits = stream.offering || !stream.expected.empty() ? stream.waits + 1 : 0;
    if (stream.waits > kStarvedCycles) {
      Mismatch mismatch =
          describe(dut, i, "waits while others move", stream.offering ? stream.values : Transaction{}, no_field);
      add_levels(dut, mismatch);
      return mismatch;
    }
  }
  return std::nullopt;
}

void StreamBench::take_inputs(Dut& dut) {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[i];
    if (dut.ports[i].direction == Direction::out || !stream.offering) continue;
    const bool taken = dut.ports[i].ready.get() != 0;
    model_->coverage.hit(handshake_ + i, taken ? 0 : 1);
    if (!taken) continue;
    stream.offering = false;
    stream.waits = 0;
    if (vectors_.is_open()) write_vector("in", dut.ports[i], stream.values);
    if (stream.turn != 0) ++turn_;
    model_->accept(i, stream.values, expected_);
    expect(expected_, i, stream.values);
    ++taken_;
  }
}

void StreamBench::write_vector(const char* direction, const Port& port, const Transaction& values) {
  vectors_ << fmt::format("{} {} {}", direction, cycle_, port.name);
  for (std::size_t i = 0; i < values.size(); ++i) vectors_ << fmt::format(" {}={:#x}", port.fields[i].name, values[i]);
  vectors_ << "\n";
}

bool StreamBench::comes_too_early(std::size_t port) const {
  for (std::size_t other = 0; other < streams_.size(); ++other) {
    const std::deque<Expected>& owed = streams_[other].expected;
    if (!owed.empty() && parts_.outputs->follows(port, other) &&
        owed.front().order <= streams_[port].expected.front().order) {
      return true;
    }
  }
  return false;
}

Mismatch StreamBench::describe(const Dut& dut, std::size_t port, const char* kind, const Transaction& actual,
                               std::size_t field) const {
  const Stream& stream = streams_[port];
  Mismatch mismatch;
  mismatch.kind = kind;
  mismatch.cycle = cycle_;
  mismatch.port = dut.ports[port].name;
  mismatch.field = field < dut.ports[port].fields.size() ? dut.ports[port].fields[field].name : "valid";
  if (!actual.empty()) mismatch.rtl = named(dut.ports[port], actual);
  if (field < actual.size()) mismatch.actual = actual[field];
  if (stream.expected.empty()) return mismatch;
  const Expected& expected = stream.expected.front();
  mismatch.reference = named(dut.ports[port], expected.values);
  if (!expected.cause.empty()) {
    mismatch.input = named(dut.ports[expected.cause_port], expected.cause);
    mismatch.input_port = dut.ports[expected.cause_port].name;
    mismatch.transfer = expected.order + 1;
  }
  if (field >= expected.values.size()) return mismatch;
  mismatch.expected = expected.values[field];
  const std::string meaning = parts_.outputs->meaning(port, field, mismatch.expected, mismatch.actual);
  if (!meaning.empty()) mismatch.field += " (" + meaning + ")";
  return mismatch;
}

/// Adds handshake signals and visible state, which show why the block makes no progress.
void StreamBench::add_levels(const Dut& dut, Mismatch& mismatch) {
  for (const Port& port : dut.ports) {
    if (port.direction == Direction::out) mismatch.rtl.emplace_back(port.name + ".valid", port.valid.get());
    if (port.direction == Direction::in) mismatch.rtl.emplace_back(port.name + ".ready", port.ready.get());
  }
  for (const Field& field : dut.state) mismatch.rtl.emplace_back(field.name, field.pin.get());
}

std::optional<Mismatch> StreamBench::describe_stuck(const Dut& dut) const {
  constexpr std::size_t no_field = ~std::size_t{0};
  std::optional<Mismatch> mismatch;
  for (std::size_t i = 0; i < streams_.size() && !mismatch; ++i) {
    if (!streams_[i].expected.empty()) mismatch = describe(dut, i, "missing", {}, no_field);
    if (streams_[i].offering) mismatch = describe(dut, i, "never taken", streams_[i].values, no_field);
  }
  if (mismatch) add_levels(dut, *mismatch);
  // Of a run that the block cannot follow to its end.
  for (std::size_t i = 0; i < streams_.size() && !mismatch; ++i) {
    const std::deque<Replayed>& left = streams_[i].replayed;
    if (!left.empty() && left.front().turn == turn_) {
      mismatch = describe(dut, i, "never due", left.front().offer->values, no_field);
    }
  }
  return mismatch;
}

/// What is due later than now is there in the place of what is due now.
Mismatch StreamBench::out_of_order_or_differs(const Dut& dut, std::size_t port, const Transaction& actual,
                                              std::size_t field) const {
  const std::deque<Expected>& owed = streams_[port].expected;
  // Two outputs of one or two fields are often the same by chance.
  constexpr std::size_t telling_fields = 3;
  const bool later = owed.front().values.size() >= telling_fields &&
                     std::any_of(owed.begin() + 1, owed.end(), [&](const Expected& e) { return e.values == actual; });
  Mismatch mismatch = describe(dut, port, later ? "is out of order" : "differs", actual, field);
  const RtlContract::Way* way = contract_ && !owed.front().cause.empty()
                                    ? contract_->way(dut.ports[owed.front().cause_port].name, dut.ports[port].name)
                                    : nullptr;
  if (later && way != nullptr && way->order_line != 0) {
    mismatch.contract = contract_->place(way->order_line) + ": order = \"in_order\"";
  }
  return mismatch;
}

std::optional<Mismatch> StreamBench::take_outputs(Dut& dut) {
  constexpr std::size_t no_field = ~std::size_t{0};
  Transaction actual;
  Transaction compared;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Port& port = dut.ports[i];
    Stream& stream = streams_[i];
    if (port.direction == Direction::in) continue;
    const bool valid = port.valid.get() != 0;
    if (stream.held && !valid) return describe(dut, i, "taken back", {}, no_field);
    if (!valid) continue;
    port.sample(actual);
    if (stream.held && actual != stream.held_values) {
      const auto at = std::mismatch(actual.begin(), actual.end(), stream.held_values.begin()).first - actual.begin();
      return describe(dut, i, "changed while it waited", actual, static_cast<std::size_t>(at));
    }
    const bool taken = port.ready.get() != 0;
    const bool appears = !stream.held;
    model_->coverage.hit(handshake_ + i, taken ? 0 : 1);
    stream.held = !taken;
    stream.held_values = actual;
    if (stream.expected.empty()) return describe(dut, i, "not expected", actual, no_field);
    const Transaction& wanted = stream.expected.front().values;
    compared = actual;
    parts_.outputs->hide(i, stream.expected.front().cause, compared);
    for (std::size_t field = 0; field < wanted.size(); ++field) {
      if (compared[field] != wanted[field]) return out_of_order_or_differs(dut, i, compared, field);
    }
    if (comes_too_early(i)) return describe(dut, i, "comes too early", actual, no_field);
    if (appears && checker_) {
      if (std::optional<Mismatch> mismatch = check_answer(dut, i)) return mismatch;
    }
    if (!taken) continue;
    stream.waits = 0;
    if (vectors_.is_open()) {
      Expected& expected = stream.expected.front();
      parts_.outputs->complete(i, expected.cause, actual, expected.values);
      write_vector("out", port, expected.values);
    }
    stream.expected.pop_front();
    parts_.outputs->taken(i, actual);
    ++report_.outputs;
  }
  return std::nullopt;
}

void StreamBench::stop_if_asked() const {
  constexpr std::uint64_t often = 1'024;  // cycles
  if (cycle_ % often == 0 && stopped_ && stopped_()) throw CosimInterrupted{taken_};
}

void StreamBench::number(Mismatch& mismatch) const {
  if (mismatch.transfer == 0) mismatch.transfer = taken_;
}

std::optional<Mismatch> StreamBench::play(Dut& dut, Episode& episode, bool generating, std::uint64_t transfers,
                                          bool drain) {
  if (std::optional<Mismatch> mismatch = reset(dut, episode)) {
    mismatch->episode = episode.number;
    number(*mismatch);
    return mismatch;
  }
  random_ = keyed(episode.seed, episode.number, "stimulus");
  KeyedRandom ready = keyed(episode.seed, episode.number, "ready");
  KeyedRandom levels = keyed(episode.seed, episode.number, "levels");
  std::uint64_t turns = 0;
  turn_ = 1;
  for (const Offer& offer : episode.offers) {
    streams_[offer.port].replayed.push_back({&offer, offer.in_turn ? ++turns : 0});
  }
  const std::uint64_t end = taken_ + transfers;
  std::uint64_t moved_at = 0;
  std::uint64_t moved = taken_ + report_.outputs;
  std::uint64_t rested = 0;
  std::optional<Mismatch> mismatch;
  for (;; ++cycle_) {
    stop_if_asked();
    const bool open = generating && taken_ < end;
    rested = idle() ? rested + 1 : 0;
    if (!open && (rested > parts_.levels->settle_cycles() || (generating && !drain))) break;
    if (generating && taken_ > end + kMostDrained) break;
    offer_inputs(dut, episode, generating, open);
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (dut.ports[i].direction == Direction::out) dut.ports[i].ready.set(ready.chance(episode.load[i]) ? 1 : 0);
    }
    parts_.levels->drive(levels, dut);
    dut.low();
    std::optional<Mismatch> broken;
    if (checker_) broken = check_contract(dut);
    mismatch = observe(dut);
    take_inputs(dut);
    // A stream says more than a level that it leads to.
    if (std::optional<Mismatch> of_stream = take_outputs(dut)) mismatch = std::move(of_stream);
    if (broken) mismatch = std::move(broken);
    dut.high();
    if (!dut.failed.name.empty()) mismatch = mismatch_of(dut.failed);
    ++report_.cycles;
    if (mismatch) break;
    if (taken_ + report_.outputs != moved) {
      moved = taken_ + report_.outputs;
      moved_at = cycle_;
    }
    if (cycle_ - moved_at > kStuckCycles) {
      mismatch = describe_stuck(dut);
      break;
    }
    if ((mismatch = starved(dut))) break;
  }
  if (!mismatch && idle()) mismatch = compare_state(dut);
  if (mismatch) mismatch->episode = episode.number;
  if (mismatch) number(*mismatch);
  return mismatch;
}

std::optional<Mismatch> StreamBench::compare_state(Dut& dut) const {
  dut.low();
  const std::vector<std::uint64_t> wanted = parts_.levels->state();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (dut.state[i].pin.get() == wanted[i]) continue;
    Mismatch mismatch;
    mismatch.kind = "differs";
    mismatch.cycle = cycle_;
    mismatch.port = "state";
    mismatch.field = dut.state[i].name;
    mismatch.expected = wanted[i];
    mismatch.actual = dut.state[i].pin.get();
    return mismatch;
  }
  return std::nullopt;
}

std::optional<Mismatch> StreamBench::generate(Dut& dut, Episode& episode, std::uint64_t transfers, bool drain) {
  return play(dut, episode, true, transfers, drain);
}

std::optional<Mismatch> StreamBench::replay(Dut& dut, const Episode& episode) {
  Episode copy = episode;
  streams_.clear();
  return play(dut, copy, false, 0, true);
}

Episode StreamBench::minimize(Episode episode, const Mismatch& mismatch) {
  std::uint64_t trials = 0;
  // What depends on what is looked at in each cycle, which takes its time.
  probing_ = checker_ && mismatch.kind == kBreach && (mismatch.field == "ready" || mismatch.field == "valid");
  const std::uint64_t most_trials = probing_ ? kMostTrials / 10 : kMostTrials;
  // What was found is reported, without further trials.
  const std::function<bool()> stopped = std::exchange(stopped_, nullptr);
  const auto fails = [&](const Episode& candidate) {
    if (++trials > most_trials || (stopped && stopped())) return false;
    taken_ = 0;
    const auto dut = model_->make_dut(candidate.seed);
    const std::optional<Mismatch> found = replay(*dut, candidate);
    return found && found->port == mismatch.port && found->field == mismatch.field && found->kind == mismatch.kind;
  };
  Episode eager = episode;
  eager.load.assign(eager.load.size(), 1.0);
  for (Offer& offer : eager.offers) offer.cycle = 0;
  if (fails(eager)) episode = std::move(eager);
  for (std::size_t chunk = std::max<std::size_t>(episode.offers.size() / 2, 1); chunk > 0; chunk /= 2) {
    for (std::size_t at = 0; at < episode.offers.size() && episode.offers.size() > 1;) {
      Episode shorter = episode;
      const std::size_t end = std::min(at + chunk, shorter.offers.size());
      shorter.offers.erase(shorter.offers.begin() + static_cast<std::ptrdiff_t>(at),
                           shorter.offers.begin() + static_cast<std::ptrdiff_t>(end));
      if (fails(shorter)) {
        episode = std::move(shorter);
      } else {
        at += chunk;
      }
    }
  }
  return episode;
}

FailedAssertion StreamBench::assertion_behind(const Mismatch& mismatch, Episode& episode) {
  if (mismatch.kind == kAssertionFails) return mismatch.assertion;
  Episode drawn = episode;
  for (; drawn.draw < kMostDraws; ++drawn.draw) {
    taken_ = 0;
    const auto dut = model_->make_dut(drawn.seed);
    if (!dut->asserts()) return {};
    replay(*dut, drawn);
    if (dut->failed.name.empty()) continue;
    episode = std::move(drawn);
    return dut->failed;
  }
  return {};
}

std::optional<Mismatch> StreamBench::probe(const CosimOptions& options, Episode& episode) {
  const FunctionalCoverage covered = model_->coverage;
  const CosimReport report = report_;
  auto dut = model_->make_dut(options.seed);
  std::optional<Mismatch> mismatch;
  probing_ = true;
  for (std::uint64_t number = 0; number < kProbeEpisodes && !mismatch; ++number) {
    episode = {options.seed, kFirstProbe + number, 0, {}};
    for (std::size_t i = 0; i < dut->ports.size(); ++i) episode.load.push_back(i % kProbeEpisodes < number ? 0.5 : 1.0);
    mismatch = generate(*dut, episode, kProbeTransfers, false);
  }
  probing_ = false;
  streams_.clear();
  model_->coverage = covered;
  if (mismatch) return mismatch;
  taken_ = 0;
  report_ = report;
  return mismatch;
}

CosimReport StreamBench::run(const CosimOptions& options) {
  report_ = {};
  stopped_ = options.stopped;
  auto dut = model_->make_dut(options.seed);
  if (contract_) {
    checker_.emplace(*contract_, *dut);
    model_->data_sheet_cycles = contract_->data_sheet;
  }
  handshake_ = model_->coverage.points().size();
  for (std::size_t i = 0; i < dut->ports.size(); ++i) {
    const std::size_t point = model_->coverage.point(fmt::format("handshake of {}", dut->ports[i].name),
                                                     {"taken at once", "waits for ready"});
    if (!dut->ports[i].waits()) model_->coverage.waive(point, 1, "has no ready");
  }
  resets_ = model_->coverage.point("reset", {"when idle", "with work under way"});
  const auto file = [&](const char* name) { return options.out + "/" + name; };
  const auto close_waves = [&] {
    if (!dut->close_waves()) throw std::invalid_argument(fmt::format("{}: {}", report_.waves_file, kNotWhole));
  };

  if (!options.replay.empty()) {
    const Episode episode = read_replay(options.replay, block_, dut->ports);
    dut = model_->make_dut(episode.seed);
    probing_ = checker_.has_value();
    if (options.waves) dut->open_waves(report_.waves_file = file("replay.fst"));
    taken_ = 0;
    report_.first_mismatch = replay(*dut, episode);
    close_waves();
    report_.mismatches = report_.first_mismatch ? 1 : 0;
    report_.transactions = taken_;
    report_.coverage = model_->coverage;
    return report_;
  }

  // Without what the contract is probed with.
  if (!options.keep_vectors.empty()) {
    vectors_.open(options.keep_vectors);
    vectors_ << fmt::format(
        "# mrcsim vectors: transfers that {} has taken in, and what the reference wants of it, seed {}\nblock {}\n",
        block_, options.seed, block_);
  }
  constexpr std::array<double, 6> loads{0.02, 0.1, 0.5, 0.9, 1.0, 1.0};
  taken_ = 0;
  std::vector<std::string> covered;
  const auto keep_coverage = [&] {
    if (options.out.empty()) return;
    covered.push_back(file("coverage.") + std::to_string(covered.size()));
    dut->write_coverage(covered.back());
    seal_verilator_coverage(covered.back());
  };
  Episode episode;
  std::optional<Mismatch> mismatch;
  std::ofstream kept_vectors = std::exchange(vectors_, {});
  if (checker_ && options.trace.offers.empty()) mismatch = probe(options, episode);
  vectors_ = std::move(kept_vectors);
  for (std::uint64_t number = 0; taken_ < options.count && !mismatch; ++number) {
    if (number > 0 && number % kEpisodesAModel == 0) {
      keep_coverage();
      dut = model_->make_dut(mix64(options.seed) ^ number);
    }
    episode = {options.seed, number, 0, {}};
    KeyedRandom random = keyed(options.seed, number, "episode");
    for (std::size_t i = 0; i < dut->ports.size(); ++i) episode.load.push_back(loads[random.below(loads.size())]);
    if (!options.trace.offers.empty()) {
      if (number == kTraceLoads) break;
      episode.offers = options.trace.offers;
      episode.of_run = true;
      episode.settings = options.trace.settings;
      mismatch = replay(*dut, episode);
      continue;
    }
    std::uint64_t transfers = std::min(1 + random.below(model_->transfers_an_episode() * 2), options.count - taken_);
    if (number == kSoakEpisode && options.count >= kSoakFromCount) {
      transfers = std::min(kSoakTransfers, options.count - taken_);
      for (double& load : episode.load) load = std::max(load, 0.5);
    }
    if (options.waves && taken_ + transfers >= options.count) {
      dut->open_waves(report_.waves_file = file("last_episode.fst"));
    }
    // What is asked last is answered too: a block that never answers is found in the shortest run.
    const bool drains = random.chance(0.5) || taken_ + transfers >= options.count;
    mismatch = generate(*dut, episode, transfers, drains);
  }
  keep_coverage();
  report_.transactions = taken_;
  report_.coverage = model_->coverage;
  if (!covered.empty() && merge_verilator_coverage(covered, file("coverage.dat"))) {
    report_.source = read_verilator_coverage(file("coverage.dat"));
    report_.coverage_file = file("coverage.dat");
  }
  for (const std::string& path : covered) std::filesystem::remove(path);
  if (vectors_.is_open()) {
    vectors_.close();
    if (!vectors_) throw std::invalid_argument(fmt::format("{}: {}", options.keep_vectors, kNotWhole));
  }
  close_waves();
  if (!mismatch) return report_;

  report_.mismatches = 1;
  report_.first_mismatch = mismatch;
  if (!options.shorten) return report_;
  CosimReport kept = report_;
  Episode shortest = minimize(episode, *mismatch);
  mismatch->assertion = assertion_behind(*mismatch, shortest);
  kept.first_mismatch = mismatch;
  report_ = kept;
  report_.replay_transfers = shortest.offers.size();
  if (options.out.empty()) return report_;
  dut = model_->make_dut(shortest.seed);
  report_.waves_file = file("mismatch.fst");
  dut->open_waves(report_.waves_file);
  taken_ = 0;
  const std::optional<Mismatch> again = replay(*dut, shortest);
  close_waves();
  const std::string waves = report_.waves_file;
  report_ = kept;
  report_.waves_file = waves;
  report_.replay_transfers = shortest.offers.size();
  report_.replay_file = file("mismatch.replay");
  write_replay(report_.replay_file, block_, dut->ports, shortest, (again ? *again : *mismatch).line(),
               options.later.empty() ? "" : options.later + "/mismatch.replay");
  return report_;
}

}  // namespace mrc::cosim
