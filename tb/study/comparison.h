// Differences between groups of results: parameters, metrics, ledger.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/result_group.h"

namespace mrc {

/// One number per group. The others are compared with the first group.
struct ComparedMetric {
  std::string name;
  std::vector<double> mean;        ///< per group
  std::vector<bool> beyond_noise;  ///< per group; the first is false
};

struct Comparison {
  std::vector<std::string> names;
  std::vector<std::size_t> seeds;
  bool noise_known = false;  ///< at least one group has several seeds
  /// Parameter → its value in each group, "-" where there is none; those that differ.
  std::map<std::string, std::vector<std::string>> parameters;
  /// Sorted by name. Rates of nodes and counters of transports are listed only if one result has a value other than 0.
  std::vector<ComparedMetric> metrics;
  std::vector<ComparedMetric>
      limits;  ///< Gb/s, the largest difference first; like the next two, without those that are equal
  std::vector<ComparedMetric> ledger;  ///< "node box state", share of time, the largest difference first
  std::vector<ComparedMetric> sram;    ///< bits
};

/// Throws StudyError where a result lacks what every result has, or has it in another type: it is damaged.
Comparison compare(const std::vector<ResultGroup>& groups);

}  // namespace mrc
