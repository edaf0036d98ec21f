#include "simulation/sample.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "simulation/qp_resets.h"

namespace mrc {
namespace {

/// How far the kernel runs at first between two looks at progress, interrupts, errors and levels; it doubles with the
/// step of the series.
constexpr double kFirstSliceUs = 1.0;
/// Switch ports up to which each has its own series; of larger fabrics it is the longest queue of each plane, tier and
/// direction.
constexpr std::uint32_t kMostQueueSeries = 256;
constexpr std::array<const char*, kEvStates> kEvStateNames{"good", "skip", "assumed_bad", "denied"};

}  // namespace

Sampler::Sampler(const Model& model) : model_(model), series_(kFirstSliceUs) {
  add_goodput();
  add_buffers();
  add_ev_states();
  add_queues();
}

bool Sampler::counts_ev_states(const SimulationNode& node) const {
  return !node.is_endpoint() || model_.is_under_test(node);
}

void Sampler::add_goodput() {
  for (const auto& node : model_.nodes) {
    if (!model_.is_under_test(*node)) continue;
    for (std::size_t plane = 0; plane < node->context.config.nic.ports; ++plane) {
      series_.add(Series::Group::plane_goodput_gbps, fmt::format("{}", plane));
      payload_bytes_.push_back(0);
    }
  }
}

void Sampler::add_buffers() {
  for (const auto& node : model_.nodes) {
    const auto add = [&](const std::string& name, const Occupancy* buffer) {
      series_.add(Series::Group::buffer_occupancy, fmt::format("{}.{}", node->name, name));
      buffers_.push_back(buffer);
    };
    if (node->nic) {
      for (const Occupancy* buffer : node->nic->buffers()) add(buffer->name(), buffer);
    } else if (model_.split) {
      for (const std::string& name : model_.split->buffers_of(node->id)) add(name, nullptr);
    }
  }
}

void Sampler::add_ev_states() {
  for (const auto& node : model_.nodes) {
    if (!counts_ev_states(*node)) continue;
    for (const char* state : kEvStateNames) series_.add(Series::Group::ev_states, node->name, state);
  }
}

void Sampler::add_queues() {
  const Topology& topology = model_.fabric->topology();
  const auto switch_ports = std::count_if(topology.links().begin(), topology.links().end(),
                                          [](const LinkInfo& link) { return !link.first_hop(); });
  std::map<std::tuple<std::uint32_t, SwitchTier, bool>, std::uint16_t> groups;
  queue_row_of_link_.resize(topology.links().size());
  for (std::uint32_t link = 0; link < topology.links().size(); ++link) {
    const LinkInfo& info = topology.links()[link];
    if (info.first_hop()) continue;
    if (switch_ports <= kMostQueueSeries) {
      series_.add(Series::Group::queue_bytes, topology.port_name(link));
      queue_row_of_link_[link] = static_cast<std::uint16_t>(queue_rows_++);
      continue;
    }
    const SwitchTier tier = topology.switches()[info.from].tier;
    const auto [group, added] =
        groups.try_emplace({info.plane, tier, info.up}, static_cast<std::uint16_t>(queue_rows_));
    queue_row_of_link_[link] = group->second;
    if (!added) continue;
    const char* name = std::array{"t0", "t1", "t2"}[static_cast<std::size_t>(tier)];
    series_.add(Series::Group::queue_bytes,
                fmt::format("plane{}.{}.{}.longest", info.plane, name, info.up ? "up" : "down"));
    ++queue_rows_;
  }
}

void Sampler::sample() {
  row_.clear();
  sample_goodput();
  for (const Occupancy* buffer : buffers_)
    row_.push_back(buffer == nullptr ? 0.0 : static_cast<double>(buffer->level()));
  sample_ev_states();
  sample_queues();
  series_.sample(row_);
}

void Sampler::sample_goodput() {
  for (const auto& node : model_.nodes) {
    if (!model_.is_under_test(*node)) continue;
    for (std::size_t plane = 0; plane < node->context.config.nic.ports; ++plane) {
      // Of a detailed NIC elsewhere there is nothing here.
      const std::uint64_t bytes = !node->here ? 0
                                  : node->nic ? node->nic->ports()[plane]->first_payload_bytes()
                                              : node->endpoint->first_payload_bytes()[plane];
      row_.push_back(static_cast<double>(bytes - payload_bytes_[plane]) * 8.0 / (series_.step_us() * 1000.0));
      payload_bytes_[plane] = bytes;
    }
  }
}

void Sampler::sample_ev_states() {
  for (const auto& node : model_.nodes) {
    if (!counts_ev_states(*node)) continue;
    std::array<std::uint64_t, kEvStates> counts{};
    for (const PathTable* table : node->transport->path_tables()) {
      for (std::size_t state = 0; state < kEvStates; ++state)
        counts[state] += table->count(static_cast<EvState>(state));
    }
    for (const std::uint64_t count : counts) row_.push_back(static_cast<double>(count));
  }
}

void Sampler::sample_queues() {
  const std::size_t first = row_.size();
  row_.resize(first + queue_rows_, 0.0);
  const Network& network = model_.fabric->network();
  for (const std::uint32_t link : network.links_with_queues()) {
    double& level = row_[first + queue_row_of_link_[link]];
    level = std::max(level, static_cast<double>(network.ports()[link].queued_bytes));
  }
}

void watch_evs(const Model& model) {
  if (model.fault_log->empty()) return;
  for (const auto& node : model.nodes) {
    for (const Qp& qp : node->context.qps) {
      if (qp.paths == nullptr) continue;
      for (EvEvent event; qp.paths->pop_event(event);) {
        model.fault_log->ev_changed(node->id, qp.peer, qp.paths->value(event.ev), qp.paths->plane(event.ev), event);
      }
    }
  }
}

void note_reactions(const Model& model) {
  if (model.fault_log->empty()) return;
  watch_evs(model);
  for (const auto& node : model.nodes) {
    if (!node->here) continue;
    const std::span<const PortStatusStep> steps =
        node->nic ? std::span(node->nic->port_status().steps()) : node->endpoint->port_steps();
    model.fault_log->port_steps(node->id, steps);
    model.fault_log->port_steps(node->id,
                                node->nic ? std::span(node->nic->path_drain().steps()) : node->endpoint->drain_steps());
    if (model.qp_resets) model.fault_log->port_steps(node->id, model.qp_resets->steps_of(node->id));
  }
}

}  // namespace mrc
