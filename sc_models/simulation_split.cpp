// The parts of a simulation that are there only where several ranks carry it: windows of time, what is exchanged
// between them, and rank 0's copy of what the others know at the end. docs/scale.md.
#include <algorithm>
#include <stdexcept>
#include <systemc>

#include "fabric/fabric.h"
#include "fabric/fault_log.h"
#include "fabric/fault_timeline.h"
#include "simulation.h"
#include "simulation_node.h"
#include "split/split.h"

namespace mrc {
namespace {

TimePs kernel_now() {
  return sc_core::sc_time_stamp().value();
}

void run_kernel_to(TimePs end) {
  const TimePs now = kernel_now();
  if (end > now) sc_core::sc_start(sc_core::sc_time::from_value(end - now));
}

}  // namespace

void Simulation::build_split() {
  Ranks* ranks = options_.ranks;
  if (ranks == nullptr || ranks->size() == 1) return;
  PartitionNeeds needs;
  for (const WorkNode& work : workload_.nodes) {
    if (work.kind != WorkKind::send) continue;
    const std::pair pair(placement_.node_of(work), placement_.peer_node_of(work));
    if (pair.first != pair.second) needs.bytes[pair] += work.bytes;
  }
  for (NodeId id = 0; id < scenario_.fabric.nics; ++id) {
    needs.detailed.push_back(scenario_.node(id).fidelity == Fidelity::detailed && !scenario_.is_rocev2());
  }
  needs.siblings = first_siblings();
  split_ = std::make_unique<Split>(*ranks, make_partition(fabric_->topology(), needs, ranks->size()));
}

void Simulation::join_ranks() {
  if (!split_) return;
  Network& network = fabric_->network();
  network.split(split_->partition, split_->rank, split_->out);
  faults_->keep_journal(network);
  split_->lookahead_ps = network.lookahead_ps();
  if (split_->lookahead_ps == 0) {
    throw std::invalid_argument(
        "a run on several ranks needs links with a delay; fabric.cable_delay_ns, fabric.t1_cable_delay_ns or the "
        "switches' latencies have to be above 0");
  }
  for (auto& node : nodes_) {
    if (node->here) node->player().set_questions(split_->questions);
  }
}

void Simulation::run_until(TimePs end) {
  if (!split_) {
    fabric_->set_limit(end);
    run_kernel_to(end);
    return;
  }
  while (kernel_now() < end) {
    // What happens at the earliest time acts on another rank no sooner than the lookahead later.
    const TimePs from = std::max(split_->earliest, kernel_now());
    const TimePs window = from < end && end - from > split_->lookahead_ps ? from + split_->lookahead_ps : end;
    fabric_->set_limit(window);
    run_kernel_to(window);
    exchange();
  }
}

void Simulation::exchange() {
  Split& split = *split_;
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
  split.earliest = split.ranks.exchange(split.out_bytes, split.in_bytes, earliest);
  for (const Bytes& bytes : split.in_bytes) {
    ByteReader from(bytes);
    if (from.empty()) continue;
    for (auto n = from.get<std::uint64_t>(); n > 0; --n) fabric_->network().enter(from.get<PacketCrossing>());
    for (auto n = from.get<std::uint64_t>(); n > 0; --n) fabric_->network().enter(from.get<PauseCrossing>());
    for (auto n = from.get<std::uint64_t>(); n > 0; --n) answer(from.get<PlacementQuestion>());
  }
  fabric_->wake();
}

void Simulation::answer(const PlacementQuestion& question) {
  const PlacementTally placed = at(question.receiver).memory.take_placement(question.destination);
  if (placed == wanted_placement(question.destination, question.bytes, scenario_.protocol.mtu_bytes)) return;
  split_->misplaced.push_back({question, placed});
}

void Simulation::gather() {
  note_reactions();
  Bytes mine;
  ByteWriter to(mine);
  if (!split_->is_first()) {
    fabric_->network().put_counts(to);
    fault_log_->put_reactions(to);
    series_.put(to);
    to.put(rocev2_counts());
    to.put(split_->misplaced);
    for (const auto& node : nodes_) {
      if (!node->here) continue;
      to.put(node->id);
      to.put(node->context.counters);
      node->player().put_state(to);
      to.put(qp_waits(*node));
      to.put(node->player().describe_waits(kMostWaitsANode));
    }
    to.put(kNoNode);
  }
  faults_->put_journal(to);
  const std::vector<Bytes> all = split_->ranks.gather(mine);
  if (!split_->is_first()) return;
  std::vector<ByteReader> from(all.begin(), all.end());
  for (std::size_t rank = 1; rank < from.size(); ++rank) take_in(from[rank]);
  faults_->read_journals(from);
  for (const Misplaced& found : split_->misplaced) {
    at(found.question.sender).player().misplaced(found.question, found.placed);
  }
}

void Simulation::take_in(ByteReader& from) {
  fabric_->network().add_counts(from);
  fault_log_->add_reactions(from);
  series_.merge(from);
  rocev2_elsewhere_.push_back(from.get<Rocev2Counts>());
  std::vector<Misplaced> misplaced;
  from.get(misplaced);
  split_->misplaced.insert(split_->misplaced.end(), misplaced.begin(), misplaced.end());
  for (auto id = from.get<NodeId>(); id != kNoNode; id = from.get<NodeId>()) {
    Node& node = at(id);
    from.get(node.context.counters);
    node.player().get_state(from);
    from.get(node.waits_elsewhere.qps);
    from.get(node.waits_elsewhere.work);
  }
}

}  // namespace mrc
