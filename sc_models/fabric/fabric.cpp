#include "fabric/fabric.h"

#include <fmt/format.h>

namespace mrc {
namespace {

constexpr std::size_t kUsidSpace = 1 << 16;
constexpr std::uint32_t kOnlyT0 = 0;

}  // namespace

Fabric::Fabric(const sc_core::sc_module_name& name, const ScenarioConfig& scenario, TimePs quantum_ps)
    : WheelModule(name, scenario.run.kernel, quantum_ps),
      planes_(scenario.node_default.nic.ports),
      nics_(scenario.fabric.nics),
      tables_(planes_, ForwardingTable(kUsidSpace, nullptr)) {
  const auto cable_ps = static_cast<TimePs>(scenario.fabric.cable_delay_ns * 1000.0);
  const Link::DueAt due = scenario.fabric.forwarding == SwitchForwarding::cut_through ? Link::DueAt::first_bit
                                                                                      : Link::DueAt::last_bit;
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    for (NodeId node = 0; node < nics_; ++node) {
      up_.push_back(std::make_unique<Link>(cable_ps, due));
      down_.push_back(std::make_unique<Link>(cable_ps, Link::DueAt::last_bit));
      ports_.push_back(std::make_unique<SwitchPort>(fmt::format("plane{}_t0_down{}", plane, node).c_str(), *this,
                                                    scenario, scenario.node(node).nic.port_gbps, *down_.back(),
                                                    packets_, fmt::format("plane{}.t0.down{}", plane, node)));
      tables_[plane][make_usid(plane, UsidRole::downlink, node)] = ports_.back().get();
    }
  }
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    for (NodeId node = 0; node < nics_; ++node) {
      const std::string link = fmt::format("nic{}.port{}-t0", node, plane);
      ingresses_.push_back(std::make_unique<SwitchIngress>(
          fmt::format("plane{}_t0_from{}", plane, node).c_str(), *this, scenario.fabric, *up_[at(plane, node)],
          tables_[plane], Impairment(scenario.fabric, scenario.protocol, scenario.seed, link)));
    }
  }
}

TimePs Fabric::quantum_ps(const ScenarioConfig& scenario) {
  const double quantum_ns = scenario.run.quantum_ns;
  return static_cast<TimePs>((quantum_ns > 0 ? quantum_ns : scenario.fabric.cable_delay_ns) * 1000.0);
}

std::vector<PortLinks> Fabric::links_of(NodeId node) {
  std::vector<PortLinks> links;
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    links.push_back({up_[at(plane, node)].get(), down_[at(plane, node)].get()});
  }
  return links;
}

UsidTemplate Fabric::route_to(const FabricConfig& config, NodeId destination) {
  return UsidTemplate::same_t0(config.locator_block, kOnlyT0, destination);
}

ImpairmentCounts Fabric::impairments() const {
  ImpairmentCounts sum;
  for (const auto& ingress : ingresses_) {
    const ImpairmentCounts& counts = ingress->impairments();
    sum.dropped += counts.dropped;
    sum.corrupted += counts.corrupted;
    sum.trimmed += counts.trimmed;
    sum.duplicated += counts.duplicated;
    sum.ce_marked += counts.ce_marked;
  }
  return sum;
}

std::uint64_t Fabric::dropped() const {
  std::uint64_t dropped = impairments().dropped;
  for (const auto& port : ports_) dropped += port->dropped();
  return dropped;
}

std::uint64_t Fabric::without_route() const {
  std::uint64_t n = 0;
  for (const auto& ingress : ingresses_) n += ingress->without_route();
  return n;
}

}  // namespace mrc
