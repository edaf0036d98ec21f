#include "cosim/ack_coalescer/model.h"

#include <algorithm>
#include <array>
#include <string>

#include "cosim/mrc_pkg.h"

namespace mrc::cosim {
namespace {

using ack_coalescer_ports::Evt;
using ack_coalescer_ports::Sack;

constexpr auto kLoad = static_cast<std::uint64_t>(rtl::SackEvent::load);
constexpr auto kStore = static_cast<std::uint64_t>(rtl::SackEvent::store);

std::vector<std::string> cause_names() {
  std::vector<std::string> names;
  for (unsigned bits = 0; bits < 16; ++bits) {
    std::string name = bits == 0 ? "none" : "";
    const auto add = [&](unsigned bit, const char* text) {
      if ((bits & bit) != 0) name += (name.empty() ? "" : " + ") + std::string(text);
    };
    add(kSackByBytes, "bytes");
    add(kSackByAckRequest, "AckReq");
    add(kSackByCe, "CE");
    add(kSackByRetransmission, "rtx");
    names.push_back(name);
  }
  return names;
}

}  // namespace

AckCoalescerModel::AckCoalescerModel(std::uint32_t slots, MakeDut make_dut)
    : BlockModel(std::move(make_dut)), slots_(slots) {
  points_.causes = coverage.point("triggers of a data packet", cause_names());
  points_.event = coverage.point("event", {"load", "data", "duplicate", "probe", "store"});
  points_.counter = coverage.point("counter", {"below the threshold", "at the threshold", "above"});
  points_.payload = coverage.point("payload", {"counts as the least", "counts as it is"});
  points_.loaded = coverage.point("counter that is loaded", {"0", "in between", "the threshold"});
  points_.back_to_back = coverage.point("slot of the event before", {"the same", "another"});
}

void AckCoalescerModel::begin(KeyedRandom& random) {
  config_ = {};
  config_.sack_threshold_bytes = std::array{0U, 1'024U, 16'384U, 1U << 24, 3'000U}[random.below(5)];
  config_.sack_min_add_bytes = std::array{1U, 256U, 1'024U, 65'536U}[random.below(4)];
  triggers_.assign(slots_, std::nullopt);
  busy_slots_ = std::min(std::array{1U, 2U, 16U, 64U}[random.below(4)], slots_);
  marks_ = std::array{0.0, 0.05, 0.5}[random.below(3)];
  slot_numbers_ = SpreadNumbers(slots_, KeyedRandom(KeyedRandom(random).next(), "slots"));
  near_least_ = 0;
  others_ = 0.1;
  moves_ = 0.01;
  last_slot_ = ~0ULL;
  pipeline_ = {};
}

void AckCoalescerModel::set_constants(const Dut& dut) const {
  dut.set_constant("threshold_bytes", config_.sack_threshold_bytes);
  dut.set_constant("min_add_bytes", config_.sack_min_add_bytes);
}

void AckCoalescerModel::reset(KeyedRandom& random, const Dut& dut) {
  begin(random);
  near_least_ = 0.1;
  if (random.chance(0.3)) config_.sack_threshold_bytes = 1 + static_cast<std::uint32_t>(random.below(1U << 24));
  if (random.chance(0.5)) {
    // Mostly no more than a packet's payload may be.
    config_.sack_min_add_bytes = 1 + static_cast<std::uint32_t>(random.below(random.chance(0.7) ? 16'384 : 65'536));
  }
  if (random.chance(0.15)) fill_a_counter(random);
  set_constants(dut);
}

std::uint32_t AckCoalescerModel::draw_counter(KeyedRandom& random) const {
  const std::uint32_t threshold = config_.sack_threshold_bytes;
  if (threshold == 0 || random.chance(0.4)) return 0;
  return random.chance(0.2) ? threshold : static_cast<std::uint32_t>(random.below(threshold));
}

void AckCoalescerModel::fill_a_counter(KeyedRandom& random) {
  const auto below = static_cast<std::uint32_t>(random.chance(0.5) ? random.below(1U << 24) : 0);
  config_.sack_threshold_bytes = (1U << 24) - below;
  config_.sack_min_add_bytes = 65'536;
  busy_slots_ = 1;
  marks_ = 0;
  others_ = 0;
  moves_ = 0;
}

void AckCoalescerModel::reset_to_trace(KeyedRandom& random, const Dut& dut,
                                       const std::map<std::string, std::uint64_t>& settings) {
  begin(random);
  config_.sack_threshold_bytes = static_cast<std::uint32_t>(settings.at("threshold_bytes"));
  config_.sack_min_add_bytes = static_cast<std::uint32_t>(settings.at("min_add_bytes"));
  set_constants(dut);
}

void AckCoalescerModel::reset_to_traffic(KeyedRandom& random, const Dut& dut) {
  begin(random);
  config_ = {};
  busy_slots_ = std::min(64U, slots_);
  marks_ = 0.02;
  set_constants(dut);
}

bool AckCoalescerModel::offer(std::size_t, KeyedRandom& random, Transaction& values) {
  values.assign(Evt::kFields, 0);
  values[Evt::kSlot] = slot_numbers_[random.below(busy_slots_)];
  std::optional<SackTriggers>& triggers = triggers_[values[Evt::kSlot]];
  if (!triggers || random.chance(moves_ / 2)) {
    values[Evt::kCounterBytes] = draw_counter(random);
    return true;
  }
  values[Evt::kEvent] = random.chance(moves_ / 2) ? kStore : random.chance(1 - others_) ? 1 : 2 + random.below(2);
  values[Evt::kPayloadBytes] =
      random.chance(0.5) ? 4'096
                         : std::array<std::uint64_t, 5>{0, 1, 256, 16'384, random.below(16'385)}[random.below(5)];
  // Right at the threshold, above it by one, or at what differs from these in a bit.
  const std::uint32_t counter = triggers->counter_bytes();
  if (random.chance(0.2)) {
    std::uint32_t aim = config_.sack_threshold_bytes + static_cast<std::uint32_t>(random.below(2));
    if (random.chance(0.4)) aim ^= 1U << random.below(24);
    if (counter <= aim && aim - counter <= 16'384) values[Evt::kPayloadBytes] = aim - counter;
  }
  // Right at what counts as the least.
  if (random.chance(near_least_)) {
    values[Evt::kPayloadBytes] = config_.sack_min_add_bytes + random.below(3) - 1;
    if (random.chance(0.5)) values[Evt::kPayloadBytes] ^= 1ULL << random.below(14);
    values[Evt::kPayloadBytes] = std::min<std::uint64_t>(values[Evt::kPayloadBytes], 16'384);
  }
  values[Evt::kRetransmission] = random.chance(marks_) ? 1 : 0;
  values[Evt::kCe] = random.chance(marks_) ? 1 : 0;
  values[Evt::kAckRequest] = random.chance(marks_) ? 1 : 0;
  values[Evt::kProbe] = values[Evt::kEvent] == 3 ? 1 : 0;
  values[Evt::kCounterBytes] = random.below(config_.sack_threshold_bytes + 1);
  values[Evt::kPsn] = random.next() & kPsnMask;
  values[Evt::kEv] = random.next() & 0xFFFF'FFFF;
  values[Evt::kTxTimestamp] = random.next() & 0xFFFF;
  values[Evt::kProbeId] = random.next() & 0xFFFF;
  return true;
}

bool AckCoalescerModel::adapt(std::size_t, Transaction& values) const {
  // A run has more slots than the small size.
  if (values[Evt::kSlot] >= triggers_.size()) return false;
  return values[Evt::kEvent] == kLoad || triggers_[values[Evt::kSlot]].has_value();
}

std::optional<Difference> AckCoalescerModel::observe(const Dut& dut, std::vector<std::vector<Transaction>>&) {
  if (!data_sheet_cycles) return std::nullopt;
  const bool valid = dut.ports[1].valid.get() != 0;
  const bool has_place = !valid || dut.ports[1].ready.get() != 0;
  const bool moves = pipeline_.event && (has_place || !pipeline_.owed);
  if (pipeline_.came_late) return Difference{"sack cycle", 2, 3};
  if ((!pipeline_.event || moves) && dut.ports[0].ready.get() == 0) return Difference{"evt_ready", 1, 0};
  if (pipeline_.sack && !valid) pipeline_.late = true;
  if (has_place) pipeline_.sack = moves && pipeline_.owed;
  if (moves) pipeline_.event = false;
  return std::nullopt;
}

void AckCoalescerModel::taken(std::size_t, const Transaction&) {
  pipeline_.came_late = pipeline_.late;
}

void AckCoalescerModel::accept(std::size_t, const Transaction& values,
                               std::vector<std::vector<Transaction>>& expected) {
  std::optional<SackTriggers>& triggers = triggers_[values[Evt::kSlot]];
  coverage.hit(points_.back_to_back, values[Evt::kSlot] == last_slot_ ? 0 : 1);
  coverage.hit(points_.event, values[Evt::kEvent]);
  last_slot_ = values[Evt::kSlot];
  pipeline_.event = true;
  pipeline_.owed = false;
  if (values[Evt::kEvent] == kLoad) {
    const auto loaded = static_cast<std::uint32_t>(values[Evt::kCounterBytes]);
    coverage.hit(points_.loaded, loaded == 0 ? 0 : loaded < config_.sack_threshold_bytes ? 1 : 2);
    triggers.emplace(config_, loaded);
    return;
  }
  if (values[Evt::kEvent] == kStore) {
    pipeline_.owed = true;
    expect_sack(values, rtl::SackCauses{.stored = 1}.word(), triggers->counter_bytes(), expected);
    triggers.reset();
    return;
  }
  const auto event = static_cast<SackEvent>(values[Evt::kEvent]);
  Packet packet;
  packet.payload_bytes = static_cast<std::uint32_t>(values[Evt::kPayloadBytes]);
  packet.ack_request = values[Evt::kAckRequest] != 0;
  packet.retransmission = values[Evt::kRetransmission] != 0;
  packet.ecn = values[Evt::kCe] != 0 ? Ecn::ce : Ecn::ect0;
  const std::uint8_t causes = triggers->causes(event, packet);
  const std::uint32_t counter = triggers->counter_bytes();
  if (event == SackEvent::data) {
    coverage.hit(points_.causes, causes);
    const std::uint32_t threshold = config_.sack_threshold_bytes;
    coverage.hit(points_.counter, counter < threshold ? 0 : counter == threshold ? 1 : 2);
    coverage.hit(points_.payload, packet.payload_bytes < config_.sack_min_add_bytes ? 0 : 1);
  }
  pipeline_.owed = causes != 0;
  if (causes == 0) return;
  triggers->sent();
  expect_sack(values, causes, counter, expected);
}

void AckCoalescerModel::expect_sack(const Transaction& values, std::uint64_t causes, std::uint32_t counter,
                                    std::vector<std::vector<Transaction>>& expected) {
  const Evt evt = Evt::of(values);
  const Sack sack{.slot = evt.slot,
                  .causes = causes,
                  .counter_bytes = counter,
                  .psn = evt.psn,
                  .ev = evt.ev,
                  .tx_timestamp = evt.tx_timestamp,
                  .probe_id = evt.probe_id,
                  .ce = evt.ce,
                  .ack_request = evt.ack_request,
                  .probe = evt.probe};
  expected[Sack::kPort].push_back(sack.transfer());
}

}  // namespace mrc::cosim
