#include "simulation/fast_forward.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "simulation/critical_paths.h"

namespace mrc {
namespace {

// What is taken as steady is an assumption of this model, checked against full runs by tests/bench/fast_forward.py.
/// Behind the begin of a phase its traffic may still change; then windows follow, which double in length until they
/// agree.
constexpr double kStartRoundTrips = 5;
constexpr double kFirstWindowRoundTrips = 2;
constexpr std::size_t kFewestWindows = 8;
constexpr std::size_t kMostWindowsOfPhase = 16;
/// Two-sided 95 % quantile of Student's t for the fewest windows.
constexpr double kStudentTOfFewest = 2.365;
/// What is skipped is longer than the windows that it is concluded from.
constexpr double kShortestSkip = 2;
/// And not so much longer that a slow change, which they do not show, would become large; then the run is looked at
/// again.
constexpr double kLongestSkip = 100;

void refuse(const char* what, const char* allowed) {
  throw std::invalid_argument(fmt::format("run.fast_forward_percent: not with {}; allowed: {}", what, allowed));
}

void check(const Model& model) {
  if (model.split) refuse("several processes", "one");
  if (model.options.programs != nullptr || model.options.live != nullptr)
    refuse("programs", "a trace whose work is known before the run");
  if (model.recording) refuse("--waves or --perfetto", "neither");
  if (model.capture) refuse("--pcap", "no packet capture");
  if (!model.workload.reductions.empty())
    refuse("reductions in switches", "traffic.collective.all_reduce other than in_network");
}

}  // namespace

FastForward::FastForward(Model& model)
    : model_(model),
      within_(model.scenario.run.fast_forward_percent / 100),
      start_ps_(static_cast<TimePs>(kStartRoundTrips * static_cast<double>(model.scenario.cc.base_rtt_ps))),
      first_window_ps_(
          static_cast<TimePs>(kFirstWindowRoundTrips * static_cast<double>(model.scenario.cc.base_rtt_ps))) {
  if (within_ == 0) return;
  check(model);
  last_fault_ps_ = model.faults->last_change();
  for (const auto& node : model.nodes) node->player().set_skipped_time(model.skipped);
}

FastForward::Phase FastForward::phase() const {
  Phase phase;
  for (const auto& node : model_.nodes) {
    const WorkPlayer& player = node->player();
    phase.work_left += player.nodes_left();
    phase.messages_started += player.statistics().messages_started;
    phase.messages_under_way += player.messages_under_way();
    for (const WorkPlayer::Posting& posting : player.postings()) phase.posting.push_back(posting.work);
  }
  return phase;
}

std::uint32_t FastForward::cut_causes() const {
  std::uint32_t causes = 0;
  for (const auto& node : model_.nodes) {
    for (const CongestionDomain& domain : node->context.congestion)
      causes |= 1U << static_cast<std::uint32_t>(domain.control->last_cut());
  }
  return causes;
}

void FastForward::begin(TimePs now) {
  points_.clear();
  window_ps_ = first_window_ps_;
  next_point_at_ = now + start_ps_;
}

FastForward::NodeMark FastForward::mark_of(const SimulationNode& node, TimePs now) const {
  NodeMark mark;
  if (node.nic) {
    node.nic->idle_causes().before_change(now);
    mark.sent = node.nic->sent_until(now);
    mark.retransmission_ps = node.nic->idle_causes().retransmission_ps();
    if (model_.is_under_test(node)) mark.idle_ps = node.nic->idle_causes().idle_ps();
  } else {
    mark.sent.counters = node.context.counters;
  }
  const std::vector<WorkPlayer::Posting> postings = node.player().postings();
  if (postings.size() < 2) return mark;
  for (const WorkPlayer::Posting& posting : postings) {
    for (const std::uint32_t qp : *posting.qps) {
      const auto& sender = node.context.qps[qp].sender;
      if (sender) mark.acknowledged.push_back(sender->unacked_psn());
    }
  }
  return mark;
}

FastForward::Mark FastForward::mark(TimePs now) const {
  Mark mark{now, {}};
  for (const auto& node : model_.nodes) mark.nodes.push_back(mark_of(*node, now));
  return mark;
}

std::vector<FastForward::Flow> FastForward::flows() const {
  std::vector<Flow> flows;
  for (std::size_t node = 0; node < model_.nodes.size(); ++node) {
    std::size_t first_qp = 0;
    for (const WorkPlayer::Posting& posting : model_.nodes[node]->player().postings()) {
      flows.push_back({node, first_qp, posting, model_.is_under_test(*model_.nodes[node])});
      first_qp += posting.qps->size();
    }
  }
  return flows;
}

/// Of one message that a node posts, its payload; of several, what was acknowledged of the packets of each.
double FastForward::bytes_since_first(const Mark& now, const Flow& flow) const {
  const NodeMark& begin = first_.nodes[flow.node];
  const NodeMark& end = now.nodes[flow.node];
  if (begin.acknowledged.empty())
    return static_cast<double>(end.sent.counters.first_payload_bytes - begin.sent.counters.first_payload_bytes);
  double packets = 0;
  for (std::size_t i = flow.first_qp; i < flow.first_qp + flow.posting.qps->size(); ++i)
    packets += psn_distance(end.acknowledged[i], begin.acknowledged[i]);
  return packets * model_.scenario.protocol.mtu_bytes;
}

bool FastForward::is_whole() const {
  for (const auto& node : model_.nodes) {
    const std::vector<WorkPlayer::Posting> postings = node->player().postings();
    if (node->player().messages_under_way() != postings.size()) return false;
    // A light endpoint may keep the state of its QPs elsewhere.
    if (postings.size() > 1 && node->endpoint) return false;
  }
  return true;
}

/// A packet that had to be retransmitted is too rare for what a few windows show.
bool FastForward::has_retransmissions(const Mark& now) const {
  for (std::size_t node = 0; node < model_.nodes.size(); ++node) {
    if (now.nodes[node].sent.counters.retransmitted != first_.nodes[node].sent.counters.retransmitted) return true;
  }
  return false;
}

/// The mean is known to what is allowed, and does not move by more.
bool FastForward::is_steady(std::size_t flow) const {
  const std::size_t windows = points_.size() - 1;
  const auto rate = [&](std::size_t from, std::size_t to) {
    return (points_[to].bytes[flow] - points_[from].bytes[flow]) /
           static_cast<double>(points_[to].at - points_[from].at);
  };
  const double mean = rate(0, windows);
  double squares = 0;
  for (std::size_t i = 0; i < windows; ++i) squares += (rate(i, i + 1) - mean) * (rate(i, i + 1) - mean);
  const auto n = static_cast<double>(windows);
  const double half = kStudentTOfFewest * std::sqrt(squares / (n - 1) / n);
  const double drift = std::abs(rate(windows / 2, windows) - rate(0, windows / 2));
  return mean > 0 && half <= within_ * mean && drift <= within_ * mean;
}

/// Until software does something by time, or the run may not last any longer.
TimePs FastForward::most_time(TimePs now) const {
  const TimePs limit = ps_from_us(model_.scenario.run.max_time_us);
  const TimePs run_time = now + model_.skipped.total();
  TimePs most = limit > run_time ? limit - run_time : 0;
  for (const auto& node : model_.nodes) {
    const TimePs alarm = node->player().next_alarm();
    if (alarm != kNever) most = std::min(most, alarm > now ? alarm - now : 0);
  }
  return most;
}

void FastForward::count_skipped(TimePs time, const Mark& now) {
  const double times = static_cast<double>(time) / static_cast<double>(now.at - first_.at);
  for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
    SimulationNode& node = *model_.nodes[i];
    if (!node.skipped) node.skipped = std::make_unique<SkippedCounts>();
    SkippedCounts& skipped = *node.skipped;
    NodeMark begin = first_.nodes[i];
    NodeMark end = now.nodes[i];
    skipped.slow_ps.resize(end.sent.slow_ps.size());
    add_growth(values_of(skipped.counters), values_of(begin.sent.counters), values_of(end.sent.counters), times);
    add_growth(values_of(skipped.of_boxes), values_of(begin.sent.of_boxes), values_of(end.sent.of_boxes), times);
    add_growth(skipped.slow_ps, begin.sent.slow_ps, end.sent.slow_ps, times);
    add_growth(skipped.retransmission_ps, begin.retransmission_ps, end.retransmission_ps, times);
    if (!model_.is_under_test(node) || !node.nic) continue;
    PerCause<TimePs> idle_ps{};
    add_growth(idle_ps, begin.idle_ps, end.idle_ps, times);
    model_.critical_paths->skip(time, idle_ps);
  }
}

bool FastForward::skip(const Mark& now) {
  const std::vector<Flow> flows = this->flows();
  const auto windows_ps = static_cast<double>(now.at - first_.at);
  std::vector<double> pieces_per_ps;
  for (const Flow& flow : flows)
    pieces_per_ps.push_back(bytes_since_first(now, flow) / windows_ps / static_cast<double>(flow.posting.piece_bytes));
  // The last piece of each message is posted, so that its end is simulated.
  const auto most_pieces = [](const Flow& flow) { return (flow.posting.bytes_left - 1) / flow.posting.piece_bytes; };
  double most_ps = std::min(static_cast<double>(most_time(now.at)), kLongestSkip * windows_ps);
  std::size_t exact = 0;  // flow of the node under test, of which whole pieces are skipped
  for (std::size_t i = 0; i < flows.size(); ++i) {
    most_ps = std::min(most_ps, static_cast<double>(most_pieces(flows[i])) / pieces_per_ps[i]);
    if (flows[i].is_under_test && !flows[exact].is_under_test) exact = i;
  }
  const double ps = std::floor(pieces_per_ps[exact] * most_ps + 1e-9) / pieces_per_ps[exact];
  if (ps < kShortestSkip * windows_ps) return false;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const std::uint64_t pieces = std::min<std::uint64_t>(most_pieces(flows[i]), std::llround(pieces_per_ps[i] * ps));
    model_.nodes[flows[i].node]->player().skip_pieces(flows[i].posting.channel, pieces);
    if (flows[i].is_under_test) result_.bytes += pieces * flows[i].posting.piece_bytes;
  }
  const auto time = static_cast<TimePs>(std::llround(ps));
  count_skipped(time, now);
  model_.skipped.add(now.at, time);
  for (const auto& node : model_.nodes) {
    node->player().skip_time(now.at, time);
    if (node->player().next_alarm() == kNever) continue;
    if (node->host) node->host->work_arrived(now.at);
    if (node->endpoint) node->endpoint->work_arrived(now.at);
  }
  ++result_.skips;
  return true;
}

/// Every other point goes; the first and the last stay.
void FastForward::double_windows() {
  for (std::size_t i = 1; 2 * i < points_.size(); ++i) points_[i] = std::move(points_[2 * i]);
  points_.resize(kMostWindowsOfPhase / 2 + 1);
  window_ps_ *= 2;
}

void FastForward::add_point(TimePs now) {
  const Mark current = mark(now);
  if (points_.empty()) first_ = current;
  if (has_retransmissions(current)) {
    begin(now);
    return;
  }
  Point point{now, {}};
  for (const Flow& flow : flows()) point.bytes.push_back(bytes_since_first(current, flow));
  points_.push_back(std::move(point));
  next_point_at_ = now + window_ps_;
  const std::size_t windows = points_.size() - 1;
  // Every look is another chance to be taken in by luck.
  if (windows != kMostWindowsOfPhase && (windows != kFewestWindows || window_ps_ != first_window_ps_)) return;
  bool steady = !points_.back().bytes.empty();
  for (std::size_t flow = 0; steady && flow < points_.back().bytes.size(); ++flow) steady = is_steady(flow);
  if (!steady) {
    if (windows == kMostWindowsOfPhase) double_windows();
    return;
  }
  begin(now);
  // Where what is left of the phase is too short, it is simulated.
  next_point_at_ = skip(current) ? now : kNever;
}

void FastForward::look(TimePs now) {
  if (within_ == 0) return;
  Phase current = phase();
  const bool is_new = current != phase_ || now < last_fault_ps_;
  const std::uint32_t causes = cut_causes() | (is_new ? 0 : cut_causes_);
  if (is_new || causes != cut_causes_) {
    phase_ = std::move(current);
    cut_causes_ = causes;
    begin(now);
    return;
  }
  if (now >= next_point_at_ && is_whole()) add_point(now);
}

FastForwardResult FastForward::finish() const {
  FastForwardResult result = result_;
  result.skipped_us = us_from_ps(model_.skipped.total());
  result.within_percent = 100 * within_;
  return result;
}

}  // namespace mrc
