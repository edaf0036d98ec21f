#include "fabric/switch_reduction.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "mrc/reduction/reduction_packet.h"

namespace mrc {

SwitchReduction::SwitchReduction(const ScenarioConfig& scenario, const Topology& topology,
                                 const std::vector<std::vector<NodeId>>& groups, ReductionPorts& ports)
    : config_(scenario.fabric.reduction), topology_(topology), ports_(ports) {
  share_slots(groups);
}

SwitchReduction::Adder& SwitchReduction::adder_of(std::uint32_t at) {
  const double gbps = config_.adder_gbps > 0 ? config_.adder_gbps : std::numeric_limits<double>::infinity();
  return adders_.try_emplace(at, Adder{.line = SerialLine(gbps)}).first->second;
}

/// A controller gives each tree its share of the slots before the run.
void SwitchReduction::share_slots(const std::vector<std::vector<NodeId>>& groups) {
  const std::uint32_t planes = topology_.planes();
  std::vector<std::vector<ReductionTreeSwitch>> places;
  std::map<std::uint32_t, std::uint32_t> trees_through;  // by switch
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
      places.push_back(make_reduction_tree(topology_, groups[g], plane, g + plane));
      for (const ReductionTreeSwitch& place : places.back()) ++trees_through[place.at];
    }
  }
  for (const auto& [at, trees] : trees_through) {
    if (trees <= config_.slots) continue;
    throw std::invalid_argument(
        fmt::format("fabric.reduction.slots = {}: {} trees of all-reduces lead through {}; allowed: {} or more",
                    config_.slots, trees, topology_.switch_name(at), trees));
  }
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    std::uint32_t window = config_.slots;
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
      for (const ReductionTreeSwitch& place : places[std::size_t{g} * planes + plane])
        window = std::min(window, config_.slots / trees_through[place.at]);
    }
    windows_.push_back(window);
    for (std::uint32_t plane = 0; plane < planes; ++plane) {
      Tree tree{static_cast<std::uint8_t>(plane), groups[g].front(), {}};
      auto& senders = senders_.emplace_back();
      for (ReductionTreeSwitch& place : places[std::size_t{g} * planes + plane]) {
        const auto member = static_cast<std::uint32_t>(tree.members.size());
        const auto children = static_cast<std::uint32_t>(place.from_children.size());
        for (std::uint32_t c = 0; c < children; ++c) senders[place.from_children[c]] = {member, c};
        if (place.up != Topology::kNoLink) senders[topology_.other_way(place.up)] = {member, 0};
        adder_of(place.at).slots += window;
        tree.members.push_back({std::move(place), ReductionSlots(window, children)});
      }
      trees_.push_back(std::move(tree));
    }
  }
}

bool SwitchReduction::waits_for_adder(TimePs now, std::uint32_t tree) const {
  const auto waits = [&](const Member& member) {
    const SerialLine& line = adders_.at(member.place.at).line;
    return line.free_at() > now + line.duration(std::uint64_t{member.slots.children()} * config_.slot_bytes);
  };
  return std::any_of(trees_[tree].members.begin(), trees_[tree].members.end(), waits);
}

// Packets

void SwitchReduction::arrive(TimePs now, std::uint32_t link, const Transit& transit) {
  const Packet& packet = transit.packet;
  ++counts_.received;
  if (packet.damage != Damage::none) {
    ++counts_.damaged;
    return;
  }
  const std::uint32_t tree = packet.reduction.tree;
  const Sender sender = senders_[tree].at(link);
  const Pending what{.tree = tree,
                     .member = sender.member,
                     .child = sender.child,
                     .payload_bytes = packet.payload_bytes,
                     .traffic_class = packet.traffic_class,
                     .value = packet.reduction};
  if (topology_.links()[link].up) {
    wait_until(std::max(now, transit.last_bit), what);
    return;
  }
  // A result does not use the adder.
  Member& member = member_of(what);
  if (!member.slots.set_result(packet.reduction)) return;
  --adders_.at(member.place.at).adding;
  send_to_all(now, what, packet.reduction, transit.last_bit);
}

void SwitchReduction::wait_until(TimePs at, Pending pending) {
  pending.at = at;
  pending.order = order_++;
  pending_.push(pending);
  if (at >= woken_at_) return;
  woken_at_ = at;
  ports_.wake_switches_at(at);
}

void SwitchReduction::wake(TimePs now) {
  if (now < woken_at_) return;
  while (!pending_.empty() && pending_.top().at <= now) {
    const Pending next = pending_.top();
    pending_.pop();
    if (next.sum) {
      finish_sum(now, next);
    } else {
      add(now, next);
    }
  }
  woken_at_ = kNever;
  if (pending_.empty()) return;
  woken_at_ = pending_.top().at;
  ports_.wake_switches_at(woken_at_);
}

void SwitchReduction::add(TimePs now, const Pending& packet) {
  Member& member = member_of(packet);
  Adder& adder = adders_.at(member.place.at);
  const std::uint32_t before = member.slots.adding();
  const ReductionSlots::Added added = member.slots.add(packet.child, packet.value);
  adder.adding += member.slots.adding() - before;
  adder.most_adding = std::max(adder.most_adding, adder.adding);
  switch (added) {
    case ReductionSlots::Added::counted:
    case ReductionSlots::Added::complete: {
      ++counts_.added;
      adder.added_bytes += packet.payload_bytes;
      const TimePs done = adder.line.occupy(now, packet.payload_bytes);
      if (added == ReductionSlots::Added::counted) return;
      Pending sum = packet;
      sum.sum = true;
      return wait_until(done + ps_from_ns(config_.adder_latency_ns), sum);
    }
    case ReductionSlots::Added::resend_result:
      ++counts_.duplicates;
      ++counts_.retransmitted_results;
      return send_down(now, packet, packet.child, member.slots.value(packet.value.sequence), now, true);
    case ReductionSlots::Added::resend_sum:
      ++counts_.duplicates;
      ++counts_.retransmitted_sums;
      return send_up(now, packet, member.slots.value(packet.value.sequence), true);
    case ReductionSlots::Added::duplicate:
    case ReductionSlots::Added::late:
      ++counts_.duplicates;
      return;
  }
}

void SwitchReduction::finish_sum(TimePs now, const Pending& sum) {
  Member& member = member_of(sum);
  const ReductionFields value = member.slots.value(sum.value.sequence);
  if (member.place.up != Topology::kNoLink) {
    member.slots.set_sent(value.sequence);
    return send_up(now, sum, value, false);
  }
  member.slots.set_result(value);
  --adders_.at(member.place.at).adding;
  send_to_all(now, sum, value, now);
}

Packet SwitchReduction::packet_of(const Pending& of, const ReductionFields& value, bool retransmission) const {
  return make_packet({.fields = value,
                      .payload_bytes = of.payload_bytes,
                      .source_node = trees_[of.tree].first_nic,
                      .plane = trees_[of.tree].plane,
                      .traffic_class = of.traffic_class,
                      .retransmission = retransmission});
}

void SwitchReduction::send_up(TimePs now, const Pending& of, const ReductionFields& value, bool retransmission) {
  ++counts_.sent;
  ports_.send_from_switch(now, member_of(of).place.up, packet_of(of, value, retransmission), now);
}

void SwitchReduction::send_down(TimePs now, const Pending& of, std::uint32_t child, const ReductionFields& value,
                                TimePs last_bit, bool retransmission) {
  ++counts_.sent;
  const std::uint32_t link = member_of(of).place.to_children[child];
  Packet packet = packet_of(of, value, retransmission);
  packet.destination_node = topology_.links()[link].node;
  ports_.send_from_switch(now, link, packet, last_bit);
}

void SwitchReduction::send_to_all(TimePs now, const Pending& of, const ReductionFields& value, TimePs last_bit) {
  for (std::uint32_t child = 0; child < member_of(of).slots.children(); ++child)
    send_down(now, of, child, value, last_bit, false);
}

std::uint64_t SwitchReduction::most_slots() const {
  std::uint64_t most = 0;
  for (const auto& [at, adder] : adders_) most = std::max(most, adder.slots);
  return most;
}

std::uint64_t SwitchReduction::most_slots_adding() const {
  std::uint64_t most = 0;
  for (const auto& [at, adder] : adders_) most = std::max(most, adder.most_adding);
  return most;
}

double SwitchReduction::busiest_adder_share(TimePs end) const {
  TimePs most = 0;
  for (const auto& [at, adder] : adders_) most = std::max(most, adder.line.duration(adder.added_bytes));
  return end == 0 ? 0 : static_cast<double>(most) / static_cast<double>(end);
}

}  // namespace mrc
