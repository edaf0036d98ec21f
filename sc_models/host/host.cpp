#include "host/host.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace mrc {
namespace {

constexpr std::uint32_t kCompletionQueueEntries = 4096;
constexpr std::uint64_t kPageBytes = 4096;

TimePs ps(double ns) {
  return static_cast<TimePs>(ns * 1000.0 + 0.5);
}

}  // namespace

Host::Host(const sc_core::sc_module_name& name, WheelModule& owner, NicContext& nic, Nic& device, HostMemory& memory,
           const Workload& workload, const std::vector<NodeId>& node_of_rank)
    : Box(name, owner),
      nic_(nic),
      device_(device),
      memory_(memory),
      workload_(workload),
      node_of_rank_(node_of_rank),
      local_(workload.nodes.size(), kNoWork),
      completions_("host.completion_queue", kCompletionQueueEntries) {
  completions_.connect(this);
  device_.completion().connect(completions_);
  for (std::uint32_t i = 0; i < workload.nodes.size(); ++i) {
    if (!mine(workload.nodes[i])) continue;
    local_[i] = static_cast<std::uint32_t>(states_.size());
    states_.push_back({.waits_for = workload.nodes[i].dependencies});
  }
  nodes_left_ = states_.size();
}

void Host::add_channel(Channel channel) {
  channel_of_peer_[channel.peer] = static_cast<std::uint32_t>(channels_.size());
  channels_.push_back(std::move(channel));
}

void Host::start() {
  for (std::uint32_t i = 0; i < local_.size(); ++i) {
    if (local_[i] != kNoWork && state(i).waits_for == 0) alarms_.push({workload_.nodes[i].earliest, i, true});
  }
  if (!alarms_.empty()) wake_at(alarms_.top().at);
}

void Host::begin(TimePs now, std::uint32_t index) {
  const WorkNode& node = workload_.nodes[index];
  NodeState& node_state = state(index);
  node_state.started = true;
  switch (node.kind) {
    case WorkKind::compute:
      alarms_.push({now + node.duration, index, false});
      return;
    case WorkKind::receive:
      if (node_state.arrived) finish_receive(now, index);
      return;
    case WorkKind::send: {
      const auto channel = channel_of_peer_.at(node_of_rank_[node.peer]);
      channels_[channel].pending.push(index);
      ++statistics_.messages_started;
      nic_.tx_work.begin(now);
      return;
    }
  }
}

void Host::finish_receive(TimePs now, std::uint32_t index) {
  if (state(index).known_at <= now) {
    finish(now, index);
  } else {
    alarms_.push({state(index).known_at, index, false});
  }
}

void Host::finish(TimePs now, std::uint32_t index) {
  state(index).done = true;
  --nodes_left_;
  statistics_.last_completion = std::max(statistics_.last_completion, now);
  if (nodes_left_ == 0) device_.idle_causes().finish(now);
  release_dependents(now, index);
}

void Host::release_dependents(TimePs now, std::uint32_t index) {
  const WorkNode& node = workload_.nodes[index];
  for (std::uint32_t i = 0; i < node.dependents; ++i) {
    const std::uint32_t dependent = workload_.dependents[node.first_dependent + i];
    if (--state(dependent).waits_for > 0) continue;
    alarms_.push({std::max(now, workload_.nodes[dependent].earliest), dependent, true});
  }
}

void Host::fire_alarms(TimePs now) {
  while (!alarms_.empty() && alarms_.top().at <= now) {
    const Alarm alarm = alarms_.top();
    alarms_.pop();
    if (alarm.start) {
      begin(now, alarm.node);
    } else {
      finish(now, alarm.node);
    }
  }
}

void Host::poll(TimePs now) {
  while (completions_.ready(now)) {
    const Cqe cqe = completions_.pop(now);
    if (cqe.kind == Cqe::Kind::send) {
      send_completed(now, cqe);
    } else {
      nic_.qps[cqe.qp].responder->post_receive(1);
      received(now, cqe.immediate);
    }
  }
}

void Host::received(TimePs now, std::uint32_t index) {
  NodeState& node_state = state(index);
  const std::uint64_t bytes = workload_.nodes[index].bytes;
  progress_ += bytes;
  statistics_.received_bytes += bytes;
  node_state.arrived = true;
  node_state.known_at = now + ps(nic_.config.host.residual_ns);
  if (node_state.started) finish_receive(now, index);
}

void Host::compare(const Chunk& chunk, const Channel& channel) {
  if (memory_.mode() == PayloadMode::reference) return;
  const std::byte* sent = memory_.data(chunk.source, chunk.bytes);
  const std::byte* got = channel.peer_memory->data(chunk.destination, chunk.bytes);
  if (std::memcmp(sent, got, chunk.bytes) == 0) return;
  std::uint64_t wrong = 0;
  std::uint64_t first = chunk.bytes;
  for (std::uint64_t i = 0; i < chunk.bytes; ++i) {
    if (sent[i] == got[i]) continue;
    first = std::min(first, i);
    ++wrong;
  }
  if (statistics_.first_corruption.empty()) {
    statistics_.first_corruption = fmt::format(
        "message of {} line or node {}: {} of {} bytes differ at nic{}, the first at offset {} (address {:#x}): sent "
        "{:#04x}, found {:#04x}",
        workload_.source, workload_.nodes[chunk.node].origin, wrong, chunk.bytes, channel.peer, first,
        chunk.destination + first, static_cast<unsigned>(sent[first]), static_cast<unsigned>(got[first]));
  }
  statistics_.corrupted_bytes += wrong;
}

void Host::send_completed(TimePs now, const Cqe& cqe) {
  const Chunk chunk = chunks_[cqe.id];
  free_chunks_.push_back(static_cast<std::uint32_t>(cqe.id));
  Channel& channel = channels_[chunk.channel];
  channel.free_slots.push_back(chunk.slot);
  NodeState& node_state = state(chunk.node);
  if (cqe.status == CompletionStatus::success) {
    compare(chunk, channel);
    statistics_.acknowledged_bytes += chunk.bytes;
    progress_ += chunk.bytes;
  } else if (statistics_.first_failure.empty()) {
    statistics_.first_failure =
        fmt::format("message of {} line or node {} from nic{} to nic{}: {}", workload_.source,
                    workload_.nodes[chunk.node].origin, nic_.node, channel.peer, to_string(cqe.status));
  }
  if (cqe.status != CompletionStatus::success) node_state.failed = true;
  if (--node_state.chunks_left > 0) return;
  nic_.tx_work.end(now);
  statistics_.message_times.push_back(now - node_state.posted_at);
  ++(node_state.failed ? statistics_.messages_failed : statistics_.messages_completed);
  finish(now, chunk.node);
}

std::uint64_t Host::source_offset(const Channel& channel, std::uint64_t bytes) const {
  // A stride prime to the number of places: a slot's next message comes from another place, so old bytes cannot pass.
  constexpr std::uint64_t stride = 769;
  const std::uint64_t places = (channel.source_bytes - bytes) / kPageBytes + 1;
  return channel.sequence * stride % places * kPageBytes;
}

bool Host::post_next(TimePs now, Channel& channel, std::uint32_t channel_index) {
  if (channel.pending.empty() || channel.free_slots.empty()) return false;
  if (device_.doorbell().queue().full()) {
    device_.doorbell().queue().wait_room(now, *this);
    return false;
  }
  const std::uint32_t index = channel.pending.front();
  const WorkNode& node = workload_.nodes[index];
  NodeState& node_state = state(index);
  if (channel.posted_of_first == 0) {
    node_state.posted_at = now;
    node_state.chunks_left = static_cast<std::uint32_t>((node.bytes + channel.slot_bytes - 1) / channel.slot_bytes);
  }
  const std::uint64_t bytes = std::min(channel.slot_bytes, node.bytes - channel.posted_of_first);
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
  const std::uint32_t qp = channel.qps[channel.turn % channel.qps.size()];
  ++channel.sequence;
  nic_.qps[qp].send_queue.post({.id = id,
                                .local_address = chunks_[id].source,
                                .remote_address = chunks_[id].destination,
                                .rkey = channel.rkey,
                                .bytes = chunks_[id].bytes,
                                .immediate = node.match,
                                .write_imm = last_chunk && node.match != kNoWork});
  const HostConfig& host = nic_.config.host;
  device_.doorbell().queue().push(now, qp, now + ps(host.post_ns) + ps(host.doorbell_ns));
  statistics_.first_doorbell = std::min(statistics_.first_doorbell, now + ps(host.post_ns));
  device_.idle_causes().start(statistics_.first_doorbell);
  if (last_chunk) {
    channel.pending.pop();
    channel.posted_of_first = 0;
    ++channel.turn;
  }
  return true;
}

void Host::post_all(TimePs now) {
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    while (post_next(now, channels_[i], i)) {
    }
  }
}

void Host::step(TimePs now) {
  poll(now);
  fire_alarms(now);
  post_all(now);
  nic_.doorbells_full = device_.doorbell().queue().full();
  nic_.host_has_more =
      std::any_of(channels_.begin(), channels_.end(), [](const Channel& c) { return !c.pending.empty(); });
  if (!alarms_.empty()) wake_at(alarms_.top().at);
  completions_.wait_ready(now);
}

std::vector<std::string> Host::describe_waits(std::size_t most) const {
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; i < local_.size() && lines.size() < most; ++i) {
    if (local_[i] == kNoWork) continue;
    const NodeState& node_state = states_[local_[i]];
    if (!node_state.started || node_state.done) continue;
    const WorkNode& node = workload_.nodes[i];
    if (node.kind == WorkKind::compute) continue;
    lines.push_back(fmt::format("rank {}: {} of {} B {} rank {} (tag {}, {} line or node {})", node.rank,
                                node.kind == WorkKind::send ? "send" : "receive", node.bytes,
                                node.kind == WorkKind::send ? "to" : "from", node.peer, node.tag, workload_.source,
                                node.origin));
  }
  return lines;
}

}  // namespace mrc
