// Which points of an envelope an attack tries next: each factor alone at its ends, pairs of these with the worst, the
// ends that hurt together, a few points of a Latin hypercube, and then steps from the worst points known. Deterministic
// by its seed.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "mrc/random.h"
#include "study/envelope.h"

namespace mrc {

/// A point that was run.
struct KnownPoint {
  AttackPoint at;
  double danger = 0;              ///< how close to breaking; above 1 is worse than a break at the border
  std::vector<double> occupancy;  ///< of each sized buffer, 0 … 1
};

class CaseSearch {
 public:
  /// A danger that is more than noise.
  static constexpr double kSignal = 0.05;

  /// Whether the rules of the scenario allow a point.
  using Allowed = std::function<bool(const AttackPoint&)>;

  /// `guided`: false draws every point at random, for comparison.
  CaseSearch(const Envelope& envelope, std::uint64_t seed, bool guided, Allowed allowed);

  /// The next points, none of which was proposed before; empty where no new one was found.
  std::vector<AttackPoint> propose();
  /// Points whose danger is only estimated.
  void note(const std::vector<KnownPoint>& points);
  /// What the runs of the proposed points showed; ends the batch.
  void learn(const std::vector<KnownPoint>& points);
  /// Forgets the results, which were those of other sizes, but not which points were proposed.
  void restart() {
    known_.clear();
    best_ = 0;
  }
  /// The most dangerous points known, the worst first, then for each buffer the one that filled it most.
  std::vector<KnownPoint> worst(std::size_t most) const;

 private:
  bool designed() const { return phase_ >= kDesigns && waiting_.empty(); }
  bool has_signal() const { return best_ > kSignal; }
  std::vector<AttackPoint> next_design();
  std::vector<AttackPoint> ends() const;
  AttackPoint with_group(std::size_t presence, bool harsh) const;
  std::vector<AttackPoint> beside_the_worst() const;
  std::vector<AttackPoint> harsh_points();
  std::vector<AttackPoint> hypercube(std::size_t points);
  AttackPoint uniform();
  AttackPoint child(std::size_t number, const std::vector<KnownPoint>& parents);
  AttackPoint moved(AttackPoint point);
  AttackPoint crossed(const AttackPoint& a, const AttackPoint& b);
  void move(AttackPoint& point, std::size_t factor);
  void draw_group(AttackPoint& point, std::size_t presence);
  void add_new(std::vector<AttackPoint>& points, const AttackPoint& point);

  static constexpr int kDesigns = 4;

  const Envelope& envelope_;
  KeyedRandom random_;
  bool guided_;
  Allowed allowed_;
  std::set<AttackPoint> proposed_;
  std::vector<AttackPoint> waiting_;  ///< of the design, not yet proposed
  std::vector<AttackPoint> ends_;     ///< each factor alone
  std::vector<KnownPoint> known_;
  AttackPoint harsh_;  ///< of each factor the end that hurts
  int phase_ = 0;
  double step_ = 0.25;  ///< of a move, as a share of the range
  double best_ = 0;     ///< danger of the worst point of an earlier batch
  double noted_ = 0;    ///< of those of this batch whose danger is estimated
  int stale_ = 0;       ///< generations without a worse point
};

}  // namespace mrc
