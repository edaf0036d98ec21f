#include "simulation/ranks.h"

#include <algorithm>
#include <stdexcept>
#include <systemc>

#include <fmt/format.h>

#include "engine/wheel_module.h"
#include "parameters/transport.h"
#include "simulation/waits.h"

namespace mrc {
namespace {

constexpr NodeId kNoNode = ~NodeId{0};  // ends a list of nodes

void answer(Model& model, const PlacementQuestion& question) {
  const PlacementTally placed = model.at(question.receiver).memory.take_placement(question.destination);
  if (placed == wanted_placement(question.destination, question.bytes, model.scenario.protocol.mtu_bytes)) return;
  model.split->misplaced.push_back({question, placed});
}

/// What the others are to be told, as bytes. Returns when something of it or of this rank happens next, at the
/// earliest.
TimePs pack_crossings(Split& split) {
  for (const PlacementQuestion& question : split.questions) {
    split.out[split.partition.of_node[question.receiver]].questions.push_back(question);
  }
  split.questions.clear();
  TimePs earliest =
      sc_core::sc_pending_activity() ? kernel_now() + sc_core::sc_time_to_pending_activity().value() : kNever;
  for (std::uint32_t rank = 0; rank < split.out.size(); ++rank) {
    Crossings& crossings = split.out[rank];
    if (crossings.packets.empty() && crossings.pauses.empty() && crossings.questions.empty()) continue;
    for (const PacketCrossing& packet : crossings.packets) earliest = std::min(earliest, packet.at);
    for (const PauseCrossing& pause : crossings.pauses) earliest = std::min(earliest, pause.at);
    ByteWriter to(split.out_bytes[rank]);
    to.put(crossings.packets);
    to.put(crossings.pauses);
    to.put(crossings.questions);
    crossings.packets.clear();
    crossings.pauses.clear();
    crossings.questions.clear();
  }
  return earliest;
}

void exchange(Model& model) {
  Split& split = *model.split;
  const TimePs earliest = pack_crossings(split);
  split.earliest = split.ranks.exchange(split.out_bytes, split.in_bytes, earliest);
  for (const Bytes& bytes : split.in_bytes) {
    ByteReader from(bytes);
    if (from.empty()) continue;
    for (auto n = from.get<std::uint64_t>(); n > 0; --n) model.fabric->network().enter(from.get<PacketCrossing>());
    for (auto n = from.get<std::uint64_t>(); n > 0; --n) model.fabric->network().enter(from.get<PauseCrossing>());
    for (auto n = from.get<std::uint64_t>(); n > 0; --n) answer(model, from.get<PlacementQuestion>());
  }
  model.fabric->wake();
}

void put_state(Model& model, const Series& series, ByteWriter& to) {
  model.fabric->put_counts(to);
  model.fault_log->put_reactions(to);
  series.put(to);
  to.put(transport_counts(model));
  to.put(model.split->misplaced);
  for (const auto& node : model.nodes) {
    if (!node->here) continue;
    to.put(node->id);
    to.put(node->context.counters);
    if (const BoxCounters* counters = node->box_counters()) to.put(*counters);
    node->player().put_state(to);
    to.put(qp_waits(*node));
    to.put(work_waits(*node));
  }
  to.put(kNoNode);
}

void take_in(Model& model, Series& series, ByteReader& from) {
  model.fabric->add_counts(from);
  model.fault_log->add_reactions(from);
  series.merge(from);
  add(model.counts_elsewhere, from.get<TransportCounts>());
  std::vector<Misplaced> misplaced;
  from.get(misplaced);
  model.split->misplaced.insert(model.split->misplaced.end(), misplaced.begin(), misplaced.end());
  for (auto id = from.get<NodeId>(); id != kNoNode; id = from.get<NodeId>()) {
    SimulationNode& node = model.at(id);
    from.get(node.context.counters);
    if (node.box_counters_elsewhere) from.get(*node.box_counters_elsewhere);
    node.player().get_state(from);
    from.get(node.waits_elsewhere.qps);
    from.get(node.waits_elsewhere.work);
  }
}

/// Of a detailed node: bytes are compared in one process, RTL is loaded there, and the limits are those of its NIC.
bool stays_first(const Model& model, NodeId id) {
  return model.scenario.node(id).host.payload == PayloadMode::bytes ||
         model.scenario.run.node_under_test == fmt::format("nic{}", id) ||
         std::ranges::any_of(model.options.rtl, [id](const RtlSelection& selection) { return selection.node == id; });
}

/// The detailed NICs of this rank, one after the other, with what `put` says of each.
template <typename Put>
Bytes of_nics_here(const Model& model, const Put& put) {
  Bytes bytes;
  ByteWriter to(bytes);
  for (const auto& node : model.nodes) {
    if (!node->nic) continue;
    to.put(node->id);
    put(*node, to);
  }
  to.put(kNoNode);
  return bytes;
}

/// Rank 0 takes what the others said in of_nics_here().
template <typename Take>
void take_of_nics(const std::vector<Bytes>& all, const Take& take) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    ByteReader from(all[rank]);
    for (auto id = from.get<NodeId>(); id != kNoNode; id = from.get<NodeId>()) take(id, from);
  }
}

}  // namespace

void build_split(Model& model) {
  Ranks* ranks = model.options.ranks;
  if (ranks == nullptr || ranks->size() == 1) return;
  PartitionNeeds needs;
  for (const WorkNode& work : model.workload.nodes) {
    if (work.kind != WorkKind::send) continue;
    const std::pair pair(model.placement.node_of(work), model.placement.peer_node_of(work));
    if (pair.first != pair.second) needs.bytes[pair] += work.bytes;
  }
  for (NodeId id = 0; id < model.scenario.fabric.nics; ++id) {
    needs.detailed.push_back(is_detailed(model.scenario, id));
    needs.first.push_back(needs.detailed.back() && stays_first(model, id));
  }
  needs.siblings = model.placement.first_siblings();
  model.split = std::make_unique<Split>(*ranks, make_partition(model.fabric->topology(), needs, ranks->size()));
}

void join_ranks(Model& model) {
  if (!model.split) return;
  Network& network = model.fabric->network();
  network.split(model.split->partition, model.split->rank, model.split->out);
  model.faults->keep_journal(network);
  model.split->lookahead_ps = network.lookahead_ps();
  if (model.split->lookahead_ps == 0) {
    throw std::invalid_argument(
        "a run on several ranks needs links with a delay; fabric.cable_delay_ns, fabric.t1_cable_delay_ns or the "
        "switches' latencies have to be above 0");
  }
  for (auto& node : model.nodes) {
    if (node->here) node->player().set_questions(model.split->questions);
  }
}

void run_until(Model& model, TimePs end) {
  // No wheel is ahead when a sample is taken: a series is the same in both kernel modes.
  for (const auto& node : model.nodes) {
    if (node->wheel) node->wheel->set_limit(end);
  }
  if (!model.split) {
    model.fabric->set_limit(end);
    run_kernel_to(end);
    return;
  }
  while (kernel_now() < end) {
    // What happens at the earliest time acts on another rank no sooner than the lookahead later.
    const TimePs from = std::max(model.split->earliest, kernel_now());
    const TimePs window = from < end && end - from > model.split->lookahead_ps ? from + model.split->lookahead_ps : end;
    model.fabric->set_limit(window);
    run_kernel_to(window);
    exchange(model);
  }
}

void gather_buffer_names(Model& model) {
  const Bytes mine = of_nics_here(model, [](const SimulationNode& node, ByteWriter& to) {
    std::vector<std::string> names;
    for (const Occupancy* buffer : node.nic->buffers()) names.push_back(buffer->name());
    to.put(names);
  });
  take_of_nics(model.split->ranks.gather(mine),
               [&](NodeId id, ByteReader& from) { from.get(model.split->buffers_elsewhere[id]); });
}

void gather_nics(Model& model, TimePs end) {
  Split& split = *model.split;
  for (std::uint32_t rank = 1; split.is_first() && rank < split.out_bytes.size(); ++rank)
    ByteWriter(split.out_bytes[rank]).put(end);
  split.ranks.exchange(split.out_bytes, split.in_bytes, kNever);
  if (!split.is_first()) {
    ByteReader(split.in_bytes[0]).get(end);
    split.ranks.gather(
        of_nics_here(model, [end](const SimulationNode& node, ByteWriter& to) { collect_nic(node, end).put(to); }));
    return;
  }
  take_of_nics(split.ranks.gather({}), [&](NodeId id, ByteReader& from) {
    model.at(id).nic_elsewhere = std::make_unique<NicResult>();
    model.at(id).nic_elsewhere->get(from);
  });
}

void gather(Model& model, Series& series) {
  Bytes mine;
  ByteWriter to(mine);
  if (!model.split->is_first()) put_state(model, series, to);
  model.faults->put_journal(to);
  const std::vector<Bytes> all = model.split->ranks.gather(mine);
  if (!model.split->is_first()) return;
  std::vector<ByteReader> from(all.begin(), all.end());
  for (std::size_t rank = 1; rank < from.size(); ++rank) take_in(model, series, from[rank]);
  model.faults->read_journals(from);
  for (const Misplaced& found : model.split->misplaced) {
    model.at(found.question.sender).player().misplaced(found.question, found.placed);
  }
}

}  // namespace mrc
