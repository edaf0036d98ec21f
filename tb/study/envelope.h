// What an attack may change, as a TOML file declares it: ranges of parameters, seeds, faults and traffic
// (docs/attack.md). A case is a point of this space.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fabric/fault_parameters.h"
#include "study/design.h"
#include "study/run_planner.h"

namespace mrc {

/// The values of one factor: a list, or an interval, logarithmic where it spans a decade.
struct FactorRange {
  std::vector<std::string> values{};  ///< as text; empty for an interval
  double low = 0;
  double high = 0;
  bool whole = false;
  double usual = 0;    ///< position of the usual value: the scenario's, or the milder end
  bool inside = true;  ///< the scenario's value is one of the range's; otherwise the usual one is the nearest of them

  bool logarithmic() const { return low > 0 && high >= 10 * low; }
  /// `position` in [0, 1] over the list or the interval.
  double number(double position) const;
  std::string text(double position) const;
  /// Of a number, clamped to the interval.
  double position(double number) const;
  /// The one position for all that give the same value.
  double snapped(double at) const;
};

struct Factor {
  enum class Kind : unsigned char { parameter, seed, fault, traffic };

  Kind kind = Kind::parameter;
  std::string name;       ///< as it is shown: "pcie.read_tags", "fault 1.at_us", "traffic.bytes"
  std::string key{};      ///< of the parameter, the fault or the traffic; empty: whether the fault or traffic is there
  std::size_t group = 0;  ///< number of the fault
  std::string relative_to{};  ///< the value is a multiple of this parameter's; empty: it is the value
  FactorRange range{};

  /// Of a fault or of the traffic, which may be absent.
  bool optional() const { return kind == Kind::fault || kind == Kind::traffic; }
  /// Its upper half: the fault or traffic is there. The factors that belong with it follow it.
  bool decides_presence() const { return optional() && key.empty(); }
  bool belongs_with(const Factor& other) const { return kind == other.kind && group == other.group; }
};

/// Positions of the factors in [0, 1], or kUsual.
using AttackPoint = std::vector<double>;
/// As the scenario has it: parameters unchanged, no fault, its own trace, the first seed. A factor of a fault or of the
/// traffic that is there: its milder end.
inline constexpr double kUsual = -1;

/// A point as a run takes it.
struct AttackCase {
  Settings settings;  ///< parameters and faults
  std::uint64_t seed = 0;
  std::string flows;  ///< a flow CSV; empty: the scenario's own trace
};

class Envelope {
 public:
  /// Reads and checks the file. Throws ParameterError with file and line.
  Envelope(const std::string& path, const RunPlanner& planner);

  const std::vector<Factor>& factors() const { return factors_; }
  /// Every factor at kUsual.
  AttackPoint usual() const { return AttackPoint(factors_.size(), kUsual); }
  /// The position that a factor has at this point.
  double position(const AttackPoint& point, std::size_t factor) const;
  /// The one point for all that draw the same case: at most faults_at_once faults, kUsual for the factors of what is
  /// absent and for usual values.
  AttackPoint tidy(AttackPoint point) const;
  AttackCase draw(const AttackPoint& point) const;
  /// What differs from the usual, for people: (name, value).
  Settings differences(const AttackPoint& point) const;
  /// Text of all that it declares, for a digest.
  const std::string& text() const { return text_; }

 private:
  friend class EnvelopeReader;

  bool present(const AttackPoint& point, Factor::Kind kind, std::size_t group) const;
  std::string value(const AttackPoint& point, std::size_t factor) const;
  /// The value that a parameter has at this point.
  double parameter_number(const AttackPoint& point, const std::string& key) const;
  std::string flows(const AttackPoint& point) const;

  std::vector<Factor> factors_;
  std::vector<std::vector<std::pair<std::string, std::string>>> fault_words_;  ///< of each fault: keys that are fixed
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;                 ///< of the traffic: source, destination
  std::map<std::string, double> traffic_;                                      ///< keys that are fixed
  std::size_t faults_at_once_ = 1;
  ScenarioConfig scenario_;  ///< as it is
  std::uint64_t first_seed_ = 1;
  std::string text_;
};

}  // namespace mrc
