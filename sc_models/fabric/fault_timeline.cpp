#include "fabric/fault_timeline.h"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "fabric/fault_parameters.h"
#include "fabric/network.h"
#include "parameters/registry.h"

namespace mrc {
namespace {

bool takes_switch(FaultKind kind) {
  return kind == FaultKind::switch_reboot || kind == FaultKind::drain;
}

bool takes_plane(FaultKind kind) {
  return kind == FaultKind::plane_loss || kind == FaultKind::drain;
}

bool takes_link(FaultKind kind) {
  switch (kind) {
    case FaultKind::link_down:
    case FaultKind::link_up:
    case FaultKind::link_flap:
    case FaultKind::link_rate:
    case FaultKind::loss:
    case FaultKind::corruption:
    case FaultKind::nic_port_loss:
    case FaultKind::drain:
      return true;
    default:
      return false;
  }
}

bool by_chance(FaultKind kind) {
  return kind == FaultKind::loss || kind == FaultKind::corruption;
}

bool names_nic(const std::string& where) {
  return where.starts_with("nic") && where.find('.') == std::string::npos;
}

/// What a place of this kind is called, for messages.
const char* places_in_words(FaultKind kind) {
  switch (kind) {
    case FaultKind::switch_reboot:
      return "a switch, such as plane0.t0.1 or plane3.t1.2";
    case FaultKind::plane_loss:
      return "a plane, such as plane3";
    case FaultKind::pcie_stall:
      return "a NIC, such as nic0";
    case FaultKind::qp_reset:
      return "a NIC, or a QP of one, such as nic0 or nic0.qp3";
    case FaultKind::nic_port_loss:
      return "a port of a NIC, such as nic0.port3";
    case FaultKind::drain:
      return "a switch, a plane or a port of a link, such as plane3.t1.2, plane3 or plane3.t0.1.up5";
    case FaultKind::loss:
    case FaultKind::corruption:
      return "the sending port, such as nic0.port3 or plane3.t0.1.up5, or a NIC, such as nic0";
    default:
      return "a port of a link, such as nic0.port3 or plane3.t0.1.up5";
  }
}

/// The other direction of the cable.
std::uint32_t opposite(const Topology& topology, std::uint32_t link) {
  const LinkInfo& info = topology.links()[link];
  if (info.first_hop()) return topology.downlink_to(info.node, info.plane);
  if (info.last_hop()) return topology.uplink_of(info.node, info.plane);
  for (std::uint32_t other = 0; other < topology.links().size(); ++other) {
    const LinkInfo& back = topology.links()[other];
    if (back.from == info.to && back.to == info.from) return other;
  }
  return link;
}

}  // namespace

FaultTimeline::FaultTimeline(const ScenarioConfig& scenario, const Topology& topology)
    : scenario_(scenario),
      topology_(topology),
      faults_(scenario.faults),
      laid_(faults_.size()),
      records_(faults_.size()) {
  for (std::size_t fault = 0; fault < faults_.size(); ++fault) place(fault);
  end_outages();
  refuse_overlapping_rates();
  for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
    if (laid_[fault].spans.empty()) continue;
    records_[fault].begins_at = laid_[fault].spans.front().from;
    records_[fault].ends_at = laid_[fault].spans.back().until;
  }
}

std::vector<std::string> FaultTimeline::places_for(FaultKind kind) const {
  std::vector<std::string> places;
  if (takes_link(kind)) {
    for (std::uint32_t link = 0; link < topology_.links().size(); ++link) {
      if (kind == FaultKind::nic_port_loss && !topology_.links()[link].first_hop()) continue;
      places.push_back(topology_.port_name(link));
    }
  }
  if (takes_switch(kind)) {
    for (std::uint32_t at = 0; at < topology_.switches().size(); ++at) places.push_back(topology_.switch_name(at));
  }
  if (takes_plane(kind)) {
    for (std::uint32_t plane = 0; plane < topology_.planes(); ++plane) places.push_back(fmt::format("plane{}", plane));
  }
  if (kind == FaultKind::pcie_stall || kind == FaultKind::qp_reset || by_chance(kind)) {
    for (NodeId node = 0; node < topology_.nics(); ++node) places.push_back(fmt::format("nic{}", node));
  }
  return places;
}

NodeId FaultTimeline::node_named(const FaultConfig& fault) const {
  return static_cast<NodeId>(std::stoul(fault.where.substr(3)));
}

std::vector<std::uint32_t> FaultTimeline::links_at(const FaultConfig& fault) const {
  std::vector<std::uint32_t> links;
  const std::string& where = fault.where;
  if (by_chance(fault.kind) && names_nic(where)) {
    for (std::uint32_t plane = 0; plane < topology_.planes(); ++plane) {
      links.push_back(topology_.uplink_of(node_named(fault), plane));
    }
    return links;
  }
  for (std::uint32_t link = 0; link < topology_.links().size(); ++link) {
    const LinkInfo& info = topology_.links()[link];
    const auto is_switch = [&](std::uint32_t at) { return at != LinkInfo::kNic && topology_.switch_name(at) == where; };
    if (takes_link(fault.kind) && topology_.port_name(link) == where) {
      links.push_back(link);
      // A cable breaks, or loses lanes, both ways; chance strikes one way.
      if (!by_chance(fault.kind)) links.push_back(opposite(topology_, link));
    }
    if (takes_switch(fault.kind) && (is_switch(info.from) || is_switch(info.to))) links.push_back(link);
    if (takes_plane(fault.kind) && fmt::format("plane{}", info.plane) == where) links.push_back(link);
  }
  std::sort(links.begin(), links.end());
  return links;
}

std::vector<TimeSpan> FaultTimeline::spans_of(std::size_t index) const {
  const FaultConfig& fault = faults_[index];
  const TimePs begin = ps_from_us(fault.at_us);
  if (fault.kind != FaultKind::link_flap) {
    return {{begin, fault.for_us > 0 ? begin + ps_from_us(fault.for_us) : kNever}};
  }
  KeyedRandom random(scenario_.seed, fmt::format("fault.{}.flap", index));
  std::vector<TimeSpan> spans;
  for (std::uint32_t i = 0; i < fault.count; ++i) {
    const double slack_us = fault.jitter * (fault.period_us - fault.for_us);
    const TimePs from = begin + i * ps_from_us(fault.period_us) + ps_from_us(slack_us * random.uniform());
    spans.push_back({from, from + ps_from_us(fault.for_us)});
  }
  return spans;
}

void FaultTimeline::place(std::size_t index) {
  const FaultConfig& fault = faults_[index];
  const std::vector<std::string> places = places_for(fault.kind);
  // The number of QPs is known when they are connected.
  const std::size_t of_nic = fault.kind == FaultKind::qp_reset ? fault.where.find(".qp") : std::string::npos;
  if (std::find(places.begin(), places.end(), fault.where.substr(0, of_nic)) == places.end()) {
    throw ParameterError(fault.place,
                         fmt::format("fault.where = \"{}\" does not exist; {} needs {}; nearest: {}", fault.where,
                                     to_string(fault.kind), places_in_words(fault.kind), nearest(fault.where, places)));
  }
  const bool on_nic = fault.where.starts_with("nic");
  if (fault.ev_index >= 0 && !on_nic) {
    throw ParameterError(fault.place, fmt::format("fault.ev_index counts in a NIC's own EV profile, and where = \"{}\" "
                                                  "is not a NIC or a port of one; use ev with the value",
                                                  fault.where));
  }
  if (fault.ev_index >= 0 && fault.ev_index >= static_cast<std::int64_t>(scenario_.protocol.ev_count)) {
    throw ParameterError(fault.place, fmt::format("fault.ev_index = {} is outside 0 … {} (protocol.ev_count - 1)",
                                                  fault.ev_index, scenario_.protocol.ev_count - 1));
  }
  if (fault.kind == FaultKind::pcie_stall && scenario_.node(node_named(fault)).fidelity == Fidelity::endpoint) {
    throw ParameterError(fault.place,
                         fmt::format("fault: {} has fidelity = \"endpoint\", which has no PCIe to stall", fault.where));
  }
  if (fault.kind == FaultKind::drain && transport_of(scenario_).name != "mrc") {
    throw ParameterError(fault.place,
                         fmt::format("fault: transport = \"{}\" has no EVs that a controller denies; drain "
                                     "needs \"mrc\"",
                                     transport_of(scenario_).name));
  }
  if (fault.kind == FaultKind::qp_reset && transport_of(scenario_).name != "mrc") {
    throw ParameterError(fault.place,
                         fmt::format("fault: QPs of transport = \"{}\" stay connected; qp_reset needs \"mrc\"",
                                     transport_of(scenario_).name));
  }
  Laid& laid = laid_[index];
  laid.spans = spans_of(index);
  if (fault.kind == FaultKind::pcie_stall || fault.kind == FaultKind::qp_reset) return;
  laid.links = links_at(fault);
  laid.cuts = !by_chance(fault.kind) && fault.kind != FaultKind::link_rate && fault.kind != FaultKind::drain;
  if (fault.kind == FaultKind::link_up) {
    laid.cuts = false;
    laid.spans.clear();
  }
  laid.dark = laid.cuts && !(fault.kind == FaultKind::switch_reboot && fault.light);
}

TimePs FaultTimeline::last_change() const {
  TimePs last = 0;
  for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
    const FaultKind kind = faults_[fault].kind;
    if (kind == FaultKind::qp_reset) return kNever;
    for (const TimeSpan& span : laid_[fault].spans) {
      const bool ends = span.until != kNever || by_chance(kind);
      last = std::max(last, ends ? span.until : span.from);
    }
  }
  return last;
}

/// A link_up ends what link_down has begun before on the same cable.
void FaultTimeline::end_outages() {
  for (std::size_t up = 0; up < faults_.size(); ++up) {
    if (faults_[up].kind != FaultKind::link_up) continue;
    const TimePs at = ps_from_us(faults_[up].at_us);
    bool ended = false;
    for (std::size_t down = 0; down < faults_.size(); ++down) {
      if (faults_[down].kind != FaultKind::link_down || laid_[down].links != laid_[up].links) continue;
      TimeSpan& span = laid_[down].spans.front();
      if (span.from >= at || span.until < at) continue;
      span.until = at;
      ended = true;
    }
    if (ended) continue;
    throw ParameterError(faults_[up].place, fmt::format("fault: no link_down of {} is active at {} us, so link_up "
                                                        "has nothing to end",
                                                        faults_[up].where, faults_[up].at_us));
  }
}

void FaultTimeline::refuse_overlapping_rates() const {
  for (std::size_t later = 0; later < faults_.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const bool both = faults_[earlier].kind == FaultKind::link_rate && faults_[later].kind == FaultKind::link_rate;
      if (!both || laid_[earlier].links != laid_[later].links) continue;
      const TimeSpan& a = laid_[earlier].spans.front();
      const TimeSpan& b = laid_[later].spans.front();
      if (a.until <= b.from || b.until <= a.from) continue;
      throw ParameterError(faults_[later].place,
                           fmt::format("fault: two link_rate on the cable of {} at the same time (the other: {}); a "
                                       "line has one rate",
                                       faults_[later].where, faults_[earlier].place));
    }
  }
}

LinkFaults::Damage FaultTimeline::damage_of(std::size_t index, std::uint32_t link) const {
  const FaultConfig& fault = faults_[index];
  LinkFaults::Damage damage;
  damage.from = laid_[index].spans.front().from;
  damage.until = laid_[index].spans.front().until;
  damage.probability = fault.probability;
  damage.corrupts = fault.kind == FaultKind::corruption;
  damage.packets = fault.packets;
  damage.any_ev = fault.ev < 0 && fault.ev_index < 0;
  if (fault.ev >= 0) damage.ev = static_cast<Ev>(fault.ev);
  if (fault.ev_index >= 0) {
    const NodeId node = topology_.links()[link].node;
    const EvProfile profile = ev_profile_of(scenario_, node);
    damage.ev = profile.value[static_cast<std::size_t>(fault.ev_index) % profile.value.size()];
  }
  damage.random = KeyedRandom(scenario_.seed, fmt::format("fault.{}.{}", index, topology_.port_name(link)));
  return damage;
}

void FaultTimeline::apply(Network& network) {
  if (faults_.empty()) return;
  struct Outage {
    TimeSpan span;
    std::size_t fault;
  };
  std::map<std::uint32_t, std::vector<Outage>> outages;
  std::map<std::uint32_t, std::unique_ptr<LinkFaults>> links;
  const auto of_link = [&](std::uint32_t link) -> LinkFaults& {
    auto& faults = links[link];
    if (!faults) faults = std::make_unique<LinkFaults>();
    return *faults;
  };
  for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
    for (const std::uint32_t link : laid_[fault].links) {
      if (laid_[fault].cuts) {
        for (const TimeSpan& span : laid_[fault].spans) outages[link].push_back({span, fault});
      } else if (by_chance(faults_[fault].kind)) {
        LinkFaults::Damage damage = damage_of(fault, link);
        damage.record = &records_[fault];
        of_link(link).add_damage(damage);
      } else if (faults_[fault].kind == FaultKind::link_rate) {
        const double full = topology_.links()[link].gbps;
        const TimeSpan& span = laid_[fault].spans.front();
        network.change_link_gbps_at(span.from, link, full * faults_[fault].share);
        if (span.until != kNever) network.change_link_gbps_at(span.until, link, full);
      }
    }
  }
  for (auto& [link, spans] : outages) {
    std::stable_sort(spans.begin(), spans.end(),
                     [](const Outage& a, const Outage& b) { return a.span.from < b.span.from; });
    for (const Outage& outage : spans)
      of_link(link).add_outage(outage.span.from, outage.span.until, records_[outage.fault]);
  }
  for (auto& [link, faults] : links) network.set_faults(link, std::move(faults));
  network.set_fault_records(&records_);
}

void FaultTimeline::keep_journal(Network& network) {
  if (empty()) return;
  for (FaultRecord& record : records_) record.journal = &journal_;
  network.set_fault_journal(&journal_);
}

void FaultTimeline::put_journal(ByteWriter& to) const {
  to.put(journal_.entries());
  std::vector<std::uint32_t> positions;
  for (const FaultJournal::Entry& entry : journal_.entries()) {
    positions.push_back(entry.record == nullptr ? 0 : static_cast<std::uint32_t>(entry.record - records_.data()));
  }
  to.put(positions);
}

void FaultTimeline::read_journals(std::vector<ByteReader>& from) {
  std::vector<FaultJournal::Entry> entries;
  for (ByteReader& reader : from) {
    std::vector<FaultJournal::Entry> some;
    std::vector<std::uint32_t> positions;
    reader.get(some);
    reader.get(positions);
    for (std::size_t i = 0; i < some.size(); ++i) some[i].record = records_.data() + positions[i];
    entries.insert(entries.end(), some.begin(), some.end());
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.now != b.now ? a.now < b.now : a.link < b.link; });
  for (FaultRecord& record : records_) {
    record.journal = nullptr;
    record.back_in_use_at = kNever;
  }
  for (const FaultJournal::Entry& entry : entries) {
    FaultRecord& record = records_[static_cast<std::size_t>(entry.record - records_.data())];
    switch (entry.call) {
      case FaultJournal::Call::lose_control:
        record.lose_control();
        break;
      case FaultJournal::Call::lose_data:
        record.lose_data(entry.first, entry.second, entry.packet);
        break;
      case FaultJournal::Call::lose_in_outage:
        record.lose_in_outage(entry.first, entry.second, entry.packet);
        break;
      case FaultJournal::Call::corrupt:
        record.corrupt();
        break;
      case FaultJournal::Call::use_again:
        record.use_again(entry.first);
        break;
      case FaultJournal::Call::sent_again:
        for (FaultRecord& each : records_) each.sent_again(entry.first, entry.packet);
        break;
    }
  }
}

std::vector<PortDarkness> FaultTimeline::darkness_of(NodeId node) const {
  std::vector<PortDarkness> dark;
  for (std::uint32_t fault = 0; fault < faults_.size(); ++fault) {
    for (std::uint32_t port = 0; port < topology_.planes(); ++port) {
      if (!darkens(fault, node, port)) continue;
      for (const TimeSpan& span : laid_[fault].spans) dark.push_back({port, span, fault});
    }
  }
  std::stable_sort(dark.begin(), dark.end(), [](const PortDarkness& a, const PortDarkness& b) {
    return a.port != b.port ? a.port < b.port : a.span.from < b.span.from;
  });
  return dark;
}

std::vector<PortRate> FaultTimeline::rates_of(NodeId node) const {
  std::vector<PortRate> rates;
  for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
    if (faults_[fault].kind != FaultKind::link_rate) continue;
    for (std::uint32_t port = 0; port < topology_.planes(); ++port) {
      const std::uint32_t link = topology_.uplink_of(node, port);
      if (!touches(fault, link)) continue;
      const double full = topology_.links()[link].gbps;
      const TimeSpan& span = laid_[fault].spans.front();
      rates.push_back({port, span.from, full * faults_[fault].share});
      if (span.until != kNever) rates.push_back({port, span.until, full});
    }
  }
  std::stable_sort(rates.begin(), rates.end(), [](const PortRate& a, const PortRate& b) { return a.at < b.at; });
  return rates;
}

std::vector<TimeSpan> FaultTimeline::pcie_stalls_of(NodeId node) const {
  std::vector<TimeSpan> stalls;
  for (std::size_t fault = 0; fault < faults_.size(); ++fault) {
    if (faults_[fault].kind != FaultKind::pcie_stall || node_named(faults_[fault]) != node) continue;
    stalls.push_back(laid_[fault].spans.front());
  }
  return stalls;
}

bool FaultTimeline::crosses(const std::vector<std::uint32_t>& faults, NodeId node, NodeId peer, std::uint32_t plane,
                            Ev ev) const {
  const std::vector<std::uint32_t> path = topology_.walk(node, peer, plane, ev);
  return std::any_of(faults.begin(), faults.end(), [&](std::uint32_t fault) {
    return std::any_of(path.begin(), path.end(), [&](std::uint32_t link) { return touches(fault, link); });
  });
}

bool FaultTimeline::touches(std::size_t fault, std::uint32_t link) const {
  const auto& links = laid_[fault].links;
  return std::binary_search(links.begin(), links.end(), link);
}

bool FaultTimeline::darkens(std::size_t fault, NodeId node, std::uint32_t port) const {
  return laid_[fault].dark && touches(fault, topology_.uplink_of(node, port));
}

}  // namespace mrc
