#include "endpoint/reduction_sender.h"

#include <algorithm>

#include <fmt/format.h>

#include "mrc/reduction/reduction_packet.h"

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
      index_of_stream_(plan.streams().size()),
      turns_(planes_) {
  for (const std::uint32_t number : plan.streams_of(nic.node)) {
    index_of_stream_[number] = static_cast<std::uint32_t>(streams_.size());
    Stream& stream = streams_.emplace_back();
    stream.number = number;
    stream.windows.assign(planes_, ReductionWindow(network.reduction()->window(number)));
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
    const std::uint32_t node = turn->second;
    stream.early.erase(turn);
    ++stream.begun;
    activate(stream, node);
  }
  for (std::uint32_t plane = 0; plane < planes_; ++plane) ask_for_port(now, plane);
}

void ReductionSender::activate(Stream& stream, std::uint32_t work) {
  const std::uint64_t chunks = (plan_.workload().nodes[work].bytes + slot_bytes_ - 1) / slot_bytes_;
  Active active;
  active.work = work;
  active.chunks_left = chunks;
  // Short reductions do not all begin in the same plane.
  active.first_plane = static_cast<std::uint32_t>((stream.begun - 1) % planes_);
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    const std::uint32_t turn = (plane + planes_ - active.first_plane) % planes_;
    active.first.push_back(stream.windows[plane].end());
    if (chunks > turn) stream.windows[plane].extend((chunks - turn - 1) / planes_ + 1);
  }
  stream.active.push_back(std::move(active));
}

ReductionSender::Chunk ReductionSender::chunk_of(Stream& stream, std::uint32_t plane, std::uint64_t sequence) const {
  auto of = std::upper_bound(stream.active.begin(), stream.active.end(), sequence,
                             [&](std::uint64_t s, const Active& active) { return s < active.first[plane]; });
  Active& active = *(of - 1);
  const std::uint64_t turn = (plane + planes_ - active.first_plane) % planes_;
  const std::uint64_t chunk = (sequence - active.first[plane]) * planes_ + turn;
  const std::uint64_t left = plan_.workload().nodes[active.work].bytes - chunk * slot_bytes_;
  return {&active, static_cast<std::uint32_t>(std::min<std::uint64_t>(slot_bytes_, left))};
}

// Sending

bool ReductionSender::has_ready(std::uint32_t plane) {
  return std::any_of(streams_.begin(), streams_.end(),
                     [&](Stream& stream) { return stream.windows[plane].has_ready(); });
}

void ReductionSender::port_free(TimePs now, std::uint32_t plane) {
  if (!has_ready(plane) || network_.free_at(network_.topology().uplink_of(nic_.node, plane)) > now) return;
  send_next(now, plane);
}

void ReductionSender::send_next(TimePs now, std::uint32_t plane) {
  std::size_t& turn = turns_[plane];
  while (!streams_[turn].windows[plane].has_ready()) turn = (turn + 1) % streams_.size();
  send(now, streams_[turn], plane);
  turn = (turn + 1) % streams_.size();
  ask_for_port(now, plane);
}

void ReductionSender::send(TimePs now, Stream& stream, std::uint32_t plane) {
  const ReductionWindow::Transmission sent = stream.windows[plane].take();
  const bool retransmission = sent.times_sent > 1;
  const Chunk chunk = chunk_of(stream, plane, sent.sequence);
  const std::uint32_t tree = tree_of(stream, plane);
  const std::uint32_t transit = network_.new_transit();
  network_.packet_of(transit) =
      make_packet({.fields = {.sequence = sent.sequence,
                              .sum = plan_.value_of(nic_.node, stream.number, tree, sent.sequence),
                              .tree = tree,
                              .ranks = 1},
                   .payload_bytes = chunk.bytes,
                   .source_node = nic_.node,
                   .plane = static_cast<std::uint8_t>(plane),
                   .traffic_class = plan_.workload().nodes[chunk.of->work].traffic_class,
                   .retransmission = retransmission});
  const TimePs busy_until = network_.send(now, nic_.node, plane, transit);
  const TimePs timeout = timeout_ps_ << std::min(sent.times_sent - 1, kMostDoublings);
  timers_.push({busy_until + timeout, index_of_stream_[stream.number], plane, sent});
  node_.part_sent(plane, chunk.bytes, retransmission, busy_until);
}

void ReductionSender::serve_timers(TimePs now) {
  while (!timers_.empty() && timers_.top().at <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    if (!is_needed(timer)) continue;
    ++counts_.timeouts;
    streams_[timer.stream].windows[timer.plane].retransmit(timer.sent.sequence);
    ask_for_port(now, timer.plane);
  }
}

TimePs ReductionSender::next_timer() {
  while (!timers_.empty() && !is_needed(timers_.top())) timers_.pop();
  return timers_.empty() ? kNever : timers_.top().at;
}

bool ReductionSender::is_needed(const Timer& timer) const {
  return streams_[timer.stream].windows[timer.plane].is_unanswered(timer.sent);
}

// Results

void ReductionSender::receive(TimePs now, const Packet& packet) {
  const ReductionFields& result = packet.reduction;
  Stream& stream = streams_[index_of_stream_[result.tree / planes_]];
  const std::uint32_t plane = result.tree % planes_;
  if (!stream.windows[plane].receive(result.sequence)) {
    ++counts_.duplicate_results;
    return;
  }
  const Chunk chunk = chunk_of(stream, plane, result.sequence);
  Active& active = *chunk.of;
  node_.part_reduced(now, active.work, chunk.bytes, difference(stream, result));
  if (--active.chunks_left == 0) node_.all_reduced(now, active.work);
  while (!stream.active.empty() && stream.active.front().chunks_left == 0) stream.active.pop_front();
  ask_for_port(now, plane);
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
      const ReductionWindow& window = stream.windows[plane];
      if (!window.has_unanswered()) continue;
      if (network_.reduction()->waits_for_adder(now, tree_of(stream, plane))) return Waits::adder;
      if (window.waits_for_slot()) waits = Waits::slots;
    }
  }
  return waits;
}

std::vector<std::string> ReductionSender::describe_waits(std::size_t most) const {
  std::vector<std::string> lines;
  for (const Stream& stream : streams_) {
    for (const auto& [reduction, work] : stream.early) {
      if (lines.size() >= most) return lines;
      lines.push_back(fmt::format("nic{}: a reduction of {} B waits for an earlier one of the same ranks", nic_.node,
                                  plan_.workload().reductions[reduction].bytes));
    }
    for (std::uint32_t plane = 0; plane < planes_; ++plane) {
      const auto oldest = stream.windows[plane].oldest();
      if (!oldest) continue;
      if (lines.size() >= most) return lines;
      lines.push_back(fmt::format("nic{}: plane {} has no result for packet {} of tree {}, sent {} times", nic_.node,
                                  plane, oldest->sequence, tree_of(stream, plane), oldest->times_sent));
    }
  }
  return lines;
}

}  // namespace mrc
