#include "simulation/early_stop.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "parameters/transport.h"

namespace mrc {
namespace {

/// The rate is the mean of 16 batches of equal time, behind a start that does not count.
constexpr std::size_t kBatches = 16;
constexpr double kStartShare = 0.25;
/// Two-sided 95 % quantile of Student's t for the batches.
constexpr double kStudentT = 2.131;
/// A batch is several round trips long, or one would say what the next will be.
constexpr double kLeastRoundTrips = 2;
/// From one look to the next the time grows by this factor: every look is another chance to stop by luck.
constexpr double kBetweenLooks = 1.25;
constexpr std::size_t kMostPoints = 4096;
/// What has not been seen in a time happens at most three times in another of its length, by 95 %.
constexpr double kUnseen = 3;

/// Time until a loss is noticed by a timer alone, of a QP or a reduction.
double stall_ps(const Model& model) {
  double longest = 0;
  for (const Transport* transport : transports_in(model.scenario)) {
    if (transport->timeout_ps != nullptr) longest = std::max(longest, transport->timeout_ps(model.scenario));
  }
  if (!model.workload.reductions.empty())
    longest = std::max(longest, model.scenario.fabric.reduction.timeout_us * static_cast<double>(kPsPerUs));
  return longest;
}

}  // namespace

EarlyStop::EarlyStop(const Model& model) : model_(model), within_(model.scenario.run.stop_within_percent / 100) {
  if (within_ == 0) return;
  for (const auto& node : model.nodes) {
    if (model.is_under_test(*node) && node->here) node_ = node.get();
  }
  if (node_ == nullptr) return;
  for (const WorkNode& work : model.workload.nodes) {
    if (model.placement.node_of(work) != node_->id || !model.placement.leaves_node(work)) continue;
    offered_ += static_cast<double>(work.bytes);
  }
  if (offered_ == 0) node_ = nullptr;
}

void EarlyStop::add_point(TimePs now) {
  const TimePs begin = node_->player().statistics().first_doorbell;
  if (begin >= now) return;
  if (points_.empty()) points_.push_back({static_cast<double>(begin), 0});
  if (points_.back().bytes >= offered_ || points_.back().ps >= static_cast<double>(now)) return;
  std::uint64_t sent = 0;
  for (std::size_t port = 0; port < node_->context.config.nic.ports; ++port) {
    sent +=
        node_->nic ? node_->nic->ports()[port]->first_payload_bytes() : node_->endpoint->first_payload_bytes()[port];
  }
  points_.push_back({static_cast<double>(now), static_cast<double>(sent)});
  if (points_.size() > kMostPoints) halve();
}

/// Between two points as if it had been sent evenly.
double EarlyStop::bytes_at(double ps) const {
  const auto after = std::lower_bound(points_.begin() + 1, points_.end() - 1, ps,
                                      [](const Point& point, double time) { return point.ps < time; });
  const Point& before = *(after - 1);
  return before.bytes + (after->bytes - before.bytes) * (ps - before.ps) / (after->ps - before.ps);
}

bool EarlyStop::look(TimePs now) {
  if (node_ == nullptr) return false;
  add_point(now);
  if (points_.empty() || points_.back().ps < next_look_ps_) return false;
  const double begin = points_.front().ps;
  next_look_ps_ = begin + (points_.back().ps - begin) * kBetweenLooks;
  GoodputForecast steady;
  return estimate(steady) && steady.high_gbps - steady.low_gbps <= 2 * within_ * steady.goodput_gbps;
}

GoodputForecast EarlyStop::finish(TimePs now) {
  GoodputForecast steady;
  if (node_ == nullptr) return steady;
  add_point(now);
  // The step in which the last byte is sent is not full.
  if (points_.size() > 2 && points_.back().bytes >= offered_) points_.pop_back();
  if (points_.size() > 1) estimate(steady);
  return steady;
}

bool EarlyStop::estimate(GoodputForecast& steady) const {
  const Point& last = points_.back();
  const double from = points_.front().ps + kStartShare * (last.ps - points_.front().ps);
  const double batch_ps = (last.ps - from) / kBatches;
  std::array<double, kBatches> gbps{};
  double mean = 0;
  for (std::size_t i = 0; i < kBatches; ++i) {
    const double start = from + batch_ps * static_cast<double>(i);
    gbps[i] = 8000.0 * (bytes_at(start + batch_ps) - bytes_at(start)) / batch_ps;
    mean += gbps[i] / kBatches;
  }
  double squares = 0;
  double drift = 0;
  for (std::size_t i = 0; i < kBatches; ++i) {
    squares += (gbps[i] - mean) * (gbps[i] - mean);
    drift += (i < kBatches / 2 ? -gbps[i] : gbps[i]) / (kBatches / 2);
  }
  // What is to come need not have a rate that drifts.
  double half = std::max(kStudentT * std::sqrt(squares / (kBatches - 1) / kBatches), std::abs(drift) / 2);
  // With losses, the rare one that costs a timeout may be yet to come.
  if (node_->context.counters.retransmitted > 0) {
    half += std::min(1.0, kUnseen * stall_ps(model_) / (last.ps - points_.front().ps)) * mean;
  }
  steady = {
      .goodput_gbps = mean, .low_gbps = mean - half, .high_gbps = mean + half, .bytes_share = last.bytes / offered_};
  return batch_ps >= kLeastRoundTrips * static_cast<double>(model_.scenario.cc.base_rtt_ps);
}

/// Every other point goes; the first and the last stay.
void EarlyStop::halve() {
  std::size_t kept = 1;
  for (std::size_t i = 1 + points_.size() % 2; i < points_.size(); i += 2) points_[kept++] = points_[i];
  points_.resize(kept);
}

}  // namespace mrc
