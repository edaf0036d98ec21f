#include "fabric/fabric.h"

#include <algorithm>

#include "engine/box.h"
#include "fabric/fabric_parameters.h"

namespace mrc {

/// The one box on the fabric's wheel: runs the network up to the wheel's horizon.
class Fabric::Runner final : public Box {
 public:
  explicit Runner(Fabric& fabric) : Box("network", fabric), fabric_(fabric) {}
  void step(TimePs) override { fabric_.step(); }

 private:
  Fabric& fabric_;
};

Fabric::Fabric(const sc_core::sc_module_name& name, const ScenarioConfig& scenario, TimePs quantum_ps)
    : WheelModule(name, scenario.run.kernel, quantum_ps),
      scenario_(scenario),
      network_(scenario),
      runner_(std::make_unique<Runner>(*this)) {}

Fabric::~Fabric() = default;

TimePs Fabric::quantum_ps(const ScenarioConfig& scenario) {
  const double quantum_ns = scenario.run.quantum_ns;
  return static_cast<TimePs>((quantum_ns > 0 ? quantum_ns : shortest_cable_ns(scenario.fabric)) * 1000.0);
}

std::vector<PortLinks> Fabric::links_of(NodeId node) {
  const Link::DueAt due =
      scenario_.fabric.forwarding == SwitchForwarding::cut_through ? Link::DueAt::first_bit : Link::DueAt::last_bit;
  std::vector<PortLinks> links;
  for (std::uint32_t plane = 0; plane < topology().planes(); ++plane) {
    const LinkInfo& uplink = topology().links()[topology().uplink_of(node, plane)];
    const TimePs delay = uplink.delay_ps;
    cables_.push_back(
        {node, plane, std::make_unique<Link>(delay, due), std::make_unique<Link>(delay, Link::DueAt::last_bit)});
    Cable& cable = cables_.back();
    cable.up->set_receiver(runner_.get(), topology().switches()[uplink.to].latency_ps);
    network_.attach(node, plane, *cable.down);
    links.push_back({cable.up.get(), cable.down.get()});
  }
  return links;
}

TimePs Fabric::shortest(std::unique_ptr<Link> Cable::*direction) const {
  TimePs least = kNever;
  for (const Cable& cable : cables_) least = std::min(least, (cable.*direction)->latency_ps());
  return least;
}

void Fabric::let_follow(bool far) {
  if (followers_.empty()) return;
  const TimePs way_out = far ? shortest(&Cable::down) : 0;
  set_quantum(far ? shortest(&Cable::up) : quantum_ps(scenario_));
  for (WheelModule* wheel : followers_) wheel->follow(far ? this : nullptr, way_out);
}

std::uint64_t Fabric::packets_in_cables() const {
  std::uint64_t packets = in_cables_elsewhere_;
  for (const Cable& cable : cables_) packets += cable.up->size() + cable.down->size();
  return packets;
}

std::uint64_t Fabric::packets_held() const {
  return network_.packets_inside() + packets_in_cables();
}

void Fabric::put_counts(ByteWriter& to) const {
  network_.put_counts(to);
  to.put(packets_in_cables());
}

void Fabric::add_counts(ByteReader& from) {
  network_.add_counts(from);
  in_cables_elsewhere_ += from.get<std::uint64_t>();
}

std::uint64_t Fabric::packets_lost() const {
  std::uint64_t lost = network_.impairments().dropped + network_.without_route() + network_.lost_on_down_links();
  for (const std::uint32_t link : network_.visited_links()) lost += network_.counters(link).dropped;
  return lost;
}

void Fabric::wake() {
  if (const TimePs next = network_.next_time(); next != kNever) runner_->wake_at(next);
}

void Fabric::step() {
  // What a cable holds is fixed; the events keep the order of time.
  for (Cable& cable : cables_) {
    while (!cable.up->empty()) {
      const Flight& flight = cable.up->front();
      network_.enter(cable.node, cable.plane, flight.first_bit, flight.last_bit, flight.packet);
      cable.up->pop();
    }
  }
  // Without detailed NICs no other values arrive, and only the limit bounds the network.
  const bool alone = cables_.empty() && limit() != kNever;
  network_.run_before(alone ? limit() : horizon());
  wake();
}

}  // namespace mrc
