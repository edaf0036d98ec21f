// Which runs a study wants: settings and seeds, checked against the scenario, with the digest that tells them apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parameters/config.h"
#include "study/study_database.h"

namespace mrc {

/// A scenario and what the command line sets in it for all runs.
struct RunSubject {
  std::string scenario;
  std::vector<std::string> assignments;  ///< "key=value"
};

class RunPlanner {
 public:
  /// Throws ParameterError for what `mrcsim run` would refuse.
  explicit RunPlanner(RunSubject subject);

  const RunSubject& subject() const { return subject_; }
  /// The seed that the scenario has.
  std::uint64_t first_seed() const { return first_seed_; }
  /// The scenario with these settings; throws ParameterError.
  ScenarioConfig scenario(const Settings& settings) const;
  /// Throws ParameterError, or StudyError where the trace does not exist.
  RunSpec spec(const Settings& settings, std::uint64_t seed) const;
  /// As many specs as `seeds`, from the first seed on.
  std::vector<RunSpec> specs(const Settings& settings, std::uint32_t seeds) const;

 private:
  RunSubject subject_;
  std::uint64_t first_seed_ = 1;
  std::string base_digest_;  ///< scenario file and executable
};

}  // namespace mrc
