#include "fit/least_squares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "study/statistics.h"

namespace mrc {
namespace {

constexpr int kScans = 3;
constexpr int kScanSteps = 16;
constexpr int kRounds = 3;  ///< each with the scatter that the one before has found
constexpr int kSteps = 10;
constexpr double kDifference = 0.03;
/// No measurement is taken to be better than this: the model's own values have that noise.
constexpr double kLeastScatter = 0.004;
constexpr double kConverged = 1e-3;
constexpr double kCorrelated = 0.9;
constexpr int kMoves = 14;
/// Of the misfit that the curvature says for the end of an interval: with more it is as the curvature says.
constexpr double kLikeCurvature = 0.9;
constexpr double kNearEnough = 1.15;
constexpr double kFlat = 6;
constexpr double kImpossible = std::numeric_limits<double>::infinity();

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// Inverse of a positive definite matrix, by Gauss and Jordan.
Matrix inverse(Matrix m) {
  const std::size_t size = m.size();
  Matrix result(size, Vector(size, 0));
  for (std::size_t i = 0; i < size; ++i) result[i][i] = 1;
  for (std::size_t column = 0; column < size; ++column) {
    const double pivot = m[column][column];
    if (!(pivot > 0)) throw std::logic_error("a fit whose matrix is not positive definite");
    for (std::size_t i = 0; i < size; ++i) {
      m[column][i] /= pivot;
      result[column][i] /= pivot;
    }
    for (std::size_t row = 0; row < size; ++row) {
      if (row == column) continue;
      const double factor = m[row][column];
      for (std::size_t i = 0; i < size; ++i) {
        m[row][i] -= factor * m[column][i];
        result[row][i] -= factor * result[column][i];
      }
    }
  }
  return result;
}

class Fit {
 public:
  Fit(const std::vector<FitParameter>& parameters, const std::vector<FitValue>& values, const FitModel& model)
      : parameters_(parameters), values_(values), model_(model) {
    for (const FitParameter& p : parameters) {
      at_.push_back(std::log(p.start));
      // As wide as an even spread over what is allowed.
      spread_.push_back(std::max(std::log(p.high / p.low) / std::sqrt(12.0), kConverged));
    }
    start_ = at_;
    std::size_t groups = 0;
    for (const FitValue& v : values) groups = std::max(groups, v.group + 1);
    scatter_.assign(groups, 0);
    for (const FitValue& v : values) scatter_[v.group] = v.scatter;
  }

  FitResult run(double confidence) {
    if (!try_all({at_}).front().possible)
      throw std::invalid_argument("fit: the scenario to start from is not possible");
    best_ = try_all({at_}).front();
    for (int scan = 0; scan < kScans; ++scan) {
      for (std::size_t i = 0; i < at_.size(); ++i) scan_parameter(i);
    }
    for (int round = 0; round < kRounds; ++round) {
      descend();
      take_scatter();
    }
    look_around();
    return result(confidence);
  }

 private:
  struct Tried {
    Vector at;
    Vector deviations;  ///< logarithms of model over measurement
    Vector modelled;
    bool possible = false;
  };

  double natural(std::size_t i, double at) const {
    const double value = std::clamp(std::exp(at), parameters_[i].low, parameters_[i].high);
    return parameters_[i].whole ? std::max(1.0, std::round(value)) : value;
  }
  std::vector<Tried> try_all(const std::vector<Vector>& places) {
    std::vector<Vector> settings;
    for (const Vector& place : places) {
      Vector& setting = settings.emplace_back();
      for (std::size_t i = 0; i < place.size(); ++i) setting.push_back(natural(i, place[i]));
    }
    settings_tried_ += settings.size();
    const std::vector<Vector> modelled = model_(settings);
    std::vector<Tried> tried;
    for (std::size_t k = 0; k < places.size(); ++k) {
      Tried& one = tried.emplace_back(Tried{places[k], {}, modelled[k], modelled[k].size() == values_.size()});
      for (std::size_t v = 0; one.possible && v < values_.size(); ++v) {
        one.deviations.push_back(std::log(modelled[k][v] / values_[v].value));
      }
    }
    return tried;
  }
  double misfit(const Tried& tried) const {
    if (!tried.possible) return kImpossible;
    double sum = 0;
    for (std::size_t v = 0; v < values_.size(); ++v) {
      const double scaled = tried.deviations[v] / scatter_[values_[v].group];
      sum += scaled * scaled;
    }
    for (std::size_t i = 0; i < tried.at.size(); ++i) {
      const double scaled = (tried.at[i] - start_[i]) / spread_[i];
      sum += scaled * scaled;
    }
    return sum;
  }
  /// As the misfit, but what is far off counts little more than what is off: something else may be wrong with it yet.
  double misfit_of_scan(const Tried& tried) const {
    if (!tried.possible) return kImpossible;
    double sum = 0;
    for (std::size_t v = 0; v < values_.size(); ++v) {
      const double scaled = tried.deviations[v] / scatter_[values_[v].group];
      sum += std::log1p(scaled * scaled);
    }
    return sum;
  }
  bool take_if_better(const std::vector<Tried>& tried) {
    bool better = false;
    for (const Tried& one : tried) {
      if (!(misfit(one) < misfit(best_))) continue;
      best_ = one;
      at_ = one.at;
      better = true;
    }
    return better;
  }

  void scan_parameter(std::size_t i) {
    std::vector<Vector> places;
    const double low = std::log(parameters_[i].low);
    const double high = std::log(parameters_[i].high);
    for (int step = 0; step <= kScanSteps; ++step) {
      places.push_back(at_);
      places.back()[i] = low + (high - low) * step / kScanSteps;
    }
    for (const Tried& one : try_all(places)) {
      if (!(misfit_of_scan(one) < misfit_of_scan(best_))) continue;
      best_ = one;
      at_ = one.at;
    }
  }

  /// How each value changes with each parameter, around where we are.
  void look_around() {
    std::vector<Vector> places;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      // A whole number changes by one at least.
      const double value = natural(i, at_[i]);
      const double up =
          parameters_[i].whole ? std::log(std::max(value + 1, value * (1 + kDifference)) / value) : kDifference;
      for (const double step : {up, -up}) {
        places.push_back(at_);
        places.back()[i] = std::log(value) + step;
      }
    }
    const std::vector<Tried> tried = try_all(places);
    slopes_.assign(values_.size(), Vector(at_.size(), 0));
    for (std::size_t i = 0; i < at_.size(); ++i) {
      const Tried& above = tried[2 * i];
      const Tried& below = tried[2 * i + 1];
      const double width = std::log(natural(i, above.at[i]) / natural(i, below.at[i]));
      const bool both = above.possible && below.possible;
      for (std::size_t v = 0; v < values_.size() && width > 0; ++v) {
        if (both) slopes_[v][i] = (above.deviations[v] - below.deviations[v]) / width;
      }
    }
    neighbours_ = tried;
  }
  Matrix curvature(double damping) const {
    Matrix h(at_.size(), Vector(at_.size(), 0));
    for (std::size_t v = 0; v < values_.size(); ++v) {
      const double weight = 1 / (scatter_[values_[v].group] * scatter_[values_[v].group]);
      for (std::size_t i = 0; i < at_.size(); ++i) {
        for (std::size_t j = 0; j < at_.size(); ++j) h[i][j] += weight * slopes_[v][i] * slopes_[v][j];
      }
    }
    for (std::size_t i = 0; i < at_.size(); ++i) {
      h[i][i] = h[i][i] * (1 + damping) + 1 / (spread_[i] * spread_[i]);
    }
    return h;
  }
  Vector step(double damping) const {
    const Matrix inverted = inverse(curvature(damping));
    Vector gradient(at_.size(), 0);
    for (std::size_t i = 0; i < at_.size(); ++i) {
      for (std::size_t v = 0; v < values_.size(); ++v) {
        const double scatter = scatter_[values_[v].group];
        gradient[i] += slopes_[v][i] * best_.deviations[v] / (scatter * scatter);
      }
      gradient[i] += (at_[i] - start_[i]) / (spread_[i] * spread_[i]);
    }
    Vector moved(at_.size(), 0);
    for (std::size_t i = 0; i < at_.size(); ++i) {
      for (std::size_t j = 0; j < at_.size(); ++j) moved[i] -= inverted[i][j] * gradient[j];
    }
    return moved;
  }
  /// Levenberg and Marquardt, several dampings at a time.
  void descend() {
    for (int count = 0; count < kSteps; ++count) {
      look_around();
      std::vector<Vector> places;
      for (const double damping : {0.0, 0.1, 1.0, 10.0}) {
        Vector place = at_;
        const Vector moved = step(damping);
        for (std::size_t i = 0; i < at_.size(); ++i) {
          place[i] = std::clamp(at_[i] + moved[i], std::log(parameters_[i].low), std::log(parameters_[i].high));
        }
        places.push_back(std::move(place));
      }
      const double before = misfit(best_);
      std::vector<Tried> tried = try_all(places);
      tried.insert(tried.end(), neighbours_.begin(), neighbours_.end());
      if (!take_if_better(tried) || before - misfit(best_) < kConverged * before) return;
    }
  }

  /// Parameters that the values have fixed, as a number of degrees of freedom.
  double freedom_used() const {
    const Matrix inverted = inverse(curvature(0));
    double used = static_cast<double>(at_.size());
    for (std::size_t i = 0; i < at_.size(); ++i) used -= inverted[i][i] / (spread_[i] * spread_[i]);
    return std::max(0.0, used);
  }
  double freedom_left() const { return std::max(1.0, static_cast<double>(values_.size()) - freedom_used()); }
  void take_scatter() {
    look_around();
    const double correction = static_cast<double>(values_.size()) / freedom_left();
    for (std::size_t g = 0; g < scatter_.size(); ++g) {
      // As if one more value had deviated as expected: a few that fit by chance are not exact.
      double sum = 0;
      double count = 0;
      double expected = 0;
      for (std::size_t v = 0; v < values_.size(); ++v) {
        if (values_[v].group != g) continue;
        sum += best_.deviations[v] * best_.deviations[v];
        ++count;
        expected = values_[v].scatter;
      }
      if (count == 0) continue;
      scatter_[g] = std::max(kLeastScatter, std::sqrt((sum * correction + expected * expected / 4) / (count + 0.25)));
    }
  }

  /// The parameters that could change so that a change of this one is not seen: none where the values see it.
  std::vector<std::size_t> taking_part_of(std::size_t i, const Matrix& covariance) const {
    const double alone = curvature(0)[i][i];
    if (1 - 1 / (covariance[i][i] * alone) < kCorrelated * kCorrelated) return {};
    Vector correlation(at_.size(), 0);
    for (std::size_t j = 0; j < at_.size(); ++j) {
      if (j != i) correlation[j] = std::abs(covariance[i][j]) / std::sqrt(covariance[i][i] * covariance[j][j]);
    }
    const double most = *std::max_element(correlation.begin(), correlation.end());
    std::vector<std::size_t> found;
    for (std::size_t j = 0; j < at_.size(); ++j) {
      if (j != i && correlation[j] > most / 2) found.push_back(j);
    }
    return found;
  }
  FitResult result(double confidence) {
    FitResult result;
    const Matrix covariance = inverse(curvature(0));
    const double most = student_quantile(0.5 + confidence / 2, freedom_left());
    for (std::size_t i = 0; i < at_.size(); ++i) {
      FittedParameter& p = result.parameters.emplace_back();
      p.value = natural(i, at_[i]);
      for (std::size_t v = 0; v < values_.size(); ++v) {
        if (std::abs(slopes_[v][i]) <= std::abs(slopes_[p.most_moved][i])) continue;
        p.most_moved = v;
      }
      p.effect = 0.1 * std::abs(slopes_[p.most_moved][i]);
      p.with = taking_part_of(i, covariance);
    }
    set_intervals(result, covariance, most);
    result.modelled = best_.modelled;
    for (std::size_t g = 0; g < scatter_.size(); ++g) {
      double sum = 0;
      double count = 0;
      for (std::size_t v = 0; v < values_.size(); ++v) {
        if (values_[v].group != g) continue;
        sum += best_.deviations[v] * best_.deviations[v];
        ++count;
      }
      result.group_scatter.push_back(count > 0 ? std::sqrt(sum / count) : 0);
    }
    result.settings_tried = settings_tried_;
    return result;
  }
  /// One end of an interval, as a way from the best place.
  struct End {
    std::size_t parameter = 0;
    double way = 0;
    double inside = 0;   ///< the longest way that the values allow
    double outside = 0;  ///< one that they do not; 0: not known
    bool open = true;
  };
  /// The misfit at an end of an interval, with the other parameters as they go with it, or as they are.
  std::vector<double> misfits_at(const std::vector<End*>& ends, const Matrix& covariance) {
    std::vector<Vector> places;
    for (const End* end : ends) {
      places.insert(places.end(), 2, at_);
      places.back()[end->parameter] += end->way;
      Vector& moved = places[places.size() - 2];
      for (std::size_t j = 0; j < at_.size(); ++j) {
        moved[j] += covariance[j][end->parameter] / covariance[end->parameter][end->parameter] * end->way;
      }
    }
    const std::vector<Tried> tried = try_all(places);
    std::vector<double> misfits;
    for (std::size_t k = 0; k < ends.size(); ++k) {
      misfits.push_back(std::min(misfit(tried[2 * k]), misfit(tried[2 * k + 1])));
    }
    return misfits;
  }
  /// An end that the values allow goes out by factors of two until they do not, and back half the way a few times.
  void move_end(End& end, bool allowed) const {
    (allowed ? end.inside : end.outside) = end.way;
    const double edge = std::log(end.way > 0 ? parameters_[end.parameter].high : parameters_[end.parameter].low);
    const bool beyond = std::abs(end.way) >= std::abs(edge - at_[end.parameter]);
    const bool near = end.outside != 0 && std::abs(end.outside / end.inside) < kNearEnough;
    if (end.inside == 0 || (allowed && beyond) || near) {
      end.open = false;
      if (end.outside != 0) end.way = end.outside;
      return;
    }
    end.way = end.outside == 0 ? 2 * end.inside : (end.inside + end.outside) / 2;
  }
  /// An end up to which the values do not change: what the parameter limits, something else limits before it. The best
  /// place at the rim of such a plain is where the noise has put it.
  void open_flat_ends(std::vector<End>& ends, double most) {
    std::vector<Vector> places;
    for (const End& end : ends) {
      places.push_back(at_);
      places.back()[end.parameter] =
          std::log(end.way > 0 ? parameters_[end.parameter].high : parameters_[end.parameter].low);
    }
    const std::vector<Tried> tried = try_all(places);
    for (std::size_t k = 0; k < ends.size(); ++k) {
      if (misfit(tried[k]) - misfit(best_) >= kFlat * most * most) continue;
      ends[k].way = places[k][ends[k].parameter] - at_[ends[k].parameter];
      ends[k].open = false;
    }
  }
  /// From the curvature at the best place; an end at which the model's misfit is not what the curvature says, because
  /// something else has begun to limit, is moved out until it is.
  void set_intervals(FitResult& result, const Matrix& covariance, double most) {
    std::vector<End> ends;
    for (std::size_t i = 0; i < at_.size(); ++i) {
      for (const double sign : {1.0, -1.0}) ends.push_back({i, sign * most * std::sqrt(covariance[i][i])});
    }
    open_flat_ends(ends, most);
    for (int count = 0; count < kMoves; ++count) {
      std::vector<End*> open;
      for (End& end : ends) {
        if (end.open) open.push_back(&end);
      }
      if (open.empty()) break;
      const std::vector<double> misfits = misfits_at(open, covariance);
      const double wanted = (count == 0 ? kLikeCurvature : 1) * most * most;
      for (std::size_t k = 0; k < open.size(); ++k) move_end(*open[k], misfits[k] - misfit(best_) < wanted);
    }
    for (const End& end : ends) {
      const FitParameter& given = parameters_[end.parameter];
      FittedParameter& p = result.parameters[end.parameter];
      double edge = std::clamp(std::exp(at_[end.parameter] + end.way), given.low, given.high);
      if (given.whole) edge = end.way > 0 ? std::ceil(edge) : std::floor(edge);
      (end.way > 0 ? p.high : p.low) = edge;
    }
    for (std::size_t i = 0; i < at_.size(); ++i) {
      FittedParameter& p = result.parameters[i];
      p.determined = std::log(p.high / p.low) < most * spread_[i];
    }
  }

  const std::vector<FitParameter>& parameters_;
  const std::vector<FitValue>& values_;
  const FitModel& model_;
  Vector at_;  ///< logarithms of the parameters
  Vector start_;
  Vector spread_;   ///< of each parameter without any value
  Vector scatter_;  ///< of each group
  Tried best_;
  Matrix slopes_;  ///< by value and parameter
  std::vector<Tried> neighbours_;
  std::size_t settings_tried_ = 0;
};

}  // namespace

FitResult fit_parameters(const std::vector<FitParameter>& parameters, const std::vector<FitValue>& values,
                         const FitModel& model, double confidence) {
  return Fit(parameters, values, model).run(confidence);
}

}  // namespace mrc
