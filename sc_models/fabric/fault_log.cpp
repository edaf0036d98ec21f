#include "fabric/fault_log.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "fabric/fault_parameters.h"

namespace mrc {
namespace {

std::string span_of(const FaultConfig& fault) {
  if (fault.kind == FaultKind::link_flap) {
    return fmt::format("{} outages of {} us, one every {} us, jitter {}", fault.count, fault.for_us, fault.period_us,
                       fault.jitter);
  }
  if (fault.kind == FaultKind::qp_reset) return "each QP as soon as nothing of it is under way";
  return fault.for_us > 0 ? fmt::format("for {} us", fault.for_us) : std::string("until link_up or the end of the run");
}

std::string law_of(const FaultConfig& fault) {
  if (fault.kind == FaultKind::link_rate) return fmt::format(", {} of the line rate left", fault.share);
  if (fault.kind != FaultKind::loss && fault.kind != FaultKind::corruption) return {};
  std::string which;
  if (fault.ev >= 0) which = fmt::format(" on EV {:#x}", fault.ev);
  if (fault.ev_index >= 0) which = fmt::format(" on EV number {}", fault.ev_index);
  static constexpr const char* kClasses[] = {"all packets", "data", "control", "retransmissions"};
  return fmt::format(", probability {} of {}{}", fault.probability, kClasses[static_cast<std::size_t>(fault.packets)],
                     which);
}

}  // namespace

void FaultLog::Tally::add(TimePs at, NodeId node) {
  ++count;
  if (at < first) {
    first = at;
    first_node = node;
  }
  last = std::max(last, at);
  nodes.insert(node);
}

FaultLog::FaultLog(const ScenarioConfig& scenario, const Topology& topology, const FaultTimeline& timeline)
    : scenario_(scenario), topology_(topology), timeline_(timeline), reactions_(timeline.size()) {}

std::size_t FaultLog::fault_on_path(NodeId node, NodeId peer, Ev value, std::uint32_t plane, TimePs time) const {
  const std::vector<std::uint32_t> path = topology_.walk(node, peer, plane, value);
  std::size_t youngest = kNoFault;
  for (std::size_t fault = 0; fault < timeline_.size(); ++fault) {
    const FaultRecord& record = timeline_.record(fault);
    if (record.begins_at > time) continue;
    if (youngest != kNoFault && record.begins_at <= timeline_.record(youngest).begins_at) continue;
    const bool on_path =
        std::any_of(path.begin(), path.end(), [&](std::uint32_t link) { return timeline_.touches(fault, link); });
    if (on_path) youngest = fault;
  }
  return youngest;
}

std::size_t FaultLog::fault_of_port(NodeId node, std::uint32_t port, TimePs time) const {
  std::size_t youngest = kNoFault;
  for (std::size_t fault = 0; fault < timeline_.size(); ++fault) {
    const TimePs begin = timeline_.record(fault).begins_at;
    if (begin > time || !timeline_.darkens(fault, node, port)) continue;
    if (youngest == kNoFault || begin > timeline_.record(youngest).begins_at) youngest = fault;
  }
  return youngest;
}

void FaultLog::ev_changed(NodeId node, NodeId peer, Ev value, std::uint32_t plane, const EvEvent& event) {
  const std::size_t fault = fault_on_path(node, peer, value, plane, event.time);
  if (fault == kNoFault) return;
  Reaction& reaction = reactions_[fault];
  (event.state == EvState::assumed_bad ? reaction.left : reaction.back).add(event.time, node);
}

void FaultLog::port_steps(NodeId node, std::span<const PortStatusStep> steps) {
  for (const PortStatusStep& step : steps) {
    const bool received = step.what == PortStatusStep::What::received;
    const std::size_t fault = received ? fault_of_port(step.peer, step.port, step.at) : step.fault;
    if (fault == kNoFault) continue;
    Reaction& reaction = reactions_[fault];
    const auto add = [&](Tally& down, Tally& up) { (step.up ? up : down).add(step.at, node); };
    switch (step.what) {
      case PortStatusStep::What::seen:
        add(reaction.seen_down, reaction.seen_up);
        break;
      case PortStatusStep::What::remapped:
        add(reaction.remapped_down, reaction.remapped_up);
        if (!step.up) reaction.qps_walked += step.count;
        break;
      case PortStatusStep::What::announced:
        add(reaction.announced_down, reaction.announced_up);
        break;
      case PortStatusStep::What::answered:
        add(reaction.answered_down, reaction.answered_up);
        break;
      case PortStatusStep::What::received:
        add(reaction.received_down, reaction.received_up);
        break;
      case PortStatusStep::What::drained:
        if (step.count == 0) break;
        add(reaction.denied, reaction.allowed);
        (step.up ? reaction.evs_allowed : reaction.evs_denied) += step.count;
        break;
      case PortStatusStep::What::connected:
        reaction.connected.add(step.at, node);
        break;
    }
  }
}

void FaultLog::put_reactions(ByteWriter& to) const {
  for (const Reaction& reaction : reactions_) {
    for (const std::uint64_t count : {reaction.qps_walked, reaction.evs_denied, reaction.evs_allowed}) to.put(count);
    for (const Tally Reaction::*member : kTallies) {
      const Tally& tally = reaction.*member;
      to.put(tally.count);
      to.put(tally.first);
      to.put(tally.last);
      to.put(tally.first_node);
      to.put(std::vector<NodeId>(tally.nodes.begin(), tally.nodes.end()));
    }
  }
}

void FaultLog::add_reactions(ByteReader& from) {
  for (Reaction& reaction : reactions_) {
    for (std::uint64_t* count : {&reaction.qps_walked, &reaction.evs_denied, &reaction.evs_allowed})
      *count += from.get<std::uint64_t>();
    for (Tally Reaction::*member : kTallies) {
      Tally& tally = reaction.*member;
      tally.count += from.get<std::uint64_t>();
      const auto first = from.get<TimePs>();
      tally.last = std::max(tally.last, from.get<TimePs>());
      const auto first_node = from.get<NodeId>();
      // One process asks the nodes in their order, and keeps who was first.
      if (std::pair(first, first_node) < std::pair(tally.first, tally.first_node)) {
        tally.first = first;
        tally.first_node = first_node;
      }
      std::vector<NodeId> nodes;
      from.get(nodes);
      tally.nodes.insert(nodes.begin(), nodes.end());
    }
  }
}

std::string FaultLog::nodes_of(const Tally& tally) const {
  if (tally.nodes.size() == 1) return fmt::format("nic{}", tally.first_node);
  return fmt::format("nic{} first, {} NICs", tally.first_node, tally.nodes.size());
}

std::string FaultLog::since(std::size_t fault, const Tally& tally, const char* what) const {
  const TimePs begin = timeline_.record(fault).begins_at;
  std::string text =
      fmt::format("{} x {}, {:.3f} us after the begin", tally.count, what, us_from_ps(tally.first - begin));
  if (tally.last != tally.first) text += fmt::format(", the last after {:.3f} us", us_from_ps(tally.last - begin));
  return text;
}

void FaultLog::packet_rows(std::size_t fault, std::vector<EventResult>& rows) const {
  const FaultConfig& config = scenario_.faults[fault];
  const FaultRecord& record = timeline_.record(fault);
  const Reaction& reaction = reactions_[fault];
  const auto add = [&](TimePs at, const char* what, const std::string& where, const std::string& effect) {
    rows.push_back({us_from_ps(at), what, where, effect});
  };
  const FaultRecord::FirstLoss& loss = record.first_loss;
  if (loss.lost_at != kNever) {
    add(loss.lost_at, "loss.first", config.where,
        fmt::format("data from nic{} to nic{}, PSN {}", loss.packet.source, loss.packet.destination, loss.packet.psn));
  }
  if (reaction.left.count > 0) {
    add(reaction.left.first, "ev.assumed_bad", nodes_of(reaction.left), since(fault, reaction.left, "EV out of use"));
  }
  if (loss.sent_again_at != kNever) {
    add(loss.sent_again_at, "retransmission.first", fmt::format("nic{}", loss.packet.source),
        fmt::format("PSN {} retransmitted, {:.3f} us after it was lost", loss.packet.psn,
                    us_from_ps(loss.sent_again_at - loss.lost_at)));
  }
  if (record.longest_bypass_ps > 0) {
    add(record.last_lost_data_sent_at, "bypassed", config.where,
        fmt::format("last data packet into an outage, at most {:.3f} us after its begin; an EV was out of use at most "
                    "{:.3f} us after its first loss",
                    us_from_ps(record.longest_bypass_ps), us_from_ps(record.longest_on_ev_ps)));
  }
  if (reaction.back.count > 0) {
    add(reaction.back.first, "ev.good", nodes_of(reaction.back), since(fault, reaction.back, "EV back in use"));
  }
  if (record.back_in_use_at != kNever) {
    add(record.back_in_use_at, "back_in_use", config.where,
        fmt::format("first data packet over the path, {:.3f} us after the end",
                    us_from_ps(record.back_in_use_at - record.ends_at)));
  }
}

void FaultLog::port_rows(std::size_t fault, std::vector<EventResult>& rows) const {
  const Reaction& reaction = reactions_[fault];
  const auto add = [&](const Tally& tally, const char* what, const std::string& effect) {
    if (tally.count > 0)
      rows.push_back({us_from_ps(tally.first), what, nodes_of(tally), since(fault, tally, effect.c_str())});
  };
  add(reaction.denied, "ev.denied", fmt::format("EVs of a NIC denied, {} EVs in all", reaction.evs_denied));
  add(reaction.allowed, "ev.allowed", fmt::format("EVs of a NIC allowed again, {} EVs in all", reaction.evs_allowed));
  add(reaction.connected, "qp.connected", "end of a QP connected anew");
  add(reaction.seen_down, "port.down", "port detected as down, no more packets are sent through it");
  add(reaction.remapped_down, "port.down.remapped",
      fmt::format("walk over the EV tables complete, {} QPs", reaction.qps_walked));
  add(reaction.announced_down, "port_status.down.announced", "first NIC starts to notify its peers");
  add(reaction.received_down, "port_status.down.received", "first peer notified");
  add(reaction.answered_down, "port_status.down.answered", "first NIC with answers of all peers");
  add(reaction.seen_up, "port.up", "port detected as up and used again");
  add(reaction.remapped_up, "port.up.remapped", "walk over the EV tables complete");
  add(reaction.announced_up, "port_status.up.announced", "first NIC starts to notify its peers");
  add(reaction.received_up, "port_status.up.received", "first peer notified");
  add(reaction.answered_up, "port_status.up.answered", "first NIC with answers of all peers");
}

std::vector<EventResult> FaultLog::rows(TimePs end) const {
  std::vector<EventResult> rows;
  for (std::size_t fault = 0; fault < timeline_.size(); ++fault) {
    const FaultConfig& config = scenario_.faults[fault];
    const FaultRecord& record = timeline_.record(fault);
    const std::string kind = "fault." + to_string(config.kind);
    // link_up is the end of the outage that it ends.
    if (config.kind == FaultKind::link_up || record.begins_at > end) continue;
    rows.push_back({us_from_ps(record.begins_at), kind, config.where,
                    fmt::format("{}{}; {} data and {} control packets lost, {} corrupted", span_of(config),
                                law_of(config), record.lost_data, record.lost_control, record.corrupted)});
    packet_rows(fault, rows);
    port_rows(fault, rows);
    if (record.ends_at <= end)
      rows.push_back({us_from_ps(record.ends_at), kind + ".end", config.where, "end of the fault"});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const EventResult& a, const EventResult& b) { return a.time_us < b.time_us; });
  return rows;
}

}  // namespace mrc
