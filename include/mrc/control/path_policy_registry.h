// Finds a path policy by name. A new one is a class derived from PathPolicy in a file of its own, and here its include
// and its row. docs/path_policies.md describes them all.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "mrc/control/path_policies/ecn_bitmap_path.h"
#include "mrc/control/path_policies/random_path.h"
#include "mrc/control/path_policies/recycled_entropies.h"
#include "mrc/control/path_policies/round_robin_path.h"
#include "mrc/control/path_policies/single_path.h"
#include "mrc/control/path_policy.h"
#include "mrc/random.h"

namespace mrc {

/// `evs`: of the table, active and backup. `random`: the table's own, so that no other object's draws change these.
using PathPolicyFactory = std::unique_ptr<PathPolicy> (*)(std::uint32_t evs, KeyedRandom random);

template <typename Policy>
std::unique_ptr<PathPolicy> new_policy(std::uint32_t evs, KeyedRandom random) {
  return std::make_unique<Policy>(evs, random);
}

struct PathPolicyRow {
  std::string_view name;
  std::string_view source;  ///< spec, paper or assumption, as in the parameter registry
  PathPolicyFactory make;   ///< null: PathTable's own
};

inline constexpr PathPolicyRow kPathPolicies[]{
    {"rotation", "spec", nullptr},
    {"random", "assumption", new_policy<RandomPath>},
    {"round_robin", "assumption", new_policy<RoundRobinPath>},
    {"reps", "paper", new_policy<RecycledEntropies>},
    {"ecn_bitmap", "assumption", new_policy<EcnBitmapPath>},
    {"single_path", "assumption", new_policy<SinglePath>},
};

inline std::vector<std::string> path_policy_names() {
  std::vector<std::string> names;
  for (const PathPolicyRow& row : kPathPolicies) names.emplace_back(row.name);
  return names;
}

/// Null for MRC's rotation. Throws std::invalid_argument for a name that has no row.
inline std::unique_ptr<PathPolicy> make_path_policy(std::string_view name, std::uint32_t evs, KeyedRandom random) {
  for (const PathPolicyRow& row : kPathPolicies) {
    if (row.name == name) return row.make == nullptr ? nullptr : row.make(evs, random);
  }
  throw std::invalid_argument("path policy \"" + std::string(name) + "\" is unknown");
}

}  // namespace mrc
