#include "fabric/topology.h"

#include <algorithm>

#include <fmt/format.h>

#include "fabric/fabric_parameters.h"
#include "parameters/parameter_value.h"

namespace mrc {
namespace {

/// Fractions of a picosecond are cut off.
TimePs whole_ps_from_ns(double ns) {
  return static_cast<TimePs>(ns * static_cast<double>(kPsPerNs));
}

/// Cables are at most 1 ms long: fabric.cable_delay_ns and the others have this range.
std::uint32_t delay_of_cable(double ns) {
  return static_cast<std::uint32_t>(whole_ps_from_ns(ns));
}

std::uint32_t t0s_of(const ScenarioConfig& scenario) {
  return scenario.fabric.t0s_per_plane != 0 ? scenario.fabric.t0s_per_plane
                                            : (scenario.fabric.nics - 1) / scenario.fabric.nics_per_t0 + 1;
}

/// T1s of a plane that a T0 has a link to.
std::uint32_t t1s_of(const ScenarioConfig& scenario) {
  const FabricConfig& fabric = scenario.fabric;
  if (t0s_of(scenario) == 1) return 0;
  return fabric.t1s_per_plane != 0 ? fabric.t1s_per_plane / fabric.pods : fabric.nics_per_t0;
}

}  // namespace

std::uint32_t ev_uplinks(const ScenarioConfig& scenario) {
  return scenario.fabric.pods > 1 ? 1 : std::max(t1s_of(scenario), 1U);
}

EvProfile ev_profile_of(const ScenarioConfig& scenario, NodeId node) {
  return make_auto_profile(scenario.protocol, scenario.node(node).nic.ports,
                           KeyedRandom(scenario.seed, fmt::format("nic{}.ev_profile", node)), ev_uplinks(scenario));
}

Topology::Topology(const ScenarioConfig& scenario)
    : planes_(scenario.node_default.nic.ports),
      nics_(scenario.fabric.nics),
      nics_per_t0_(scenario.fabric.nics_per_t0),
      pods_(scenario.fabric.pods),
      t0s_(t0s_of(scenario)),
      t1s_(t1s_of(scenario)),
      locator_block_(scenario.fabric.locator_block),
      ev_layout_(scenario.protocol.ev_layout),
      routing_(scenario.fabric.routing),
      seed_(scenario.seed) {
  if (pods_ > 1) {
    t2s_per_t1_ = scenario.fabric.t2s_per_plane != 0 ? scenario.fabric.t2s_per_plane / t1s_ : t0s_ / pods_;
    t2s_ = t2s_per_t1_ * t1s_;
  }
  switches_per_plane_ = t0s_ + t1s_per_plane() + t2s_;
  links_per_plane_ = 2 * (nics_ + t0s_ * t1s_ + t1s_per_plane() * t2s_per_t1_);
  switches_.resize(std::size_t{planes_} * switches_per_plane_);
  links_.reserve(std::size_t{planes_} * links_per_plane_);
  for (std::uint32_t plane = 0; plane < planes_; ++plane) build_plane(plane, scenario);
  set_cable_delays(scenario.fabric);
}

std::uint32_t Topology::other_way(std::uint32_t link) const {
  const LinkInfo& info = links_[link];
  if (info.first_hop()) return downlink_to(info.node, info.plane);
  if (info.last_hop()) return uplink_of(info.node, info.plane);
  return info.up ? link + 1 : link - 1;
}

bool Topology::is_cable_of(std::uint32_t link, const std::string& where) const {
  const LinkInfo& info = links_[link];
  if (where == fmt::format("plane{}", info.plane) || where == port_name(link)) return true;
  if (info.first_hop()) return where == fmt::format("nic{}", info.node);
  return where == switch_name(info.from) || (where == "above_t0" && !info.last_hop());
}

std::vector<std::uint32_t> Topology::cables_named(const std::string& where, const std::string& key) const {
  std::vector<std::uint32_t> cables;
  for (std::uint32_t link = 0; link < links_.size(); ++link) {
    if (is_cable_of(link, where)) cables.insert(cables.end(), {link, other_way(link)});
  }
  if (!cables.empty()) return cables;
  throw ParameterError(key,
                       fmt::format("\"{}\" is not a cable; allowed: plane0 … plane{}, nic0 … nic{}, a switch, or a "
                                   "port of either (mrcsim fabric lists them){}",
                                   where, planes_ - 1, nics_ - 1, t1s_ > 0 ? ", or above_t0" : ""));
}

void Topology::set_cable_delays(const FabricConfig& fabric) {
  for (const CableValue& cable : cable_delays_of(fabric, "fabric")) {
    for (const std::uint32_t link : cables_named(cable.where, "fabric.cable_delays_ns"))
      links_[link].delay_ps = delay_of_cable(cable.value);
  }
}

std::uint32_t Topology::add_link(LinkInfo link) {
  links_.push_back(link);
  return static_cast<std::uint32_t>(links_.size() - 1);
}

void Topology::set_next(std::uint32_t at, Usid next, std::uint32_t link) {
  auto& table = switches_[at].next[static_cast<std::size_t>(usid_role(next))];
  if (table.size() <= usid_index(next)) table.resize(usid_index(next) + 1, kNoLink);
  table[usid_index(next)] = link;
}

void Topology::build_plane(std::uint32_t plane, const ScenarioConfig& scenario) {
  const FabricConfig& fabric = scenario.fabric;
  const auto number = static_cast<std::uint8_t>(plane);
  const auto name_switch = [&](std::uint32_t at, SwitchTier tier, std::uint32_t index, std::uint32_t pod, double ns) {
    SwitchInfo& info = switches_[at];
    info.plane = number;
    info.tier = tier;
    info.index = index;
    info.pod = pod;
    info.latency_ps = whole_ps_from_ns(ns + 2 * mac_added_ns(fabric));  // in the MACs on both sides
    // Three tiers are routed by ECMP only: the numbering of uSIDs has a role for two.
    if (tier != SwitchTier::t2)
      info.usid = make_usid(plane, tier == SwitchTier::t0 ? UsidRole::t0 : UsidRole::t1, index);
  };
  const std::uint32_t t0s_per_pod = t0s_ / pods_;
  for (std::uint32_t i = 0; i < t0s_; ++i) {
    name_switch(t0_at(plane, i), SwitchTier::t0, i, i / t0s_per_pod, fabric.switch_latency_ns);
  }
  for (std::uint32_t i = 0; i < t1s_per_plane(); ++i) {
    name_switch(t1_at(plane, i), SwitchTier::t1, i, i / t1s_, fabric.t1_switch_latency_ns);
  }
  for (std::uint32_t i = 0; i < t2s_; ++i)
    name_switch(t2_at(plane, i), SwitchTier::t2, i, 0, fabric.t1_switch_latency_ns);

  const std::uint32_t nic_delay = delay_of_cable(fabric.cable_delay_ns);
  const std::uint32_t t1_delay = delay_of_cable(fabric.t1_cable_delay_ns);
  const double port_gbps = scenario.node_default.nic.port_gbps;
  const double t1_gbps = fabric.t1_link_gbps > 0 ? fabric.t1_link_gbps : port_gbps;
  for (NodeId node = 0; node < nics_; ++node) {
    add_link({.to = t0_at(plane, t0_of(node)),
              .node = node,
              .number = plane,
              .delay_ps = nic_delay,
              .plane = number,
              .up = true,
              .gbps = scenario.node(node).nic.port_gbps});
  }
  for (NodeId node = 0; node < nics_; ++node) {
    const std::uint32_t t0 = t0_at(plane, t0_of(node));
    const std::uint32_t link = add_link({.from = t0,
                                         .node = node,
                                         .number = downlink_of(node),
                                         .delay_ps = nic_delay,
                                         .plane = number,
                                         .gbps = scenario.node(node).nic.port_gbps});
    set_next(t0, make_usid(plane, UsidRole::downlink, downlink_of(node)), link);
  }
  const auto cable = [&](std::uint32_t lower, std::uint32_t upper, std::uint32_t up_number, std::uint32_t down_number) {
    const std::uint32_t up = add_link({.from = lower,
                                       .to = upper,
                                       .number = up_number,
                                       .delay_ps = t1_delay,
                                       .plane = number,
                                       .up = true,
                                       .gbps = t1_gbps});
    const std::uint32_t down = add_link(
        {.from = upper, .to = lower, .number = down_number, .delay_ps = t1_delay, .plane = number, .gbps = t1_gbps});
    switches_[lower].up.push_back(up);
    return std::pair(up, down);
  };
  for (std::uint32_t t0 = 0; t0 < t0s_; ++t0) {
    for (std::uint32_t j = 0; j < t1s_; ++j) {
      const std::uint32_t lower = t0_at(plane, t0);
      const std::uint32_t t1 = switches_[lower].pod * t1s_ + j;
      const auto [up, down] = cable(lower, t1_at(plane, t1), j, t0 % t0s_per_pod);
      set_next(lower, make_usid(plane, UsidRole::t1, t1), up);
      set_next(t1_at(plane, t1), make_usid(plane, UsidRole::t0, t0), down);
    }
  }
  for (std::uint32_t t1 = 0; t2s_ > 0 && t1 < t1s_per_plane(); ++t1) {
    for (std::uint32_t u = 0; u < t2s_per_t1_; ++u) {
      const std::uint32_t t2 = t1 % t1s_ * t2s_per_t1_ + u;
      const auto [up, down] = cable(t1_at(plane, t1), t2_at(plane, t2), u, t1 / t1s_);
      static_cast<void>(up);
      set_next(t2_at(plane, t2), make_usid(plane, UsidRole::t1, t1), down);
    }
  }
}

UsidTemplate Topology::route(NodeId source, NodeId destination) const {
  if (t0_of(source) == t0_of(destination) || pods_ > 1) {
    return UsidTemplate::same_t0(locator_block_, t0_of(source), downlink_of(destination));
  }
  UsidTemplate path =
      UsidTemplate::across_t1(locator_block_, t0_of(source), t0_of(destination), downlink_of(destination));
  path.uplinks = static_cast<std::uint16_t>(t1s_);
  return path;
}

TimePs Topology::round_trip_ps() const {
  const SwitchInfo& t0 = switches_.front();
  TimePs one_way = 2 * TimePs{links_.front().delay_ps} + t0.latency_ps;
  if (t0s_ > 1) {
    const SwitchInfo& t1 = switches_[t0s_];
    const TimePs step = links_[t0.up.front()].delay_ps;
    one_way += t0.latency_ps + t1.latency_ps + 2 * step;
    if (pods_ > 1) one_way += 2 * (t1.latency_ps + step);
  }
  return 2 * one_way;
}

std::uint32_t Topology::forward_ecmp(std::uint32_t at, NodeId source, NodeId destination, Ev ev) const {
  const SwitchInfo& here = switches_[at];
  const std::uint32_t t0 = t0_of(destination);
  const std::uint32_t pod = t0 / (t0s_ / pods_);
  const auto down = [&](UsidRole role, std::uint32_t index) {
    const auto& table = here.next[static_cast<std::size_t>(role)];
    return index < table.size() ? table[index] : kNoLink;
  };
  if (here.tier == SwitchTier::t0 && t0 == here.index) return down(UsidRole::downlink, downlink_of(destination));
  if (here.tier == SwitchTier::t1 && pod == here.pod) return down(UsidRole::t0, t0);
  if (here.tier == SwitchTier::t2) return down(UsidRole::t1, pod * t1s_ + here.index / t2s_per_t1_);
  if (here.up.empty()) return kNoLink;
  // The EV's 16 bits of the UDP source port are what a switch can hash beside the addresses.
  const FlowTuple flow{
      .source = {0, source}, .destination = {0, destination}, .source_port = static_cast<std::uint16_t>(ev)};
  return here.up[ecmp_path(flow, mix64(seed_) ^ at, static_cast<std::uint32_t>(here.up.size()))];
}

std::vector<std::uint32_t> Topology::walk_carrier(NodeId source, NodeId destination, std::uint32_t plane,
                                                  Ipv6Address carrier, Ev ev) const {
  std::vector<std::uint32_t> path{uplink_of(source, plane)};
  while (!links_[path.back()].last_hop()) {
    const std::uint32_t at = links_[path.back()].to;
    const std::uint32_t next =
        routing_ == FabricRouting::usid ? forward_usid(at, carrier) : forward_ecmp(at, source, destination, ev);
    if (next == kNoLink || path.size() > longest_path()) return {};
    path.push_back(next);
  }
  if (links_[path.back()].node != destination) return {};
  return path;
}

std::vector<std::uint32_t> Topology::walk(NodeId source, NodeId destination, std::uint32_t plane, Ev ev) const {
  return walk_carrier(source, destination, plane, usid_carrier_of_ev(route(source, destination), plane, ev, ev_layout_),
                      ev);
}

std::vector<std::uint32_t> Topology::walk_uplink(NodeId source, NodeId destination, std::uint32_t plane,
                                                 std::uint32_t uplink) const {
  return walk_carrier(source, destination, plane, usid_carrier(route(source, destination), plane, uplink), uplink);
}

Topology::RouteCheck Topology::check_pairs(std::uint32_t step) const {
  RouteCheck check;
  for (NodeId from = 0; from < nics_; from += step) {
    for (NodeId to = 0; to < nics_; ++to) {
      if (from == to) continue;
      const std::uint32_t paths = t0_of(from) == t0_of(to) ? 1 : t1s_;
      for (std::uint32_t i = 0; i < planes_ * paths; ++i) {
        ++check.walked;
        if (!walk_uplink(from, to, i % planes_, i / planes_).empty()) continue;
        check.broken = fmt::format("nic{} to nic{} through plane {}, uplink {}", from, to, i % planes_, i / planes_);
        return check;
      }
    }
  }
  return check;
}

Topology::RouteCheck Topology::check_routes(std::uint64_t most_walks) const {
  const std::uint64_t a_pair = std::uint64_t{planes_} * std::max(t1s_, 1U);
  if (std::uint64_t{nics_} * nics_ * a_pair <= most_walks) return check_pairs(1);
  RouteCheck check;
  if (std::uint64_t{t0s_} * nics_ * a_pair <= most_walks) {
    // NICs below one T0 send into the same table.
    check = check_pairs(nics_per_t0_);
    check.every_pair = false;
    return check;
  }
  check.every_pair = false;
  for (std::uint32_t at = 0; at < switches_.size(); ++at) {
    const SwitchInfo& here = switches_[at];
    for (std::size_t role = 0; role < here.next.size(); ++role) {
      for (std::uint32_t index = 0; index < here.next[role].size(); ++index) {
        const std::uint32_t link = here.next[role][index];
        if (link == kNoLink) continue;
        ++check.walked;
        const LinkInfo& info = links_[link];
        const bool right = info.last_hop()
                               ? downlink_of(info.node) == index && t0_of(info.node) == here.index
                               : switches_[info.to].index == index && switches_[info.to].plane == here.plane;
        if (info.from == at && right) continue;
        check.broken =
            fmt::format("{}: entry {} of role {} leads to {}", switch_name(at), index, role, port_name(link));
        return check;
      }
    }
  }
  return check;
}

std::string Topology::switch_name(std::uint32_t at) const {
  constexpr std::array<const char*, 3> tiers{"t0", "t1", "t2"};
  const SwitchInfo& info = switches_[at];
  return fmt::format("plane{}.{}.{}", info.plane, tiers[static_cast<std::size_t>(info.tier)], info.index);
}

std::string Topology::port_name(std::uint32_t link) const {
  const LinkInfo& info = links_[link];
  if (info.first_hop()) return fmt::format("nic{}.port{}", info.node, info.plane);
  return fmt::format("{}.{}{}", switch_name(info.from), info.up ? "up" : "down", info.number);
}

}  // namespace mrc
