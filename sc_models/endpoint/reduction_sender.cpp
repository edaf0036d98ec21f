#include "endpoint/reduction_sender.h"

#include <algorithm>

#include <fmt/format.h>

namespace mrc {
namespace {

/// A timeout is at most this power of two as long as the first.
constexpr std::uint32_t kMostDoublings = 6;

}  // namespace

ReductionSender::ReductionSender(const NodeContext& nic, Network& network, const ReductionPlan& plan,
                                 ReductionNode& node)
    : nic_(nic),
      network_(network),
      plan_(plan),
      node_(node),
      planes_(nic.config.nic.ports),
      slot_bytes_(nic.scenario.fabric.reduction.slot_bytes),
      timeout_ps_(ps_from_us(nic.scenario.fabric.reduction.timeout_us)),
      index_of_stream_(plan.streams().size()) {
  for (const std::uint32_t number : plan.streams_of(nic.node)) {
    index_of_stream_[number] = static_cast<std::uint32_t>(streams_.size());
    Stream& stream = streams_.emplace_back();
    stream.number = number;
    stream.trees.resize(planes_);
    const std::uint32_t window = network.reduction()->window(number);
    for (Tree& tree : stream.trees) {
      for (std::uint32_t slot = 0; slot < window; ++slot) tree.slots.push_back({.next = slot});
    }
  }
}

// Work

void ReductionSender::begin(TimePs now, std::uint32_t work) {
  const std::uint32_t reduction = plan_.workload().nodes[work].match;
  Stream& stream = streams_[index_of_stream_[plan_.stream_of(reduction)]];
  stream.early.emplace_back(reduction, work);
  const std::vector<std::uint32_t>& order = plan_.streams()[stream.number].reductions;
  for (;;) {
    if (stream.begun == order.size()) break;
    const auto turn = std::find_if(stream.early.begin(), stream.early.end(),
                                   [&](const auto& early) { return early.first == order[stream.begun]; });
    if (turn == stream.early.end()) break;
    const auto [next, node] = *turn;
    stream.early.erase(turn);
    ++stream.begun;
    activate(stream, next, node);
  }
  for (std::uint32_t plane = 0; plane < planes_; ++plane) fill_slots(now, stream, plane);
}

void ReductionSender::activate(Stream& stream, std::uint32_t reduction, std::uint32_t work) {
  Active active;
  active.work = work;
  active.reduction = reduction;
  active.chunks = (plan_.workload().reductions[reduction].bytes + slot_bytes_ - 1) / slot_bytes_;
  active.chunks_left = active.chunks;
  // Short reductions do not all begin in the same plane.
  active.first_plane = static_cast<std::uint32_t>((stream.begun - 1) % planes_);
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    const std::uint32_t turn = (plane + planes_ - active.first_plane) % planes_;
    Tree& tree = stream.trees[plane];
    active.first.push_back(tree.end);
    if (active.chunks > turn) tree.end += (active.chunks - turn - 1) / planes_ + 1;
  }
  stream.active.push_back(std::move(active));
}

ReductionSender::Chunk ReductionSender::chunk_of(Stream& stream, std::uint32_t plane, std::uint64_t sequence) const {
  auto of = std::upper_bound(stream.active.begin(), stream.active.end(), sequence,
                             [&](std::uint64_t s, const Active& active) { return s < active.first[plane]; });
  Active& active = *(of - 1);
  const std::uint64_t turn = (plane + planes_ - active.first_plane) % planes_;
  const std::uint64_t chunk = (sequence - active.first[plane]) * planes_ + turn;
  const std::uint64_t left = plan_.workload().reductions[active.reduction].bytes - chunk * slot_bytes_;
  return {&active, static_cast<std::uint32_t>(std::min<std::uint64_t>(slot_bytes_, left))};
}

// Sending

void ReductionSender::fill_slots(TimePs now, Stream& stream, std::uint32_t plane) {
  Tree& tree = stream.trees[plane];
  // Slots that wait for nothing are those whose next sequence number had not begun: in order of these numbers.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> idle;
  for (std::uint32_t slot = 0; slot < tree.slots.size(); ++slot) {
    if (!tree.slots[slot].waiting && tree.slots[slot].next < tree.end) idle.emplace_back(tree.slots[slot].next, slot);
  }
  std::sort(idle.begin(), idle.end());
  for (const auto& [sequence, slot] : idle) send(now, stream, plane, slot);
}

void ReductionSender::send(TimePs now, Stream& stream, std::uint32_t plane, std::uint32_t index) {
  Slot& slot = stream.trees[plane].slots[index];
  const bool repeated = slot.times_sent > 0;
  const Chunk chunk = chunk_of(stream, plane, slot.next);
  const std::uint32_t tree = tree_of(stream, plane);
  const std::uint32_t transit = network_.new_transit();
  Packet& packet = network_.packet_of(transit);
  packet = Packet{};
  packet.is_reduction = true;
  packet.reduction = {.sequence = slot.next,
                      .sum = plan_.value_of(nic_.node, stream.number, tree, slot.next),
                      .tree = tree,
                      .ranks = 1};
  packet.opcode = Opcode::write_middle;
  packet.role = TrafficRole::no_trim;
  packet.ecn = Ecn::not_ect;
  packet.payload_bytes = chunk.bytes;
  packet.traffic_class = plan_.workload().nodes[chunk.of->work].traffic_class & (kMostTrafficClasses - 1);
  packet.psn = static_cast<Psn>(slot.next & kPsnMask);
  packet.plane = static_cast<std::uint8_t>(plane);
  packet.source_node = nic_.node;
  packet.destination_qp = tree;
  packet.retransmission = repeated;
  const TimePs busy_until = network_.send(now, nic_.node, plane, transit);
  node_.part_sent(plane, chunk.bytes, repeated, busy_until);
  slot.waiting = true;
  ++slot.times_sent;
  const TimePs timeout = timeout_ps_ << std::min(slot.times_sent - 1, kMostDoublings);
  timers_.push({busy_until + timeout, index_of_stream_[stream.number], plane, index, slot.times_sent, slot.next});
}

void ReductionSender::serve_timers(TimePs now) {
  while (!timers_.empty() && timers_.top().at <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    if (is_stale(timer)) continue;
    ++counts_.timeouts;
    send(now, streams_[timer.stream], timer.plane, timer.slot);
  }
}

TimePs ReductionSender::next_timer() {
  while (!timers_.empty() && is_stale(timers_.top())) timers_.pop();
  return timers_.empty() ? kNever : timers_.top().at;
}

bool ReductionSender::is_stale(const Timer& timer) const {
  const Slot& slot = streams_[timer.stream].trees[timer.plane].slots[timer.slot];
  return !slot.waiting || slot.next != timer.sequence || slot.times_sent != timer.times_sent;
}

// Results

void ReductionSender::receive(TimePs now, const Packet& packet) {
  const ReductionFields& result = packet.reduction;
  Stream& stream = streams_[index_of_stream_[result.tree / planes_]];
  const std::uint32_t plane = result.tree % planes_;
  Tree& tree = stream.trees[plane];
  const auto index = static_cast<std::uint32_t>(result.sequence % tree.slots.size());
  Slot& slot = tree.slots[index];
  if (!slot.waiting || slot.next != result.sequence) {
    ++counts_.repeated_results;
    return;
  }
  const Chunk chunk = chunk_of(stream, plane, result.sequence);
  Active& active = *chunk.of;
  slot = {.next = result.sequence + tree.slots.size()};
  node_.part_reduced(now, active.work, chunk.bytes, difference(stream, result));
  if (--active.chunks_left == 0) node_.all_reduced(now, active.work);
  while (!stream.active.empty() && stream.active.front().chunks_left == 0) stream.active.pop_front();
  if (slot.next < tree.end) send(now, stream, plane, index);
}

std::string ReductionSender::difference(const Stream& stream, const ReductionFields& result) const {
  const std::size_t ranks = plan_.streams()[stream.number].nics.size();
  const std::uint64_t sum = plan_.sum_of(stream.number, result.tree, result.sequence);
  if (result.ranks == ranks && result.sum == sum) return {};
  return fmt::format("packet {} of tree {} has the sum {:#x} of {} ranks instead of {:#x} of {}", result.sequence,
                     result.tree, result.sum, result.ranks, sum, ranks);
}

// What others ask

ReductionSender::Waits ReductionSender::waits_for(TimePs now) const {
  Waits waits = Waits::nothing;
  for (const Stream& stream : streams_) {
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      const Tree& tree = stream.trees[plane];
      const auto is_waiting = [](const Slot& slot) { return slot.waiting; };
      if (std::none_of(tree.slots.begin(), tree.slots.end(), is_waiting)) continue;
      if (network_.reduction()->waits_for_adder(now, tree_of(stream, plane))) return Waits::adder;
      // A slot's next packet is ready.
      const bool more = std::any_of(tree.slots.begin(), tree.slots.end(), [&](const Slot& slot) {
        return slot.waiting && slot.next + tree.slots.size() < tree.end;
      });
      if (more) waits = Waits::slots;
    }
  }
  return waits;
}

std::vector<std::string> ReductionSender::describe_waits(std::size_t most) const {
  std::vector<std::string> lines;
  for (const Stream& stream : streams_) {
    for (const auto& [reduction, work] : stream.early) {
      if (lines.size() >= most) return lines;
      lines.push_back(fmt::format("nic{}: a reduction of {} B waits for an earlier one of its ranks", nic_.node,
                                  plan_.workload().reductions[reduction].bytes));
    }
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      const std::vector<Slot>& slots = stream.trees[plane].slots;
      const auto oldest = std::min_element(slots.begin(), slots.end(), [](const Slot& a, const Slot& b) {
        return a.waiting != b.waiting ? a.waiting : a.next < b.next;
      });
      if (!oldest->waiting) continue;
      if (lines.size() >= most) return lines;
      lines.push_back(fmt::format("nic{}: plane {} has no result for packet {} of tree {}, sent {} times", nic_.node,
                                  plane, oldest->next, tree_of(stream, plane), oldest->times_sent));
    }
  }
  return lines;
}

}  // namespace mrc
