#include "study/case_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mrc {
namespace {

/// Points that are run together: enough for a few cores, few enough to learn from.
constexpr std::size_t kBatch = 12;
/// The first batch: the scenario as it is and two ends. What one fault breaks is known after four runs.
constexpr std::size_t kFirstBatch = 3;
/// Points of a design that fills the space.
constexpr std::size_t kHypercube = 12;
/// Ends that are tried beside the worst points at a time.
constexpr std::size_t kPairs = 16;
constexpr std::size_t kPaired = 2;
constexpr std::size_t kParents = 4;
constexpr double kLeastStep = 0.02;
constexpr double kMostStep = 0.4;
/// The smallest move is the step, halved this number of times.
constexpr double kSmallerSteps = 3;
/// Generations without a worse point until the space is sampled anew.
constexpr int kStale = 6;

/// The end away from the usual one. Neither a late begin nor a long period hurts more, and a fault at the very
/// beginning meets no traffic.
double harsher_end(const Factor& factor) {
  constexpr double early = 0.25;
  if (factor.key == "at_us") return early;
  return factor.key == "period_us" ? factor.range.usual : 1 - std::round(factor.range.usual);
}

double farther_end(const Factor& factor) {
  return factor.range.usual < 0.5 ? 1 : 0;
}

}  // namespace

CaseSearch::CaseSearch(const Envelope& envelope, std::uint64_t seed, bool guided, Allowed allowed)
    : envelope_(envelope),
      random_(seed, "attack"),
      guided_(guided),
      allowed_(std::move(allowed)),
      harsh_(envelope.usual()) {}

void CaseSearch::add_new(std::vector<AttackPoint>& points, const AttackPoint& point) {
  const AttackPoint tidy = envelope_.tidy(point);
  if (proposed_.contains(tidy) || !allowed_(tidy)) return;
  proposed_.insert(tidy);
  points.push_back(tidy);
}

std::vector<AttackPoint> CaseSearch::propose() {
  std::vector<AttackPoint> points;
  constexpr std::size_t tries = 40 * kBatch;
  for (std::size_t i = 0; i < tries && !guided_ && points.size() < kBatch; ++i) add_new(points, uniform());
  while (guided_ && points.empty() && !designed()) {
    if (waiting_.empty()) waiting_ = next_design();
    const std::size_t count = std::min(phase_ == 1 ? kFirstBatch : kBatch, waiting_.size());
    for (std::size_t i = 0; i < count; ++i) add_new(points, waiting_[i]);
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (!guided_ || !points.empty()) return points;
  const std::vector<KnownPoint> parents = worst(kParents);
  for (std::size_t i = 0; i < tries && points.size() < kBatch; ++i) add_new(points, child(i, parents));
  return points;
}

std::vector<AttackPoint> CaseSearch::next_design() {
  switch (phase_++) {
    case 0:
      return ends_ = ends();
    case 1:  // pairs
    case 2:  // and a third factor beside them
      return has_signal() ? beside_the_worst() : hypercube(kHypercube);
    default:
      return harsh_points();
  }
}

void CaseSearch::note(const std::vector<KnownPoint>& points) {
  for (const KnownPoint& point : points) noted_ = std::max(noted_, point.danger);
  known_.insert(known_.end(), points.begin(), points.end());
}

void CaseSearch::learn(const std::vector<KnownPoint>& points) {
  double best = std::exchange(noted_, 0.0);
  for (const KnownPoint& point : points) best = std::max(best, point.danger);
  known_.insert(known_.end(), points.begin(), points.end());
  if (!designed()) {
    best_ = std::max(best_, best);
    return;
  }
  const bool better = best > best_;
  best_ = std::max(best_, best);
  step_ = std::clamp(step_ * (better ? 1.25 : 0.8), kLeastStep, kMostStep);
  stale_ = better ? 0 : stale_ + 1;
  if (stale_ < kStale) return;
  stale_ = 0;
  step_ = kMostStep;
  waiting_ = hypercube(kHypercube);
}

std::vector<KnownPoint> CaseSearch::worst(std::size_t most) const {
  std::vector<const KnownPoint*> order;
  for (const KnownPoint& point : known_) order.push_back(&point);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->danger > b->danger; });
  std::vector<const KnownPoint*> chosen(order.begin(),
                                        order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size())));
  const std::size_t buffers = known_.empty() ? 0 : known_.front().occupancy.size();
  for (std::size_t buffer = 0; buffer < buffers; ++buffer) {
    const auto fullest = std::max_element(order.begin(), order.end(), [&](const auto* a, const auto* b) {
      return a->occupancy[buffer] < b->occupancy[buffer];
    });
    if (std::find(chosen.begin(), chosen.end(), *fullest) == chosen.end()) chosen.push_back(*fullest);
  }
  std::vector<KnownPoint> points;
  for (const KnownPoint* point : chosen) points.push_back(*point);
  return points;
}

/// The usual point; each fault, and the traffic, with all their factors at the harsher ends; all parameters at the end
/// that is farther from its usual value, then each of them alone, then at the other end; faults and traffic in the
/// middle of their ranges.
std::vector<AttackPoint> CaseSearch::ends() const {
  const auto& factors = envelope_.factors();
  std::vector<AttackPoint> points{envelope_.usual()};
  const auto add_groups = [&](bool harsh) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (factors[i].decides_presence()) points.push_back(with_group(i, harsh));
    }
  };
  AttackPoint all_far = envelope_.usual();
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (!factors[i].optional()) all_far[i] = farther_end(factors[i]);
  }
  add_groups(true);
  points.push_back(all_far);
  for (const bool farther : {true, false}) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (factors[i].optional()) continue;
      const double far = farther_end(factors[i]);
      points.push_back(envelope_.usual());
      points.back()[i] = farther ? far : 1 - far;
    }
  }
  add_groups(false);
  return points;
}

/// A fault, or the traffic, alone.
AttackPoint CaseSearch::with_group(std::size_t presence, bool harsh) const {
  const auto& factors = envelope_.factors();
  AttackPoint point = envelope_.usual();
  point[presence] = 1;
  for (std::size_t i = presence + 1; i < factors.size() && factors[i].belongs_with(factors[presence]); ++i)
    point[i] = harsh ? harsher_end(factors[i]) : 0.5;
  return point;
}

/// Each factor at its ends beside the worst points known, with which it may hurt though it does not alone.
std::vector<AttackPoint> CaseSearch::beside_the_worst() const {
  std::vector<AttackPoint> points;
  std::vector<KnownPoint> bases = worst(kPaired);
  bases.resize(std::min(kPaired, bases.size()));
  for (const KnownPoint& base : bases) {
    for (const AttackPoint& end : ends_) {
      AttackPoint both = base.at;
      for (std::size_t i = 0; i < both.size(); ++i) {
        if (end[i] != kUsual) both[i] = end[i];
      }
      if (points.size() < kPairs && !proposed_.contains(envelope_.tidy(both))) points.push_back(both);
    }
  }
  return points;
}

/// All harsh ends together, random parts of them, and a few points of a Latin hypercube. What hurts alone is known by
/// now.
std::vector<AttackPoint> CaseSearch::harsh_points() {
  const auto& factors = envelope_.factors();
  double usual = 0;
  for (const KnownPoint& point : known_) {
    if (point.at == envelope_.usual()) usual = point.danger;
  }
  std::vector<double> worst_danger(factors.size(), usual);
  for (const KnownPoint& point : known_) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      if (point.at[i] == kUsual || point.danger <= worst_danger[i]) continue;
      worst_danger[i] = point.danger;
      harsh_[i] = point.at[i];
    }
  }
  std::vector<AttackPoint> points{harsh_};
  constexpr std::size_t parts = 5;
  for (std::size_t i = 0; i < parts; ++i) {
    points.push_back(harsh_);
    for (double& position : points.back()) {
      if (random_.chance(0.35)) position = random_.uniform();
    }
  }
  for (AttackPoint& point : hypercube(kHypercube)) points.push_back(std::move(point));
  return points;
}

std::vector<AttackPoint> CaseSearch::hypercube(std::size_t count) {
  std::vector<AttackPoint> points(count, envelope_.usual());
  std::vector<std::size_t> order(count);
  for (std::size_t factor = 0; factor < envelope_.factors().size(); ++factor) {
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    for (std::size_t i = 0; i < count; ++i)
      points[i][factor] = (static_cast<double>(order[i]) + random_.uniform()) / static_cast<double>(count);
  }
  return points;
}

AttackPoint CaseSearch::uniform() {
  AttackPoint point = envelope_.usual();
  for (double& position : point) position = random_.uniform();
  return point;
}

AttackPoint CaseSearch::child(std::size_t number, const std::vector<KnownPoint>& parents) {
  if (parents.empty() || !has_signal()) return uniform();
  const std::size_t leaders = std::min(kParents, parents.size());
  const auto leader = [&] { return parents[random_.below(leaders)].at; };
  const auto any = [&] { return parents[random_.below(parents.size())].at; };
  switch (number % 8) {
    case 4:
      return crossed(leader(), any());
    case 5:
      return moved(any());
    case 6: {
      AttackPoint point = harsh_;
      for (double& position : point) {
        if (random_.chance(0.35)) position = random_.uniform();
      }
      return point;
    }
    case 7:
      return uniform();
    default:
      return moved(leader());
  }
}

void CaseSearch::move(AttackPoint& point, std::size_t factor) {
  const Factor& f = envelope_.factors()[factor];
  const bool listed = !f.range.values.empty();
  if (listed || random_.chance(0.15)) {
    // The order of a list says nothing; at the ends of a range most things break.
    point[factor] = listed ? random_.uniform() : std::round(random_.uniform());
    if (f.decides_presence()) draw_group(point, factor);
    return;
  }
  const double from = envelope_.position(point, factor);
  // Small steps as well as large ones: how narrow the dangerous part of a range is, is not known.
  const double way = step_ * std::exp2(-kSmallerSteps * random_.uniform()) * (random_.chance(0.5) ? 1 : -1);
  point[factor] = std::clamp(from + way, 0.0, 1.0);
}

/// The factors of a fault, or of the traffic, that was absent.
void CaseSearch::draw_group(AttackPoint& point, std::size_t presence) {
  const auto& factors = envelope_.factors();
  for (std::size_t i = presence + 1; i < factors.size() && factors[i].belongs_with(factors[presence]); ++i) {
    if (point[i] == kUsual) point[i] = random_.uniform();
  }
}

AttackPoint CaseSearch::moved(AttackPoint point) {
  do {
    move(point, random_.below(point.size()));
  } while (random_.chance(0.5));
  return point;
}

AttackPoint CaseSearch::crossed(const AttackPoint& a, const AttackPoint& b) {
  AttackPoint point = a;
  bool from_b = false;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const Factor& factor = envelope_.factors()[i];
    // A fault comes whole.
    if (!factor.optional() || factor.decides_presence()) from_b = random_.chance(0.5);
    if (from_b) point[i] = b[i];
  }
  return point;
}

}  // namespace mrc
