#include "host/work_player.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "pcie/host_memory.h"

namespace mrc {

void WorkDevice::reduce(TimePs, std::uint32_t, TimePs) {
  throw std::logic_error("this node has no reduction in switches");
}

WorkPlacement::WorkPlacement(const Workload& work, const std::vector<NodeId>& nics, std::uint32_t nics_each,
                             std::uint32_t nodes)
    : workload(&work), nics_of_ranks(nics), nics_per_rank(nics_each), local(work.nodes.size()), of_node(nodes) {
  for (std::uint32_t i = 0; i < work.nodes.size(); ++i) {
    auto& list = of_node[node_of(work.nodes[i])];
    local[i] = static_cast<std::uint32_t>(list.size());
    list.push_back(i);
  }
}

std::vector<NodeId> WorkPlacement::first_siblings() const {
  std::vector<NodeId> first(of_node.size());
  std::iota(first.begin(), first.end(), 0U);
  const auto root = [&](NodeId id) {
    while (first[id] != id) id = first[id];
    return id;
  };
  for (std::size_t i = 0; nics_per_rank > 1 && i < nics_of_ranks.size(); ++i) {
    const NodeId a = root(nics_of_ranks[i]);
    const NodeId b = root(nics_of_ranks[i / nics_per_rank * nics_per_rank]);
    first[std::max(a, b)] = std::min(a, b);
  }
  for (NodeId id = 0; id < first.size(); ++id) first[id] = root(id);
  return first;
}

WorkPlayer::WorkPlayer(NodeContext& nic, WorkDevice& device, HostMemory& memory, const WorkPlacement& placement)
    : nic_(nic),
      device_(device),
      memory_(memory),
      placement_(placement),
      accelerator_(nic.scenario.accelerator),
      turns_(nic.scenario.traffic.classes.count) {
  for (const std::uint32_t i : placement.of_node[nic.node]) {
    states_.push_back({.waits_for = workload().nodes[i].dependencies});
  }
  nodes_left_ = states_.size();
}

void WorkPlayer::add_channel(Channel channel) {
  channel_of_flow_[channel.flow] = static_cast<std::uint32_t>(channels_.size());
  channels_.push_back(std::move(channel));
}

void WorkPlayer::start() {
  for (const std::uint32_t i : placement_.of_node[nic_.node]) {
    if (state(i).waits_for == 0) alarms_.push({workload().nodes[i].earliest, i, AlarmKind::start});
  }
}

void WorkPlayer::open(LiveSoftware& software) {
  software_ = &software;
  ++nodes_left_;
}

void WorkPlayer::close(TimePs now) {
  if (--nodes_left_ == 0) device_.work_done(now);
}

void WorkPlayer::begin_added(TimePs now, std::uint32_t index) {
  ++nodes_left_;
  release(now, index);
}

void WorkPlayer::begin(TimePs now, std::uint32_t index) {
  const WorkNode& node = workload().nodes[index];
  NodeState& node_state = state(index);
  node_state.started = true;
  node_state.started_at = now;
  switch (node.kind) {
    case WorkKind::collective:  // expanded before it comes here
    case WorkKind::compute:
      alarms_.push({accelerator_.compute(now, node), index, AlarmKind::done});
      return;
    case WorkKind::receive:
      if (node_state.arrived) finish_receive(now, index);
      return;
    case WorkKind::send: {
      if (placement_.peer_node_of(node) == nic_.node) {
        ++statistics_.messages_started;
        node_state.posted_at = now;
        alarms_.push({accelerator_.local_message(now, node.bytes), index, AlarmKind::done});
      } else if (accelerator_.staged()) {
        alarms_.push({accelerator_.copy(now, node.rank, node.bytes, true), index, AlarmKind::staged});
      } else {
        begin_send(now, index);
      }
      return;
    }
    case WorkKind::reduction:
      if (accelerator_.staged()) {
        alarms_.push({accelerator_.copy(now, node.rank, node.bytes, true), index, AlarmKind::staged});
      } else {
        begin_reduction(now, index);
      }
      return;
  }
}

void WorkPlayer::begin_reduction(TimePs now, std::uint32_t index) {
  ++statistics_.messages_started;
  state(index).posted_at = now;
  statistics_.first_doorbell = std::min(statistics_.first_doorbell, now + ps_from_ns(nic_.config.host.post_ns));
  device_.reduce(now, index, statistics_.first_doorbell);
}

void WorkPlayer::part_reduced(TimePs now, std::uint32_t index, std::uint32_t bytes, const std::string& wrong) {
  progress_ += bytes;
  statistics_.acknowledged_bytes += bytes;
  statistics_.received_bytes += bytes;
  if (wrong.empty()) return;
  statistics_.corrupted_bytes += bytes;
  if (!statistics_.first_corruption.empty()) return;
  statistics_.first_corruption_at = now;
  statistics_.first_corruption = fmt::format("reduction of {} line or node {} at nic{}: {}", workload().source,
                                             workload().nodes[index].origin, nic_.node, wrong);
}

void WorkPlayer::note_completion(TimePs now, const NodeState& message, StartId because) {
  statistics_.message_times.push_back(run_time(now) - run_time(message.posted_at));
  if (nic_.scenario.run.message_causes) statistics_.message_ends.push_back({now, because});
}

void WorkPlayer::reduction_completed(TimePs now, std::uint32_t index) {
  ++statistics_.messages_completed;
  note_completion(now, state(index), 0);
  alarms_.push({usable_at(now, workload().nodes[index]), index, AlarmKind::done});
}

TimePs WorkPlayer::usable_at(TimePs now, const WorkNode& work) {
  const TimePs known_at = now + ps_from_ns(nic_.config.host.residual_ns) + accelerator_.flush_ps();
  return accelerator_.staged() ? accelerator_.copy(known_at, work.rank, work.bytes, false) : known_at;
}

void WorkPlayer::begin_send(TimePs now, std::uint32_t index) {
  const auto channel = channel_of_flow_.at(flow_of(workload().nodes[index]));
  if (channels_[channel].pending.empty()) ++pending_channels_;
  channels_[channel].pending.push(index);
  turns_of(channels_[channel]).push(channel);
  ++statistics_.messages_started;
  device_.message_begun(now);
}

void WorkPlayer::finish_receive(TimePs now, std::uint32_t index) {
  if (state(index).known_at <= now) {
    finish(now, index);
  } else {
    alarms_.push({state(index).known_at, index, AlarmKind::done});
  }
}

/// The message was one between two ranks of this node.
void WorkPlayer::finish_local_send(TimePs now, std::uint32_t index) {
  const WorkNode& node = workload().nodes[index];
  ++statistics_.messages_completed;
  statistics_.local_bytes += node.bytes;
  progress_ += node.bytes;
  if (node.match != kNoWork) {
    NodeState& receive = state(node.match);
    receive.arrived = true;
    receive.known_at = now;
    if (receive.started) finish(now, node.match);
  }
  finish(now, index);
}

void WorkPlayer::finish(TimePs now, std::uint32_t index) {
  state(index).done = true;
  state(index).done_at = now;
  --nodes_left_;
  statistics_.last_completion = std::max(statistics_.last_completion, now);
  if (nodes_left_ == 0) device_.work_done(now);
  release_dependents(now, index);
  if (software_ != nullptr) software_->done(now, index);
}

void WorkPlayer::release_dependents(TimePs now, std::uint32_t index) {
  const WorkNode& node = workload().nodes[index];
  for (std::uint32_t i = 0; i < node.dependents; ++i) {
    const std::uint32_t dependent = workload().dependents[node.first_dependent + i];
    const NodeId at = placement_.node_of(workload().nodes[dependent]);
    if (at == nic_.node) {
      release(now, dependent);
    } else {
      siblings_.at(at)->release(now, dependent);
      siblings_.at(at)->device_.work_arrived(now);
    }
  }
}

void WorkPlayer::release(TimePs now, std::uint32_t index) {
  if (--state(index).waits_for > 0) return;
  const TimePs earliest = workload().nodes[index].earliest;
  alarms_.push(
      {std::max(now, skipped_ == nullptr ? earliest : skipped_->kernel_time(earliest)), index, AlarmKind::start});
}

void WorkPlayer::fire_alarms(TimePs now) {
  while (!alarms_.empty() && alarms_.top().at <= now) {
    const Alarm alarm = alarms_.top();
    alarms_.pop();
    if (alarm.kind == AlarmKind::call) {
      software_->called(now, alarm.node);
    } else if (alarm.kind == AlarmKind::start) {
      begin(now, alarm.node);
    } else if (alarm.kind == AlarmKind::staged) {
      if (workload().nodes[alarm.node].kind == WorkKind::reduction) {
        begin_reduction(now, alarm.node);
      } else {
        begin_send(now, alarm.node);
      }
    } else if (workload().nodes[alarm.node].kind == WorkKind::send) {
      finish_local_send(now, alarm.node);
    } else {
      finish(now, alarm.node);
    }
  }
}

void WorkPlayer::receive_completed(TimePs now, const Cqe& cqe) {
  // The baseline keeps no count of posted receives.
  if (const auto& receiver = nic_.qps[cqe.qp].receiver) receiver->post_receive(1);
  const std::uint32_t index = cqe.immediate;
  NodeState& node_state = state(index);
  if (nic_.scenario.traffic.split_over_qps) {
    if (node_state.chunks_left == 0) {
      const std::uint64_t piece = piece_of_qp(workload().nodes[index].bytes);
      node_state.chunks_left = static_cast<std::uint32_t>((workload().nodes[index].bytes + piece - 1) / piece);
    }
    // Each QP keeps an order of its own, so that the last piece may come before others.
    if (--node_state.chunks_left > 0) return;
  }
  const std::uint64_t bytes = workload().nodes[index].bytes;
  progress_ += bytes;
  statistics_.received_bytes += bytes;
  node_state.arrived = true;
  node_state.known_at = usable_at(now, workload().nodes[index]);
  if (node_state.started) finish_receive(now, index);
}

std::uint64_t WorkPlayer::differing_bytes(const Chunk& chunk, const Channel& channel, std::uint64_t& first) const {
  const std::byte* sent = memory_.data(chunk.source, chunk.bytes);
  const std::byte* got = channel.peer_memory->data(chunk.destination, chunk.bytes);
  if (std::memcmp(sent, got, chunk.bytes) == 0) return 0;
  std::uint64_t wrong = 0;
  first = chunk.bytes;
  for (std::uint64_t i = 0; i < chunk.bytes; ++i) {
    if (sent[i] == got[i]) continue;
    first = std::min(first, i);
    ++wrong;
  }
  return wrong;
}

PlacementTally wanted_placement(std::uint64_t destination, std::uint64_t bytes, std::uint32_t mtu_bytes) {
  PlacementTally wanted;
  for (std::uint64_t at = 0; at < bytes; at += mtu_bytes)
    wanted.add(destination + at, std::min<std::uint64_t>(mtu_bytes, bytes - at));
  return wanted;
}

void WorkPlayer::misplaced(const PlacementQuestion& question, const PlacementTally& placed) {
  const PlacementTally wanted =
      wanted_placement(question.destination, question.bytes, nic_.scenario.protocol.mtu_bytes);
  if (question.at < statistics_.first_corruption_at) {
    statistics_.first_corruption_at = question.at;
    statistics_.first_corruption =
        fmt::format("message of {} line or node {}: {} of {} bytes were placed at nic{}, in {} writes instead of {}",
                    workload().source, workload().nodes[question.work].origin, placed.bytes, question.bytes,
                    question.receiver, placed.writes, wanted.writes);
  }
  const std::uint64_t missing = placed.bytes < wanted.bytes ? wanted.bytes - placed.bytes : placed.bytes - wanted.bytes;
  statistics_.corrupted_bytes += std::max<std::uint64_t>(missing, 1);
}

void WorkPlayer::compare(TimePs now, const Chunk& chunk, const Channel& channel) {
  const PlacementQuestion question{now, nic_.node, channel.flow.peer, chunk.destination, chunk.bytes, chunk.node};
  if (channel.peer_memory == nullptr) {
    // All nodes' memories track, or none does.
    if (memory_.tracks_placement()) questions_->push_back(question);
    return;
  }
  if (memory_.mode() == PayloadMode::bytes && channel.peer_memory->mode() == PayloadMode::bytes) {
    std::uint64_t first = 0;
    const std::uint64_t wrong = differing_bytes(chunk, channel, first);
    if (wrong == 0) return;
    if (statistics_.first_corruption.empty()) {
      const std::byte* sent = memory_.data(chunk.source, chunk.bytes);
      const std::byte* got = channel.peer_memory->data(chunk.destination, chunk.bytes);
      statistics_.first_corruption_at = now;
      statistics_.first_corruption = fmt::format(
          "message of {} line or node {}: {} of {} bytes differ at nic{}, the first at offset {} (address {:#x}): sent "
          "{:#04x}, found {:#04x}",
          workload().source, workload().nodes[chunk.node].origin, wrong, chunk.bytes, channel.flow.peer, first,
          chunk.destination + first, static_cast<unsigned>(sent[first]), static_cast<unsigned>(got[first]));
    }
    statistics_.corrupted_bytes += wrong;
    return;
  }
  if (!channel.peer_memory->tracks_placement()) return;
  const PlacementTally placed = channel.peer_memory->take_placement(chunk.destination);
  if (placed != wanted_placement(chunk.destination, chunk.bytes, nic_.scenario.protocol.mtu_bytes)) {
    misplaced(question, placed);
  }
}

void WorkPlayer::put_state(ByteWriter& to) const {
  to.put(states_);
  to.put(nodes_left_);
  to.put(progress_);
  const HostStatistics& s = statistics_;
  to.put(std::array{s.first_doorbell, s.last_completion, s.acknowledged_bytes, s.local_bytes, s.received_bytes,
                    s.messages_started, s.messages_completed, s.messages_failed, s.corrupted_bytes,
                    s.first_corruption_at});
  to.put(s.first_corruption);
  to.put(s.first_failure);
  to.put(s.message_times);
}

void WorkPlayer::get_state(ByteReader& from) {
  from.get(states_);
  from.get(nodes_left_);
  from.get(progress_);
  HostStatistics& s = statistics_;
  const auto values = from.get<std::array<std::uint64_t, 10>>();
  std::tie(s.first_doorbell, s.last_completion, s.acknowledged_bytes, s.local_bytes, s.received_bytes,
           s.messages_started, s.messages_completed, s.messages_failed, s.corrupted_bytes, s.first_corruption_at) =
      std::tuple_cat(values);
  from.get(s.first_corruption);
  from.get(s.first_failure);
  from.get(s.message_times);
}

void WorkPlayer::send_completed(TimePs now, const Cqe& cqe) {
  const Chunk chunk = chunks_[cqe.id];
  free_chunks_.push_back(static_cast<std::uint32_t>(cqe.id));
  Channel& channel = channels_[chunk.channel];
  channel.free_slots.push_back(chunk.slot);
  if (channel.without_room > 0) {
    --channel.without_room;
    turns_of(channel).push(chunk.channel);
  }
  NodeState& node_state = state(chunk.node);
  if (cqe.status == CompletionStatus::success) {
    compare(now, chunk, channel);
    statistics_.acknowledged_bytes += chunk.bytes;
    progress_ += chunk.bytes;
  } else if (statistics_.first_failure.empty()) {
    statistics_.first_failure =
        fmt::format("message of {} line or node {} from nic{} to nic{}: {}", workload().source,
                    workload().nodes[chunk.node].origin, nic_.node, channel.flow.peer, to_string(cqe.status));
  }
  if (cqe.status != CompletionStatus::success) node_state.failed = true;
  if (--node_state.chunks_left > 0) return;
  --messages_under_way_;
  device_.message_completed(now);
  note_completion(now, node_state, cqe.because);
  ++(node_state.failed ? statistics_.messages_failed : statistics_.messages_completed);
  finish(now, chunk.node);
}

std::uint64_t WorkPlayer::source_offset(const Channel& channel, std::uint64_t bytes) const {
  // A stride prime to the number of places: a slot's next message comes from another place, so old bytes cannot pass.
  constexpr std::uint64_t stride = 769;
  const std::uint64_t places = (channel.source_bytes - bytes) / kPageBytes + 1;
  return channel.sequence * stride % places * kPageBytes;
}

WorkPlayer::PostOutcome WorkPlayer::post_message(TimePs now, std::uint32_t channel_index) {
  Channel& channel = channels_[channel_index];
  do {
    if (is_held(channel)) return PostOutcome::qp_held;
    if (channel.free_slots.empty()) return PostOutcome::no_slot;
    if (!device_.can_post(now)) return PostOutcome::device_full;
    post_piece(now, channel, channel_index);
  } while (channel.posted_of_first > 0);
  return PostOutcome::posted;
}

bool WorkPlayer::is_held(const Channel& channel) const {
  if (held_.empty() || !held_[qp_of(channel)]) return false;
  return channel.posted_of_first == 0 || nic_.scenario.traffic.split_over_qps;
}

void WorkPlayer::hold(std::uint32_t qp) {
  held_.resize(nic_.qps.size());
  held_[qp] = true;
}

void WorkPlayer::end_hold(std::uint32_t qp) {
  held_[qp] = false;
  for (const std::uint32_t channel : std::exchange(held_channels_, {})) turns_of(channels_[channel]).push(channel);
}

bool WorkPlayer::is_posting_to(std::uint32_t qp) const {
  // A piece of a message that is split is whole in itself.
  if (nic_.scenario.traffic.split_over_qps) return false;
  return std::ranges::any_of(
      channels_, [&](const Channel& channel) { return channel.posted_of_first > 0 && qp_of(channel) == qp; });
}

std::uint64_t WorkPlayer::piece_of_qp(std::uint64_t message_bytes) const {
  const TrafficConfig& traffic = nic_.scenario.traffic;
  const std::uint64_t mtu = nic_.scenario.protocol.mtu_bytes;
  const std::uint64_t part = (message_bytes + traffic.qps_per_peer - 1) / traffic.qps_per_peer;
  return std::min((part + mtu - 1) / mtu * mtu, traffic.buffer_bytes / 2 / kPageBytes * kPageBytes);
}

/// Precondition: the channel has a free slot and the device has room.
void WorkPlayer::post_piece(TimePs now, Channel& channel, std::uint32_t channel_index) {
  const std::uint32_t index = channel.pending.front();
  const WorkNode& node = workload().nodes[index];
  NodeState& node_state = state(index);
  const bool split = nic_.scenario.traffic.split_over_qps;
  const std::uint64_t piece = split ? piece_of_qp(node.bytes) : channel.slot_bytes;
  if (channel.posted_of_first == 0) {
    node_state.posted_at = now;
    ++messages_under_way_;
    node_state.chunks_left = static_cast<std::uint32_t>((node.bytes + piece - 1) / piece);
  }
  const std::uint64_t bytes = std::min(piece, node.bytes - channel.posted_of_first);
  if (free_chunks_.empty()) {
    free_chunks_.push_back(static_cast<std::uint32_t>(chunks_.size()));
    chunks_.emplace_back();
  }
  const std::uint32_t id = free_chunks_.back();
  free_chunks_.pop_back();
  const std::uint32_t slot = channel.free_slots.back();
  channel.free_slots.pop_back();
  const std::uint64_t offset = nic_.scenario.traffic.offset_bytes;
  chunks_[id] = {channel.source_base + source_offset(channel, bytes) + offset,
                 channel.destination_base + slot * channel.slot_stride + offset,
                 static_cast<std::uint32_t>(bytes),
                 index,
                 slot,
                 channel_index};
  channel.posted_of_first += bytes;
  const bool last_chunk = channel.posted_of_first == node.bytes;
  const std::uint32_t qp = qp_of(channel);
  ++channel.sequence;
  const WorkRequest request{.id = id,
                            .local_address = chunks_[id].source,
                            .remote_address = chunks_[id].destination,
                            .rkey = channel.rkey,
                            .bytes = chunks_[id].bytes,
                            .immediate = node.match,
                            .write_imm = (last_chunk || split) && node.match != kNoWork};
  statistics_.first_doorbell = std::min(statistics_.first_doorbell, now + ps_from_ns(nic_.config.host.post_ns));
  device_.post(now, qp, request, statistics_.first_doorbell);
  if (last_chunk || split) ++channel.turn;
  if (last_chunk) {
    channel.pending.pop();
    channel.posted_of_first = 0;
    if (channel.pending.empty()) --pending_channels_;
  }
}

void WorkPlayer::post_all(TimePs now) {
  for (std::size_t c = turns_.size(); c-- > 0;) {
    while (!turns_[c].empty()) {
      const std::uint32_t channel = turns_[c].front();
      const PostOutcome outcome = post_message(now, channel);
      if (outcome == PostOutcome::device_full) return;
      turns_[c].pop();
      if (outcome == PostOutcome::no_slot) ++channels_[channel].without_room;
      if (outcome == PostOutcome::qp_held) held_channels_.push_back(channel);
    }
  }
}

std::vector<WorkPlayer::Posting> WorkPlayer::postings() const {
  std::vector<Posting> found;
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    const Channel& channel = channels_[i];
    if (channel.posted_of_first == 0) continue;
    const std::uint32_t work = channel.pending.front();
    found.push_back(
        {i, work, workload().nodes[work].bytes - channel.posted_of_first, channel.slot_bytes, &channel.qps});
  }
  return found;
}

void WorkPlayer::skip_pieces(std::uint32_t channel_index, std::uint64_t pieces) {
  Channel& channel = channels_[channel_index];
  const std::uint64_t bytes = pieces * channel.slot_bytes;
  channel.posted_of_first += bytes;
  state(channel.pending.front()).chunks_left -= static_cast<std::uint32_t>(pieces);
  statistics_.acknowledged_bytes += bytes;
  progress_ += bytes;
}

void WorkPlayer::skip_time(TimePs now, TimePs time) {
  std::vector<Alarm> later;
  for (; !alarms_.empty(); alarms_.pop()) later.push_back(alarms_.top());
  for (Alarm& alarm : later) {
    alarm.at -= time;
    alarms_.push(alarm);
  }
  for (NodeState& node_state : states_) {
    if (node_state.known_at > now)
      node_state.known_at = std::max(now, node_state.known_at - std::min(node_state.known_at, time));
  }
  accelerator_.skip(time);
}

void WorkPlayer::step(TimePs now) {
  fire_alarms(now);
  post_all(now);
}

std::vector<std::string> WorkPlayer::describe_waits(std::size_t most) const {
  std::vector<std::string> lines;
  const auto& own = placement_.of_node[nic_.node];
  for (std::size_t i = 0; i < own.size() && lines.size() < most; ++i) {
    if (!states_[i].started || states_[i].done) continue;
    const WorkNode& node = workload().nodes[own[i]];
    if (node.kind == WorkKind::compute) continue;
    if (node.kind == WorkKind::reduction) {
      lines.push_back(fmt::format("rank {}: reduction of {} B in switches ({} line or node {})", node.rank, node.bytes,
                                  workload().source, node.origin));
      continue;
    }
    lines.push_back(fmt::format("rank {}: {} of {} B {} rank {} (tag {}, {} line or node {})", node.rank,
                                node.kind == WorkKind::send ? "send" : "receive", node.bytes,
                                node.kind == WorkKind::send ? "to" : "from", node.peer, node.tag, workload().source,
                                node.origin));
  }
  return lines;
}

}  // namespace mrc
